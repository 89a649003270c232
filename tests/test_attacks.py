"""Attacks on the emulated device: they earn no more than on a GPU, and do nothing to the readers of
their reports.

tests/data/attacks holds submissions that try to earn points without the work, and honest ones that
look like them, with the status and the points that a GPU gave. More are in test_submissions.py.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import grader
from grader.records import Status
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


ATTACKS = ROOT / "tests" / "data" / "attacks"
VERDICTS: dict[str, dict[str, object]] = json.loads(
    (ATTACKS / "verdicts.json").read_text(encoding="utf-8")
)
"""By file: the GPU, the status and the points of the grader's run there."""
SLACK_POINTS = 4.0
"""Points by which modelled times may differ from measured ones. A goal inside the interval of a
modelled time is passed besides, with the benefit of the doubt."""


QUICK = {"transpose__slow_nanosleep_loop", "transpose__wrong_no_barrier_large"}
"""They take few seconds of processor time."""


def some_unless_slow() -> list[object]:
    marked = (
        pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in VERDICTS
    )
    return list(marked)


@pytest.mark.parametrize("name", some_unless_slow())
def test_an_attack_earns_no_more_than_on_a_gpu(name: str, cache: Path) -> None:
    verdict, exercise = VERDICTS[name], ROOT / "exercises" / name.partition("__")[0]
    device = f"emulated:{verdict['gpu']}"
    score = grader.grade(exercise, ATTACKS / f"{name}.cu", device=device, seed=11, cache=cache)
    points = verdict["points"]
    assert isinstance(points, float)
    doubt = sum(check.points for check in score.checks if check.in_doubt)
    assert score.score <= points + SLACK_POINTS + doubt, score.message
    if verdict["status"] != "passed" and not doubt:
        assert score.status is not Status.PASSED
    if "__honest_" in name:
        assert score.score >= points - score.pending_points - SLACK_POINTS, score.message
