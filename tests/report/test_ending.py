"""The last three lines of each report: score, next step, and the place of the details."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from grader.messages.reasons import ALL_PASSED, describe_next_step
from grader.records import Failure, Score, Status
from grader.report.class_table import print_class_ending
from grader.report.ending import print_ending
from grader.report.score_page import print_score
from grader.report.terminal import make_console
from tests.support.classes import make_entry, make_summary
from tests.support.factories import (
    CROOKED_LINES,
    QUICK,
    make_case,
    make_failed,
    make_graded,
)

CROOKED = make_graded(lines=CROOKED_LINES)
WRONG = make_graded(cases=(make_case(), make_case("ragged", passed=False)))
BROKEN = make_failed(
    Failure(Status.COMPILE_ERROR, "line 11 does not compile", "error:\n" * 70, "Add the ';'.")
)
ALL = {"slow": CROOKED, "wrong": WRONG, "broken": BROKEN, "good": QUICK, "pending": make_graded()}


def last_lines(score: Score, width: int = 80) -> list[str]:
    stream = io.StringIO()
    print_score(score, console=make_console(stream, environ={}, width=width))
    return stream.getvalue().splitlines()[-3:]


@pytest.mark.parametrize("score", ALL.values(), ids=ALL)
@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_report_ends_with_score_next_step_and_details(score: Score, width: int) -> None:
    lines = last_lines(score, width)
    assert [line.partition(":")[0] for line in lines] == ["Score", "Next", "Details"]
    assert max(map(len, lines)) <= width


def test_eighty_columns_show_the_place_of_the_details_whole() -> None:
    assert [
        line for score in ALL.values() for line in last_lines(score)[2::2] if "..." in line
    ] == []


def test_the_next_step_is_the_fix_that_wins_most_points() -> None:
    assert describe_next_step(CROOKED).startswith("Bank conflicts (25 points): line 11: ")
    assert describe_next_step(WRONG).startswith("Correctness (100 points): ")
    assert describe_next_step(BROKEN) == "Add the ';'."


def test_without_a_mistake_the_next_step_is_to_hand_in_or_to_wait() -> None:
    assert describe_next_step(QUICK) == ALL_PASSED
    assert describe_next_step(make_graded()) == "25 points wait for a GPU"


def test_files_that_were_written_are_the_place_of_the_details() -> None:
    stream = io.StringIO()
    print_ending(CROOKED, console=make_console(stream, environ={}), details="page.html")
    assert stream.getvalue().endswith("Details: page.html\n")


def test_a_class_ends_with_its_mean_the_next_step_and_the_report() -> None:
    stream = io.StringIO()
    entries = [
        make_entry(name, score, f"scores/{name}.json", source_path=None)
        for name, score in (("ada", QUICK), ("ben", WRONG))
    ]
    console = make_console(stream, environ={}, width=80)
    print_class_ending(make_summary(entries), Path("results"), console=console)
    assert stream.getvalue().splitlines()[-3:] == [
        "Score: transpose: mean 50.0 of 100 points",
        "Next: hand feedback back: grade feedback results",
        "Details: results/report.html has a page for each submission",
    ]
