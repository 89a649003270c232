"""When something was handed in: times as people and platforms write them, and CSV files of them."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from grader.batch.roster import KEYS, Roster, read_rows
from grader.errors import UsageError

COLUMNS = (
    "submitted",
    "submitted_at",
    "Submitted At",
    "Submission Time",
    "Last modified (submission)",
    "created_at",
)
"""Columns of a CSV that have the time, the first that is there. The fifth is Moodle's."""
_EXERCISE = "exercise"
_FORMATS = (
    "%A, %d %B %Y, %I:%M %p",  # Moodle's grading worksheet
    "%A, %d %B %Y, %H:%M",
    "%d %B %Y, %I:%M %p",
    "%d %B %Y, %H:%M",
)
_ISO = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)?")
_NO_TIME = ("", "-")
ACCEPTED = (
    "Write 2026-11-20 23:59, with an offset such as +01:00 at its end where it is not in the"
    " policy's time zone."
)


@dataclass(frozen=True)
class Times:
    """The times of a CSV: `rows` as a roster, and the time of each row, with its exercise where it
    has one."""

    rows: Roster
    times: tuple[tuple[str | None, datetime], ...]
    name: str

    def find(self, student: str, student_id: str | None, exercise: str) -> datetime | None:
        """The latest time of a student for an exercise; None where there is none."""
        found = [
            when
            for row, (own, when) in zip(self.rows.rows, self.times, strict=True)
            if own in (None, exercise) and Roster((row,)).find(student, student_id)
        ]
        return max(found, default=None)


def parse_time(text: str, zone: tzinfo) -> datetime | None:
    """A time with its offset, in `zone` where it names none; None where it is no time. Days and
    months in figures are taken in the order of ISO 8601 alone: 1/2/2026 may be two days."""
    plain = " ".join(text.split())
    if found := _ISO.fullmatch(plain):
        offset = {None: "", "Z": "+00:00", "UTC": "+00:00"}.get(found[3], found[3])
        try:
            when = datetime.fromisoformat(f"{found[1]}T{found[2]}{offset}")
        except ValueError:
            return None
        return when if when.tzinfo else when.replace(tzinfo=zone)
    for layout in _FORMATS:
        try:
            return datetime.strptime(plain, layout).replace(tzinfo=zone)
        except ValueError:
            continue
    return None


def from_seconds(seconds: float) -> str:
    """The time of a file, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def read_times(path: Path, zone: tzinfo) -> Times:
    """The times in a CSV file that has a column naming a student and one with the time. UsageError,
    with line and column, where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the times {path}: {error}", "Name a CSV file.") from error
    reader = read_rows(text)
    header = [name.strip() for name in reader.fieldnames or ()]
    column = next((name for name in COLUMNS if name in header), None)
    if column is None or not set(header) & set(KEYS):
        raise UsageError(
            f"{path}, line 1: it needs a column that names a student ({', '.join(KEYS)}) and one"
            f" with the time ({', '.join(COLUMNS)})",
            "Give it a header with one of each.",
        )
    rows, times = [], []
    for row, when in _parse_rows(reader, path, column, header.index(column) + 1, zone):
        rows.append(row)
        times.append((row.get(_EXERCISE) or None, when))
    return Times(Roster(tuple(rows)), tuple(times), path.name)


def _parse_rows(
    reader: csv.DictReader[str], path: Path, column: str, number: int, zone: tzinfo
) -> Iterator[tuple[Mapping[str, str], datetime]]:
    for raw in reader:
        row = {key.strip(): value.strip() for key, value in raw.items() if isinstance(value, str)}
        if row.get(column, "") in _NO_TIME:
            continue
        if (when := parse_time(row[column], zone)) is None:
            raise UsageError(
                f"{path}, line {reader.line_num}, column {number} ({column}): {row[column]!r} is"
                " no time",
                ACCEPTED,
            )
        yield row, when
