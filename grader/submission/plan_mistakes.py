"""Mistakes in launch lines, with the line and a caret under the place."""

from __future__ import annotations

from grader.cpp.cursor import LanguageError
from grader.records import PlanMistake
from grader.spec.launch_lines import Written

_CONTEXT = 120
"""Most characters shown before and after the place of a mistake."""

LAUNCH_FORM = (
    "A launch line has the form: // launch: kernel<<<dim3(x, y), dim3(x, y),"
    " shared_bytes>>>(arguments)."
)
SCRATCH_FORM = "A scratch line has the form: // scratch: float name[number_of_elements]."
_DEFAULT_PLAN = (
    "Keep the kernel's name and parameters as the handout gives them, or write a // launch: line of"
    " your own."
)


def launch_mistake(error: LanguageError, source: str) -> PlanMistake:
    """A mistake in a line of the submission's `source`."""
    lines = source.split("\n")
    shown = lines[error.line - 1] if 1 <= error.line <= len(lines) else ""
    quoted = draw_caret(shown, error.column, gutter=f"{error.line} | ")
    return _make_mistake(error, error.line, LAUNCH_FORM, quoted)


def plan_mistake(error: LanguageError, written: Written, source: str) -> PlanMistake:
    """A mistake in `written`, which is a line of `source` or, where it has no line, of the
    exercise's own plan."""
    if written.line is not None:
        return launch_mistake(error, source)
    quoted = draw_caret(written.text, error.column - written.column + 1, gutter="")
    return _make_mistake(error, None, _DEFAULT_PLAN, quoted)


def _make_mistake(error: LanguageError, line: int | None, advice: str, quoted: str) -> PlanMistake:
    return PlanMistake(
        line,
        error.column,
        error.message,
        error.advice or advice,
        quoted,
        error.problem,
        error.figures,
    )


def draw_caret(line: str, column: int, *, gutter: str) -> str:
    """The line, or its part around the 1-based column, and a caret under the column. Tabs stay, so
    that it stands right."""
    first = max(0, column - _CONTEXT)
    shown = "".join(
        letter if letter.isprintable() or letter == "\t" else " "
        for letter in line[first : column + _CONTEXT].rstrip()
    )
    before = shown[: column - 1 - first].ljust(column - 1 - first)
    pad = "".join("\t" if letter == "\t" else " " for letter in " " * len(gutter) + before)
    return f"{gutter}{shown}\n{pad}^"
