"""What is begun before the exercise is read: what the grading will ask for, or nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from grader.devices.remote import worker_process
from grader.grading.building import build
from grader.grading.early import NOTHING, begin_early
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import Toolchain, find_toolchain
from grader.plumbing.cache import default_cache
from grader.records import Completed, Options, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission
from grader.toolchain.artifacts import Artifacts
from grader.toolchain.compilation import Compilation

ROOT = Path(__file__).resolve().parents[2]
EXERCISE = ROOT / "exercises" / "transpose"
NEVER_DONE = ToolLimits(wall_seconds=300)


@pytest.fixture(autouse=True)
def no_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """The device is not loaded ahead."""
    monkeypatch.setattr(worker_process, "load_ahead", lambda: None)


@pytest.fixture
def edited(tmp_path: Path) -> Path:
    path = tmp_path / "edited.cu"
    text = (ROOT / "starter" / "transpose.cu").read_text()
    path.write_text(f"{text}// {tmp_path}\n")
    return path


def read(path: Path) -> Submission:
    source = read_submission(path)
    assert isinstance(source, Submission)
    return source


def test_what_is_begun_is_what_the_grading_asks_for(edited: Path) -> None:
    tools = find_toolchain(prefer_wheel=True, cache=default_cache(os.environ))
    seconds = read_exercise(EXERCISE).limits.compile_seconds
    order = tools.order(read(edited), "sm_90", ToolLimits(wall_seconds=seconds))
    with begin_early(Options("emulated"), EXERCISE, edited) as begun:
        compilation = begun.compilation
        assert compilation is not None
        assert compilation.order.asks_for_the_same(order)
        assert not compilation.order.asks_for_the_same(replace(order, cache=None))
        assert isinstance(compilation.result(), Artifacts)
    with begin_early(Options("emulated"), EXERCISE, edited) as begun:
        assert begun == NOTHING  # it is in the cache


def test_the_start_loads_no_heavy_library() -> None:
    """The compiler and the device start before NumPy and pyelftools are loaded."""
    program = (
        "import sys, grader.grading.early, grader.devices.remote.worker_process;"
        " assert not {'numpy', 'elftools'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_nothing_is_begun_for_a_gpu_that_nobody_sees(edited: Path) -> None:
    with begin_early(Options("gpu"), EXERCISE, edited) as begun:
        assert begun == NOTHING


@pytest.mark.parametrize("content", [b"", b"\0", b"#if __has_include(TEXT)\n#endif\n"])
def test_nothing_is_begun_of_what_is_refused_before(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "refused.cu"
    path.write_bytes(content)
    with begin_early(Options("emulated"), EXERCISE, path) as begun:
        assert begun == NOTHING


@pytest.mark.parametrize(
    ("lines", "begun"), [("// launch: k<4><<<1, 1>>>(out)", False), ("", True)]
)
def test_nothing_is_begun_where_launch_lines_make_instances(
    lines: str, begun: bool, tmp_path: Path
) -> None:
    path = tmp_path / "template.cu"
    path.write_text(f"{lines}\ntemplate <int N> __global__ void k(float* out) {{ *out = N; }}\n")
    with begin_early(Options("emulated"), EXERCISE, path) as found:
        assert (found.compilation is not None) is begun


@pytest.mark.parametrize(
    "spec", [None, "no JSON", "[]", "{}", '{"limits": {"compile_seconds": "x"}}']
)
def test_a_broken_exercise_is_for_the_grading_to_tell(
    spec: str | None, edited: Path, tmp_path: Path
) -> None:
    if spec is not None:
        (tmp_path / "spec.json").write_text(spec)
    with begin_early(Options("emulated"), tmp_path, edited) as begun:
        assert begun == NOTHING


def test_a_missing_file_and_an_unknown_device_are_for_the_grading_to_tell(tmp_path: Path) -> None:
    for device, name in (("emulated", "missing.cu"), ("emulated:none", "missing.cu")):
        with begin_early(Options(device), EXERCISE, tmp_path / name) as begun:
            assert begun == NOTHING


def waiting(tools: Toolchain, seen: list[str | None]) -> Toolchain:
    """Tools of which nvcc's work on machine code never ends by itself."""

    def run(
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        limits: ToolLimits = NEVER_DONE,
        env: dict[str, str] | None = None,
    ) -> Completed:
        if "-cubin" not in argv:
            return run_tool(argv, cwd=cwd, limits=limits, env=env)
        done = run_tool(["sleep", "300"], cwd=cwd, limits=limits, env=env)
        seen.append(done.limit)
        return done

    return replace(tools, run=run)


def test_the_preprocessor_has_the_first_word_and_stops_the_compiler(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cu"
    path.write_text("#error not yet\n")
    seen: list[str | None] = []
    tools = waiting(find_toolchain(prefer_wheel=True, cache=None, isolated=False), seen)
    with pytest.raises(SubmissionError, match="not yet"):
        build(read(path), read_exercise(EXERCISE), tools, arch="sm_90")
    assert seen == ["stop"]


def test_a_compilation_that_is_closed_ends(edited: Path) -> None:
    seen: list[str | None] = []
    tools = waiting(find_toolchain(prefer_wheel=True, cache=None, isolated=False), seen)
    with Compilation(tools.order(read(edited), "sm_90", NEVER_DONE)):
        pass
    assert seen == ["stop"]
