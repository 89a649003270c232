"""The report of a class: distributions, pass rates, and a table that links to a page per
submission."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from grader.messages.headlines import format_remark
from grader.metrics import FIGURES, METRICS, TIMED
from grader.records import (
    BatchEntry,
    BatchExercise,
    BatchSummary,
    CheckResult,
    CheckStatus,
    Score,
    Source,
    Status,
)
from grader.report.class_table import group_by_cause
from grader.report.html.charts import (
    Marker,
    draw_log_histogram,
    draw_score_histogram,
    draw_stacked_bar,
)
from grader.report.html.pages import describe_outcome, render_page
from grader.report.html.roofline import NAIVE, OWN, REFERENCE, plan_times
from grader.report.json import metric_value
from grader.statuses import Badge

NOT_GRADED = "not graded"
Cells = tuple[object, ...]
"""The parts of a row or a plot: texts, markup and links."""
IN_DOUBT = "≈"
"""Beside the glyph of a check that passed with the benefit of the doubt."""
_RATES = tuple(METRICS[name] for name in FIGURES if name in TIMED)
"""The speed column of the table: the first of these rates that a submission has."""


@dataclass(frozen=True)
class Digest:
    """The part of a score that the report keeps, for its row and the plots. `word` and `badge` show
    its outcome. `checks`: title, status, and the remark on a verdict with the benefit of the
    doubt."""

    status: Status
    word: str
    badge: Badge
    points: float
    total: float
    checks: tuple[tuple[str, CheckStatus, str], ...]
    times_ms: Mapping[str, float]
    time_source: Source | None
    rates: Mapping[str, float]


@dataclass(frozen=True)
class Graded:
    """An entry of the batch, its page where it has one, and the digest of its score."""

    entry: BatchEntry
    page: str | None
    digest: Digest | None


@dataclass(frozen=True)
class Row:
    """A row of the table; `checks` has words, kind and glyph of each column."""

    graded: Graded
    exercise: str
    status: str
    kind: str
    checks: tuple[tuple[str, str, str], ...]
    message: str


@dataclass(frozen=True)
class Section:
    """One exercise: titles with plots; checks with the fraction that passed them, as a text and a
    bar; causes of lost points with submissions, points, and links to examples. `judged` is the
    number of submissions that reached the checks."""

    title: str
    charts: tuple[Cells, ...]
    rates: tuple[Cells, ...]
    causes: tuple[Cells, ...]
    judged: int


def digest_score(score: Score) -> Digest:
    """The part of a score that the report needs."""
    word, badge = describe_outcome(score)
    time = metric_value(score, "time_ms")
    rates = {metric.unit: metric_value(score, metric.name) for metric in _RATES}
    return Digest(
        status=score.status,
        word=word,
        badge=badge,
        points=score.score,
        total=score.max_score,
        checks=tuple(map(_digest_check, score.checks)),
        times_ms=plan_times(score),
        time_source=time.source if time is not None else _source_of(score),
        rates={unit: each.value for unit, each in rates.items() if each and each.value is not None},
    )


def _digest_check(check: CheckResult) -> tuple[str, CheckStatus, str]:
    remark = format_remark(check) if check.in_doubt else ""
    return check.headline or check.title, check.status, remark


def _source_of(score: Score) -> Source | None:
    """The source of times that could not be judged."""
    return Source.MODELLED if any(each.kind is not None for each in score.timings) else None


def render_overview(batch: BatchSummary, graded: Sequence[Graded]) -> str:
    """The page; `graded` are the batch's entries in its order."""
    titles = {exercise.id: exercise.title for exercise in batch.exercises}
    several = len(batch.exercises) > 1
    check_titles = {} if several else _check_titles(graded)
    rows = [_make_row(each, titles, check_titles) for each in graded]
    units = [
        metric.unit
        for metric in _RATES
        if any(each.digest and metric.unit in each.digest.rates for each in graded)
    ]
    return render_page(
        "report.html",
        script=True,
        titles=[*titles.values()],
        device=_name_device(batch),
        finished=batch.finished[:16].replace("T", " "),
        version=batch.grader_version,
        tiles=[*_make_tiles(graded)],
        sections=[
            _make_section(exercise, [each for each in graded if each.entry.exercise == exercise.id])
            for exercise in batch.exercises
        ],
        rows=rows,
        several=several,
        check_titles=check_titles,
        timed=bool(units),
        rate_title=" or ".join(units),
        statuses=sorted(Counter(row.status for row in rows).items()),
        footer=(
            f"Every figure is from the scores in the folder scores/. Glyphs: ✓ passed, ✓ {IN_DOUBT}"
            " passed with the benefit of the doubt, ~ partly, ✗ failed, – skipped or not measured."
        ),
    )


def _name_device(batch: BatchSummary) -> str:
    used = sorted({entry.device for entry in batch.entries if entry.device})
    return ", ".join(used) or batch.device


def _check_titles(graded: Sequence[Graded]) -> dict[str, None]:
    digests = (each.digest for each in graded if each.digest)
    return dict.fromkeys(title for digest in digests for title, *_ in digest.checks)


def _make_tiles(graded: Sequence[Graded]) -> Iterator[tuple[str, str]]:
    parts = [*_parts(graded)]
    read = [(each.entry, each.digest) for each in graded if each.digest is not None]
    ours = sum(not digest.status.has_points for _, digest in read)
    missing = len(graded) - len(read)
    pending = sum(entry.marks is not None and entry.points is None for entry, _ in read)
    yield f"{len(graded):,}", "submissions" if len(graded) != 1 else "submission"
    yield f"{100 * statistics.median(parts):.0f} %" if parts else "–", "median of the points"
    yield f"{sum(part >= 1 for part in parts):,}", "with full marks"
    yield f"{sum(part == 0 for part in parts):,}", "without a point"
    if pending:
        yield f"{pending:,}", "with pending points, without a final grade"
    if ours:
        yield f"{ours:,}", "to look at: not the student's doing"
    if missing:
        yield f"{missing:,}", NOT_GRADED


def _parts(graded: Sequence[Graded]) -> Iterator[float]:
    """The final grades, as fractions of all points."""
    for each in graded:
        if each.digest is not None and each.entry.points is not None:
            yield each.entry.points / each.entry.max_score


# --- plots ----------------------------------------------------------------------------------------


def _make_section(exercise: BatchExercise, graded: Sequence[Graded]) -> Section:
    digests = [each.digest for each in graded if each.digest is not None]
    checked = [digest for digest in digests if digest.checks]
    return Section(
        exercise.title,
        tuple(_make_charts(digests, [*_parts(graded)])),
        tuple(_make_rates(checked)),
        tuple(_make_causes(graded)),
        len(checked),
    )


def _make_causes(graded: Sequence[Graded]) -> Iterator[Cells]:
    pages = {each.entry.student: each.page or "" for each in graded}

    def link(entry: BatchEntry, line: int | None) -> tuple[str, str]:
        page = pages[entry.student]
        return entry.student, f"{page}#L{line}" if page and line else page

    for group in group_by_cause([each.entry for each in graded]):
        yield (
            group.text,
            f"{group.submissions:,} ({100 * group.part:.0f} %)",
            f"{group.points:.3g}",
            tuple(link(*example) for example in group.examples),
        )


def _make_charts(digests: Sequence[Digest], parts: Sequence[float]) -> Iterator[Cells]:
    if parts:
        yield ("Points", draw_score_histogram(parts, title=f"Distribution of {len(parts)} scores"))
    timed = [digest for digest in digests if OWN in digest.times_ms]
    if not timed:
        return
    source = " and ".join(
        sorted({digest.time_source.value for digest in timed if digest.time_source})
    )
    times = [digest.times_ms[OWN] for digest in timed]
    yield "Time", _draw_histogram("Times", times, f"ms, {source}", [*_make_markers(timed)])
    for metric in _RATES:
        unit, title = metric.unit, metric.noun.capitalize()
        rates = [digest.rates[unit] for digest in timed if unit in digest.rates]
        if rates:
            yield title, _draw_histogram(title, rates, f"{unit}, {source}", [])


def _draw_histogram(
    noun: str, values: Sequence[float], x_title: str, markers: Sequence[Marker]
) -> Markup:
    title = f"{noun} of {len(values)} submissions"
    return draw_log_histogram(values, markers, title=title, x_title=x_title)


def _make_markers(timed: Sequence[Digest]) -> Iterator[Marker]:
    for plan in (REFERENCE, NAIVE):
        times = [digest.times_ms[plan] for digest in timed if plan in digest.times_ms]
        if times:
            yield Marker(plan, statistics.median(times))


def _make_rates(checked: Sequence[Digest]) -> Iterator[Cells]:
    found: dict[str, Counter[Badge]] = {}
    for digest in checked:
        for title, status, _ in digest.checks:
            found.setdefault(title, Counter())[status.row.badge] += 1
    for title, kinds in found.items():
        judged = kinds.total() - kinds[Badge.NONE]
        passed = f"{100 * kinds[Badge.PASSED] / judged:.0f} %" if judged else "–"
        yield title, passed, draw_stacked_bar({badge.value: kinds[badge] for badge in Badge})


# --- the table ------------------------------------------------------------------------------------


def _make_row(graded: Graded, titles: Mapping[str, str], check_titles: Iterable[str]) -> Row:
    entry, digest, absent = graded.entry, graded.digest, ("", Badge.NONE.value, "")
    checks = digest.checks if digest else ()
    shown = {title: _show_check(status, remark) for title, status, remark in checks}
    fallback = entry.status.row.word if entry.status else NOT_GRADED
    return Row(
        graded,
        titles.get(entry.exercise, entry.exercise),
        digest.word if digest else fallback,
        digest.badge.value if digest else Badge.NONE.value,
        tuple(shown.get(title, absent) for title in check_titles),
        _describe(entry),
    )


def _describe(entry: BatchEntry) -> str:
    """The facts that the table does not show elsewhere: the causes of lost points, and the student
    with the same file."""
    same = f"the same file as {entry.duplicate_of}'s" if entry.duplicate_of else ""
    return "; ".join(part for part in (same, entry.reason) if part)


def _show_check(status: CheckStatus, remark: str) -> tuple[str, str, str]:
    """Words, kind and glyph. A verdict with a remark has a mark that the page explains."""
    row = status.row
    if remark:
        return f"{row.word}: {remark}", row.badge.value, f"{row.glyph} {IN_DOUBT}"
    return row.word, row.badge.value, row.glyph
