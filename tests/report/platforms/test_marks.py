"""Scores as marks on lines: gcc's form and SARIF."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from grader.messages.cause_row import DOCS, page_address
from grader.messages.explanations import list_explanations
from grader.records import (
    Cause,
    Finding,
    FindingKind,
    HostMistake,
    Score,
    Status,
)
from grader.records.programs import HostPlace
from grader.report.platforms import format_for_platform
from grader.report.platforms.gcc import format_gcc
from grader.report.platforms.marks import Mark, Related, list_marks
from grader.report.platforms.sarif import format_sarif
from tests.support.classes import HOSTILE, failed
from tests.support.factories import CROOKED_LINES, QUICK, make_graded

ROOT = Path(__file__).resolve().parents[3]
GCC = re.compile(r"^(.*):(\d+):(\d+):\s+(?:fatal\s+)?(warning|error|note):\s+(.*)$")
"""As in the problem matcher `$gcc` of Visual Studio Code."""
COMPILER = """bad.cu:3: error: identifier "nothing" is undefined
    out[0] = in[0] + nothing;
bad.cu:7: warning: variable "x" was declared but never referenced"""
BROKEN = replace(
    failed(Status.COMPILE_ERROR, name="bad.cu", detail=COMPILER),
    causes=(Cause("compile_errors", "does not compile", 100, 3),),
)


def conflicting() -> Score:
    """A score with bank conflicts in line 51."""
    score = make_graded(lines=CROOKED_LINES)
    checks = tuple(
        replace(check, action="line 51: Pad the rows." if check.status.lost_points else "")
        for check in score.checks
    )
    cause = Cause("bank_conflicts", "bank conflicts", 20.0, 51)
    return replace(score, checks=checks, causes=(cause,))


def test_a_cause_is_a_mark_with_its_points_and_its_next_step() -> None:
    (mark,) = list_marks(conflicting())
    text = "bank conflicts: costs 20 of 100 points. Pad the rows."
    assert mark == Mark(mark.file, 51, "warning", "bank_conflicts", text, 20.0)


def test_a_mark_names_the_page_of_its_rule() -> None:
    (line, _) = format_gcc(conflicting()).splitlines()
    assert line.endswith("(grade explain bank-conflicts) [bank_conflicts]")
    (rule,) = json.loads(format_sarif(conflicting()))["runs"][0]["tool"]["driver"]["rules"]
    assert "same bank" in rule["fullDescription"]["text"]
    assert "`grade explain bank-conflicts`" in rule["help"]["markdown"]


@pytest.mark.parametrize("docs", ["", "https://docs.example.org/grader/"])
def test_each_rule_has_an_absolute_address(docs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """SARIF 2.1.0, 3.49.12: `helpUri` is an absolute URI."""
    monkeypatch.setenv(DOCS, docs)
    race = Finding(FindingKind.RACE, "race on x", line=9)
    for score in (BROKEN, conflicting(), replace(QUICK, findings=(race,))):
        (run,) = json.loads(format_sarif(score))["runs"]
        for rule in run["tool"]["driver"]["rules"]:
            parts = urlsplit(rule["helpUri"])
            assert parts.scheme == "https"
            page = f"{docs}reference/causes/#{rule['id'].replace('_', '-')}"
            assert rule["helpUri"] == page or not docs


def test_the_address_of_each_cause_leads_to_a_section_of_the_docs() -> None:
    text = (ROOT / "docs/reference/causes.md").read_text()
    pages = [page for group in list_explanations().values() for page in group]
    addresses = [page_address(page.key, {DOCS: "https://docs.example.org"}) for page in pages]
    assert len(pages) > 50
    assert not [each for each in addresses if f'<a id="{urlsplit(each).fragment}"></a>' not in text]


def test_the_other_access_of_a_race_is_a_related_place() -> None:
    race = Finding(FindingKind.RACE, "race on x", line=9, other_line=7, other_thread=(1, 0, 0))
    score = replace(QUICK, findings=(race,))
    (mark,) = list_marks(score)
    assert mark.related == (Related(7, "the other access of thread (1, 0, 0)"),)
    (result,) = json.loads(format_sarif(score))["runs"][0]["results"]
    (related,) = result["relatedLocations"]
    assert related["physicalLocation"]["region"]["startLine"] == 7


def test_compile_errors_are_marks_once() -> None:
    marks = list_marks(BROKEN)
    assert [(each.line, each.level, each.rule) for each in marks] == [
        (3, "error", "compile_errors"),
        (7, "warning", "compile_errors"),
    ]
    assert marks[0].message == 'identifier "nothing" is undefined'


def test_findings_and_mistakes_in_host_code_are_marks_in_their_files() -> None:
    finding = Finding(FindingKind.RACE, "race on tile", line=9)
    mistake = HostMistake("leak", "4 bytes are never freed", "Free them.", HostPlace("host.cu", 5))
    marks = list_marks(replace(QUICK, findings=(finding,), host_findings=(mistake,)))
    assert {(each.file, each.line, each.rule) for each in marks} == {
        (QUICK.submission_name, 9, "race"),
        ("host.cu", 5, "leak"),
    }


@pytest.mark.parametrize("score", [QUICK, BROKEN, conflicting()], ids=["passed", "broken", "slow"])
def test_each_line_of_gcc_s_form_matches_the_editors_pattern(score: Score) -> None:
    lines = format_gcc(score).splitlines()
    assert all(GCC.match(line) for line in lines)
    assert len(lines) == len(list_marks(score)) + 1


def test_no_text_of_a_submission_makes_a_line() -> None:
    score = replace(failed(Status.REJECTED, name=f"{HOSTILE}.cu", message=HOSTILE), causes=())
    assert format_gcc(score).count("\n") == 1


def test_sarif_has_what_its_standard_requires() -> None:
    document = json.loads(format_sarif(BROKEN))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"]
    assert [each["level"] for each in run["results"]] == ["error", "warning"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "bad.cu"
        assert place["physicalLocation"]["region"]["startLine"] >= 1
    assert run["properties"]["status"] == "compile_error"


def test_a_name_becomes_a_valid_uri() -> None:
    document = json.loads(format_for_platform(replace(BROKEN, submission_name="a b#1.cu"), "sarif"))
    location = document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "a%20b%231.cu"
