"""The runtime in C++: compiled once, found again, compiled again where the object is damaged, and
loaded where it cannot be kept."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import cpp
from grader.emulator.codegen.kept_files import read_whole
from grader.emulator.cpp import CompilerFailed, load
from grader.emulator.cpp.header import write_header
from grader.emulator.layouts import checked, execution
from grader.errors import ToolMissing
from grader.plumbing.cache import default_cache

COMPILER = shutil.which("g++") or ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the object that all tests run with."""
    emulator_runtime()
    made = tmp_path_factory.mktemp("cache") / "runtime"
    made.mkdir()
    name = f"runtime-{cpp._key(write_header(), COMPILER, ())}.so"
    shutil.copy(default_cache(os.environ) / "runtime" / name, made)
    return made


def only_object(folder: Path) -> Path:
    (found,) = folder.glob("*.so")
    return found


def test_an_object_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpp, "_compile", None)
    assert callable(load(folder, COMPILER).run_blocks)


def test_a_damaged_object_is_compiled_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's own object was compiled before; to do so once more takes 20 s."""
    shutil.copytree(folder, tmp_path / "copy")
    kept = only_object(tmp_path / "copy")
    whole, content = kept.read_bytes(), read_whole(kept)
    assert content is not None
    asked: list[str] = []

    def compile_(header: str, compiler: str, options: tuple[str, ...]) -> bytes:
        asked.extend((header, compiler, *options))
        return content

    monkeypatch.setattr(cpp, "_compile", compile_)
    kept.write_bytes(whole[:1000])
    assert callable(load(tmp_path / "copy", COMPILER).run_blocks)
    assert asked == [write_header(), COMPILER]
    assert kept.read_bytes() == whole


def test_a_folder_that_cannot_be_written_costs_time_only(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = only_object(folder).read_bytes()
    monkeypatch.setattr(cpp, "_compile", lambda *_: content)
    (tmp_path / "file").write_text("in the way")
    assert callable(load(tmp_path / "file" / "runtime", COMPILER).run_blocks)


def test_a_compiler_that_does_not_work_is_told(tmp_path: Path) -> None:
    with pytest.raises(CompilerFailed):
        load(tmp_path, "/bin/false")
    with pytest.raises(CompilerFailed, match="No such file"):
        load(tmp_path, str(tmp_path / "missing"))


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("g++: fatal error: Killed signal terminated program cc1plus", "out of memory"),
        ("error: cannot write: No space left on device", "Make room there"),
        ("fatal error: cstdint: No such file or directory", "apt install --reinstall g++"),
        ("g++: error: unrecognized command-line option '-std=c++17'", "Install a newer g++"),
        ("internal compiler error: in fold_convert", "install another version"),
    ],
)
def test_advice_fits_the_cause_when_the_compiler_fails(
    output: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = tmp_path / "g++"
    failing.write_text(f'#!/bin/sh\ncat >&2 <<"END"\n{output}\nEND\nexit 1\n')
    failing.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(ToolMissing, match="does not compile") as caught:
        emulator_runtime.__wrapped__()
    assert advice in caught.value.advice
    assert output in (caught.value.detail or "")


def test_the_header_declares_pointers_and_numbers_as_they_are() -> None:
    header = write_header()
    assert "    Slot *slots;\n" in header
    assert f"static_assert(sizeof(Context) == {execution.CONTEXT.itemsize});" in header
    assert f"        MAYBE_ABSENT_LANE = {checked.FindingCode.MAYBE_ABSENT_LANE}," in header
    assert "constexpr int32_t WAIT_NONE = -1;" in header
