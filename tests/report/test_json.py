"""The score's JSON: valid by its schema for every kind of score, and written whole or not at
all."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from grader.errors import UsageError
from grader.judging.score import failed_score
from grader.records import Dim3, Failure, Finding, FindingKind, Score, Status, Timing
from grader.report.json import format_score, write_score
from tests.support.factories import (
    CROOKED_LINES,
    H100,
    QUICK,
    make_case,
    make_graded,
    make_subject,
    make_submission,
)

SCHEMA = json.loads(
    (resources.files("grader") / "schemas" / "score.schema.json").read_text(encoding="utf-8")
)
FINDINGS = tuple(
    Finding(
        kind,
        "line 8: no",
        kernel="k",
        line=8,
        block=Dim3(1, 2, 3),
        thread=Dim3(0),
        buffer="out",
        offset_bytes=-4,
        other_line=11,
    )
    for kind in FindingKind
)


def wrong_score() -> Score:
    wrong = make_case("ragged", passed=False)
    assert wrong.mismatch is not None
    mismatch = replace(wrong.mismatch, got=math.nan, expected=-math.inf, worst_error=math.inf)
    cases = (
        make_case(),
        replace(wrong, mismatch=mismatch, worst_error=math.inf),
        make_case("primes", passed=False, hidden=True),
    )
    return make_graded(cases=cases)


def failed(status: Status, *, with_device: bool = True) -> Score:
    failure = Failure(status, "it \x1b[31mfailed", detail="error\n", findings=FINDINGS)
    submission = make_submission("b\udcff\x1b[2J.cu")
    subject = make_subject(submission=submission, device=H100 if with_device else None)
    return failed_score(subject, failure)


SCORES = {
    "passed": QUICK,
    "pending": make_graded(),
    "partial": make_graded(lines=CROOKED_LINES),
    "wrong": wrong_score(),
    "timed": replace(
        make_graded(), timings=(Timing("submission", 0.2, (0.1, 0.3), (0.1, 0.2, 0.3)),)
    ),
    "no device": failed(Status.GRADER_ERROR, with_device=False),
    **{
        status.value: failed(status)
        for status in Status
        if status not in (Status.PASSED, Status.FAILED)
    },
}


def errors_of(score: object) -> list[str]:
    return [
        f"{error.json_path}: {error.message}"
        for error in Draft202012Validator(SCHEMA).iter_errors(score)
    ]


def test_the_schema_itself_is_valid() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("kind", SCORES)
def test_every_score_is_valid_by_the_schema(kind: str) -> None:
    text = format_score(SCORES[kind])
    assert text.isascii()
    assert errors_of(json.loads(text, parse_constant=pytest.fail)) == []


@pytest.mark.parametrize("kind", SCORES)
def test_points_are_judged_or_pending(kind: str) -> None:
    plain = json.loads(format_score(SCORES[kind]))
    assert plain["judged_points"] == plain["max_score"] - plain["pending_points"]
    assert plain["pending_points"] == sum(check["pending_points"] for check in plain["checks"])
    assert plain["score"] <= plain["judged_points"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("status",), "fine"),
        (("surplus",), 1),
        (("submission", "sha256"), "xyz"),
        (("metrics", "speed"), {"value": 1, "unit": "", "source": "counted", "reason": None}),
        (("metrics", "dram_bytes", "reason"), None),
        (("metrics", "dram_bytes", "value"), 1.5),
        (("checks", 0, "status"), "ok"),
        (("cases", 0, "mismatch"), {}),
        (("device", "limits", "max_grid"), [1, 2]),
    ],
)
def test_the_schema_refuses_what_is_no_score(path: tuple[str | int, ...], value: object) -> None:
    score = json.loads(format_score(SCORES["pending"]))
    place = score
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert errors_of(score)


def test_figures_that_json_does_not_know_are_words() -> None:
    mismatch = json.loads(format_score(SCORES["wrong"]))["cases"][1]["mismatch"]
    assert (mismatch["got"], mismatch["expected"], mismatch["worst_error"]) == (
        "NaN",
        "-Infinity",
        "Infinity",
    )


def test_sizes_of_hidden_cases_stay_hidden() -> None:
    cases = json.loads(format_score(SCORES["wrong"]))["cases"]
    assert [case["sizes"] for case in cases] == [
        {"rows": 37, "cols": 1013},
        {"rows": 37, "cols": 1013},
        None,
    ]


def test_field_names_of_the_contract() -> None:
    score = json.loads(format_score(SCORES["partial"]))
    assert score["schema_version"] == 1
    assert score["submission"] == {"name": "transpose.cu", "sha256": "0" * 64}
    assert score["metrics"]["shared_bank_conflicts"] == {
        "value": 3100,
        "unit": "",
        "source": "counted",
        "reason": None,
        "interval": None,
    }
    assert score["checks"][1]["name"] == "shared_bank_conflicts"
    assert score["lines"][1]["line"] == 11
    assert score["lines"][1]["counters"]["global_store_sectors"] == 3200


def test_writes_the_whole_file_and_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "score.json"
    target.write_text("old")
    write_score(SCORES["passed"], target)
    assert target.read_text() == format_score(SCORES["passed"])
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "score.json"
    target.write_text("old")
    with pytest.raises(ValueError, match="JSON compliant"):
        write_score(replace(SCORES["passed"], score=math.nan), target)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_follows_a_link_and_leaves_it(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_score(SCORES["passed"], tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["status"] == "passed"


@pytest.mark.parametrize("name", ["missing/score.json", "."])
def test_a_path_that_cannot_be_written_is_bad_usage(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="cannot write the score"):
        write_score(SCORES["passed"], tmp_path / name)


def test_a_hidden_case_gives_no_sizes_away() -> None:
    case = json.loads(format_score(SCORES["wrong"]))["cases"][2]
    assert (case["hidden"], case["sizes"]) == (True, None)
    assert (case["mismatch"], case["worst_error"]) == (None, None)
