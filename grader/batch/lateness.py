"""What late work costs: a policy applied to a class, beside the points of the work, which stay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from grader.batch.late_policy import EARNED, LatePolicy, read_policy
from grader.batch.times import Times, parse_time, read_times
from grader.batch.whole_files import replace_file
from grader.errors import UsageError
from grader.records import BatchEntry, BatchSummary, Lateness, LateRules

KEPT_POLICIES, KEPT_TIMES = ("late-policy.toml", "late-policy.json"), "late-times.csv"
"""Copies in the batch's folder: the same command later needs no option."""
_DAY = timedelta(days=1)
_MARK, _NO_MARK, _FILE = "Canvas's mark", "no mark of Canvas's", "the file's own time"
_EXPORT = "the platform's export"


@dataclass(frozen=True)
class LateWork:
    """A policy, and the times that a file gives."""

    policy: LatePolicy
    times: Times | None = None

    def apply(self, batch: BatchSummary) -> BatchSummary:
        """The batch, each entry with how late it is and what that costs."""
        entries = tuple(
            replace(entry, late=judge_lateness(entry, self)) if entry.submission else entry
            for entry in batch.entries
        )
        return replace(batch, entries=entries, late_rules=_tell_rules(self.policy))


def take_back(batch: BatchSummary) -> BatchSummary:
    """The batch as it was before a policy was applied."""
    entries = tuple(replace(entry, late=None) for entry in batch.entries)
    return replace(batch, entries=entries, late_rules=None)


def judge_lateness(entry: BatchEntry, late: LateWork) -> Lateness:
    """How late one submission is, and what that costs."""
    policy = late.policy
    due = policy.due_for(entry.exercise, entry.student, entry.student_id)
    when, source = _find_time(entry, late)
    if when is not None:
        over = when - due
        days: int | None = 0 if over <= policy.grace else math.ceil(over / _DAY)
    else:
        days = 0 if source == _NO_MARK else None
    percent = None if days is None else min(policy.cap_percent, days * policy.percent_per_day)
    if source == _MARK and percent is None:
        percent = policy.unknown_percent
    return Lateness(
        due=_format(due),
        submitted=None if when is None else _format(when.astimezone(policy.zone)),
        source=source,
        extended=due != policy.due[entry.exercise],
        days=days,
        percent=percent,
        penalty=_cost(entry, policy, percent),
    )


def _find_time(entry: BatchEntry, late: LateWork) -> tuple[datetime | None, str]:
    """When it was handed in, and by what that is known: the CSV first, then the platform's export,
    then the file where the policy asks for it, then Canvas's mark."""
    if late.times is not None:
        found = late.times.find(entry.student, entry.student_id, entry.exercise)
        if found is not None:
            return found, late.times.name
    if entry.submitted and (found := parse_time(entry.submitted, late.policy.zone)):
        return found, _EXPORT
    if late.policy.file_times and entry.file_time:
        return datetime.fromisoformat(entry.file_time), _FILE
    if entry.platform == "canvas":
        return None, _MARK if entry.marked_late else _NO_MARK
    return None, ""


def _cost(entry: BatchEntry, policy: LatePolicy, percent: float | None) -> float | None:
    if entry.points == 0:
        return 0.0  # however late it was
    if percent is None or entry.points is None:
        return None
    base = entry.points if policy.percent_of == EARNED else entry.max_score
    return round(min(entry.points, base * percent / 100), 2)


def _tell_rules(policy: LatePolicy) -> LateRules:
    return LateRules(
        percent_per_day=policy.percent_per_day,
        percent_of=policy.percent_of,
        cap_percent=policy.cap_percent,
        grace_minutes=policy.grace / timedelta(minutes=1),
        timezone=policy.zone_name,
        unknown_percent=policy.unknown_percent,
    )


def _format(when: datetime) -> str:
    return when.isoformat(sep=" ", timespec="minutes")


# --- the files ------------------------------------------------------------------------------------


def keep_files(out: Path, policy: Path, times: Path | None) -> None:
    """Copy a policy, and times, into the batch's folder, in the place of those that were there. Not
    read yet: `read_kept` does."""
    try:
        content = policy.read_bytes()
        more = None if times is None else times.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}", "") from error
    forget_files(out)
    replace_file(out / KEPT_POLICIES[policy.suffix.lower() == ".json"], content)
    if more is not None:
        replace_file(out / KEPT_TIMES, more)


def forget_files(out: Path) -> None:
    """Remove the policy and the times that are kept in the batch's folder."""
    for name in (*KEPT_POLICIES, KEPT_TIMES):
        (out / name).unlink(missing_ok=True)


def read_late_work(policy: Path, times: Path | None, exercises: Sequence[str]) -> LateWork:
    """The policy and the times in these files. UsageError where one cannot be read."""
    rules = read_policy(policy, exercises)
    return LateWork(rules, None if times is None else read_times(times, rules.zone))


def read_kept(out: Path, exercises: Sequence[str]) -> LateWork | None:
    """What is kept in the batch's folder; None where there is no policy."""
    kept = next((out / name for name in KEPT_POLICIES if (out / name).is_file()), None)
    if kept is None:
        return None
    times = out / KEPT_TIMES
    return read_late_work(kept, times if times.is_file() else None, exercises)
