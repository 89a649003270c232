"""What a shell is told at a press of Tab. A process of its own answers: argcomplete takes the file
descriptors 8 and 9."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.cli import COMMANDS, main

LINES = {
    "grade ": ["transpose", "batch", "work/", *COMMANDS],
    "grade trans": ["transpose "],
    "grade --ann": ["--annotate "],
    "grade transpose ": ["mine.cu", "work/"],
    "grade transpose mi": ["mine.cu "],
    "grade transpose work/": ["work/deep.cu "],
    "grade transpose mine.cu --device emulated:a": ["emulated:a100 "],
    "grade transpose mine.cu --format ju": ["junit "],
    "grade batch tr": ["transpose "],
    "grade batch transpose work --o": ["--out", "--only"],
    "grade batch transpose work --ann": [],
    "grade compare transpose m": ["mine.cu "],
    "grade completion z": ["zsh "],
    "grade explain bank": ["bank-conflicts "],
}
ASK = """
import json, os, sys
from grader.cli import main
for line in json.load(sys.stdin):
    os.environ.update(
        COMP_LINE=line, COMP_POINT=str(len(line)), COMP_TYPE="9", _ARGCOMPLETE="1",
        _ARGCOMPLETE_IFS="|", _ARGCOMPLETE_SHELL="bash", _ARGCOMPLETE_STDOUT_FILENAME="answer",
    )
    assert main([]) == 0
    print(open("answer").read())
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What is offered for each of LINES in a folder with some files."""
    folder = tmp_path_factory.mktemp("typed")
    (folder / "work").mkdir()
    for name in ("mine.cu", "notes.txt", ".hidden.cu", "work/deep.cu"):
        (folder / name).touch()
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps(list(LINES)),
        capture_output=True,
        text=True,
        cwd=folder,
        check=True,
    )
    told = done.stdout.splitlines()
    return {
        line: answer.split("|") if answer else [] for line, answer in zip(LINES, told, strict=True)
    }


@pytest.mark.parametrize("line", [line for line in LINES if line != "grade "])
def test_completes(line: str, answers: dict[str, list[str]]) -> None:
    assert sorted(answers[line]) == sorted(LINES[line])


def test_the_first_word_is_a_command_an_exercise_or_a_folder(
    answers: dict[str, list[str]],
) -> None:
    assert set(answers["grade "]) >= set(LINES["grade "])
    assert "mine.cu" not in answers["grade "]


def test_bash_completes_with_what_is_printed(tmp_path: Path) -> None:
    scripts = str(Path(sys.executable).parent)
    if shutil.which("grade", path=scripts) is None:
        pytest.skip("grade is not installed beside this Python")
    typed = (
        'eval "$(grade completion bash)"; COMP_LINE="grade trans" COMP_POINT=11 COMP_TYPE=9;'
        ' _python_argcomplete grade; echo "${COMPREPLY[@]}"'
    )
    path = os.pathsep.join((scripts, os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "--norc", "-c", typed],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (done.stdout.strip(), done.stderr) == ("transpose", "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_is_given_its_own_text(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert "grade" in text
    assert {"bash": "complete -o", "zsh": "compdef", "fish": "complete --command"}[shell] in text
