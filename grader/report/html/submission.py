"""The page of one submission: points, checks, roofline, findings, and its source line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.messages.findings import describe_place, tell_finding
from grader.messages.headlines import explain, format_check_value
from grader.messages.reasons import summarise_points
from grader.messages.sizes import list_sizes
from grader.metrics import METRICS, format_value
from grader.records import CaseResult, CheckResult, Finding, Score
from grader.report.annotation import PAGE_COLUMNS, annotate
from grader.report.html.machine import make_machine
from grader.report.html.pages import render_page
from grader.report.html.roofline import OWN, make_roofline, plan_times
from grader.report.html.source_table import MAX_LINES, make_lines
from grader.report.html.warp_figures import make_figures
from grader.report.html.what_if import make_what_if
from grader.report.measurement import list_figures
from grader.report.outcome import describe_outcome
from grader.report.text import clean_line, clean_text
from grader.report.worst_accesses import accesses_of_checks
from grader.report.wrong_case import draw_mismatch

MAX_DETAIL = 20_000


@dataclass(frozen=True)
class CheckRow:
    title: str
    kind: str
    glyph: str
    word: str
    value: str
    source: str
    goal: str
    points: str
    advice: str


@dataclass(frozen=True)
class CaseRow:
    name: str
    sizes: str
    kind: str
    word: str
    message: str
    picture: str


@dataclass(frozen=True)
class FindingRow:
    message: str
    where: str
    line: int | None
    other_line: int | None


@dataclass(frozen=True)
class TimeRow:
    name: str
    time: str
    interval: str
    ratio: str


def render_submission(
    score: Score,
    *,
    student: str,
    title: str,
    source: str | None,
    back: str = "",
    duplicate_of: str | None = None,
    notes: Sequence[str] = (),
    handed_back: bool = False,
) -> str:
    """The page. `title` is the exercise's, `source` the file as it was handed in, `back` the way to
    a class's report if there is one, `notes` are sentences on the points.

    `handed_back`: it is for the student, without the seed that hidden cases are drawn with.
    """
    word, badge = describe_outcome(score)
    annotation = annotate(score, source or None, PAGE_COLUMNS)
    times = plan_times(score)
    points, words = _describe_points(score)
    return render_page(
        "submission.html",
        student=clean_line(student),
        title=title,
        file=clean_line(score.submission_name),
        back=back,
        duplicate_of=clean_line(duplicate_of) if duplicate_of else None,
        points=points,
        points_words=words,
        notes=[clean_line(note) for note in notes],
        status=word,
        kind=badge.value,
        device=score.device.name if score.device else "no device",
        failure=word.capitalize() if score.status.ended_early else "",
        ours=not score.status.has_points,
        message=clean_line(score.message),
        detail=clean_text(score.detail)[:MAX_DETAIL],
        advice=clean_line(score.advice),
        checks=[_make_check(check) for check in score.checks],
        what_if=make_what_if(score),
        roofline=make_roofline(score),
        figures=[*_list_figures(score)],
        times=[*_make_times(score, times)],
        times_note=_note_times(score),
        findings=[_make_finding(each) for each in score.findings],
        columns=[(column.titles[0], column.meaning) for column in annotation.columns],
        pictures=make_figures(annotation, accesses_of_checks(score)),
        source=make_lines(annotation),
        machine=make_machine(score.machine),
        source_note=_note_source(score, source),
        cases=[_make_case(case) for case in score.cases],
        metrics=[*_list_metrics(score)],
        resources=[*_list_resources(score)],
        environment=_list_environment(score, handed_back=handed_back),
    )


def _list_environment(score: Score, *, handed_back: bool) -> list[tuple[str, str]]:
    seed = {} if handed_back else {"seed": str(score.seed)}
    facts = {**score.environment, **seed}
    return [(clean_line(name), clean_line(value)) for name, value in facts.items()]


def _make_finding(finding: Finding) -> FindingRow:
    return FindingRow(
        clean_line(tell_finding(finding)),
        clean_line(describe_place(finding)),
        finding.line,
        finding.other_line,
    )


def _describe_points(score: Score) -> tuple[str, str]:
    if not score.status.has_points:
        return "–", "no points follow from this: it is not the student's doing"
    points, words = summarise_points(score).split(" ", 1)
    return points, words


def _make_check(check: CheckResult) -> CheckRow:
    measured = check.status.has_points
    return CheckRow(
        title=check.headline or check.title,
        kind=check.status.row.badge.value,
        glyph=check.status.row.glyph,
        word=check.status.row.word,
        value=format_check_value(check),
        source=check.source.value if check.source is not None else "",
        goal=check.threshold,
        points=(
            f"{check.points:g} / {check.max_points:g}" if measured else f"– / {check.max_points:g}"
        ),
        advice=clean_line(check.hint or explain(check)),
    )


def _make_case(case: CaseResult) -> CaseRow:
    drawn = draw_mismatch(case.mismatch) if case.mismatch is not None else ()
    return CaseRow(
        name=clean_line(f"{case.part}: {case.name}" if case.part else case.name),
        sizes=("hidden" if case.hidden else list_sizes(case.sizes)),
        kind="passed" if case.passed else "failed" if case.is_wrong else "none",
        word="right" if case.passed else "wrong" if case.is_wrong else "not verified",
        message=clean_line(case.unverified or case.message),
        picture="\n".join(drawn[:-1]),
    )


def _make_times(score: Score, times: Mapping[str, float]) -> Iterator[TimeRow]:
    intervals = {timing.plan: timing.interval_ms for timing in score.timings}
    own = times.get(OWN)
    for plan, time in times.items():
        low, high = intervals.get(plan, (None, None))
        yield TimeRow(
            name="this submission" if plan == OWN else clean_line(plan),
            time=f"{time:.4g} ms",
            interval=f"{low:.4g} to {high:.4g}" if low is not None and high is not None else "",
            ratio=f"{time / own:.3g} ×" if own else "",
        )


def _note_times(score: Score) -> str:
    rounds = max((len(timing.samples_ms) for timing in score.timings), default=0)
    words = f"Medians of {rounds} rounds, cold cache. " if rounds else ""
    if any(timing.kind is not None for timing in score.timings):
        words = "Modelled: nine of ten such times lie in their intervals on a GPU. "
    return words + "Compared: the program's time over this submission's."


def _note_source(score: Score, source: str | None) -> str:
    notes = [
        "Darker cells: a larger share of the column. Red figures: more than the ideal; point at one"
        " to see by how much."
    ]
    if source is None:
        notes.append(
            "The file itself is not at hand: only the lines that the score names are shown."
        )
    elif source.count("\n") >= MAX_LINES:
        notes.append(f"The first {MAX_LINES:,} lines are shown.")
    if any(line.line is None for line in score.lines):
        notes.append("Code of headers is left out.")
    return " ".join(notes)


def _list_figures(score: Score) -> Iterator[tuple[str, str, str]]:
    for figure in list_figures(score):
        yield figure.label, figure.value or "–", figure.source or figure.reason


def _list_metrics(score: Score) -> Iterator[tuple[str, str]]:
    for metric in score.metrics:
        meaning = METRICS[metric.name].meaning
        if metric.value is None:
            yield metric.name, f"– {clean_line(metric.reason or '')}"
        else:
            source = f" ({metric.source.value})" if metric.source else ""
            yield metric.name, f"{format_value(metric.name, metric.value)}{source}: {meaning}"


def _list_resources(score: Score) -> Iterator[tuple[str, str]]:
    for each in score.resources:
        words = (
            f"{each.registers} registers a thread, {each.shared_bytes:,} bytes of shared memory a"
            " block"
        )
        local = f", {each.local_bytes:,} bytes of local memory a thread" if each.local_bytes else ""
        yield clean_line(each.kernel), f"{words}{local}, occupancy {100 * each.occupancy:.3g} %"
