"""The commands of the guide run, and the options that it names exist."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import groupby, takewhile
from pathlib import Path

import pytest

from grader.cli import COMMANDS, GRADE
from tests.docs.pages import GUIDE, ROOT, name_of
from tests.support.transcripts import WIDTH, Command, as_printed, read_commands, repeatable

NOT_RUN = frozenset({"gpu", "network", "cluster", "slurm", "named"})
WRITTEN = tuple(page for page in GUIDE if page.parent.name != "reference")
KINDS = ("console", "sh", "python")


def commands_of(page: Path, *when: str) -> list[Command]:
    return [command for command in read_commands(page, KINDS) if command.when in when]


def pages_with(*when: str) -> list[object]:
    return [pytest.param(page, id=name_of(page)) for page in WRITTEN if commands_of(page, *when)]


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder as the guide assumes it: the repository's exercises, some files of one's own, and
    the submissions of a class. What is written there does not reach the repository."""
    for name in ("exercises", "starter", "solutions", "tests/submissions"):
        (tmp_path / name).mkdir(parents=True)
        for path in (ROOT / name).iterdir():
            (tmp_path / name / path.name).symlink_to(path)
    starter, reference = tmp_path / "starter/transpose.cu", tmp_path / "solutions/transpose.cu"
    for name in ("my_transpose.cu", "old.cu", "submission.cu", "submissions/ada.cu"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(starter, tmp_path / name)
    for name in ("new.cu", "submissions/ben.cu"):
        shutil.copy(reference, tmp_path / name)
    shutil.copy(tmp_path / "starter/gemm_tiled.cu", tmp_path / "my_gemm.cu")
    shutil.copy(ROOT / "tests/docs/vectoradd.cu", tmp_path / "vectoradd.cu")
    programs = {"grade": f"{shlex.quote(sys.executable)} -m grader", "python": sys.executable}
    (tmp_path / "bin").mkdir()
    for name, program in programs.items():
        (tmp_path / "bin" / name).write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def run(command: Command, desk: Path) -> None:
    """Run a command, on the emulated device: no GPU is seen. Exit code 1 is a verdict of grade."""
    environ = {
        **os.environ,
        "PATH": f"{desk / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "CUDA_VISIBLE_DEVICES": "",
        "COLUMNS": str(WIDTH),
        "NO_COLOR": "1",
    }
    ended = subprocess.run(
        ["bash", "-c", command.text],
        cwd=desk,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    allowed = (0, 1) if command.text.startswith("grade ") else (0,)
    assert ended.returncode in allowed, f"{command.text}\n{ended.stdout}{ended.stderr}"
    if command.shown:
        assert repeatable(as_printed(ended.stdout)) == repeatable(command.shown)


@pytest.mark.parametrize("page", pages_with("quick"))
def test_quick_commands_run(page: Path, desk: Path) -> None:
    for command in commands_of(page, "quick"):
        run(command, desk)


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("slow"))
def test_all_commands_run(page: Path, desk: Path) -> None:
    for command in commands_of(page, "quick", "slow"):
        run(command, desk)


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in WRITTEN])
def test_commands_name_what_is_there(page: Path) -> None:
    for text in calls_in(page):
        program, *arguments = shlex.split(text, comments=True)
        if Path(program).name == "grade":
            assert unknown_options(arguments) == set(), text
        elif Path(program).name in ("python", "pytest"):
            assert [name for name in named_files(text) if not name.exists()] == [], text


def test_every_block_says_something_known_about_its_run() -> None:
    for page in WRITTEN:
        for command in read_commands(page, KINDS):
            assert command.when in {"quick", "slow", *NOT_RUN}, f"{page}: {command}"


def calls_in(page: Path) -> Iterator[str]:
    """The commands of a page's blocks and of its text, between `&&` and pipes."""
    text = page.read_text(encoding="utf-8")
    spans = re.findall(
        r"`((?:grade|python|pytest) [^`]*)`", re.sub(r"```.*?```", "", text, flags=re.S)
    )
    for call in [command.text for command in read_commands(page, ("console", "sh"))] + spans:
        words = shlex.split(call.replace("\n", " "), comments=True)
        for is_joint, part in groupby(words, lambda word: word in ("&&", "|")):
            if not is_joint:
                yield shlex.join(part)


def unknown_options(arguments: list[str]) -> set[str]:
    """The options that the command does not have; other programs have those behind `--`."""
    command = COMMANDS.get(arguments[0], GRADE)
    known = {name for action in options_of(command.make_parser()) for name in action.option_strings}
    own = takewhile(lambda word: word != "--", arguments)  # a program's arguments follow
    given = {word.split("=", 1)[0] for word in own if re.match(r"--?[a-z]", word)}
    return given - known


def options_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions


def named_files(text: str) -> Iterator[Path]:
    """The files of the repository that a call of Python or pytest needs."""
    for name in re.findall(r"\b(?:tests|benchmarks|docs)/[\w./]+", text):
        yield ROOT / name
    for module in re.findall(r"-m (tests[\w.]+|grader[\w.]+)", text):
        yield ROOT / f"{module.replace('.', '/')}.py"
