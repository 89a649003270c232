"""What the tools said of themselves is asked once, and again when the programs are others."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from grader.records import Completed
from grader.toolchain.tool_answers import HOST_COMPILER, keep_answers


class Machine:
    """Two programs, and a run that counts how often one of them is asked."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.asked, self.answer = folder, 0, Completed(0, "says", "")
        for name in ("nvcc", HOST_COMPILER):
            shutil.copy("/bin/true", folder / name)

    def run(self, argv: Sequence[str], **_: Any) -> Completed:  # noqa: ANN401 - as RunTool's
        self.asked += 1
        return self.answer

    def ask(self) -> Completed:
        ask = keep_answers(self.run, self.folder / "cache", {"PATH": str(self.folder)})
        return ask([str(self.folder / "nvcc"), "--version"])


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_a_question_is_asked_once(machine: Machine) -> None:
    assert machine.ask() == machine.ask() == machine.answer
    assert machine.asked == 1


@pytest.mark.parametrize("name", ["nvcc", HOST_COMPILER])
def test_another_program_is_asked_again(name: str, machine: Machine) -> None:
    machine.ask()
    with (machine.folder / name).open("ab") as file:
        file.write(b"\0")
    machine.ask()
    assert machine.asked == 2


@pytest.mark.parametrize("name", ["nvcc", HOST_COMPILER])
def test_a_script_is_always_asked(name: str, machine: Machine) -> None:
    (machine.folder / name).write_text("#!/bin/sh\n")
    machine.ask()
    machine.ask()
    assert machine.asked == 2


def test_a_link_to_a_compiler_cache_is_always_asked(machine: Machine) -> None:
    gcc = machine.folder / HOST_COMPILER
    gcc.rename(machine.folder / "ccache")
    gcc.symlink_to(machine.folder / "ccache")
    machine.ask()
    machine.ask()
    assert machine.asked == 2


def test_a_folder_that_has_appeared_is_searched(machine: Machine) -> None:
    absent = machine.folder / "include"
    machine.answer = Completed(0, "", f'ignoring nonexistent directory "{absent}"\n')
    machine.ask()
    absent.mkdir()
    machine.ask()
    assert machine.asked == 2


def test_what_went_wrong_is_asked_again(machine: Machine) -> None:
    machine.answer = Completed(1, "", "no licence")
    assert machine.ask() == machine.ask() == machine.answer
    assert machine.asked == 2


def test_a_damaged_answer_is_asked_again(machine: Machine) -> None:
    machine.ask()
    (entry,) = (machine.folder / "cache").iterdir()
    entry.write_bytes(b"\0" + entry.read_bytes())
    assert machine.ask() == machine.answer
    assert machine.asked == 2
