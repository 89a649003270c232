"""What a submission prints itself: shown, limited, and never mistakable for the grader's words."""

from __future__ import annotations

import io
from dataclasses import replace

from grader.records import Failure, Printed, Score, Status
from grader.report.score_page import format_printed, print_score
from grader.report.terminal import make_console
from tests.support.factories import make_case, make_failed, make_graded


def printing(*texts: str, cut: bool = False) -> tuple[Printed, ...]:
    return tuple(Printed("k<4>", text, cut) for text in texts)


def graded(text: str, *, cut: bool = False) -> Score:
    return make_graded(
        cases=(make_case(), replace(make_case("small"), printed=printing(text, cut=cut)))
    )


def show(score: Score) -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    print_score(score, console=make_console(stream, width=80, environ={"TERM": "xterm"}))
    stream.seek(0)
    return stream.read()


def test_says_whose_words_they_are_and_where_from() -> None:
    shown = show(graded("i = 3\n✓ Correctness: PASSED\n"))
    assert (
        "Printed by the submission itself, not by the grader (kernel k<4>, case small)\n  | i = 3\n"
        "  | ✓ Correctness: PASSED\n" in shown
    )


def test_control_characters_become_visible() -> None:
    shown = show(graded("a\x1b[2Jb\x07\rc\x9bd\u202ee\tf"))
    assert r"| a\x1b[2Jb\x07\rc\x9bd\u202ee" in shown
    assert not set(shown) & {"\x1b", "\x07", "\r", "\x9b", "\u202e", "\t"}


def test_markup_is_text() -> None:
    assert "| [red]a[/red] <b>" in show(graded("[red]a[/red] <b>"))


def test_much_output_is_cut() -> None:
    (many,) = format_printed(graded("x\n" * 50))
    assert many.lines[19:] == ("| x", "... 30 more lines: --json FILE has them")
    (long,) = format_printed(graded("y" * 4096, cut=True))
    assert long.lines == ("| " + "y" * 99 + "…", "... more than is kept")


def test_the_wrong_case_comes_first() -> None:
    wrong = replace(make_case("ragged", passed=False), printed=printing("wrong"))
    score = make_graded(cases=(replace(make_case(), printed=printing("right")), wrong))
    assert [block.lines for block in format_printed(score)] == [("| wrong",)]


def test_a_failed_run_shows_what_it_printed_before() -> None:
    failure = Failure(
        Status.RUNTIME_ERROR, "line 3: assert(x) failed", printed=printing("x = 0", "again")
    )
    score = make_failed(failure)
    assert [block.lines for block in format_printed(score)] == [("| x = 0",), ("| again",)]


def test_silent_submissions_show_nothing() -> None:
    assert format_printed(make_graded()) == ()
