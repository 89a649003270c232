"""The machine code that is shipped serves the files, options and tools that it was made with, and
is what they make."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grader.records import Binary, Completed, RunTool, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compilation import artifacts_keys, find_kept
from grader.toolchain.compile import compile_submission, list_cubin
from grader.toolchain.elf import Elf
from grader.toolchain.line_table import read_lines
from grader.toolchain.preprocess import Preprocessed, preprocess
from grader.toolchain.workspace import SOURCE_NAME
from tests.support.compiling import find_tools
from tests.support.shipped import (
    ARCH,
    Shipped,
    fill_cache,
    find_sources,
    read_shipped,
    recorded_cubins,
    text_digest,
)
from tests.support.shipped_answers import Answer, give_answers, read_answers, write_answers

SOURCES = find_sources()
ONE_IN = 200
"""So many of the files are compiled again by default, of the cubins listed, and of the questions to
the preprocessor asked; all of them with --run-slow."""


@pytest.fixture(scope="module")
def shipped() -> Shipped:
    found, (nvcc, nvdisasm) = read_shipped(), find_tools()
    if (found.nvcc, found.nvdisasm) != (nvcc.version, nvdisasm.version):
        pytest.skip(
            f"shipped is what nvcc {found.nvcc} made; with {nvcc.version} everything is compiled"
        )
    return found


def start_nothing(*_: object, **__: object) -> Completed:
    raise AssertionError("a tool was started")


def test_a_file_that_is_shipped_is_not_compiled(shipped: Shipped, tmp_path: Path) -> None:
    assert fill_cache(tmp_path, shipped) == sum(
        map(len, (shipped.artifacts, shipped.listings, shipped.others))
    )
    source = next(source for source in SOURCES if text_digest(source) in shipped.artifacts)
    nvcc, nvdisasm = find_tools()
    binary = compile_submission(
        source,
        nvcc=nvcc,
        nvdisasm=nvdisasm,
        arch=ARCH,
        run=start_nothing,
        limits=ToolLimits(),
        cache=tmp_path,
    )
    assert isinstance(binary, Binary)
    assert binary.cubin == shipped.artifacts[text_digest(source)].cubin


@pytest.mark.parametrize(
    "change", [{"nvcc": "1.0.0"}, {"nvdisasm": "1.0.0"}, {"options": ("-O0",)}, {"artifacts": {}}]
)
def test_what_was_made_otherwise_is_compiled(
    shipped: Shipped, tmp_path: Path, change: dict[str, object]
) -> None:
    assert fill_cache(tmp_path, replace(shipped, listings={}, others={}, **change)) == 0  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


def test_a_recorded_cubin_needs_only_the_disassembler_that_listed_it(
    shipped: Shipped, tmp_path: Path
) -> None:
    _, nvdisasm = find_tools()
    assert fill_cache(tmp_path / "other", replace(shipped, nvdisasm="1.0.0")) == 0
    assert fill_cache(tmp_path / "same", replace(shipped, nvcc="1.0.0")) == len(shipped.listings)
    known = next(iter(shipped.listings.values()))
    assert (
        list_cubin(
            known.cubin, nvdisasm=nvdisasm, arch=ARCH, run=start_nothing, cache=tmp_path / "same"
        )
        == known
    )


def test_the_code_of_another_text_is_left_out(shipped: Shipped, tmp_path: Path) -> None:
    changed = {f"{digest[:-4]}0000": artifacts for digest, artifacts in shipped.artifacts.items()}
    assert fill_cache(tmp_path, replace(shipped, artifacts=changed, listings={}, others={})) == 0


def some_unless_slow(values: Sequence[object]) -> list[object]:
    return [
        pytest.param(value, marks=[pytest.mark.slow] if i % ONE_IN else [])
        for i, value in enumerate(values)
    ]


@pytest.mark.parametrize("source", some_unless_slow(SOURCES), ids=lambda source: source.name)
def test_what_is_shipped_is_what_the_compiler_makes(
    source: Submission, shipped: Shipped, tmp_path: Path
) -> None:
    known = shipped.artifacts.get(text_digest(source))
    if known is None:
        pytest.skip("not shipped: `python -m tests.support.shipped` adds what compiles")
    nvcc, nvdisasm = find_tools()
    compile_submission(
        source,
        nvcc=nvcc,
        nvdisasm=nvdisasm,
        arch=ARCH,
        run=run_tool,
        limits=ToolLimits(),
        cache=tmp_path,
    )
    made = find_kept(tmp_path, artifacts_keys(source.text, nvcc, nvdisasm, ARCH))
    assert made is not None
    ours, theirs = Elf(made.cubin), Elf(known.cubin)
    assert ours.code == theirs.code
    assert read_lines(ours, SOURCE_NAME) == read_lines(theirs, SOURCE_NAME)
    assert (made.instructions, made.demangled, made.warnings) == (
        known.instructions,
        known.demangled,
        known.warnings,
    )


@pytest.mark.parametrize("number", some_unless_slow(range(len(recorded_cubins()))))
def test_what_is_listed_is_what_the_disassembler_says(number: int, shipped: Shipped) -> None:
    cubin, (_, nvdisasm) = recorded_cubins()[number], find_tools()
    known = shipped.listings.get(hashlib.sha256(cubin).hexdigest())
    if known is None:
        pytest.skip("not shipped: `python -m tests.support.shipped` adds it")
    assert list_cubin(cubin, nvdisasm=nvdisasm, arch=ARCH, run=run_tool, cache=None) == known


@pytest.fixture(scope="module")
def answers() -> tuple[Answer, ...]:
    found = read_answers(find_tools()[0])
    if not found:
        pytest.skip("the answers are those of another nvcc or host compiler")
    return found


def ask(answer: Answer, run: RunTool, cache: Path | None) -> object:
    """The preprocessor's answer to the question."""
    digest = hashlib.sha256(answer.text.encode()).hexdigest()
    source, limits = Submission("a.cu", digest, answer.text), ToolLimits()
    nvcc, _ = find_tools()
    return preprocess(
        source, answer.names, nvcc=nvcc, arch=answer.arch, run=run, limits=limits, cache=cache
    )


def test_what_the_preprocessor_answered_is_not_asked_again(
    answers: tuple[Answer, ...], tmp_path: Path
) -> None:
    give_answers(tmp_path, answers, find_tools()[0])
    for answer in answers:
        found = ask(answer, start_nothing, tmp_path)
        assert isinstance(found, Preprocessed)
        assert found.macros == answer.macros
        assert all(Path(file).is_file() for file in found.files)


def test_answers_of_another_compiler_are_not_used(
    answers: tuple[Answer, ...], tmp_path: Path
) -> None:
    (nvcc, _), archive = find_tools(), tmp_path / "answers"
    write_answers(answers[:2], nvcc, archive)
    assert read_answers(nvcc, archive) == answers[:2]
    assert read_answers(replace(nvcc, identity="other"), archive) == ()


def test_what_is_shipped_is_what_the_preprocessor_answers(
    request: pytest.FixtureRequest, answers: tuple[Answer, ...], tmp_path: Path
) -> None:
    give_answers(tmp_path, answers, find_tools()[0])
    for answer in answers[:: 1 if request.config.getoption("--run-slow") else ONE_IN]:
        assert ask(answer, run_tool, None) == ask(answer, start_nothing, tmp_path)
