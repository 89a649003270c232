"""Writes the results of a batch: a score per student, the gradebook, and the summary for
reports."""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from grader.batch.items import SCORES, Item, source_path
from grader.batch.journal import Journal, Result
from grader.batch.whole_files import replace_file, write_if_new
from grader.errors import UsageError
from grader.records import (
    BatchEntry,
    BatchExercise,
    BatchSummary,
    Cause,
    CheckStatus,
    EntryCheck,
    PendingRule,
    Status,
)

SUMMARY = "summary.json"
GRADEBOOK = "gradebook.csv"
NAMES = "names.csv"
SET_ASIDE = "set-aside.csv"
_FORMER_FIELDS = ("late", "marked_late", "submitted", "file_time")
"""Fields of entries in summaries that version 0.1.0 wrote."""
_FORMULA = re.compile(r"[=+\-@\t\r]")
"""First characters of a cell that spreadsheets evaluate as a formula (OWASP, "CSV Injection")."""


def write_score(out: Path, item: Item, text: str) -> None:
    """Writes a student's score: the result's score with the name of the student's file."""
    score = json.loads(text)
    score["submission"]["name"] = item.submission
    own = json.dumps(score, indent=2, allow_nan=False) + "\n"
    write_if_new(out / item.score_path, own.encode("ascii"))


def write_scores(
    out: Path, items: Sequence[Item], results: dict[str, Result], journal: Journal
) -> list[Item]:
    """Writes all known scores and removes the scores of removed results and students. Removes
    damaged results from `results`; returns their items."""
    damaged = []
    for item in items:
        try:
            if item.key is not None and item.key in results:
                Status(results[item.key].status)
                _read_digest(results[item.key])
                write_score(out, item, journal.read_text(item.key))
                continue
        except (ValueError, KeyError, TypeError, zlib.error):
            del results[item.key or ""]
            damaged.append(item)
        (out / item.score_path).unlink(missing_ok=True)
    own = {out / item.score_path for item in items}
    for path in sorted((out / SCORES).rglob("*.json")):
        if path not in own:
            path.unlink(missing_ok=True)
    return damaged


def set_points(entry: BatchEntry, points: float | None, reason: str, author: str) -> BatchEntry:
    """The entry with the points that an instructor set; None leaves it. Such points are final."""
    if points is None:
        return entry
    return replace(
        entry,
        status=Status.PASSED if points >= entry.max_score else Status.FAILED,
        score=points,
        judged_points=entry.max_score,
        total_points=entry.max_score,
        checks=tuple(replace(check, bonus=False) for check in entry.checks),
        why=f"{reason} (points set by {author})",
        message=reason,
    )


def make_entries(
    items: Sequence[Item],
    results: Mapping[str, Result],
    max_scores: Mapping[str, float],
    pending: PendingRule | None = None,
) -> tuple[BatchEntry, ...]:
    """An entry per item. If several students handed in the same file, `duplicate_of` of the others
    names the first. `pending`: the rule for pending points."""
    first: dict[str, str] = {}
    entries = []
    for item in items:
        result = results.get(item.key) if item.key else None
        owner = first.setdefault(item.key, item.student) if item.key else item.student
        why_not = "not graded yet" if item.selected else "not selected by --only"
        message = result.message if result else item.problem or why_not
        entries.append(
            BatchEntry(
                student=item.student,
                exercise=item.exercise,
                submission=item.submission,
                sha256=item.sha256,
                status=Status(result.status) if result else None,
                score=result.score if result else None,
                max_score=max_scores[item.exercise],
                judged_points=result.judged_points if result else None,
                total_points=result.max_score if result else None,
                pending_rule=pending,
                seconds=result.seconds if result else None,
                device=result.device if result else None,
                score_path=item.score_path if result else None,
                source_path=source_path(item.sha256) if item.sha256 else None,
                duplicate_of=owner if owner != item.student else None,
                message=message,
                student_id=item.student_id,
                platform=item.platform,
                handed_in_as=item.handed_in_as,
                **_read_digest(result),
            )
        )
    return tuple(entries)


def _read_digest(result: Result | None) -> dict[str, Any]:
    """Reasons, causes and checks of an entry."""
    return _structure(json.loads(result.digest)) if result and result.digest else {}


def _structure(digest: dict[str, Any]) -> dict[str, Any]:
    rule = digest.get("pending_rule")
    return {
        **{name: value for name, value in digest.items() if name not in _FORMER_FIELDS},
        **({"pending_rule": PendingRule(rule)} if rule else {}),
        "causes": tuple(Cause(**each) for each in digest.get("causes", ())),
        "checks": tuple(
            EntryCheck(**each | {"status": CheckStatus(each["status"])})
            for each in digest.get("checks", ())
        ),
    }


def write_summary(out: Path, summary: BatchSummary) -> None:
    """Writes the gradebook and the summary."""
    replace_file(out / GRADEBOOK, format_gradebook(summary).encode("utf-8"))
    replace_file(out / SUMMARY, (json.dumps(asdict(summary), indent=1) + "\n").encode("ascii"))


def read_summary(out: Path) -> BatchSummary:
    """The summary in a batch's folder. Raises UsageError if there is none."""
    path = out / SUMMARY
    try:
        document = json.loads(path.read_text(encoding="ascii"))
        exercises = tuple(BatchExercise(**row) for row in document.pop("exercises"))
        entries = tuple(
            BatchEntry(**_structure(row) | {"status": row["status"] and Status(row["status"])})
            for row in document.pop("entries")
        )
        document.pop("late_rules", None)
        return BatchSummary(exercises, entries, **document)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}",
            "Name the results folder of `grade batch --out`.",
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} is not the summary of a batch: {error!r}", "Run `grade batch` again."
        ) from error


def format_gradebook(summary: BatchSummary) -> str:
    """A row per student, ordered by name: points, status and points of each check by exercise, then
    the sum. Points without a final grade (`BatchEntry.points`) are empty, and so is then the
    sum."""
    columns = ("", " judged", " of", " status", " why")
    checks = _list_checks(summary)
    head = [
        f"{exercise.id}{column}"
        for exercise in summary.exercises
        for column in (*columns, *(f": {name}" for name in checks[exercise.id]))
    ]
    rows = [["student", "id", *head, "total"]]
    of_student: dict[str, list[BatchEntry]] = {}
    for entry in summary.entries:
        of_student.setdefault(entry.student, []).append(entry)
    for student, entries in of_student.items():
        cells = [cell for entry in entries for cell in _cells(entry, checks[entry.exercise])]
        points = [entry.points for entry in entries if entry.points is not None]
        total = _figure(sum(points) if len(points) == len(entries) else None)
        rows.append([_cell(student), _cell(entries[0].student_id or ""), *cells, total])
    return _format_csv(rows)


def _list_checks(summary: BatchSummary) -> dict[str, list[str]]:
    """The names of the checks of each exercise, in order."""
    found: dict[str, dict[str, None]] = {exercise.id: {} for exercise in summary.exercises}
    for entry in summary.entries:
        found[entry.exercise] |= dict.fromkeys(check.name for check in entry.checks)
    return {exercise: [*names] for exercise, names in found.items()}


def write_set_aside(out: Path, reasons: Sequence[tuple[str, str]]) -> None:
    """Writes the list of files that were not graded, as (name, reason). Without any, removes the
    list of an earlier run."""
    if not reasons:
        (out / SET_ASIDE).unlink(missing_ok=True)
        return
    rows = [("name", "reason"), *((_cell(name), _cell(reason)) for name, reason in reasons)]
    replace_file(out / SET_ASIDE, _format_csv(rows).encode("utf-8", "replace"))


def format_names(pseudonyms: Mapping[str, str]) -> str:
    """The pseudonyms of an anonymous batch with the students, as CSV."""
    rows = sorted((pseudonym, _cell(student)) for student, pseudonym in pseudonyms.items())
    return _format_csv([("pseudonym", "student"), *rows])


def _format_csv(rows: Iterable[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _cells(entry: BatchEntry, checks: Sequence[str]) -> list[str]:
    marks = entry.marks
    earned = {check.name: check.earned for check in entry.checks} if marks else {}
    return [
        _figure(entry.points),
        _figure(marks.judged if marks else None),
        _figure(entry.max_score),
        entry.status.value if entry.status else "not graded",
        _cell(entry.reason),
        *(_figure(earned.get(name)) for name in checks),
    ]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _cell(text: str) -> str:
    """The text on one line; no spreadsheet evaluates it as a formula."""
    plain = "".join(letter if letter.isprintable() else " " for letter in text)
    return f"'{plain}" if _FORMULA.match(plain) else plain
