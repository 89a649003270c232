"""Who is in the class: a CSV as a platform exports it, matched to those who handed something in."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.batch.collect import HandIn, name_uniquely
from grader.errors import UsageError

KEYS = (
    "student",
    "Identifier",
    "ID",
    "SIS User ID",
    "SIS Login ID",
    "Email address",
    "Email",
    "Username",
    "Full name",
    "Student",
)
"""Columns by which a student is found, the first that fits."""
_NAMES = ("student", "Full name", "Student", "Username", "Email address", "Email", "SIS Login ID")
"""Columns that say what to call one who handed nothing in."""
_NOBODY = frozenset({"points possible", "student, test", "test student"})
"""What Canvas's gradebook has in the place of students."""
_PARTICIPANT = "Participant "


@dataclass(frozen=True)
class Roster:
    """Rows of a CSV with a header, as a platform exports it, or with a column `student` that has
    the batch's names."""

    rows: tuple[Mapping[str, str], ...]

    def find(self, student: str, student_id: str | None) -> Mapping[str, str]:
        """The row of a student; empty where there is none, or more than one."""
        found = self._find_all(student, student_id)
        return self.rows[found[0]] if len(found) == 1 else {}

    def absent(self, hand_ins: Sequence[HandIn]) -> list[HandIn]:
        """A hand-in of nothing for each who is in the roster, and not among these."""
        present = {
            number for each in hand_ins for number in self._find_all(each.student, each.student_id)
        }
        found = []
        for number, row in enumerate(self.rows):
            name = next((row[key] for key in _NAMES if row.get(key)), "")
            if number not in present and name and fold(name) not in _NOBODY:
                student_id, platform = _identify(row)
                found.append(HandIn(name, student_id, platform, absent=True))
        return found

    def _find_all(self, student: str, student_id: str | None) -> list[int]:
        """The numbers of the rows that the first key fits which fits a single one; else all that
        any key fits."""
        wanted = {fold(student), *([fold(student_id)] if student_id else [])}
        fitting: list[int] = []
        for key in KEYS:
            found = [
                number
                for number, row in enumerate(self.rows)
                if fold(row.get(key, "").removeprefix(_PARTICIPANT)) in wanted
            ]
            if len(found) == 1:
                return found
            fitting += found
        return fitting


def with_absent(hand_ins: Sequence[HandIn], roster: Roster) -> list[HandIn]:
    """All of the class: those who handed in, and those of the roster who did not."""
    return name_uniquely([*hand_ins, *roster.absent(hand_ins)])


def read_roster(path: Path) -> Roster:
    """The roster in a CSV file. UsageError where it cannot be read or has none of the columns that
    name a student."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the roster {path}: {error}",
            "Name a CSV file in UTF-8, an export of your platform say.",
        ) from error
    rows = tuple(
        {name.strip(): value.strip() for name, value in row.items() if isinstance(name, str)}
        for row in read_rows(text)
    )
    if not rows or not set(rows[0]) & set(KEYS):
        raise UsageError(
            f"{path} has none of the columns {', '.join(KEYS)}",
            "Give it a header with one of them.",
        )
    return Roster(rows)


def read_rows(text: str) -> csv.DictReader[str]:
    """The rows of a CSV whose cells are parted by commas or, as spreadsheets of many countries
    write them, by semicolons."""
    header = text.partition("\n")[0]
    return csv.DictReader(
        io.StringIO(text, newline=""),
        delimiter=";" if header.count(";") > header.count(",") else ",",
        restval="",
    )


def fold(text: str) -> str:
    """A name for comparison: on one line, without case."""
    return " ".join(text.split()).casefold()


def _identify(row: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The platform's id of a row's student, and the platform."""
    if row.get("Identifier", "").startswith(_PARTICIPANT):
        return row["Identifier"].removeprefix(_PARTICIPANT), "moodle"
    if row.get("ID") and "Student" in row:
        return row["ID"], "canvas"
    return None, None
