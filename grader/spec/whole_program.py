"""The part of an exercise that grades whole programs: files, build, runs and expected results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from grader.cpp.expressions import Expression
from grader.spec.public import FILES_FOLDER as FILES_FOLDER

MEASURED = "measured run"
"""The name of this case."""
PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


class ExpectedFrom(StrEnum):
    """The source of the expected results: texts in the spec, `expected` of oracle.py, or the hidden
    reference."""

    SPEC = "spec"
    ORACLE = "oracle"
    REFERENCE = "reference"


@dataclass(frozen=True)
class ProgramInput:
    """Arguments, standard input and input files by name, of a run."""

    arguments: tuple[str, ...] = ()
    stdin: str = ""
    files: Mapping[str, str] | None = None


@dataclass(frozen=True)
class RunSpec:
    """A run before its sizes are known: `{n}` in a text stands for a size. `stdout` is the expected
    output where the spec has it."""

    given: ProgramInput
    exit_code: int = 0
    stdout: str | None = None

    def input_at(self, sizes: Mapping[str, int]) -> ProgramInput:
        """The input with these sizes."""
        files = self.given.files or {}
        return ProgramInput(
            tuple(fill(text, sizes) for text in self.given.arguments),
            fill(self.given.stdin, sizes),
            {name: fill(text, sizes) for name, text in files.items()},
        )


@dataclass(frozen=True)
class LeastWork:
    """The least work of the measured run on the device, as formulas of its sizes: bytes copied in
    each direction, and threads of all launches. A program that computes on the host does less."""

    to_device_bytes: Expression | None = None
    to_host_bytes: Expression | None = None
    threads: Expression | None = None


@dataclass(frozen=True)
class WholeProgram:
    """`supplied` files lie in the exercise's folder; `submit` are the names of the student's files,
    the submission first. `compiled` are the files on nvcc's command line, with `options`. `runs`
    has the runs by the names of their cases, `outputs` the files that each run writes.
    """

    supplied: tuple[str, ...]
    submit: tuple[str, ...]
    options: tuple[str, ...]
    runs: Mapping[str, RunSpec]
    expected: ExpectedFrom
    measured: RunSpec
    measured_sizes: Mapping[str, int]
    outputs: tuple[str, ...] = ()
    least: LeastWork = LeastWork()

    @property
    def compiled(self) -> tuple[str, ...]:
        """The source files among all files: headers are included by them."""
        return tuple(
            name for name in (*self.supplied, *self.submit) if Path(name).suffix in _COMPILED
        )


_COMPILED = frozenset({".cu", ".cpp", ".cc", ".cxx", ".c"})


def fill(text: str, sizes: Mapping[str, int]) -> str:
    """The text with the values of its sizes."""
    return PLACEHOLDER.sub(lambda found: str(sizes[found[1]]), text)
