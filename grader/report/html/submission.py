"""The page of one submission: points, checks, roofline, findings, and its source line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.messages.explanations import explain as explain_cause
from grader.messages.explanations import list_pages
from grader.messages.findings import describe_place, format_finding
from grader.messages.headlines import explain, format_check_value
from grader.messages.host_findings import describe_mistake
from grader.messages.predictions import MARKS
from grader.messages.reasons import summarise_points
from grader.messages.sizes import list_sizes
from grader.messages.what_if import (
    EXPLANATION,
    describe_best,
    describe_no_fix,
    describe_other_fixes,
    format_effect,
    format_gain,
    name_fix,
)
from grader.metrics import METRICS, format_value
from grader.records import CaseResult, Score
from grader.report.annotation import PAGE_COLUMNS, annotate
from grader.report.html.machine import make_machine
from grader.report.html.pages import describe_outcome, render_page
from grader.report.html.roofline import make_roofline, plan_times
from grader.report.html.source_table import MAX_LINES, make_lines
from grader.report.html.warp_charts import make_figures
from grader.report.measurement import list_figures
from grader.report.text import clean_line, clean_text
from grader.report.what_if import AS_IT_IS, label_effects, list_code, shown_fixes
from grader.report.worst_accesses import accesses_of_checks
from grader.report.wrong_case import draw_mismatch

MAX_DETAIL = 20_000


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
    points, words = _describe_points(score)
    return render_page(
        "submission.html",
        score=score,
        student=student,
        title=title,
        back=back,
        duplicate_of=duplicate_of,
        points=points,
        points_words=words,
        notes=notes,
        status=word,
        kind=badge.value,
        device=score.device.name if score.device else "no device",
        detail=clean_text(score.detail)[:MAX_DETAIL],
        checks=[
            (check, format_check_value(check), check.hint or explain(check))
            for check in score.checks
        ],
        what_if=make_what_if(score),
        causes=[page for key in list_pages(score) if (page := explain_cause(key)) is not None],
        roofline=make_roofline(score),
        figures=list_figures(score),
        times=plan_times(score),
        intervals={timing.plan: timing.interval_ms for timing in score.timings},
        times_note=_make_times_note(score),
        predictions=[(each, MARKS[each.verdict]) for each in score.predictions],
        findings=[(each, format_finding(each), describe_place(each)) for each in score.findings],
        host_findings=[clean_line(describe_mistake(each)) for each in score.host_findings],
        columns=[(column.titles[0], column.meaning) for column in annotation.columns],
        pictures=make_figures(annotation, accesses_of_checks(score)),
        source=make_lines(annotation),
        machine=make_machine(score.machine),
        source_note=_make_source_note(score, source),
        cases=[(case, list_sizes(case.sizes), _draw(case)) for case in score.cases],
        metrics=[*_list_metrics(score)],
        environment=score.environment | ({} if handed_back else {"seed": str(score.seed)}),
    )


def _describe_points(score: Score) -> tuple[str, str]:
    if not score.status.has_points:
        return "–", "no points follow from this: it is not the student's doing"
    points, words = summarise_points(score).split(" ", 1)
    return points, words


def _draw(case: CaseResult) -> str:
    """The map of a wrong case."""
    return "\n".join(draw_mismatch(case.mismatch)[:-1]) if case.mismatch is not None else ""


def _make_times_note(score: Score) -> str:
    rounds = max((len(timing.samples_ms) for timing in score.timings), default=0)
    words = f"Medians of {rounds} rounds, cold cache. " if rounds else ""
    if any(timing.kind is not None for timing in score.timings):
        words = "Modelled: nine of ten such times lie in their intervals on a GPU. "
    return words + "Compared: the program's time over this submission's."


def _make_source_note(score: Score, source: str | None) -> str:
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


def _list_metrics(score: Score) -> Iterator[tuple[str, str]]:
    for metric in score.metrics:
        meaning = METRICS[metric.name].meaning
        if metric.value is None:
            yield metric.name, f"– {metric.reason or ''}"
        else:
            source = f" ({metric.source.value})" if metric.source else ""
            yield metric.name, f"{format_value(metric.name, metric.value)}{source}: {meaning}"


@dataclass(frozen=True)
class WhatIfSection:
    """`fixes`: the name, the effects, the gain and the code of each fix."""

    best: str
    note: str
    labels: Sequence[str] = ()
    fixes: Sequence[tuple[str, Sequence[str], str, str]] = ()


def make_what_if(score: Score) -> WhatIfSection | None:
    """The section; None where no fixes were requested."""
    what_if = score.what_if
    if what_if is None:
        return None
    others = describe_other_fixes(what_if)
    if not what_if.fixes:
        return WhatIfSection(describe_no_fix(what_if), others)
    rows = [(AS_IT_IS, [*map(format_effect, what_if.effects)], "", "")]
    for fix in shown_fixes(what_if):
        effects = [*map(format_effect, fix.effects)]
        rows.append((name_fix(fix), effects, format_gain(fix.gain), "\n".join(list_code(fix))))
    best = describe_best(what_if, score.checks)
    labels = label_effects(what_if.effects, score.checks)
    return WhatIfSection(best, f"{EXPLANATION} {others}", labels, rows)
