"""Makes the score of a submission from the results of its run, or from the failure that ended it.

Points that were not judged are not earned: the points of a check that this device cannot judge stay
in `max_score` and are pending. Excluded checks leave `max_score`. Bonus checks add their points on
top: a score never exceeds `max_score` plus the points of the bonus checks, and a failed bonus check
costs no points.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.cpp.signatures import read_parameters
from grader.judging.checks import judge_checks, judge_failure
from grader.judging.evidence import CountedRun, Evidence, Subject
from grader.judging.predictions import judge_predictions, measure_predictions
from grader.judging.values import (
    collect_by_kernel,
    collect_metrics,
    collect_others,
    count_metrics,
    find_unverified,
    measure_checked,
    measure_correctness,
    missing_metrics,
)
from grader.judging.worse import relative_metrics, take_worse
from grader.messages.accesses import find_shared_names
from grader.messages.causes import (
    add_costs,
    failure_causes,
    find_losses,
    merge_causes,
    summarise_causes,
)
from grader.messages.findings import advise
from grader.messages.hidden import describe_mistake
from grader.messages.hints import Copy, HintFacts, hint_at_failure, hint_at_misses
from grader.messages.outputs import describe_raced
from grader.messages.reasons import summarise_points
from grader.messages.slowness import list_passed
from grader.records import (
    CaseResult,
    CheckResult,
    CheckStatus,
    CountedAt,
    Counters,
    DeviceInfo,
    Execution,
    Fact,
    Failure,
    Finding,
    LaunchResult,
    MetricValue,
    Resources,
    Role,
    Score,
    SourceLine,
    Status,
    Submission,
)
from grader.spec.exercise import Exercise
from grader.spec.statements import Plan

_COUNTS_LINES = "emulated"
"""The kind of device that counts source lines, for a GPU too."""


def make_score(subject: Subject, evidence: Evidence) -> Score:
    """The score of a submission that compiled and ran. A failed run belongs in `failed_score`."""
    exercise, device, checked = subject.exercise, subject.device, evidence.checked
    assert device is not None  # something ran
    metrics = _collect(evidence, exercise, device)
    predictions = judge_predictions(subject.predictions, exercise.questions, metrics)
    if exercise.questions:
        metrics = (measure_predictions(predictions), *metrics)
    run = evidence.execution
    counted = _source_lines(evidence.lines_from or run, subject.submission)
    lines = _with_findings(counted, checked.findings, subject.submission)
    cases = (
        *(_name_race(case, checked.races.get(case.name)) for case in evidence.cases),
        *(case for part in evidence.parts for case in part.cases),
    )
    checks = judge_checks(
        exercise,
        evidence.cases,
        metrics,
        device,
        parts=evidence.parts,
        others=collect_others(exercise, device, timings=evidence.timings, counts=evidence.others),
        excluded=subject.excluded,
        kernels=collect_by_kernel(run) if exercise.program else {},
    )
    values = {metric.name: metric.value for metric in metrics}
    facts = replace(
        _collect_facts(subject, evidence, cases, lines, values), passed=list_passed(checks)
    )
    losses = find_losses(checks, exercise.checks, facts)
    checks = hint_at_misses(add_costs(checks, losses), exercise.checks, facts)
    score = replace(
        _start_score(subject, checks, evidence),
        status=_status(checks),
        score=round(sum(check.points for check in checks), 2),
        metrics=(measure_correctness(evidence.cases), *metrics),
        cases=cases,
        lines=lines,
        findings=checked.findings,
        resources=tuple(_resources(launch) for launch in run.launches) if run else (),
        line_sizes=_line_sizes(exercise, evidence.counted) if lines else {},
        model=evidence.model,
        counted=tuple(map(_describe_run, evidence.counted)),
        causes=merge_causes(losses),
        predictions=predictions,
        machine=evidence.machine,
        accesses=(evidence.lines_from or run).accesses if run else (),
    )
    return replace(score, message=summarise_points(score), why=summarise_causes(score))


def failed_score(
    subject: Subject, mistake: Failure | Fact, evidence: Evidence | None = None
) -> Score:
    """The score of a submission whose grading ended early, by a mistake or by the grader's failure:
    no points, its findings, and the cases and times so far."""
    failure = describe_mistake(mistake)
    exercise, device, excluded = subject.exercise, subject.device, subject.excluded
    metrics = missing_metrics("the submission did not run to its end", device, exercise)
    checks = judge_failure(exercise, failure, metrics, device, excluded)
    causes = failure_causes(failure, checks)
    cost = sum(cause.points for cause in causes)
    checks = tuple(
        replace(check, cost_points=cost) if check.status is CheckStatus.FAILED else check
        for check in hint_at_failure(checks, failure)
    )
    score = replace(
        _start_score(subject, checks, evidence or Evidence()),
        status=failure.status,
        message=failure.message,
        metrics=metrics,
        lines=_with_findings((), failure.findings, subject.submission),
        findings=failure.findings,
        detail=failure.detail,
        advice=advise(failure),
        printed=failure.printed,
        causes=causes,
    )
    return replace(score, why=summarise_causes(score))


def _start_score(subject: Subject, checks: Sequence[CheckResult], evidence: Evidence) -> Score:
    """The fields that every score has."""
    counted = [check for check in checks if _counts(check)]
    total = sum(check.max_points for check in counted)
    pending = sum(check.pending_points for check in counted)
    return Score(
        exercise=subject.exercise.id,
        submission_name=subject.submission.name,
        submission_sha256=subject.submission.sha256,
        status=Status.INCONCLUSIVE,
        message="",
        score=0.0,
        max_score=total,
        judged_points=round(total - pending, 2) if pending else total,
        device=subject.device,
        checks=tuple(checks),
        metrics=(),
        cases=evidence.cases,
        timings=evidence.timings,
        lines=(),
        findings=(),
        resources=(),
        environment=dict(subject.environment),
        seed=subject.seed,
        host_findings=evidence.host_mistakes,
        hidden_left_out=subject.exercise.hidden_left_out,
    )


def _collect(evidence: Evidence, exercise: Exercise, device: DeviceInfo) -> tuple[MetricValue, ...]:
    """The metrics of a score, all but the fraction of right cases."""
    if not evidence.all_right:
        reason = "it is not counted while a case is wrong"
        unverified = find_unverified(evidence.cases)
        evidence = replace(evidence, missing_reason=unverified or reason)
    collected = collect_metrics(evidence, exercise, device)
    worse = take_worse(collected, evidence.counted, relative_metrics(exercise))
    return (measure_checked(evidence.checked), *worse)


def _collect_facts(
    subject: Subject,
    evidence: Evidence,
    cases: Sequence[CaseResult],
    lines: Sequence[SourceLine],
    values: Mapping[str, float | None],
) -> HintFacts:
    """The facts for hints."""
    text, run = subject.submission.text, evidence.lines_from or evidence.execution
    inputs = [each.name for each in subject.exercise.buffers if each.role is Role.INPUT]
    return HintFacts(
        cases=cases,
        parts=evidence.parts,
        lines=[line for line in lines if line.line is not None],
        findings=evidence.checked.findings,
        model=evidence.model,
        shared_names=find_shared_names(text),
        copies=find_copies(text, evidence.plan, inputs) if evidence.plan else {},
        host_mistakes=evidence.host_mistakes,
        threads=sum(each.grid.volume * each.block.volume for each in run.launches) if run else 0,
        values=values,
    )


def _name_race(case: CaseResult, race: Finding | None) -> CaseResult:
    """The case; a wrong case with a race has the race as its message and cause."""
    if not case.is_wrong or race is None:
        return case
    return replace(case, message=describe_raced(case.message, race.message), cause=race.kind.value)


def _line_sizes(exercise: Exercise, counted: Sequence[CountedRun]) -> dict[str, int]:
    return dict(counted[0].sizes if counted else exercise.benchmark.get(_COUNTS_LINES, {}))


def _describe_run(run: CountedRun) -> CountedAt:
    launches = run.execution.launches
    blocks = [launch.grid.volume for launch in launches]
    ran = [
        launch.sample.window + launch.sample.spread if launch.sample else launch.grid.volume
        for launch in launches
    ]
    return CountedAt(dict(run.sizes), sum(ran), sum(blocks), count_metrics(run.execution))


def _counts(check: CheckResult) -> bool:
    return not check.bonus and check.status is not CheckStatus.EXCLUDED


def _status(checks: Sequence[CheckResult]) -> Status:
    """Of the checks that count: a check that lost points fails the submission, even if others are
    pending."""
    found = {check.status for check in checks if _counts(check)}
    if found - {CheckStatus.PASSED, CheckStatus.NOT_MEASURED}:
        return Status.FAILED
    return Status.PASSED if found == {CheckStatus.PASSED} else Status.INCONCLUSIVE


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
    """The lines, and the lines of findings, with counters of 0 where nothing was counted."""
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


def find_copies(text: str, plan: Plan, inputs: Sequence[str]) -> Mapping[str, Copy]:
    """By the parameter's name, the copies that kernels of a submission read; `inputs` are the
    exercise's."""
    scratch = {buffer.name for buffer in plan.scratch}
    made: dict[str, Copy] = {}
    found: dict[str, Copy] = {}
    parameters = read_parameters(text)
    for launch in plan.launches:
        given = [argument.bare_name for argument in launch.arguments]
        read = parameters.get(launch.kernel.name, ())
        if len(read) == len(given):
            for parameter, buffer in zip(read, given, strict=True):
                if buffer in made:
                    found[parameter.name] = made[buffer]
        taken = [name for name in given if name in inputs]
        filled = [name for name in given if name in scratch and name not in made]
        if len(taken) == len(filled) == 1:
            made[str(filled[0])] = Copy(str(taken[0]), launch.kernel.name)
    return found
