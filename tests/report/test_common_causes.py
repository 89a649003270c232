"""Submissions grouped by why they lost points."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from grader.records import BatchEntry, Cause, Status
from grader.report.class_table import group_by_cause, print_summary
from grader.report.html import write_report
from grader.report.terminal import make_console
from tests.report.html.test_report import Page
from tests.support.classes import HOSTILE, make_entry, make_scores, make_summary, write_class
from tests.support.factories import make_graded


def entry(student: str, *causes: Cause, file: str = "", **changes: object) -> BatchEntry:
    base = make_entry(student, make_graded(), f"scores/{student}.json", source_path=None)
    base = replace(base, causes=causes, status=Status.FAILED, sha256=file or student)
    return replace(base, **changes)  # type: ignore[arg-type]


CONFLICTS, EDGE = Cause("bank_conflicts", "bank conflicts", 20.0, 7), Cause("edge", "edge", 60.0)


def test_the_most_frequent_cause_comes_first_with_examples_of_different_files() -> None:
    entries = [
        entry("a", CONFLICTS, file="same"),
        entry("b", replace(CONFLICTS, points=30.0), file="same"),
        entry("c", CONFLICTS, EDGE),
        entry("d"),
    ]
    conflicts, edge = group_by_cause(entries)
    assert (conflicts.text, conflicts.submissions, conflicts.part) == ("bank conflicts", 3, 0.75)
    assert [(each.student, line) for each, line in conflicts.examples] == [("b", 7), ("c", 7)]
    assert (edge.submissions, edge.points) == (1, 60.0)


def test_what_is_no_students_doing_is_in_no_group() -> None:
    ours = Cause("grader_error", "the grader failed", 0.0)
    assert not group_by_cause([entry("a", ours, status=Status.GRADER_ERROR), entry("b")])


def test_the_class_page_links_to_the_line_of_an_example(tmp_path: Path) -> None:
    batch = write_class(tmp_path, make_scores(30), [HOSTILE])
    write_report(tmp_path, batch)
    page = Page(tmp_path / "report.html")
    assert "What went wrong, most often" in page.text
    assert "bank conflicts" in page.text
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert any(link and link.endswith(".html#L11") for link in links)


def test_the_terminal_names_the_causes_and_who_to_look_at() -> None:
    out = io.StringIO()
    print_summary(make_summary([entry("jane", CONFLICTS), entry("joe")]), console=make_console(out))
    assert "What went wrong, most often:" in out.getvalue()
    assert "1 x bank conflicts: 20 points each on average (jane)" in out.getvalue()
    assert "100 of 100 points" not in out.getvalue()
