"""The request of a run without an exercise: the words for its data and its modes. They are options
of `grade run`, or a line of the file itself:

    // run: --size n=65536 --input x=normal --output y --scalar alpha=2.0 --check

`grade run` takes the first such line of a file; benchmarks/ times the kernels once for each line.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from grader.cpp.declarations import has_main
from grader.cpp.lexer import find_comments
from grader.errors import UsageError
from grader.explore.kernel_data import KernelData, read_data
from grader.explore.kernel_words import (
    ANYTHING,
    Allowed,
    check_given,
    find_uses,
    parse_maps,
    parse_scalars,
    parse_sizes,
    read_inputs,
    read_outputs,
)
from grader.records import Submission
from grader.submission.plan import read_plan

DATA = ("size", "input", "output", "scalar", "tensor-map")
MODES = ("check", "model")
FORM = "A run line has the form: // run: --size n=65536 --input x=normal --output y"
_LINE = re.compile(r"[ \t]*run:(.*)")


@dataclass(frozen=True)
class RunRequest:
    """The words of the options by name, and the modes."""

    words: dict[str, list[str]] = field(default_factory=dict)
    modes: frozenset[str] = frozenset()

    @property
    def has_data(self) -> bool:
        return any(self.words.values())

    @property
    def check(self) -> bool:
        return "check" in self.modes

    @property
    def model(self) -> bool:
        return "model" in self.modes

    def of(self, name: str) -> list[str]:
        """The words of an option."""
        return self.words.get(name, [])


@dataclass(frozen=True)
class RunLine:
    """A `// run:` line: its number in the file, and its text after the colon."""

    number: int
    text: str


def find_run_lines(source: str) -> Iterator[RunLine]:
    """The run lines of a source, in order."""
    for comment in find_comments(source):
        if found := _LINE.match(comment.text):
            yield RunLine(comment.line, found[1].strip())


def find_run_line(source: str) -> RunRequest:
    """The request of a source's first run line; empty if there is none. Raises UsageError for a
    wrong line."""
    first = next(find_run_lines(source), None)
    return parse_run_line(first.text) if first else RunRequest()


def parse_run_line(line: str) -> RunRequest:
    """The request of the text of a run line. Raises UsageError."""
    try:
        rest = shlex.split(line)[::-1]
    except ValueError as error:
        raise UsageError(f"// run: {line}: {error}", FORM) from None
    words: dict[str, list[str]] = {name: [] for name in DATA}
    modes = set()
    while rest:
        option, equals, value = rest.pop().partition("=")
        name = option.removeprefix("--")
        if option == name or name not in (*DATA, *MODES) or (equals and name in MODES):
            known = ", ".join(f"--{each}" for each in (*DATA, *MODES))
            raise UsageError(
                f"// run: {line}: {option!r} is no option of a run line", f"Use {known}."
            )
        if name in MODES:
            modes.add(name)
        elif equals or rest:
            words[name].append(value if equals else rest.pop())
        else:
            raise UsageError(f"// run: {line}: {option} has no value", FORM)
    return RunRequest(words, frozenset(modes))


def read_given(
    file: Path, request: RunRequest, seed: int, *, allowed: Allowed = ANYTHING
) -> KernelData:
    """The data of a request for the kernels of a file. Raises UsageError for a wrong word, and for
    an array without words."""
    sizes, scalars = parse_sizes(request.of("size")), parse_scalars(request.of("scalar"))
    allowed.check_count([*request.of("input"), *request.of("output")])
    uses = find_uses(file)
    inputs = read_inputs(request.of("input"), sizes, seed=seed, uses=uses, allowed=allowed)
    outputs = read_outputs(request.of("output"), sizes, seed=seed, uses=uses, allowed=allowed)
    check_given(uses, {*inputs, *outputs, *scalars, *sizes}, sizes)
    if not outputs:
        raise UsageError(
            "there is no output, so the run would show nothing",
            "Name an array that the kernels write, for example --output y=float32:n.",
        )
    return read_data(inputs, outputs, sizes, scalars, parse_maps(request.of("tensor-map"), sizes))


def is_program(source: object, request: RunRequest) -> bool:
    """Whether a source is a program: it has a `main`, no launch line, and no data is given."""
    if request.has_data or not isinstance(source, Submission):
        return False
    return has_main(source.text) and read_plan(source) is None
