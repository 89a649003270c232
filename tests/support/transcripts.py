"""The commands that handouts and the guide show, and what they say that they print.

A block of the kind `console` is a transcript: lines that begin with `$ ` are commands, those below
one are what it prints, in full, at WIDTH columns. A command with nothing below it is shown without
its output. In a block of the kind `sh` every line is a command. A comment before a block says when
its commands are run (docs/contributing.md).

    python -m tests.support.transcripts [EXERCISE ...]     runs the commands that are shown with an
    output, and writes their present output into the handouts (default: all)
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HANDOUTS = tuple(sorted(path.parent for path in (ROOT / "exercises").glob("*/README.md")))
WIDTH = 100

_BLOCK = re.compile(
    r"(?:^<!-- test: (\w+) -->\n)?^```(console|sh|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
_PROCESSOR = re.compile(r"^CPU \(C loop, one core\): more than.*?size\n", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A line of a transcript without its `$ `, and what is shown below it (empty: nothing is).
    `when`: "quick", or the word of the comment before its block."""

    text: str
    shown: str
    when: str = "quick"

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text, comments=True)


def read_commands(page: Path, kinds: tuple[str, ...] = ("console",)) -> tuple[Command, ...]:
    """The commands of a page's blocks of these kinds, in order; a `python` block is one."""
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return tuple(
        replace(command, when=when or "quick")
        for when, kind, text in blocks
        if kind in kinds
        for command in _SPLIT[kind](text)
    )


def _split_transcript(block: str) -> Iterator[Command]:
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, _, shown = part.partition("\n")
        yield Command(line, shown.rstrip("\n"))


def _split_lines(block: str) -> Iterator[Command]:
    return (Command(line, "") for line in block.replace("\\\n", " ").splitlines())


def _keep_whole(block: str) -> Iterator[Command]:
    yield Command(f"python -c {shlex.quote(block)}", "")


_SPLIT = {"console": _split_transcript, "sh": _split_lines, "python": _keep_whole}


def make_desk(handout: Path, folder: Path) -> Path:
    """A folder as a student has it, with the exercise and its starter and the copy of it that the
    handout asks for."""
    for name in ("exercises", "starter"):
        (folder / name).symlink_to(ROOT / name)
    copy = next(
        command for command in read_commands(handout / "README.md") if command.words[0] == "cp"
    )
    subprocess.run(copy.words, cwd=folder, check=True)
    return folder


def run(command: Command, desk: Path) -> subprocess.CompletedProcess[str]:
    """Run a `grade` command as it is shown; what may run on a GPU, on the emulated device."""
    program, *arguments = command.words
    assert program == "grade"
    device = [] if arguments[0] in ("gallery", "host") else ["--device", "emulated"]
    environ = {**os.environ, "COLUMNS": str(WIDTH), "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "grader", *arguments, *device],
        cwd=desk,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


def as_printed(text: str) -> str:
    """What a command printed, as it is shown: without the blanks at the end of lines."""
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def repeatable(text: str) -> list[str]:
    """What every machine prints alike: times of this processor left out, with all that is relative
    to them, and widths of columns."""
    lines, relative = [], False
    for line in _PROCESSOR.sub("", f"{text}\n").splitlines():
        words = line.split()
        relative = "NumPy" in line if "ms" in words else relative and bool(words)
        if relative and line.startswith(" CPU"):
            words = []
        elif relative and line.startswith(" "):
            words = words[:-2]
        lines.append(" ".join(words))
    return [line for line in lines if line]


def main(names: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.transcripts",
        description="Run the commands that handouts show with an output, and write their output.",
    )
    parser.add_argument("exercise", nargs="*", metavar="EXERCISE", help="default: all")
    chosen = parser.parse_args(names).exercise
    if unknown := sorted({*chosen} - {path.name for path in HANDOUTS}):
        parser.error(f"no handout of {', '.join(unknown)}")
    for handout in HANDOUTS:
        if not chosen or handout.name in chosen:
            renew(handout)
    return 0


def renew(handout: Path) -> None:
    """Writes the present outputs into a handout. A command that fails leaves it unchanged and
    raises RuntimeError."""
    path = handout / "README.md"
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        desk = make_desk(handout, Path(folder))
        for command in read_commands(path):
            if command.shown:
                ended = run(command, desk)
                if ended.returncode not in (0, 1) or not ended.stdout:
                    raise RuntimeError(f"{handout.name}: $ {command.text}\n{ended.stderr}")
                old, new = command.shown, as_printed(ended.stdout)
                text = text.replace(f"$ {command.text}\n{old}\n", f"$ {command.text}\n{new}\n")
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
