"""The runtime in C++: compiled once, found again, compiled again where the object is damaged, and
loaded where it cannot be kept."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import checked_layout, layout
from grader.emulator import runtime as runtime_module
from grader.emulator.codegen.kept_files import read_whole
from grader.emulator.cpp import CompilerFailed, load
from grader.emulator.cpp.header import write_header
from grader.folders import default_cache

COMPILER = shutil.which("g++") or ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the object that all tests run with."""
    emulator_runtime()
    made = tmp_path_factory.mktemp("cache") / "runtime"
    made.mkdir()
    name = f"runtime-{runtime_module._key(write_header(), COMPILER)}.so"
    shutil.copy(default_cache(os.environ) / "runtime" / name, made)
    return made


def only_object(folder: Path) -> Path:
    (found,) = folder.glob("*.so")
    return found


def test_an_object_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime_module, "_compile", None)
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

    def compile_(header: str, compiler: str) -> bytes:
        asked.extend((header, compiler))
        return content

    monkeypatch.setattr(runtime_module, "_compile", compile_)
    kept.write_bytes(whole[:1000])
    assert callable(load(tmp_path / "copy", COMPILER).run_blocks)
    assert asked == [write_header(), COMPILER]
    assert kept.read_bytes() == whole


def test_a_folder_that_cannot_be_written_costs_time_only(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = only_object(folder).read_bytes()
    monkeypatch.setattr(runtime_module, "_compile", lambda header, compiler: content)
    (tmp_path / "file").write_text("in the way")
    assert callable(load(tmp_path / "file" / "runtime", COMPILER).run_blocks)


def test_a_compiler_that_does_not_work_is_told(tmp_path: Path) -> None:
    with pytest.raises(CompilerFailed):
        load(tmp_path, "/bin/false")
    with pytest.raises(CompilerFailed, match="No such file"):
        load(tmp_path, str(tmp_path / "missing"))


def test_the_header_declares_pointers_and_numbers_as_they_are() -> None:
    header = write_header()
    assert "    Slot *slots;\n" in header
    assert f"static_assert(sizeof(Context) == {layout.CONTEXT.itemsize});" in header
    assert f"        MAYBE_ABSENT_LANE = {checked_layout.FindingCode.MAYBE_ABSENT_LANE}," in header
    assert "constexpr int32_t WAIT_NONE = -1;" in header
