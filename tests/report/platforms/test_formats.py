"""The formats of platforms: valid by what they document, with partial points, and no zero that is
not the student's."""

from __future__ import annotations

import html
import json
import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
import xmlschema
from jsonschema import Draft202012Validator

from grader.errors import GraderError
from grader.judging.evidence import Evidence
from grader.judging.score import make_score
from grader.metrics import MODELLED
from grader.records import PendingRule, Score, Status
from grader.report.platforms import FORMATS, format_for_platform
from grader.report.platforms.github import format_github
from grader.report.platforms.gradescope import format_gradescope
from grader.report.platforms.junit import format_junit
from grader.report.platforms.markdown import format_markdown
from tests.support.classes import HOSTILE, failed, timed
from tests.support.factories import (
    CROOKED_LINES,
    DOUBTFUL,
    HARDLY_KNOWN,
    QUICK,
    make_case,
    make_execution,
    make_graded,
    make_subject,
)

DATA = Path(__file__).resolve().parents[2] / "data" / "platforms"
HOSTILE_XML = HOSTILE + "\x00\x0b\ufffe\uffff\ud800]]>"
STUDENTS = (
    Status.COMPILE_ERROR,
    Status.LAUNCH_ERROR,
    Status.RUNTIME_ERROR,
    Status.TIMEOUT,
    Status.REJECTED,
)
OURS = (Status.UNSUPPORTED, Status.GRADER_ERROR)
GRADED: dict[str, Score] = {
    "passed": QUICK,
    "partial": timed(make_graded(lines=CROOKED_LINES), 0.2),
    "timed": timed(make_graded(), 0.2),
    "doubtful": DOUBTFUL,
    "wrong": make_graded(cases=(make_case(passed=False),)),
    **{
        status.value: failed(
            status, name=f"{HOSTILE_XML}.cu", message=HOSTILE_XML, detail=HOSTILE_XML
        )
        for status in STUDENTS
    },
}
PENDING = {"pending": make_graded(), "failed": make_graded(lines=CROOKED_LINES)}
"""75 of 75 and 25 of 75 judged points; 25 more are pending."""
EXCLUDED = make_score(
    replace(make_subject(), excluded=MODELLED),
    Evidence(cases=(make_case(),), execution=make_execution()),
)
"""75 of 75 points, without modelled times."""
OF_CHECKS = [name for name in FORMATS if name not in ("gcc", "sarif")]
"""The others have no text on a check (test_marks.py)."""
FAULTS = {status.value: failed(status, message=HOSTILE_XML) for status in OURS}


def errors_of(schema: str, text: str) -> list[str]:
    validator = Draft202012Validator(json.loads((DATA / schema).read_text()))
    return [
        f"{error.json_path}: {error.message}" for error in validator.iter_errors(json.loads(text))
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_its_module(name: str) -> None:
    assert format_for_platform(GRADED["passed"], name)


@pytest.mark.parametrize("kind", GRADED)
def test_gradescope_gets_what_it_documents(kind: str) -> None:
    assert errors_of("gradescope.schema.json", format_gradescope(GRADED[kind])) == []


def test_gradescope_shows_each_check_with_its_points() -> None:
    score = GRADED["partial"]
    results = json.loads(format_gradescope(score))
    assert results["score"] == score.score == 50
    points = {test["name"]: (test.get("score"), test.get("max_score")) for test in results["tests"]}
    assert points == {
        "Correctness": (25, 25),
        "Bank conflicts": (0, 25),
        "Coalesced stores": (0, 25),
        "Performance": (25, 25),
    }
    assert all(test["visibility"] == "visible" for test in results["tests"])


@pytest.mark.parametrize("kind", FAULTS)
def test_gradescope_gets_no_zero_for_a_fault_that_is_not_the_students(kind: str) -> None:
    with pytest.raises(GraderError, match="no grade"):
        format_gradescope(FAULTS[kind])


@pytest.mark.parametrize("kind", [*GRADED, *FAULTS])
def test_github_gets_what_its_reporter_reads(kind: str) -> None:
    assert errors_of("github.schema.json", format_github((GRADED | FAULTS)[kind])) == []


def reported(text: str) -> tuple[float, float]:
    """What the grading reporter makes of one runner's result: total and most points; without a
    maximum nothing is reported."""
    result = json.loads(text)
    return (
        (sum(test["score"] for test in result["tests"]), result["max_score"])
        if result["max_score"]
        else (0, 0)
    )


def test_github_adds_up_to_the_partial_points() -> None:
    assert reported(format_github(GRADED["partial"])) == (50, 100)
    assert reported(format_github(GRADED["compile_error"])) == (0, 100)
    assert json.loads(format_github(GRADED["passed"]))["status"] == "pass"
    assert json.loads(format_github(GRADED["partial"]))["status"] == "fail"


@pytest.mark.parametrize("kind", FAULTS)
def test_github_reports_no_points_for_a_fault_that_is_not_the_students(kind: str) -> None:
    text = format_github(FAULTS[kind])
    assert (json.loads(text)["status"], reported(text)) == ("error", (0, 0))


@pytest.mark.parametrize("kind", [*GRADED, *FAULTS])
def test_junit_is_valid_xml_whose_totals_add_up(kind: str) -> None:
    text = format_junit((GRADED | FAULTS)[kind])
    xmlschema.XMLSchema(str(DATA / "junit.xsd")).validate(text)
    suite = ET.fromstring(text)[0]
    found = {"tests": len(suite.findall("testcase"))}
    found |= {f"{tag}s": len(suite.findall(f"testcase/{tag}")) for tag in ("failure", "error")}
    found["skipped"] = len(suite.findall("testcase/skipped"))
    assert found == {name: int(suite.attrib[name]) for name in found}
    assert bool(found["errors"]) is (kind in FAULTS)


def test_junit_names_the_points() -> None:
    suite = ET.fromstring(format_junit(GRADED["partial"]))[0]
    properties = {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}
    names = ("grade", "score", "judged_points", "pending_points", "max_score")
    assert [properties[name] for name in names] == ["50", "50", "100", "0", "100"]
    lost = [(case.attrib["name"], case.find("failure")) for case in suite.iter("testcase")]
    failures = {name: failure.attrib["message"] for name, failure in lost if failure is not None}
    assert failures.keys() == {"Bank conflicts", "Coalesced stores"}
    assert failures["Coalesced stores"].startswith("0 of 25 points: line 11: out[x * rows + y + j]")


def rows_of(text: str) -> list[list[str]]:
    """The cells of each line of a table in Markdown, as they are read."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [[html.unescape(cell) for cell in line[2:-2].split(" | ")] for line in lines]


def test_markdown_is_a_table_of_the_checks_with_points_and_hint() -> None:
    head, rule, *rows = rows_of(format_markdown(GRADED["partial"]))
    assert head[:3] == ["Check", "Result", "Points"]
    assert rule == ["---", "---", "---:", "---"]
    assert [row[:3] for row in rows] == [
        ["Correctness", "passed", "25 of 25"],
        ["Bank conflicts", "failed", "0 of 25"],
        ["Coalesced stores", "failed", "0 of 25"],
        ["Performance", "passed", "25 of 25"],
    ]
    for row, check in zip(rows, GRADED["partial"].checks, strict=True):
        assert check.hint in row[3]


@pytest.mark.parametrize("kind", [*GRADED, *FAULTS])
def test_markdown_takes_nothing_of_a_submission_for_markup(kind: str) -> None:
    text = format_markdown((GRADED | FAULTS)[kind])
    heading, *others = text.split("\n\n")
    ours = re.sub(r"&#\d+;|</?pre>|<br>", "", "\n".join([heading.removeprefix("### "), *others]))
    outside = [line for line in ours.splitlines() if not line.startswith("| ")]
    assert not re.search(r"[<>&`*_\[\]@#|\\]", "".join(outside))


def test_markdown_mentions_nobody() -> None:
    score = replace(GRADED["passed"], submission_name="@octocat #1 a|b.cu")
    heading = format_markdown(score).splitlines()[0]
    assert html.unescape(heading).startswith("### transpose: @\u200boctocat #\u200b1 a|b.cu:")
    assert "|" not in heading


@pytest.mark.parametrize("kind", FAULTS)
def test_markdown_shows_no_points_for_a_fault_that_is_not_the_students(kind: str) -> None:
    text = format_markdown(FAULTS[kind])
    assert all(row[2] == "" for row in rows_of(text)[2:])
    assert "0 of" not in text


def test_a_bonus_check_counts_on_top() -> None:
    score = QUICK
    bonus = replace(
        score.checks[-1],
        bonus=True,
        status=score.checks[0].status,
        points=5,
        max_points=5,
        value=1.0,
        metric="correctness",
    )
    score = replace(
        score, checks=(*score.checks[:-1], bonus), score=80, max_score=75, judged_points=75
    )
    assert errors_of("gradescope.schema.json", format_gradescope(score)) == []
    assert json.loads(format_gradescope(score))["tests"][-1]["max_score"] == 0
    assert reported(format_github(score)) == (80, 75)


DOUBT = (
    "bandwidth 79 % (75.9 % to 82.3 %) against the goal >= 80 % is too close to call on a model:"
    " the benefit of the doubt"
)


@pytest.mark.parametrize("name", OF_CHECKS)
def test_every_platform_is_told_of_the_benefit_of_the_doubt(name: str) -> None:
    assert DOUBT in html.unescape(format_for_platform(DOUBTFUL, name))


@pytest.mark.parametrize("name", OF_CHECKS)
def test_every_platform_is_told_of_a_time_that_is_hardly_known(name: str) -> None:
    text = html.unescape(format_for_platform(HARDLY_KNOWN, name, PendingRule.LOST))
    assert "does not know this kind of kernel well" in text
    assert name in ("github", "junit") or "75 of 100 points, 25 wait for a GPU" in text


# --- pending points -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", PENDING)
def test_no_platform_takes_pending_points_for_a_grade(kind: str) -> None:
    score = PENDING[kind]
    with pytest.raises(GraderError, match="25 wait for a GPU"):
        format_gradescope(score)
    text = format_github(score)
    assert errors_of("github.schema.json", text) == []
    assert (json.loads(text)["status"], reported(text)) == ("error", (0, 0))
    suite = ET.fromstring(format_junit(score))[0]
    properties = {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}
    assert (properties["grade"], properties["pending_points"]) == ("", "25")
    (error,) = suite.findall("testcase/error")
    assert (error.attrib["type"], suite.attrib["errors"]) == ("not_measured", "1")
    comment = html.unescape(format_markdown(score))
    assert "25 wait for a GPU" in comment
    assert "no final grade" in comment


@pytest.mark.parametrize(
    ("kind", "rule", "grade", "status"),
    [
        ("pending", PendingRule.LOST, 75, "fail"),
        ("pending", PendingRule.SCALED, 100, "pass"),
        ("failed", PendingRule.LOST, 25, "fail"),
        ("failed", PendingRule.SCALED, 33.33, "fail"),
    ],
)
def test_the_instructor_decides_pending_points(
    kind: str, rule: PendingRule, grade: float, status: str
) -> None:
    score = PENDING[kind]
    github = format_github(score, rule)
    assert json.loads(github)["status"] == status
    assert reported(github) == (pytest.approx(grade), 100)
    gradescope = format_gradescope(score, rule)
    assert errors_of("gradescope.schema.json", gradescope) == []
    assert json.loads(gradescope)["score"] == grade
    suite = ET.fromstring(format_junit(score, rule))[0]
    properties = {each.attrib["name"]: each.attrib["value"] for each in suite.iter("property")}
    assert (properties["grade"], suite.attrib["errors"]) == (f"{grade:g}", "0")
    lost = (2 if kind == "failed" else 0) + (rule is PendingRule.LOST)
    assert int(suite.attrib["failures"]) == lost


def test_every_platform_scales_to_the_full_points_where_checks_are_excluded() -> None:
    """75 of 75 points without modelled times are 100 of 100."""
    github = format_github(EXCLUDED)
    assert (json.loads(github)["status"], reported(github)) == ("pass", (100, 100))
    results = json.loads(format_gradescope(EXCLUDED))
    assert results["score"] == 100
    assert "Grade: 100 of 100 points." in results["output"]
    assert 'name="grade" value="100"' in format_junit(EXCLUDED)
    assert "Grade: 100 of 100" in html.unescape(format_markdown(EXCLUDED))


@pytest.mark.parametrize("name", OF_CHECKS)
def test_every_platform_is_told_why_a_check_was_skipped(name: str) -> None:
    assert "Correctness must pass first" in format_for_platform(GRADED["wrong"], name)
