"""What a student reads: at every width, in a pipe, without colour, and whatever a submission is
called."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from grader.records import (
    CheckStatus,
    Dim3,
    Failure,
    Finding,
    FindingKind,
    Progress,
    Score,
    Source,
    Status,
)
from grader.report.score_page import print_score
from grader.report.terminal import grading_display, make_console, progress_display
from tests.support.factories import (
    CROOKED_LINES,
    DOUBTFUL,
    HARDLY_KNOWN,
    make_case,
    make_failed,
    make_graded,
    make_submission,
    with_last,
)

ESCAPE = "\x1b"


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def show(
    score: Score,
    *,
    width: int = 80,
    encoding: str = "utf-8",
    terminal: bool = False,
    **environ: str,
) -> str:
    raw = io.BytesIO()
    stream = (Terminal if terminal else io.TextIOWrapper)(raw, encoding=encoding, errors="strict")
    print_score(
        score, console=make_console(stream, width=width, environ={"TERM": "xterm", **environ})
    )
    stream.flush()
    return raw.getvalue().decode(encoding)


def fail(failure: Failure, name: str = "transpose.cu") -> Score:
    return make_failed(failure, make_submission(name))


WRONG = make_graded(
    cases=(
        make_case(),
        make_case("ragged", passed=False),
        make_case("primes", passed=False, hidden=True),
    )
)
CROOKED = make_graded(lines=CROOKED_LINES)
COMPILE_ERROR = fail(
    Failure(
        Status.COMPILE_ERROR,
        "line 11 does not compile",
        'transpose.cu(11): error: identifier "colz" is undefined\n    out[x] = colz;\n           '
        "  ^\n",
        "Fix it.",
    )
)
OUT_OF_BOUNDS = Finding(
    FindingKind.OUT_OF_BOUNDS,
    "line 11: beyond the end of out",
    kernel="transpose_shared",
    line=11,
    block=Dim3(3, 1),
    thread=Dim3(5, 2),
    buffer="out",
    offset_bytes=40128,
)
FAULT = fail(Failure(Status.RUNTIME_ERROR, OUT_OF_BOUNDS.message, findings=(OUT_OF_BOUNDS,)))
ALL = {
    "crooked": CROOKED,
    "good": make_graded(),
    "wrong": WRONG,
    "compile error": COMPILE_ERROR,
    "fault": FAULT,
}


def in_order(text: str, parts: Sequence[str]) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def test_the_promised_lines_come_first_then_table_hints_and_total() -> None:
    text = show(CROOKED)
    assert text.startswith(
        "✓ Correctness: PASSED\n✗ Bank conflicts: FAILED (count == 3,100)\n– Performance: NOT"
        " MEASURED (it was not"
    )
    assert in_order(
        text,
        [
            "Check ",
            "Coalesced stores  12.5 %",
            "Device: ",
            "What to try",
            "line 11: tile[",
            "Score: 25 of 100 points, 25 wait for a GPU",
        ],
    )


def test_verdicts_stand_in_words_and_glyphs() -> None:
    text = show(CROOKED)
    assert re.search(r"Correctness +100 % +== 100 % +25 / 25 +✓ passed", text)
    assert re.search(r"Bank conflicts +3,100 +== 0 +0 / 25 +✗ failed", text)
    assert re.search(r"Performance +>= 80 % +- / 25 +– not measured", text)


def test_a_good_score() -> None:
    text = show(make_graded())
    assert "✓ Bank conflicts: PASSED (count == 0)" in text
    assert "What to try" not in text
    assert "Score: 75 of 100 points, 25 wait for a GPU" in text


def test_performance_says_the_share_of_the_peak() -> None:
    score = make_graded()
    performance = replace(score.checks[-1], status=CheckStatus.PASSED, value=0.8514, points=25.0)
    text = show(replace(score, checks=(performance,)))
    assert text.startswith("✓ Performance: PASSED (bandwidth 85.1 % of peak)\n")


def test_the_table_says_why_a_bonus_was_skipped() -> None:
    score = make_graded()
    skipped = replace(score.checks[-1], status=CheckStatus.SKIPPED, points=0, headline=None)
    bonus = replace(skipped, title="In place (bonus)", message="the file has no kernel flip")
    text = show(with_last(score, bonus), width=110)
    assert re.search(
        r"In place \(bonus\) +>= 80 % +0 / 25 +– skipped: the file has no kernel flip\n", text
    )
    assert "– In place (bonus): skipped: the file has no kernel flip\n" in show(
        with_last(score, bonus), width=60
    )


def test_the_benefit_of_the_doubt_is_said_beside_the_verdict() -> None:
    text = show(DOUBTFUL, width=110)
    remark = "too close to call on a model, the benefit of the doubt"
    assert f"✓ Performance: PASSED (bandwidth 79 % of peak; {remark})\n" in text
    assert re.search(rf"Performance +79 % +>= 80 % +25 / 25 +✓ passed: {remark}\n", text)
    assert f"✓ Performance: passed: {remark}" in " ".join(show(DOUBTFUL, width=60).split())
    measured = with_last(DOUBTFUL, replace(DOUBTFUL.checks[-1], source=Source.MEASURED))
    remark = "too close to call, the benefit of the doubt"
    assert f"(bandwidth 79 % of peak; {remark})" in show(measured, width=110)


def test_a_time_that_is_hardly_known_is_told_as_not_measured() -> None:
    text = " ".join(show(HARDLY_KNOWN, width=110).split())
    assert (
        "– Performance: NOT MEASURED (the model does not know this kind of kernel well: its time"
        " (scattered stores) may be 35 % less or 40 % more)" in text
    )
    assert re.search(r"Performance 80.1 % >= 80 % - / 25 – not measured", text)
    assert "75 of 100 points, 25 wait for a GPU" in text
    assert "Time: 0.2 ms (0.13 to 0.28)" in text


def test_a_wrong_case_shows_where() -> None:
    text = show(WRONG)
    assert text.startswith(
        "✗ Correctness: FAILED (2 of 3 cases: ragged, primes)\n– Bank conflicts: SKIPPED"
        " (Correctness must pass first)"
    )
    assert "Where it is wrong: case ragged (rows = 37, cols = 1,013)" in text
    assert "first wrong: out[0][32], expected 0.5, got -1.25" in text
    assert "worst error: 3.21" in text
    assert (
        "    ····▒▒██\n    ······??\n    · right, ▒ some wrong, █ all wrong, ? never written\n"
        in text
    )


def test_a_hidden_case_shows_no_sizes() -> None:
    text = show(make_graded(cases=(make_case(), make_case("primes", passed=False, hidden=True))))
    assert "Where it is wrong: case primes (hidden sizes)" in text
    assert "1,013" not in text
    assert "some of the elements of `out` are wrong" in text
    assert not any(
        part in text
        for part in ("612", "37,481", "first wrong:", "worst error", "-1.25", "··", "▒")
    )


def test_an_error_that_is_not_finite_is_said_in_words() -> None:
    case = make_case("ragged", passed=False)
    assert case.mismatch is not None
    nan = replace(case, mismatch=replace(case.mismatch, got=float("nan"), worst_error=float("inf")))
    assert "got nan\n  worst error: not a finite number" in show(make_graded(cases=(nan,)))


def test_a_finding_is_not_repeated_where_the_message_also_names_the_case() -> None:
    named = Failure(
        Status.RUNTIME_ERROR,
        f"{OUT_OF_BOUNDS.message}. In case 'ragged'.",
        findings=(OUT_OF_BOUNDS,),
    )
    assert show(fail(named), width=200).count("line 11: beyond the end of out") == 1


def test_figures_that_differ_late_are_told_apart() -> None:
    case = make_case("ragged", passed=False)
    assert case.mismatch is not None
    close = replace(case, mismatch=replace(case.mismatch, expected=0.1, got=0.10000000149011612))
    assert "expected 0.1, got 0.100000001" in show(make_graded(cases=(close,)))


def test_the_compilers_words_stay_as_they_are() -> None:
    text = show(COMPILE_ERROR)
    assert COMPILE_ERROR.detail in text
    assert text.startswith("✗ Correctness: FAILED (it does not compile)")
    assert in_order(
        text, ["Compile error: line 11", "error:", "What to try", "Fix it.", "Score: 0 of 100"]
    )
    assert "Check " not in text


def test_a_very_long_detail_is_cut() -> None:
    text = show(
        fail(Failure(Status.COMPILE_ERROR, "no", "\n".join(f"error {n}" for n in range(500))))
    )
    assert "error 59\n... and 440 more lines" in text


def test_a_finding_quotes_its_source_line() -> None:
    text = show(FAULT, width=200)
    assert (
        "at kernel transpose_shared, block (3, 1, 1), thread (5, 2, 1), out + 40,128 bytes" in text
    )
    assert "11 | out[x * rows + y + j] = tile[threadIdx.x][threadIdx.y + j];" in text
    assert text.count("line 11: beyond the end of out") == 1


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_fits_the_width(kind: str, width: int) -> None:
    verbatim = ("identifier", "colz", " | ")
    lines = show(ALL[kind], width=width).split("\n")
    assert [
        line
        for line in lines
        if cell_len(line) > width and not any(part in line for part in verbatim)
    ] == []


def test_a_narrow_terminal_gets_a_list() -> None:
    text = show(CROOKED, width=40)
    assert "✗ Bank conflicts: failed\n  3,100, goal == 0; points 0 / 25\n" in text
    assert "Check " not in text


@pytest.mark.parametrize("kind", ALL)
def test_a_pipe_gets_no_escapes_and_no_boxes(kind: str) -> None:
    text = show(ALL[kind])
    assert ESCAPE not in text
    assert not re.search("[\u2500-\u257f]", text)


def test_a_terminal_gets_colour_unless_it_declines() -> None:
    assert f"{ESCAPE}[31m✗ Bank conflicts" in show(CROOKED, terminal=True)
    assert ESCAPE not in show(CROOKED, terminal=True, NO_COLOR="1")
    assert ESCAPE not in show(CROOKED, terminal=True, TERM="dumb")


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_stream_without_utf8_gets_ascii(kind: str, encoding: str, terminal: bool) -> None:
    text = show(ALL[kind], encoding=encoding, terminal=terminal)
    assert text.isascii()
    assert re.search(r"\[[-+x]\] Correctness: (PASSED|FAILED)", text)


def test_ascii_keeps_the_picture_readable() -> None:
    assert "    ....++##\n    ......??\n" in show(WRONG, encoding="ascii")


HOSTILE = "\x1b[31mred\x1b[0m [red]m[/red]\r\x1b]0;title\x07\x9b2J\u202eevil\udcff\x00"


@pytest.mark.parametrize("terminal", [False, True])
def test_hostile_text_is_shown_and_not_obeyed(terminal: bool) -> None:
    failure = Failure(
        Status.COMPILE_ERROR,
        f"{HOSTILE}\nsecond line",
        detail=f"{HOSTILE}\n[bold]x",
        advice=HOSTILE,
        findings=(replace(OUT_OF_BOUNDS, message=HOSTILE, kernel=HOSTILE, buffer=HOSTILE),),
    )
    text = show(fail(failure, HOSTILE), width=200, terminal=terminal, NO_COLOR="1")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\udcff]", text)
    assert "Compile error: red [red]m[/red] evil second line" in text
    assert "title" not in text
    assert "[bold]x" in text


def test_a_hostile_case_name_stays_on_its_line() -> None:
    case = replace(make_case("ragged", passed=False), name="a\nb [red]")
    assert "case a b [red] (rows" in show(make_graded(cases=(case,)))


def test_a_pipe_has_a_width_of_its_own_unless_columns_says_otherwise() -> None:
    assert make_console(io.StringIO(), environ={}).width == 110
    assert make_console(io.StringIO(), environ={"COLUMNS": "50"}).width == 50


# --- progress -------------------------------------------------------------------------------------


def run_stages(console: Console, *, quiet: bool = False) -> None:
    with progress_display(console, quiet=quiet) as show_progress:
        show_progress(Progress("compiling"))
        for done in range(3):
            show_progress(Progress("checking cases [red]", done, 3))


def test_a_pipe_gets_one_line_a_stage() -> None:
    stream = io.StringIO()
    run_stages(make_console(stream, environ={}))
    assert stream.getvalue() == "compiling\nchecking cases [red]\n"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_the_first_verdicts_before_the_others(terminal: bool) -> None:
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=terminal, width=80, _environ={"TERM": "xterm"})
    (passed, *_), unknown = make_graded().checks, CheckStatus.NOT_MEASURED
    with grading_display(console) as (show, show_checks):
        show(Progress("modelling"))
        assert (show_checks is not None) is terminal
        if show_checks is not None:
            late = replace(passed, headline="Times", status=unknown)
            show_checks([replace(passed, headline="Cor[red]rect"), late])
    assert ("✓ Cor[red]rect: PASSED" in stream.getvalue()) is terminal
    assert "Times" not in stream.getvalue()
    if terminal:
        assert stream.getvalue().count("\x1b[2K") >= 3  # the lines and the bar are erased


def test_quiet_shows_nothing() -> None:
    stream = io.StringIO()
    run_stages(make_console(stream, environ={}), quiet=True)
    assert stream.getvalue() == ""


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_terminal_gets_a_bar_that_leaves_no_trace(encoding: str) -> None:
    raw = io.BytesIO()
    stream = Terminal(raw, encoding=encoding, errors="strict")
    run_stages(make_console(stream, environ={"TERM": "xterm"}, width=80))
    stream.flush()
    text = raw.getvalue().decode(encoding)
    assert "checking cases [red]" in text
    assert text.endswith(f"{ESCAPE}[2K")
