"""Tables at 80 columns wrap their text: they cut nothing that a reader needs."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.console import Console

from grader.records import KernelList, ListedKernel
from grader.report.class_table import print_summary
from grader.report.kernel_pages import print_list
from grader.report.score_page import print_body
from grader.report.terminal import make_console
from tests.support.classes import make_entry, make_summary
from tests.support.factories import CROOKED_LINES, DOUBTFUL, make_case, make_graded

WRONG = make_graded(cases=(make_case(), make_case("ragged", passed=False)))
REASON = "an index off by one? (line 117); bank conflicts (line 51); stores not coalesced (line 48)"
NAME = "Anneliese-Maria-Theresia von Habsburg"


def show(print_on: Callable[[Console], None], width: int = 80) -> str:
    stream = io.StringIO()
    print_on(make_console(stream, environ={}, width=width))
    return stream.getvalue()


@pytest.mark.parametrize("score", [WRONG, DOUBTFUL, make_graded(lines=CROOKED_LINES)])
def test_the_table_of_checks(score: object) -> None:
    shown = show(lambda console: print_body(score, console=console))  # type: ignore[arg-type]
    assert "…" not in shown


def test_the_table_of_a_class_has_whole_reasons_and_names() -> None:
    entry = replace(make_entry(NAME, WRONG, "s.json", source_path=None), why=REASON)
    shown = show(lambda console: print_summary(make_summary([entry]), console=console))
    assert "…" not in shown
    column = shown.splitlines()[0].index("Why")
    wrapped = " ".join(line[column:].strip() for line in shown.split("\n\n")[0].splitlines()[1:])
    assert wrapped == REASON


def test_the_list_of_kernels_keeps_headings_and_figures_whole() -> None:
    kernel = ListedKernel(
        "mine.cu", "a_kernel_with_a_name_of_33_letters", 255, 49152, 1024, 4096, ()
    )
    shown = show(lambda console: print_list(KernelList((kernel,)), console=console))
    for word in ("registers", "instructions", "unsupported", "255", "49,152", "1,024", "4,096"):
        assert word in shown
    assert "…" not in shown
