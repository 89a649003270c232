"""`python -m grader.emulator.cpp` writes the files that an editor needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.emulator.cpp import __main__ as command
from grader.emulator.cpp import source_files
from grader.emulator.cpp.header import write_header


def test_writes_the_header_and_the_compile_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "SOURCES", tmp_path)
    assert command.main([]) == 0
    assert (tmp_path / "records.h").read_text() == write_header()
    rows = json.loads((tmp_path / "compile_commands.json").read_text())
    assert [row["file"] for row in rows] == [str(path) for path in source_files()]
    assert all(f"-I{tmp_path}" in row["arguments"] for row in rows)
