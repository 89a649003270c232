"""A course's rules for late work, from one file: TOML or JSON."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
import zoneinfo
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, NoReturn

from grader.batch.roster import fold
from grader.batch.times import ACCEPTED, parse_time
from grader.errors import UsageError

POSSIBLE, EARNED = "possible", "earned"
_NUMBERS = {
    "grace_minutes": (0.0, 100_000.0),
    "percent_per_day": (0.0, 100.0),
    "cap_percent": (0.0, 100.0),
    "unknown_percent": (0.0, 100.0),
}
"""Entries that are numbers, and their least and largest values."""
_ENTRIES = ("timezone", "due", "percent_of", "file_times", "extensions", *_NUMBERS)
_AT = re.compile(r"\(at line (\d+), column (\d+)\)")


@dataclass(frozen=True)
class LatePolicy:
    """When what was due, and what late work costs.

    `due` is by exercise. What is handed in up to `grace` after it is on time; after that, every day
    begun since it was due costs `percent_per_day` of the points that were possible or earned
    (`percent_of`), at most `cap_percent`. `extensions` are new times, or days more, by student or
    id. `unknown_percent` is for what Canvas marks as late where no time is known; None: that is not
    decided. `file_times`: where nothing else tells, a file's own time is taken.
    """

    due: Mapping[str, datetime]
    zone: tzinfo
    zone_name: str
    percent_per_day: float
    grace: timedelta = timedelta()
    percent_of: str = POSSIBLE
    cap_percent: float = 100.0
    unknown_percent: float | None = None
    file_times: bool = False
    extensions: Mapping[str, datetime | timedelta] = field(default_factory=dict)

    def due_for(self, exercise: str, student: str, student_id: str | None) -> datetime:
        """When an exercise is due for a student."""
        due = self.due[exercise]
        own = self.extensions.get(fold(student)) or self.extensions.get(fold(student_id or ""))
        if own is None:
            return due
        return due + own if isinstance(own, timedelta) else own


def check_extensions(policy: LatePolicy, students: Sequence[tuple[str, str | None]]) -> None:
    """Refuse extensions for who is not among these, names and ids: a misspelt one would cost
    points. UsageError with names that are near."""
    known = {fold(name): name for both in students for name in both if name}
    for name in policy.extensions:
        if name not in known:
            close = difflib.get_close_matches(name, list(known), n=3)
            near = " or ".join(repr(known[each]) for each in close)
            raise UsageError(
                f"the policy has an extension for {name!r}, who is not in the class",
                f"Did you mean {near}?" if near else "Give the name or the id of `grade show`.",
            )


def read_policy(path: Path, exercises: Sequence[str]) -> LatePolicy:
    """The policy in a file, `.json` or TOML. UsageError with file, line and column where it is
    none."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read the policy {path}: {error}", "Name a TOML file.") from error
    return _Reader(path, text, exercises).read()


class _Reader:
    """Reads one policy: `_refuse` names the place of an entry."""

    def __init__(self, path: Path, text: str, exercises: Sequence[str]) -> None:
        self._path, self._text, self._exercises = path, text, exercises
        self._zone: tzinfo = UTC

    def read(self) -> LatePolicy:
        document = self._parse()
        for name in document:
            if name not in _ENTRIES:
                close = difflib.get_close_matches(name, _ENTRIES, n=1)
                guess = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(_ENTRIES)}"
                self._refuse(name, f"there is no entry {name!r}; {guess}")
        zone_name = self._read_zone(document.get("timezone", "UTC"))
        numbers = {name: self._read_number(document, name) for name in _NUMBERS}
        if (per_day := numbers["percent_per_day"]) is None:
            self._refuse("", "percent_per_day is missing")
        of = document.get("percent_of", POSSIBLE)
        if of not in (POSSIBLE, EARNED):
            self._refuse("percent_of", f"percent_of is {POSSIBLE!r} or {EARNED!r}")
        cap = numbers["cap_percent"]
        return LatePolicy(
            due=self._read_due(document.get("due")),
            zone=self._zone,
            zone_name=zone_name,
            percent_per_day=per_day,
            grace=timedelta(minutes=numbers["grace_minutes"] or 0),
            percent_of=of,
            cap_percent=100.0 if cap is None else cap,
            unknown_percent=numbers["unknown_percent"],
            file_times=self._read_flag(document, "file_times"),
            extensions=self._read_extensions(document.get("extensions", {})),
        )

    def _parse(self) -> dict[str, Any]:
        is_json = self._path.suffix.lower() == ".json"
        try:
            document = json.loads(self._text) if is_json else tomllib.loads(self._text)
        except json.JSONDecodeError as error:
            raise self._error(error.lineno, error.colno, error.msg) from error
        except tomllib.TOMLDecodeError as error:
            place = _AT.search(str(error))
            line, column = (int(place[1]), int(place[2])) if place else (None, None)
            raise self._error(line, column, _AT.sub("", str(error)).strip()) from error
        if not isinstance(document, dict):
            raise self._error(1, 1, "a policy is a table of entries")
        return document

    def _read_zone(self, name: object) -> str:
        try:
            self._zone = UTC if name == "UTC" else zoneinfo.ZoneInfo(str(name))
        except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
            self._refuse("timezone", f"{name!r} is no time zone that this machine knows")
        return str(name)

    def _read_number(self, document: Mapping[str, Any], name: str) -> float | None:
        least, most = _NUMBERS[name]
        value = document.get(name)
        if value is None:
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (is_number and least <= value <= most):
            self._refuse(name, f"{name} is a number from {least:g} to {most:g}")
        return float(value)

    def _read_flag(self, document: Mapping[str, Any], name: str) -> bool:
        value = document.get(name, False)
        if not isinstance(value, bool):
            self._refuse(name, f"{name} is true or false")
        return value

    def _read_due(self, given: object) -> dict[str, datetime]:
        """One time for all, or one for each exercise."""
        if given is None:
            self._refuse("", "due is missing")
        if not isinstance(given, dict):
            return dict.fromkeys(self._exercises, self._read_time("due", given))
        if missing := [each for each in self._exercises if each not in given]:
            self._refuse("due", f"due has no time for {', '.join(missing)}")
        return {name: self._read_time(name, value) for name, value in given.items()}

    def _read_extensions(self, given: object) -> dict[str, datetime | timedelta]:
        if not isinstance(given, dict):
            self._refuse("extensions", "extensions is a table: a student, and a time or days")
        return {fold(name): self._read_extension(name, value) for name, value in given.items()}

    def _read_extension(self, name: str, value: object) -> datetime | timedelta:
        if isinstance(value, int | float) and not isinstance(value, bool):
            return timedelta(days=value)
        return self._read_time(name, value)

    def _read_time(self, name: str, value: object) -> datetime:
        if isinstance(value, datetime):
            return value if value.tzinfo else value.replace(tzinfo=self._zone)
        when = parse_time(value, self._zone) if isinstance(value, str) else None
        if when is None:
            self._refuse(name, f"{name} is no time: {value}")
        return when

    def _refuse(self, name: str, message: str) -> NoReturn:
        quoted = rf"(?P<at>[\"']?{re.escape(name)}[\"']?)"
        found = re.search(rf"(?m)^[^\n#]*?{quoted}\s*[=:\]]", self._text)
        if not name or found is None:
            raise self._error(None, None, message)
        before = self._text[: found.start("at")]
        line = before.count("\n") + 1
        raise self._error(line, len(before) - (before.rfind("\n") + 1) + 1, message)

    def _error(self, line: int | None, column: int | None, message: str) -> UsageError:
        place = "" if line is None else f", line {line}, column {column}"
        advice = ACCEPTED if "no time" in message else "`grade late --help` shows a policy."
        return UsageError(f"{self._path}{place}: {message}", advice)
