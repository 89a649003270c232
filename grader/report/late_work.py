"""Late work in words: what was due when, how late it came, and what that costs."""

from __future__ import annotations

from grader.records import BatchEntry, Lateness, LateRules
from grader.report.text import clean_line


def describe_lateness(entry: BatchEntry) -> tuple[str, ...]:
    """Sentences on one submission: the grade where it is not the score; with a policy, when it was
    due and handed in, and points, penalty and what is left."""
    late = entry.late
    grade: tuple[str, ...] = ()
    if entry.points not in (None, entry.score):
        grade = (f"The grade is {entry.points:g} of {entry.max_score:g} points.",)
    if late is None:
        return grade
    due = f"Due {late.due}{' (extended)' if late.extended else ''}"
    by = f" (by {clean_line(late.source)})" if late.source else ""
    if late.submitted is not None:
        first = f"{due}, handed in {late.submitted}{by}: {tell_days(late)}."
    elif late.days == 0:
        first = f"{due}, handed in on time{by}."
    elif late.source:
        first = f"{due}, handed in late{by}; by how much is not known."
    else:
        first = f"{due}; when it was handed in is not known."
    return (*grade, first, *_describe_points(entry, late))


def tell_days(late: Lateness) -> str:
    """How late, in a few words."""
    if late.days is None:
        return "late, no time" if late.source else "no time"
    return "on time" if late.days == 0 else f"{late.days} day{'' if late.days == 1 else 's'} late"


def describe_rules(rules: LateRules) -> str:
    """The rules in a sentence."""
    grace = f", after {rules.grace_minutes:g} minutes of grace" if rules.grace_minutes else ""
    cap = f", at most {rules.cap_percent:g} %" if rules.cap_percent < 100 else ""
    unknown = (
        ""
        if rules.unknown_percent is None
        else f"; {rules.unknown_percent:g} % where Canvas marks it late and no time is known"
    )
    return (
        f"Late work costs {rules.percent_per_day:g} % of the points {rules.percent_of} for each day"
        f" begun since it was due{grace}{cap}{unknown}. Times are in {rules.timezone}."
    )


def _describe_points(entry: BatchEntry, late: Lateness) -> tuple[str, ...]:
    if entry.points is None:
        return ()
    if entry.final is None:
        return ("What that costs is not decided: no points are final yet.",)
    if not late.penalty:
        return ()
    return (
        f"{entry.points:g} points for the work, less {late.penalty:g} ({late.percent:g} %) for late"
        f" work: {entry.final:g} points.",
    )
