"""Finds the causes of lost points: the key of each, by which a class is grouped, with the words of
its row (`cause_rows`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.messages.cause_row import BOUND, EXCHANGED, GOAL, LAUNCH, WRONG
from grader.messages.cause_rows import CAUSES
from grader.messages.hints import HintFacts
from grader.messages.output_advice import find_shown_case
from grader.messages.slowness import find_bound, find_waste
from grader.metrics import CHECKED_CASES, CORRECTNESS, METRICS, Shows
from grader.records import (
    Breach,
    CaseResult,
    Cause,
    CheckResult,
    CompileErrors,
    Counters,
    Fact,
    Failure,
    Faulted,
    FindingKind,
    ForeignFile,
    NoKernel,
    NoSource,
    Obstacle,
    PlanMistake,
    Score,
    SourceLine,
    TooMuchStaticShared,
)
from grader.records.diagnoses import Diagnosis, Holds, Move, Span
from grader.spec.exercise import CheckSpec
from grader.statuses import CheckStatus

_MOST_CAUSES = 3
"""Most causes in one line."""

_MOVES: Mapping[Move, str] = {
    **dict.fromkeys(Move, "index_off_by_one"),
    Move.UNTRANSPOSED: "untransposed",
    Move.BLOCKS_UNSWAPPED: "blocks_unswapped",
    Move.TILES_IN_PLACE: "tiles_in_place",
}
_HOLDS: Mapping[Holds, str] = {Holds.ZERO: "zeros", Holds.NOT_FINITE: "not_finite"}
_MISTAKES: Mapping[type, str] = {
    CompileErrors: "compile_errors",
    NoKernel: "no_kernel",
    NoSource: "no_source",
    TooMuchStaticShared: "static_shared_memory",
    Breach: "forbidden",
    ForeignFile: "foreign_include",
}
_WASTE: Mapping[Shows, tuple[str, Callable[[Counters], int]]] = {
    Shows.BANK_CONFLICTS: ("bank_conflicts", lambda c: c.shared_wavefronts_excessive),
    Shows.WASTED_LOADS: ("uncoalesced_loads", lambda c: c.global_reads.wasted_bytes),
    Shows.WASTED_STORES: ("uncoalesced_stores", lambda c: c.global_writes.wasted_bytes),
    Shows.WAVEFRONTS: ("wavefronts", lambda c: c.shared_wavefronts),
    Shows.LOADS: ("load_sectors", lambda c: c.global_reads.sectors),
    Shows.STORES: ("store_sectors", lambda c: c.global_writes.sectors),
    Shows.INSTRUCTIONS: ("instructions", lambda c: c.instructions_executed),
}
"""For each missed metric that counts something: the cause, and the counter by which lines are
compared."""


def name_cause(key: str) -> str:
    """The words of a key."""
    if key.startswith(BOUND):
        return f"slow: bound by {key.removeprefix(BOUND).replace('_', ' ')}"
    row = CAUSES.get(key)
    return key if row is None else row.text


# --- keys -----------------------------------------------------------------------------------------


def cause_of_output(
    found: Diagnosis, *, unwritten: int, total: int, modified: Sequence[str]
) -> str:
    """The key of a wrong output: `unwritten` of its `total` elements still hold the poison, and the
    kernel wrote to the inputs `modified`."""
    if modified:
        return EXCHANGED if unwritten == total else FindingKind.INPUT_MODIFIED.value
    if unwritten == total:
        return "never_written"
    if found.move is not None:
        return _MOVES[found.move]
    if found.off_diagonal is not None:
        return "off_diagonal"
    if found.ragged or _ends_late(found.rows) or _ends_late(found.columns):
        return "edge"
    if unwritten:
        return "partly_written"
    if found.holds is not None:
        return _HOLDS[found.holds]
    return "all_wrong" if found.all_wrong else WRONG


def _ends_late(span: Span | None) -> bool:
    return span is not None and not span.is_all and span.last == span.size - 1


def cause_of_mistake(mistake: Failure | Fact) -> str:
    """The key of a mistake that ends a grading."""
    if isinstance(mistake, Failure):
        first = mistake.findings[0].kind if mistake.findings else mistake.status
        return mistake.cause or first.value
    if isinstance(mistake, Faulted):
        return mistake.observation.kind.value
    if isinstance(mistake, PlanMistake):
        obstacle = mistake.problem if isinstance(mistake.problem, Obstacle) else None
        return "launch_line" if obstacle is None else LAUNCH + obstacle.value
    return _MISTAKES.get(type(mistake), mistake.status.value)


# --- the causes of a score ------------------------------------------------------------------------


def failure_causes(failure: Failure, checks: Sequence[CheckResult]) -> tuple[Cause, ...]:
    """The cause that ended a grading without points; it costs 0 points where the student is not to
    blame."""
    lost = (CheckStatus.FAILED, CheckStatus.SKIPPED)
    points = sum(each.max_points for each in checks if each.status in lost and not each.bonus)
    line = failure.line or next((each.line for each in failure.findings), None)
    return (_make(cause_of_mistake(failure), points, line),)


@dataclass(frozen=True)
class Loss:
    """The points that one check lost. `check` is the failed check: this check itself, or the
    prerequisite for which it was skipped; None where the file leaves a part out."""

    check: str | None
    cause: Cause


def find_losses(
    checks: Sequence[CheckResult], specs: Sequence[CheckSpec], facts: HintFacts
) -> tuple[Loss, ...]:
    """A loss for each check that lost points, without bonus checks. A skipped check has the cause
    of its failed prerequisite."""
    by_name, own = {spec.name: spec for spec in specs}, dict[str, Cause]()
    skipped = []
    for check in checks:
        if check.bonus:
            continue
        if check.status.lost_points:
            found = _find_cause(by_name[check.name], facts)
            own[check.name] = replace(found, points=check.missing_points)
        elif check.status is CheckStatus.SKIPPED:
            skipped.append(check)
    losses = [Loss(name, cause) for name, cause in own.items()]
    for check in skipped:
        root = _find_root(check.name, by_name, own)
        cause = own[root] if root is not None else _make("part_left_out")
        losses.append(Loss(root, replace(cause, points=check.max_points)))
    return tuple(losses)


def _find_root(name: str, by_name: Mapping[str, CheckSpec], own: Mapping[str, Cause]) -> str | None:
    """The failed check that a check waits for, through prerequisites that wait themselves."""
    for required in by_name[name].requires:
        root = required if required in own else _find_root(required, by_name, own)
        if root is not None:
            return root
    return None


def add_costs(checks: Sequence[CheckResult], losses: Sequence[Loss]) -> tuple[CheckResult, ...]:
    """The checks; each failed check has the cost of its mistake: its own points, and the points of
    the checks that were skipped for it. A race that makes outputs wrong counts for two checks."""
    metrics = {check.name: check.metric for check in checks}

    def mistake_of(loss: Loss) -> str | None:
        about_outputs = metrics.get(loss.check or "") in (CORRECTNESS, CHECKED_CASES)
        return loss.cause.key if about_outputs else loss.check

    costs: dict[str | None, float] = defaultdict(float)
    for loss in losses:
        costs[mistake_of(loss)] += loss.cause.points
    found = {loss.check: costs[mistake_of(loss)] for loss in losses}
    return tuple(
        replace(check, cost_points=round(found[check.name], 2)) if check.name in found else check
        for check in checks
    )


def merge_causes(losses: Sequence[Loss]) -> tuple[Cause, ...]:
    """The causes of losses; equal causes are merged, with the sum of their points. The largest
    first."""
    merged: dict[str, Cause] = {}
    for each in (loss.cause for loss in losses):
        known = merged.get(each.key)
        points = each.points + (known.points if known else 0.0)
        merged[each.key] = replace(known or each, points=round(points, 2))
    return tuple(sorted(merged.values(), key=lambda each: -each.points))


def _find_cause(spec: CheckSpec, facts: HintFacts) -> Cause:
    ended = next((part.failure for part in facts.parts if part.part == spec.part), None)
    if spec.part is not None and ended is not None:
        return _make(cause_of_mistake(ended), 0.0, ended.line)
    shows = METRICS[spec.metric].shows
    if shows is Shows.WRONG_CASE:
        return _wrong_case([case for case in facts.cases if case.part == spec.part], facts)
    if shows is Shows.FINDING and facts.findings:
        return _make(facts.findings[0].kind.value, 0.0, facts.findings[0].line)
    if shows is Shows.SLOWNESS:
        return _slow(facts)
    if shows is Shows.WAVEFRONTS and facts.total.shared_wavefronts_excessive:
        shows = Shows.BANK_CONFLICTS
    return _waste(shows, facts) if shows in _WASTE else _make(GOAL + spec.metric)


def _wrong_case(cases: Sequence[CaseResult], facts: HintFacts) -> Cause:
    """For a race, with the line of its finding."""
    case = find_shown_case(cases)
    key = (case.cause if case is not None else None) or WRONG
    line = next((each.line for each in facts.findings if each.kind.value == key), None)
    return _make(key, 0.0, line)


def _slow(facts: HintFacts) -> Cause:
    """The access pattern that wastes most wavefronts; else the bound on the model."""
    if (metric := find_waste(facts.total, facts.passed)) is not None:
        return _waste(METRICS[metric].shows, facts)
    if (bound := find_bound(facts.model)) is None:
        return _make("slow")
    return _make(BOUND + bound.resource.lower().replace(" ", "_").replace("/", "_"))


def _waste(shows: Shows, facts: HintFacts) -> Cause:
    key, count = _WASTE[shows]
    worst: SourceLine | None = max(facts.lines, key=lambda line: count(line.counters), default=None)
    shown = worst is not None and count(worst.counters) > 0
    return _make(key, 0.0, worst.line if worst is not None and shown else None)


def _make(key: str, points: float = 0.0, line: int | None = None) -> Cause:
    return Cause(key, name_cause(key), points, line)


# --- one line -------------------------------------------------------------------------------------


def summarise_causes(score: Score) -> str:
    """The causes of lost points in one line: the mistake that ended the grading, else the causes
    with the highest costs; and the number of pending points."""
    if score.status.ended_early:
        return score.message
    shown = [
        f"{cause.text} (line {cause.line})" if cause.line else cause.text
        for cause in score.causes[:_MOST_CAUSES]
    ]
    more = len(score.causes) - len(shown)
    pending = score.pending_points
    rest = [f"and {more} more"] * bool(more) + [f"{pending:g} points are pending"] * bool(pending)
    return "; ".join([*shown, *rest])
