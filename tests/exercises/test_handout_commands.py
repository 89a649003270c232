"""Every `grade` command that a handout shows runs, and prints what the handout says that it
does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.metrics import TIMED
from grader.spec.reader import read_exercise
from tests.support.exercises import grades_kernels
from tests.support.transcripts import (
    HANDOUTS,
    Command,
    as_printed,
    make_desk,
    read_commands,
    repeatable,
    run,
)

QUICK = ("gallery", "host")
"""Subcommands that are tried by default; those that grade take several seconds each."""


def commands() -> Iterator[object]:
    for handout in HANDOUTS:
        for command in read_commands(handout / "README.md"):
            if command.words[0] == "grade":
                quick = command.words[1] in QUICK
                yield pytest.param(
                    handout,
                    command,
                    id=command.text.partition("#")[0].strip(),
                    marks=[] if quick else [pytest.mark.slow],
                )


@pytest.mark.parametrize(("handout", "command"), [*commands()])
def test_a_command_does_what_the_handout_shows(
    handout: Path, command: Command, tmp_path: Path
) -> None:
    ended = run(command, make_desk(handout, tmp_path))
    assert ended.returncode in (0, 1), ended.stderr
    assert ended.stdout
    if command.shown:
        assert repeatable(as_printed(ended.stdout)) == repeatable(command.shown)


OF_KERNELS = [path for path in HANDOUTS if grades_kernels(path)]


@pytest.mark.parametrize("handout", OF_KERNELS, ids=lambda path: path.name)
def test_a_handout_shows_a_report_a_sweep_and_how_to_profile(handout: Path) -> None:
    shown = {
        command.words[1]
        for command in read_commands(handout / "README.md")
        if command.words[0] == "grade" and command.shown
    }
    timed = any(check.metric in TIMED for check in read_exercise(handout).checks)
    assert {handout.name, *(["sweep"] if timed else [])} <= shown
    named = {
        command.words[1]
        for command in read_commands(handout / "README.md")
        if command.words[0] == "grade"
    }
    assert {"compare", "host"} <= named


def test_figures_of_this_processor_are_left_out() -> None:
    head = "128 ms GB/s × naive × C loop × NumPy"
    text = (
        f"{head}\nmeasured:\n CPU (NumPy) 1.0 2.0 3 4 5\nmodelled:\n naive 1.5 2 1.00 7"
        " 8\n\ncounted load %\n naive 5 6"
    )
    assert repeatable(text) == [
        head,
        "measured:",
        "modelled:",
        "naive 1.5 2 1.00",
        "counted load %",
        "naive 5 6",
    ]
