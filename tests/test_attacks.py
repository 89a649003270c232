"""What an attack's file may do to whoever reads its report: nothing. The verdicts of the attacks
are in test_submissions.py."""

from __future__ import annotations

import io
from pathlib import Path

import grader
from grader.report.json import format_score
from grader.report.score_page import print_score
from grader.report.terminal import make_console

ROOT = Path(__file__).resolve().parents[1]
HOSTILE = ROOT / "tests" / "submissions" / "transpose" / "failed--escape_sequences_and_html.cu"


def test_escape_sequences_of_a_submission_reach_no_terminal() -> None:
    assert "\x1b[2J" in HOSTILE.read_text(encoding="utf-8")
    score = grader.grade(
        ROOT / "exercises" / "transpose", HOSTILE, device="emulated:h100", seed=11, model=False
    )
    shown = io.StringIO()
    print_score(score, console=make_console(shown, environ={}))
    assert score.lines
    for text in (shown.getvalue(), format_score(score)):
        assert not set(text) & {"\x1b", "\x07", "\u202e"}
