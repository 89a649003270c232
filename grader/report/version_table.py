"""Two versions of a submission side by side: points, figures, differences, and the better version;
as a table, as JSON, and in a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from rich.console import Console
from rich.text import Text

from grader.messages.headlines import format_remark
from grader.metrics import CHECKED_CASES, CORRECTNESS, METRICS, TIMED, Better, format_value
from grader.records import CheckResult, MetricValue, Score
from grader.report.ending import print_ending
from grader.report.json import format_score
from grader.report.terminal import Page

_FIGURES = ("old", "new", "of", "new / old")
NOTHING = "nothing that is graded has changed"


class Change(StrEnum):
    """The new value, compared with the old value. UNCLEAR: their intervals overlap."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNCLEAR = "no clear difference"
    UNKNOWN = ""


_CLEAR = (Change.BETTER, Change.WORSE)


@dataclass(frozen=True)
class Versions:
    """The scores of both versions, of the same exercise on the same device from the same seed."""

    old: Score
    new: Score


@dataclass(frozen=True)
class Row:
    """A metric of both versions. `ratio` is new over old, None where a value is missing, the old
    value is 0, or their sizes differ."""

    name: str
    old: MetricValue
    new: MetricValue
    ratio: float | None
    change: Change


def compare_metrics(versions: Versions) -> tuple[Row, ...]:
    """A row for every metric that either version has, in the order of `METRICS`."""
    before, after = (
        {metric.name: metric for metric in score.metrics} for score in (versions.old, versions.new)
    )
    rows = []
    for name, metric in METRICS.items():
        missing = MetricValue(name, None, metric.unit, None)
        old, new = before.get(name, missing), after.get(name, missing)
        if name not in (CORRECTNESS, CHECKED_CASES) and (
            old.value is not None or new.value is not None
        ):
            rows.append(Row(name, old, new, _ratio(old, new), _judge(old, new)))
    return tuple(rows)


def summarise(versions: Versions) -> str:
    """In a line: the speed-up, the changes of the graded figures, and the points."""
    return "; ".join(_summary(versions)) or "no difference in the graded figures"


def print_versions(versions: Versions, *, console: Console) -> None:
    """Print the results of both versions, the points of each check, the metrics, the summary, and
    the ending."""
    page = Page(console)
    scores: Mapping[str, Score] = vars(versions)
    for which, score in scores.items():
        page.write(f"{which}: {score.submission_name}: {_outcome(score)}")
    device = versions.old.device or versions.new.device
    if device is not None:
        page.write(f"Device: {device.description}", style="dim")
    if sizes := versions.old.line_sizes or versions.new.line_sizes:
        listed = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        page.write(f"Counters: at {listed}", style="dim")
    page.console.print()
    page.write_table(("Check", "old", "new", "of"), _check_rows(versions), right=_FIGURES)
    for which, score in scores.items():
        for check in (each for each in score.checks if each.in_doubt):
            page.write(f"{which}: {check.headline or check.title}: {format_remark(check)}")
    rows = compare_metrics(versions)
    if rows:
        page.console.print()
        titles = ("Metric", "old", "new", "new / old", "", "source")
        page.write_table(titles, map(_cells, rows), right=_FIGURES)
    page.console.print()
    page.write(f"In short: {summarise(versions)}", style="bold")
    print_ending(versions.new, console=console, details="above; --json FILE has both scores")


def format_versions(versions: Versions) -> str:
    """Both scores, as `grade --json` writes them, and the comparison, as JSON text with a newline
    at its end."""
    metrics = {
        row.name: {
            "old": row.old.value,
            "new": row.new.value,
            "ratio": row.ratio,
            "change": row.change.value or None,
        }
        for row in compare_metrics(versions)
    }
    scores = {which: json.loads(format_score(score)) for which, score in vars(versions).items()}
    plain = {"summary": summarise(versions), "metrics": metrics, **scores}
    return json.dumps(plain, indent=2) + "\n"


# --- judging --------------------------------------------------------------------------------------


def _ratio(old: MetricValue, new: MetricValue) -> float | None:
    if old.value is None or new.value is None or old.value == 0 or old.sizes != new.sizes:
        return None
    return new.value / old.value


def _judge(old: MetricValue, new: MetricValue) -> Change:
    metric = METRICS[old.name]
    if old.value is None or new.value is None or old.sizes != new.sizes or not metric.is_goal:
        return Change.UNKNOWN
    if old.value == new.value:
        return Change.SAME
    if _overlap(old, new):
        return Change.UNCLEAR
    is_better = (new.value > old.value) == (metric.better is Better.HIGHER)
    return Change.BETTER if is_better else Change.WORSE


def _overlap(old: MetricValue, new: MetricValue) -> bool:
    if old.interval is None or new.interval is None:
        return False
    return old.interval[0] <= new.interval[1] and new.interval[0] <= old.interval[1]


def _summary(versions: Versions) -> Iterator[str]:
    old, new = versions.old, versions.new
    rows = {row.name: row for row in compare_metrics(versions)}
    if (time := rows.get("time_ms")) is not None and time.ratio:
        yield _format_speed(time.ratio, time.change)
    graded = dict.fromkeys(check.metric for check in (*old.checks, *new.checks))
    for row in (rows[name] for name in graded if name in rows and name not in TIMED):
        if row.change in _CLEAR:
            yield f"{row.name.replace('_', ' ')} {_value(row.old)} -> {_value(row.new)}"
    if old.score != new.score:
        yield f"{old.score:g} -> {new.score:g} of {new.max_score:g} points"


def _format_speed(ratio: float, change: Change) -> str:
    if change in (Change.SAME, Change.UNCLEAR):
        return "no clear difference in time"
    return f"{1 / ratio:.3g} x as fast" if ratio < 1 else f"{ratio:.3g} x as slow"


# --- words ----------------------------------------------------------------------------------------


def _outcome(score: Score) -> str:
    """The points and the first wrong case, or the mistake that ended the grading."""
    if score.status.ended_early:
        return f"{score.status.row.word}: {score.message}"
    wrong = next((case for case in score.cases if case.is_wrong), None)
    return score.message if wrong is None else f"{score.message}; {wrong.name}: {wrong.message}"


def _check_rows(versions: Versions) -> Iterator[list[Text | str]]:
    before, after = (
        {check.name: check for check in score.checks} for score in (versions.old, versions.new)
    )
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name), after.get(name)
        one = old or new
        assert one is not None  # the name is of one of them
        yield [one.headline or one.title, _points(old), _points(new), f"{one.max_points:g}"]


def _points(check: CheckResult | None) -> str:
    return f"{check.points:g}" if check is not None and check.status.has_points else "-"


def _cells(row: Row) -> list[Text | str]:
    styles = {Change.BETTER: "green", Change.WORSE: "red"}
    sources = dict.fromkeys(each.source.value for each in (row.old, row.new) if each.source)
    ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
    change = Text(row.change.value, style=styles.get(row.change, ""))
    return [row.name, _value(row.old), _value(row.new), ratio, change, ", ".join(sources)]


def _value(metric: MetricValue, missing: str = "-") -> str:
    return missing if metric.value is None else format_value(metric.name, metric.value)


# --- in a line ------------------------------------------------------------------------------------


def describe_changes(old: Score, new: Score) -> str:
    """`+15 points; Bank conflicts 4,063,232 → 0`."""
    return "; ".join(_changes(Versions(old, new))) or NOTHING


def style_of(old: Score, new: Score) -> str:
    """The colour of the line."""
    return "green" if new.score > old.score else "red" if new.score < old.score else ""


def _changes(versions: Versions) -> Iterator[str]:
    old, new = versions.old, versions.new
    if gained := round(new.score - old.score, 2):
        points = "point" if abs(gained) == 1 else "points"
        yield f"{'+' if gained > 0 else '−'}{abs(gained):g} {points}"
    if old.status is not new.status and (old.status.ended_early or new.status.ended_early):
        yield f"{_ending_of(old)} → {_ending_of(new)}"
    yield from _changed_cases(old, new)
    rows = {row.name: row for row in compare_metrics(versions)}
    for name, label in _label_metrics(new).items():
        if name in rows and name not in TIMED and rows[name].change in _CLEAR:
            yield f"{label} {_both_values(rows[name])}"
    time = rows.get("time_ms")
    if time is not None and time.change in (*_CLEAR, Change.UNCLEAR):
        unclear = " (no clear difference)" if time.change is Change.UNCLEAR else ""
        yield f"time {_both_values(time)}{unclear}"


def _ending_of(score: Score) -> str:
    """The mistake that ended the grading, or a note that none did."""
    return score.status.row.word if score.status.ended_early else "it runs"


def _changed_cases(old: Score, new: Score) -> Iterator[str]:
    """The number of wrong cases and of findings, where both gradings reached them."""
    if old.status.ended_early or new.status.ended_early:
        return
    before, after = (sum(case.is_wrong for case in score.cases) for score in (old, new))
    if before != after:
        yield f"wrong cases {before} → {after}"
    found, left = len(old.findings), len(new.findings)
    if found != left:
        yield f"findings {found} → {left}"


def _label_metrics(score: Score) -> dict[str, str]:
    """The exercise's names of the metrics that it grades."""
    return {
        check.metric: check.headline or check.title
        for check in score.checks
        if check.metric not in (CORRECTNESS, CHECKED_CASES) and check.status.has_points
    }


def _both_values(row: Row) -> str:
    return f"{_value(row.old, '–')} → {_value(row.new, '–')}"
