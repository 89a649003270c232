"""No text of a submission, and none that a compiler or a kernel makes of it, costs the grader's own
process more than linear time.

What is held are steps, not seconds. Python's are lines, one for each turn of a loop, also within
a line (bytecodes tell no more and cost four times as much). The regular expressions' are counted
through a signal that is raised again whenever it is handled: the matching engine asks for signals
at every 4096th of its steps, and each signal leaves a byte in a file.

By default texts are as short as tell what is quadratic; with --run-slow they are several times as
long besides, which tells it of what is so in a few of its steps only.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import product
from types import FrameType
from typing import Any

import pytest

from grader.authoring.mutants import blank_out
from grader.cpp.brackets import split_arguments
from grader.cpp.cursor import MAX_LENGTH
from grader.cpp.declarations import assigns, find_includes, find_kernels, read_constants
from grader.cpp.lexer import _TOKEN, find_comments, read_tokens
from grader.emulator.run.formatting import count_arguments
from grader.messages.accesses import find_shared_names, quote_access
from grader.records import Submission
from grader.report.text import clean_line, clean_text, escape_controls
from grader.similar.winnowing import compare_files
from grader.spec.launch_lines import parse_launch
from grader.spec.statements import Plan
from grader.submission.lookups import check_lookups
from grader.submission.plan import read_macros, read_plan
from grader.toolchain.dependencies import check_directives, parse_dependencies
from grader.toolchain.diagnostics import _parse_messages, _without_paths
from grader.toolchain.shared_arrays import _read_shapes

PIECES = (
    "CAT",
    "CAT ",
    "CAT(",
    "a",
    "a ",
    "a[",
    "a[i] ",
    "[",
    "]",
    "(",
    "{",
    "<",
    ",",
    ";",
    "=",
    "1",
    "1'",
    "a1'",
    ".",
    "$",
    "é",
    " ",
    "\t",
    "\n",
    "\r\n",
    "##",
    "#",
    "# \n",
    "%:%:",
    "\\",
    "\\\n",
    "\\ \n",
    "\\ ",
    "/",
    "//",
    "// \\\n",
    "/*",
    "/*a*/",
    "/*a\n",
    "/*launch <<<\n",
    "*/",
    '"',
    "'",
    '"a',
    "'\\",
    'R"(',
    'R"a(',
    ')"',
    'u8R"x(\n)x"',
    "__has_include",
    "__has_include(",
    "__has_include(<",
    "__has_include(<a>) ",
    "HAS_INCLUDE",
    "defined __has_include ",
    "#include <a>\n",
    "#include",
    "#define A B\n",
    "#define A A\n",
    "#ifdef __has_embed\n",
    "#pragma GCC ",
    "GCC dependency ",
    "__shared__",
    "__shared__ ",
    "__shared__ float a[N]; ",
    "__shared__ a[",
    "const int x = ",
    "constexpr int N = 1;\n",
    "// launch:",
    "// launch: \n",
    "// launch k:\n",
    "// lauch: k<<<1, 1>>>()\n",
    "// scratch: float a[N]\n",
    "/* launch: */ ",
    "// launch: k<<<",
    "template<__global__ k(",
    "a.cu:1: error: ",
    "a.cu(1): error: b\n",
    "ptxas error : ",
    "at line 1 of submission.cu ",
    "/a/b ",
    "/a",
    "_Z1k ",
    "%",
    "%*",
    "%d",
    "%-",
    "\x1b[",
    "\x1b]",
    "E9",
    "a:",
    "a, ",
    "k<<<1, 1>>>(",
)
"""What some reader reacts to, to be repeated."""


def _parse_line(text: str) -> None:
    """A launch line as long as may be, and the places of its names."""
    plan = read_plan(
        Submission(
            "a.cu", "0", f"// launch: k<<<1, 1>>>({text[: MAX_LENGTH - 100].replace(chr(10), ' ')}"
        )
    )
    if isinstance(plan, Plan):
        read_macros(plan, dict.fromkeys(plan.names, "1"), text)


READERS: Mapping[str, Callable[[str], object]] = {
    "lexer": lambda text: list(read_tokens(text)),
    "comments": lambda text: list(find_comments(text)),
    "lookups": check_lookups,
    "plan": lambda text: read_plan(Submission("a.cu", "0", text)),
    "launch line": _parse_line,
    "shared names": find_shared_names,
    "access": lambda text: quote_access(
        text, shared=True, stored=False, shared_names=frozenset({"a"})
    ),
    "shared arrays": _read_shapes,
    "kernels": find_kernels,
    "constants": read_constants,
    "includes": lambda text: list(find_includes(text)),
    "assignments": lambda text: assigns(text, "a"),
    "arguments": split_arguments,
    "mutants": blank_out,
    "directives": check_directives,
    "dependencies": parse_dependencies,
    "messages": _parse_messages,
    "paths": lambda text: _without_paths(text, Submission("a.cu", "0", "")),
    "similar": lambda text: compare_files({"a": text, "b": text}, starters={}),
    "report": lambda text: (clean_text(text), clean_line(text), escape_controls(text)),
    "printf": count_arguments,
}

MODULES = (
    "grader.cpp.lexer",
    "grader.cpp.cursor",
    "grader.cpp.expressions",
    "grader.cpp.declarations",
    "grader.cpp.types",
    "grader.submission.lookups",
    "grader.submission.plan",
    "grader.submission.names",
    "grader.submission.arguments",
    "grader.messages.accesses",
    "grader.toolchain.diagnostics",
    "grader.toolchain.dependencies",
    "grader.toolchain.preprocess",
    "grader.toolchain.shared_arrays",
    "grader.toolchain.demangle",
    "grader.toolchain.nvdisasm",
    "grader.similar.tokens",
    "grader.similar.tokens",
    "grader.report.text",
    "grader.emulator.run.formatting",
    "grader.batch.collect",
)
AT_THE_START = {
    "_EXACT",
    "_NEAR",
    "_FORMATS",
    "_STATIC",
    "_DYNAMIC",
    "_PLAIN_OPERAND",
    "_DEMANGLED_INTEGER",
    "_UNKNOWN_ARCH",
    "_INTEGER",
    "_VECTOR",
    "_INCLUDED",
    "_SECTION",
    "_FUNCTION",
    "_PLACE",
    "_INSTRUCTION",
    "_CANVAS",
    "_MOODLE",
    "_GRADESCOPE",
}
"""Patterns that are only matched at the start of a text."""
WINDOWED = {"_POINTER": "of a parameter's type"}


def patterns() -> Iterator[Any]:
    for module in MODULES:
        for name, value in vars(importlib.import_module(module)).items():
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, re.Pattern) and name not in WINDOWED:
                    yield pytest.param(
                        each, name in AT_THE_START, id=f"{module.removeprefix('grader.')}.{name}"
                    )


def engine_steps(action: Callable[[], object]) -> int:
    """How often the matching engine (and Python) looked for signals."""
    libc = ctypes.PyDLL(None)
    again = libc["raise"]
    again.argtypes, again.restype = [ctypes.c_int, ctypes.py_object], ctypes.c_int
    file = os.memfd_create("steps")
    os.set_blocking(file, False)
    before = signal.signal(signal.SIGUSR1, again)
    woken = signal.set_wakeup_fd(file, warn_on_full_buffer=False)
    try:
        signal.raise_signal(signal.SIGUSR1)
        action()
    finally:
        signal.signal(signal.SIGUSR1, lambda *_: None)
        signal.set_wakeup_fd(woken)
        signal.signal(signal.SIGUSR1, before)
        count = os.fstat(file).st_size
        os.close(file)
    return count


def lines(action: Callable[[], object]) -> int:
    """How many of Python's lines it takes; a jump back to the same line, as in a comprehension,
    counts as one."""
    count = 0

    def trace(frame: FrameType, event: str, _: object) -> object:
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)  # type: ignore[arg-type]
    try:
        action()
    finally:
        sys.settrace(None)
    return count


def repeat(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


@pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="counts through a file in memory")
@pytest.mark.parametrize("length", [1 << 11, pytest.param(1 << 13, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("pattern", "at_start"), [*patterns()])
def test_every_regular_expression_is_linear(
    pattern: re.Pattern[str], at_start: bool, length: int
) -> None:
    apply = pattern.match if at_start else partial(pattern.sub, "")
    for piece, end in product(PIECES, ("", "!")):
        small, large = (
            engine_steps(partial(apply, repeat(piece, size) + end)) for size in (length, 2 * length)
        )
        assert large <= 2.5 * small + 24, (piece, end, small, large)


@pytest.mark.parametrize("piece", PIECES)
def test_the_lexer_takes_a_long_text_of_any_word_in_few_steps_a_character(piece: str) -> None:
    text = repeat(piece, 1 << 17)
    left: list[str] = []
    assert engine_steps(lambda: left.append(_TOKEN.sub("", text))) * 4096 < 128 * len(text)
    assert left == [""]  # every character is in a token


@pytest.mark.parametrize("length", [50, pytest.param(250, marks=pytest.mark.slow)])
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_takes_linear_steps(reader: str, length: int) -> None:
    read = READERS[reader]
    read("warm")
    for piece in PIECES:
        small, large = (lines(partial(read, repeat(piece, size))) for size in (length, 6 * length))
        assert large <= 14 * small + 3 * length, (
            piece,
            small,
            large,
        )  # 6 times, were it not for texts that end in another mistake


def test_a_launch_line_of_many_names_is_read_once() -> None:
    def read(count: int) -> None:
        line = parse_launch(f"k<<<1, 1>>>({' + '.join(f'n{index}' for index in range(count))})")
        read_macros(Plan((line,)), dict.fromkeys(line.arguments[0].names, "1"), "")

    small, large = (lines(partial(read, count)) for count in (200, 400))
    assert large <= 2.5 * small


def test_the_counters_see_what_is_not_linear() -> None:
    word = re.compile(r"([A-Za-z_]\w*)\s*\[")
    small, large = (engine_steps(partial(word.search, "a" * size)) for size in (1 << 11, 1 << 12))
    assert large > 2.5 * small + 24
    assert lines(lambda: [0 for _ in range(1000)]) > 1000


@pytest.mark.parametrize(
    "read",
    [
        lambda text: [earlier for end in range(len(text)) for earlier in text[:end]],
        lambda text: sum(any(c < "\0" for c in text[:end]) for end in range(len(text))),
        lambda text: [list(map(lambda c: c, text[:end])) for end in range(len(text))],  # noqa: C417
    ],
    ids=["comprehension", "generator", "calls"],
)
def test_a_reader_that_is_not_linear_is_caught(read: Callable[[str], object]) -> None:
    small, large = (lines(partial(read, "a" * size)) for size in (50, 300))
    assert large > 14 * small + 3 * 50
