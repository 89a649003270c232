"""The class roster: a platform's CSV export, matched with the students of the submissions."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from grader.batch.collect import HandIn, name_uniquely
from grader.errors import UsageError
from grader.plumbing.atomic import replace_file
from grader.records import MOODLE_COLUMNS

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
"""Columns that identify a student; the first match is used."""
_NAMES = ("student", "Full name", "Student", "Username", "Email address", "Email", "SIS Login ID")
"""Columns with the name of a student who handed in nothing."""
_LOGINS = ("Email address", "Email", "SIS Login ID", "Username", "student")
"""Columns with the name of an account."""
_NOT_STUDENTS = frozenset({"points possible", "student, test", "test student"})
"""Rows of Canvas's gradebook that are no students."""
_PARTICIPANT = re.compile(r"\A\D{3,}(?=\d+\Z)")
"""The word before a student's number in Moodle's worksheet, in the language of the site."""
_KEPT = "gradebook-names.json"


@dataclass(frozen=True)
class Account:
    """A student of the course server. `row`: the student's row."""

    student: str
    login: str
    student_id: str | None
    row: Mapping[str, str]


@dataclass(frozen=True)
class Roster:
    """Rows of a CSV with a header: a platform's export, or a file with a column `student` that
    contains the batch's names."""

    rows: tuple[Mapping[str, str], ...]
    moodle_columns: Sequence[str] = MOODLE_COLUMNS

    def find(self, student: str, student_id: str | None) -> Mapping[str, str]:
        """The row of a student; empty if there is none or more than one."""
        found = self._find_all(student, student_id)
        return self.rows[found[0]] if len(found) == 1 else {}

    def absent(self, hand_ins: Sequence[HandIn]) -> list[HandIn]:
        """An empty hand-in for each student of the roster that is not among these."""
        present = {
            number for each in hand_ins for number in self._find_all(each.student, each.student_id)
        }
        found = []
        for number, row in enumerate(self.rows):
            name = next((row[key] for key in _NAMES if row.get(key)), "")
            if number not in present and name and fold(name) not in _NOT_STUDENTS:
                student_id, platform = _identify(row)
                found.append(HandIn(name, student_id, platform, absent=True))
        return found

    def accounts(self) -> list[Account]:
        """An account for each student. Rows without an address or a name are left out."""
        found = []
        for row in self.rows:  # a roster of one row: `absent` knows the rows that are no students
            for hand_in in Roster((row,), self.moodle_columns).absent([]):
                login = next((row[key] for key in _LOGINS if row.get(key)), hand_in.student)
                found.append(Account(hand_in.student, login, hand_in.student_id, row))
        return found

    def _find_all(self, student: str, student_id: str | None) -> list[int]:
        """The number of the row that is the only match of a key, taken from the first such key;
        else the numbers of all matches."""
        wanted = {fold(student), *([fold(student_id)] if student_id else [])}
        fitting: list[int] = []
        for key in KEYS:
            cells = (row.get(key, "") for row in self.rows)
            if key == "Identifier":
                cells = (_PARTICIPANT.sub("", cell) for cell in cells)
            found = [number for number, cell in enumerate(cells) if fold(cell) in wanted]
            if len(found) == 1:
                return found
            fitting += found
        return fitting


def with_absent(hand_ins: Sequence[HandIn], roster: Roster) -> list[HandIn]:
    """All students: those with submissions, and those of the roster without."""
    return name_uniquely([*hand_ins, *roster.absent(hand_ins)])


def read_roster(path: Path) -> Roster:
    """The roster in a CSV file. Raises UsageError if it cannot be read or has no column that
    identifies a student."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot read the roster {path}: {error}",
            "Name a CSV file in UTF-8, for example an export of your platform.",
        ) from error
    return check_roster(text, str(path))


def check_roster(text: str, name: str) -> Roster:
    """The roster in the text of a CSV with this name. Raises UsageError if it has no column that
    identifies a student."""
    roster = _parse_roster(text.removeprefix("\ufeff"))
    if not roster.rows or not set(roster.rows[0]) & set(KEYS):
        raise UsageError(
            f"{name} has none of the columns {', '.join(KEYS)}",
            "Add a header with such a column.",
        )
    return roster


def find_names(
    out: Path, roster: Path | None, titles: Mapping[str, str] = MappingProxyType({})
) -> tuple[Roster, Mapping[str, str]]:
    """The roster, and the assignments' titles by exercise, for the gradebooks in a folder. Given
    values are kept in the folder for later gradebooks."""
    known = json.loads((out / _KEPT).read_text()) if (out / _KEPT).exists() else {}
    if roster is not None:
        read_roster(roster)
        known["roster"] = roster.read_text(encoding="utf-8-sig")
    if titles:
        known["titles"] = {**known.get("titles", {}), **titles}
    if roster is not None or titles:
        replace_file(out / _KEPT, json.dumps(known).encode())
    return _parse_roster(known.get("roster", "")), known.get("titles", {})


def _parse_roster(text: str) -> Roster:
    rows = tuple(
        {name.strip(): value.strip() for name, value in row.items() if isinstance(name, str)}
        for row in read_rows(text)
    )
    own = _find_moodle_columns(rows[0]) if rows else None
    if own is None:
        return Roster(rows)
    english = dict(zip(own, MOODLE_COLUMNS, strict=True))
    return Roster(tuple({english.get(k, k): v for k, v in row.items()} for row in rows), own)


def _find_moodle_columns(row: Mapping[str, str]) -> tuple[str, ...] | None:
    """The headers of Moodle's worksheet in the language of the site, in the order of
    MOODLE_COLUMNS; None for another file. A column of online texts may precede the last two."""
    names, cells = list(row), list(row.values())
    email = next((place for place, cell in enumerate(cells) if "@" in cell), 0)
    behind = names[email + 1 :]
    if email < 2 or not _PARTICIPANT.match(cells[0]) or len(behind) not in (7, 8):
        return None
    return (names[0], names[1], names[email], *behind[:5], *behind[-2:])


def read_rows(text: str) -> csv.DictReader[str]:
    """The rows of a CSV, separated by commas or, as in many countries, by semicolons."""
    header = text.partition("\n")[0]
    return csv.DictReader(
        io.StringIO(text, newline=""),
        delimiter=";" if header.count(";") > header.count(",") else ",",
        restval="",
    )


def fold(text: str) -> str:
    """A name for comparison: white space and case are normalised."""
    return " ".join(text.split()).casefold()


def _identify(row: Mapping[str, str]) -> tuple[str | None, str | None]:
    """The platform's id of the student in a row, and the platform."""
    if _PARTICIPANT.match(row.get("Identifier", "")):
        return _PARTICIPANT.sub("", row["Identifier"]), "moodle"
    if row.get("ID") and "Student" in row:
        return row["ID"], "canvas"
    return None, None
