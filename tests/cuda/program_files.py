"""The CUDA programs of this folder: how each is built and run, and its recorded results.

Needs only the standard library, because `record.py` runs it on a machine without the grader.
"""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
EXIT_CODES = PROGRAMS / "exit_codes.json"
COMMENT = re.compile(r"^// (nvcc|args|stdin): (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """`source` is a file, or a folder with a Makefile whose target `test` runs the program."""

    name: str
    source: Path
    options: tuple[str, ...]
    arguments: tuple[str, ...]
    stdin: str

    @property
    def is_folder(self) -> bool:
        """Whether `make test` builds and runs it."""
        return self.source.is_dir()


@dataclass(frozen=True)
class Recorded:
    """The results on a GPU."""

    stdout: str
    exit_code: int


def read_programs() -> tuple[Program, ...]:
    """All programs, sorted by name."""
    folders = [path.parent for path in PROGRAMS.glob("*/Makefile")]
    return tuple(read_program(path) for path in sorted([*folders, *PROGRAMS.glob("*.cu")]))


def read_program(source: Path) -> Program:
    """Options come from the comments `// nvcc:`, `// args:` and `// stdin:` of a file."""
    text = "" if source.is_dir() else source.read_text(encoding="utf-8")
    found = dict(COMMENT.findall(text))
    return Program(
        source.stem,
        source,
        tuple(shlex.split(found.get("nvcc", ""))),
        tuple(shlex.split(found.get("args", ""))),
        found.get("stdin", ""),
    )


def read_recorded(program: Program) -> Recorded:
    """Raises `KeyError` for a program without recorded results."""
    exit_codes = json.loads(EXIT_CODES.read_text(encoding="utf-8"))
    output = (PROGRAMS / f"{program.name}.out").read_text(encoding="utf-8")
    return Recorded(output, exit_codes[program.name])
