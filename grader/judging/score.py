"""Makes the score of one submission from what its run gave, or from the failure that ended it.

Bonus checks add their points on top: a score never exceeds `max_score` plus the points of the bonus
checks, and a bonus check that fails spoils nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.judging.checks import judge_checks, judge_failure
from grader.judging.diagnose import ASKS_FOR_THE_EDGE
from grader.judging.evidence import Evidence
from grader.judging.values import (
    TIMED_ON,
    CountedRun,
    collect_metrics,
    collect_others,
    count_metrics,
    measure_correctness,
    measure_sanitized,
    missing_metrics,
)
from grader.judging.worse import relative_metrics, take_worse
from grader.records import (
    CaseResult,
    CheckResult,
    CheckStatus,
    CountedAt,
    Counters,
    Execution,
    Failure,
    Finding,
    LaunchResult,
    Resources,
    Score,
    SourceLine,
    Status,
    Submission,
)
from grader.spec.exercise import Exercise
from grader.words.hints import advise, hint_at_failure, hint_at_misses

_NO_SIZES: Mapping[str, int] = {}
_COUNTS_LINES = "emulated"
"""The kind of device that counts source lines, for a GPU too."""


def make_score(exercise: Exercise, submission: Submission, evidence: Evidence) -> Score:
    """The score of a submission that compiled and ran; a failed run belongs in `failed_score`."""
    device = evidence.device
    assert device is not None
    cases, execution, timings = evidence.cases, evidence.execution, evidence.timings
    environment, seed, parts = evidence.environment, evidence.seed, evidence.parts
    traffic, lines_from, missing_reason = (
        evidence.traffic,
        evidence.lines_from,
        evidence.missing_reason,
    )
    other_counts, sanitized, model = (
        evidence.other_counts,
        evidence.sanitized,
        evidence.model,
    )
    counted, untimed = evidence.counted, evidence.untimed
    reason = (
        "it is not counted while a case is wrong"
        if any(not case.passed for case in cases)
        else missing_reason
    )
    sizes = exercise.benchmark.get(TIMED_ON, _NO_SIZES)
    collected = collect_metrics(
        execution,
        sizes,
        exercise,
        device,
        timings=timings,
        traffic=traffic,
        missing_reason=reason,
        untimed=untimed,
    )
    metrics = (
        measure_sanitized(sanitized),
        *take_worse(collected, counted, relative_metrics(exercise)),
    )
    lines = _with_findings(
        _source_lines(lines_from or execution, submission), sanitized.findings, submission
    )
    others = collect_others(exercise, device, timings=timings, counts=other_counts)
    all_cases = (
        *(_name_race(case, sanitized.races.get(case.name)) for case in cases),
        *(case for part in parts for case in part.cases),
    )
    checks = judge_checks(exercise, cases, metrics, device, parts=parts, others=others)
    checks = hint_at_misses(
        checks, exercise, all_cases, lines, submission, sanitized.findings, model, parts
    )
    judged = _judged(checks)
    return Score(
        exercise=exercise.id,
        submission_name=submission.name,
        submission_sha256=submission.sha256,
        status=_status(judged),
        message=_summarise(exercise, checks, judged),
        score=_points(checks),
        max_score=exercise.max_score,
        judged_points=sum(check.max_points for check in judged),
        device=device,
        checks=checks,
        metrics=(measure_correctness(cases), *metrics),
        cases=all_cases,
        timings=tuple(timings),
        lines=lines,
        findings=sanitized.findings,
        resources=tuple(_resources(launch) for launch in execution.launches) if execution else (),
        environment=dict(environment),
        seed=seed,
        line_sizes=_line_sizes(exercise, counted) if lines else {},
        model=tuple(model),
        counted=tuple(map(_describe_run, counted)),
    )


def _name_race(case: CaseResult, race: Finding | None) -> CaseResult:
    """A wrong case in which threads raced is told as that race: where the wrong elements lie is
    chance."""
    if case.passed or race is None:
        return case
    return replace(
        case,
        message=(
            f"{race.message.removesuffix('.')}; so {case.message.removesuffix(ASKS_FOR_THE_EDGE)}"
        ),
    )


def _line_sizes(exercise: Exercise, counted: Sequence[CountedRun]) -> dict[str, int]:
    return dict(counted[0].sizes if counted else exercise.benchmark.get(_COUNTS_LINES, _NO_SIZES))


def _describe_run(run: CountedRun) -> CountedAt:
    launches = run.execution.launches
    blocks = [launch.grid.volume for launch in launches]
    ran = [
        launch.sample.window + launch.sample.spread if launch.sample else launch.grid.volume
        for launch in launches
    ]
    return CountedAt(dict(run.sizes), sum(ran), sum(blocks), count_metrics(run.execution))


def failed_score(
    exercise: Exercise, submission: Submission, failure: Failure, evidence: Evidence
) -> Score:
    """The score of a submission that a failure ended: no points, its findings, and what was judged
    and timed before."""
    device, cases, timings = evidence.device, evidence.cases, evidence.timings
    environment, seed = evidence.environment, evidence.seed
    metrics = missing_metrics("the submission did not run to its end", device)
    checks = hint_at_failure(judge_failure(exercise, failure, metrics, device), failure)
    return Score(
        exercise=exercise.id,
        submission_name=submission.name,
        submission_sha256=submission.sha256,
        status=failure.status,
        message=failure.message,
        score=0.0,
        max_score=exercise.max_score,
        judged_points=sum(check.max_points for check in _judged(checks)),
        device=device,
        checks=checks,
        metrics=metrics,
        cases=tuple(cases),
        timings=tuple(timings),
        lines=_with_findings((), failure.findings, submission),
        findings=failure.findings,
        resources=(),
        environment=dict(environment),
        seed=seed,
        detail=failure.detail,
        advice=advise(failure),
        printed=failure.printed,
    )


def _judged(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """The checks that count and that this device could judge."""
    return [
        check
        for check in checks
        if not check.bonus and check.status is not CheckStatus.NOT_MEASURED
    ]


def _status(judged: Sequence[CheckResult]) -> Status:
    if not judged:
        return Status.INCONCLUSIVE
    return (
        Status.PASSED
        if all(check.status is CheckStatus.PASSED for check in judged)
        else Status.FAILED
    )


def _points(checks: Sequence[CheckResult]) -> float:
    return round(sum(check.points for check in checks), 2)


def _summarise(
    exercise: Exercise, checks: Sequence[CheckResult], judged: Sequence[CheckResult]
) -> str:
    possible = sum(check.max_points for check in judged)
    earned = _points(checks)
    if possible == exercise.max_score:
        return f"{earned:g} of {possible:g} points"
    lost = exercise.max_score - possible
    return (
        f"{earned:g} of {possible:g} points that this device can judge ({lost:g} of"
        f" {exercise.max_score:g} were not measured)"
    )


def _source_lines(execution: Execution | None, submission: Submission) -> tuple[SourceLine, ...]:
    """The counters of each source line over all launches, in the file's order; code from headers
    comes last."""
    totals: dict[int | None, Counters] = {}
    for launch in execution.launches if execution else ():
        for counted in launch.lines:
            totals[counted.line] = totals.get(counted.line, Counters()) + counted.counters
    ordered = sorted(totals, key=lambda line: (line is None, line or 0))
    return tuple(
        SourceLine(line, submission.line(line) if line else "", totals[line]) for line in ordered
    )


def _with_findings(
    lines: Sequence[SourceLine], findings: Sequence[Finding], submission: Submission
) -> tuple[SourceLine, ...]:
    """The lines, and those that findings name, without counters where nothing was counted."""
    named = {line for finding in findings for line in (finding.line, finding.other_line) if line}
    missing = named - {line.line for line in lines}
    added = (SourceLine(line, submission.line(line), Counters()) for line in missing)
    return tuple(sorted((*lines, *added), key=lambda line: (line.line is None, line.line or 0)))


def _resources(launch: LaunchResult) -> Resources:
    return Resources(
        kernel=launch.kernel,
        registers=launch.registers,
        shared_bytes=launch.static_shared_bytes + launch.dynamic_shared_bytes,
        local_bytes=launch.local_bytes,
        occupancy=launch.occupancy,
    )
