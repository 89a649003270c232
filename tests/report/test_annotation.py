"""The source page: which figures belong to which line, which lines are hot, and how it looks on
paper and on a terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from grader.records import Counters, Failure, Finding, FindingKind, LineCounters, Score, Status
from grader.report.annotation import TERMINAL_COLUMNS, AnnotatedLine, Annotation, annotate
from grader.report.source_page import print_annotation
from grader.report.terminal import make_console
from tests.support.factories import (
    CROOKED_LINES,
    SOURCE,
    make_case,
    make_failed,
    make_graded,
)

CROOKED = make_graded(lines=CROOKED_LINES)


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def annotated(score: Score, text: str = SOURCE) -> Annotation:
    return annotate(score, text, TERMINAL_COLUMNS)


def row(number: int, score: Score = CROOKED) -> AnnotatedLine:
    return annotated(score).lines[number - 1]


def show(
    score: Score = CROOKED,
    text: str = SOURCE,
    *,
    width: int = 120,
    encoding: str = "utf-8",
    terminal: bool = False,
) -> str:
    stream = (Terminal if terminal else io.TextIOWrapper)(
        io.BytesIO(), encoding=encoding, errors="strict"
    )
    console = make_console(stream, width=width, environ={"TERM": "xterm"})
    print_annotation(annotated(score, text), console=console)
    stream.flush()
    stream.seek(0)
    return stream.read()


def test_figures_are_those_of_the_line() -> None:
    loads = {"load_sectors": 4, "load_efficiency": 1}
    assert row(8).figures == {
        "instructions": 200,
        "active_lanes": 0,
        "wavefronts": 100,
        "excess": 0,
        **loads,
    }
    assert row(11).figures["excess"] == 3100
    assert row(11).figures["store_sectors"] == 32
    assert row(11).figures["store_efficiency"] == 0.125


def test_a_line_without_code_has_no_figures() -> None:
    assert row(9).figures == {}
    assert not row(9).hot


def test_hot_lines_hold_much_of_a_cost() -> None:
    assert row(11).shares == {"instructions": 200 / 407, "excess": 1.0, "store_sectors": 1.0}
    assert row(11).hot
    lines = [
        LineCounters(8, Counters(instructions_executed=19)),
        LineCounters(9, Counters(instructions_executed=81)),
    ]
    score = make_graded(lines=lines)
    assert [row(number, score).hot for number in (8, 9)] == [False, True]


def test_columns_without_figures_are_left_out() -> None:
    score = make_graded(
        lines=[LineCounters(8, Counters(instructions_executed=5, thread_instructions_executed=160))]
    )
    assert [column.name for column in annotated(score).columns] == [
        "instructions",
        "active_lanes",
    ]


def test_code_of_no_line_comes_last_and_counts() -> None:
    annotation = annotated(CROOKED)
    assert annotation.lines[-1].number is None
    assert annotation.lines[-1].figures["instructions"] == 7
    assert annotation.total["instructions"] == 407
    beyond = make_graded(
        lines=[LineCounters(900, Counters(instructions_executed=3))]
    )  # after `#line 900`
    assert annotated(beyond).lines[-1].figures["instructions"] == 3


def test_lines_are_those_of_a_compiler() -> None:
    text = "// a\x0cb\u2028c\n__global__ void k() {}\n"
    assert [line.number for line in annotated(CROOKED, text).lines[:2]] == [
        1,
        2,
    ]
    assert annotated(CROOKED, text).lines[1].text == "__global__ void k() {}"


def test_the_page_is_aligned_and_says_the_sizes() -> None:
    shown = show().split("\n")
    told = " ".join(" ".join(shown[:3]).split())
    assert "counted by the emulated device at rows = 2,048, cols = 2,048" in told
    heading = next(line for line in shown if "Source" in line)
    (crooked,) = (line for line in shown if line.startswith("> 11 "))
    for title, figure in (("instr.", "200"), ("excess", "3,100"), ("used", "12.5 %")):
        assert heading.rindex(title) + len(title) == crooked.index(figure) + len(figure)
    assert max(map(cell_len, shown)) <= 120


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("width", [80, 120])
def test_a_line_that_matters_is_never_cut(encoding: str, terminal: bool, width: int) -> None:
    """The hot line 11 goes on below, further to the right than it begins."""
    text = SOURCE.replace(
        "// both are crooked", "// " + "both are crooked, 両方とも曲がっている " * 9 + "to the end"
    )
    shown = show(text=text, encoding=encoding, terminal=terminal, width=width)
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    lines = plain.split("\n")
    place = next(number for number, line in enumerate(lines) if line.startswith("> 11 "))
    begins, goes_on = (len(line) - len(line[6:].lstrip()) for line in lines[place : place + 2])
    assert goes_on > begins
    whole = " ".join(" ".join(lines[place:]).split())
    assert whole.count("are crooked,") == 9
    assert "to the end" in whole
    assert all(cell_len(line) <= (width if terminal else 120) for line in lines)


def test_other_long_lines_are_cut() -> None:
    cool = (*CROOKED_LINES, LineCounters(6, Counters(instructions_executed=1)))
    text = SOURCE.replace("int x = blockIdx.x", f"int {'x' * 200} = blockIdx.x")
    (line,) = (
        each for each in show(make_graded(lines=cool), text).split("\n") if each[:5] == "   6 "
    )
    assert "x…" in line
    assert cell_len(line) <= 120


IDLE = """
__global__ void __launch_bounds__(64) idle(int n);
template <int N>
__global__ void __launch_bounds__(64) idle(int n)
{
    if (n) { return; }
}
"""


def test_a_kernel_that_was_not_launched_is_folded() -> None:
    shown = show(text=SOURCE + IDLE)
    assert "... 3 lines: kernel idle was not launched" in shown
    assert "if (n) { return; }" not in shown
    assert "void transpose_shared" in shown
    assert "not launched" not in show(make_graded(cases=(make_case(passed=False),)), SOURCE + IDLE)


def test_a_pipe_gets_no_colour_and_a_terminal_does() -> None:
    assert "\x1b" not in show()
    assert "\x1b[1;31m> 11" in show(terminal=True)


def test_nothing_of_the_source_controls_the_terminal() -> None:
    shown = show(text=SOURCE.replace("// both are crooked", "// \x1b[2J\u202e[red]x"))
    assert "\x1b" not in shown
    assert "\u202e" not in shown


def test_findings_stand_under_their_lines() -> None:
    finding = Finding(FindingKind.OUT_OF_BOUNDS, "store beyond the end of out", line=11)
    failure = Failure(Status.RUNTIME_ERROR, "line 11: no", findings=(finding,))
    score = make_failed(failure)
    lines = show(score).split("\n")
    place = next(number for number, line in enumerate(lines) if line.startswith("  11 "))
    assert lines[place + 1].strip() == "^ store beyond the end of out"
    assert "no line was counted" in lines[1]
    assert "0" not in lines[place]


def test_without_counters_it_is_the_source() -> None:
    shown = show(make_graded(cases=(make_case(passed=False),)))
    assert all(line.strip() in shown for line in SOURCE.splitlines())
    assert annotated(replace(CROOKED, line_sizes={})).columns == ()
