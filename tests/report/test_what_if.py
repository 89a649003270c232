"""What fixes would give, as a student reads it."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest

from grader.records import (
    CheckStatus,
    CodeChange,
    FixEffect,
    FixKind,
    Score,
    Source,
    TriedFix,
    WhatIf,
    WhatIfMode,
)
from grader.report.html.submission import render_submission
from grader.report.terminal import make_console
from grader.report.what_if import print_what_if
from tests.support.factories import make_graded

HOSTILE = "tile\x1b[31m<b>"


def make_effects(conflicts: int, part: float) -> tuple[FixEffect, ...]:
    none = CheckStatus.PASSED if conflicts == 0 else CheckStatus.FAILED
    fast = CheckStatus.PASSED if part >= 0.8 else CheckStatus.PARTIAL
    return (
        FixEffect("bandwidth_fraction", "bandwidth_fraction", part, Source.MODELLED, fast, 15.0),
        FixEffect(
            "shared_bank_conflicts", "shared_bank_conflicts", conflicts, Source.COUNTED, none, 15.0
        ),
    )


def make_fix(now: int, conflicts: int, *code: CodeChange, name: str = "tile") -> TriedFix:
    effects = make_effects(conflicts, 0.83)
    return TriedFix(FixKind.ROW_LENGTH, name, (32,), (now,), None, effects, 20.0, 0.2, code)


def make_score(*fixes: TriedFix) -> Score:
    found = WhatIf(
        WhatIfMode.NUMBERS, "emulated H100", make_effects(4_063_232, 0.5), fixes, 2, 1, 0, 9.0
    )
    return replace(make_graded(), what_if=found)


def show(score: Score, *, width: int = 100, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, errors="strict")
    print_what_if(score, console=make_console(stream, width=width, environ={}))
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_the_best_fix_is_a_sentence_and_all_are_rows() -> None:
    text = show(make_score(make_fix(33, 0), make_fix(34, 131_072)))
    words = " ".join(text.split())
    assert "With tile: rows of 33, not 32: 83 % of the peak, " in text
    assert "; with rows of 34, not 32: 83 % of the peak, Bank conflicts 131,072." in words
    (row,) = [line for line in text.splitlines() if line.startswith("tile: rows of 33")]
    assert row.split()[-5:] == ["83", "%", "✓", "0", "+20"]
    assert "Your points stay as they are." in words
    assert "Of other fixes, 1 is no better and 2 are not right." in words


def test_no_better_fix_is_said() -> None:
    assert "None of 3 fixes that the grader knows" in show(make_score())


def test_nothing_is_printed_where_nobody_asked() -> None:
    assert show(make_graded()) == ""


@pytest.mark.parametrize("width", [40, 60, 80, 200])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_it_fits_every_terminal(width: int, encoding: str) -> None:
    text = show(make_score(make_fix(33, 0)), width=width, encoding=encoding)
    assert max(map(len, text.splitlines())) <= width
    assert "83 %" in text


def test_code_is_shown_where_there_is_some() -> None:
    change = CodeChange(4, ("float tile[T][T];",), ("float tile[T][T + 1];",))
    text = show(make_score(make_fix(33, 0, change)))
    assert "    4 - float tile[T][T];\n" in text
    assert "    4 + float tile[T][T + 1];\n" in text


def test_names_of_a_submission_stay_text() -> None:
    score = make_score(make_fix(33, 0, name=HOSTILE))
    assert "\x1b" not in show(score)
    page = render_submission(score, student="a", title="t", source=None)
    assert "tile&lt;b&gt;: rows of 33, not 32" in page
    assert ">✓ 83 %</td>" in page


def test_a_page_has_a_section_only_where_fixes_were_tried() -> None:
    assert 'id="what-if"' not in render_submission(
        make_graded(), student="a", title="t", source=None
    )
