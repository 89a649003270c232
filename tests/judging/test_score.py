"""From checks to a score: status, points, and what a failure leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.judging.evidence import Evidence
from grader.judging.score import failed_score, make_score
from grader.metrics import METRICS, MODELLED
from grader.records import (
    CheckStatus,
    Dim3,
    Failure,
    Finding,
    FindingKind,
    LineCounters,
    PendingRule,
    Score,
    Status,
)
from grader.records.predictions import PREDICTIONS
from grader.spec.exercise import CheckSpec, ComparedWith, Threshold
from tests.support.factories import (
    CHECKS,
    CLEAN,
    CORRECTNESS,
    CROOKED_LINES,
    GPU,
    LOADING,
    make_case,
    make_execution,
    make_exercise,
    make_graded,
    make_modelled,
    make_subject,
    make_timed,
)

BONUS = CheckSpec("occupancy", "Occupancy", "occupancy", 5, Threshold(at_least=1), bonus=True)


def fail(failure: Failure) -> Score:
    return failed_score(make_subject(), failure, Evidence(cases=(make_case(),)))


def test_points_that_the_device_could_not_judge_are_pending_and_pass_nothing() -> None:
    score = make_graded()
    assert (score.status, score.exit_code) == (Status.INCONCLUSIVE, 1)
    assert not score.status.is_worth_a_retry
    assert (score.score, score.judged_points, score.max_score) == (75, 75, 100)
    assert score.pending_points == 25
    assert score.message == "75 of 100 points, 25 wait for a GPU"
    assert score.why == "25 points are pending"


def test_on_a_gpu_pending_points_wait_for_another_grading() -> None:
    subject = make_subject(device=GPU)
    score = make_score(subject, Evidence(cases=(make_case(),)))
    assert score.message == "25 of 100 points, 75 wait for another grading"


def test_what_needs_the_reference_waits_for_the_courses_grading() -> None:
    relative = Threshold(at_least=0.8, relative_to=ComparedWith.REFERENCE)
    speed = replace(CHECKS[-1], threshold=relative)
    score = make_timed(make_modelled(0.19), exercise=make_exercise((*CHECKS[:-1], speed)))
    assert score.message == "75 of 100 points, 25 wait for the course's grading"


def test_a_failed_check_fails_whatever_is_pending() -> None:
    score = make_graded(lines=CROOKED_LINES)
    assert (score.status, score.pending_points) == (Status.FAILED, 25)
    assert score.judged_points == score.max_score - score.pending_points


def test_a_case_that_is_not_verified_leaves_all_points_pending() -> None:
    unverified = replace(make_case("benchmark", passed=False), unverified="only a part ran")
    score = make_graded(cases=(make_case(), unverified))
    assert (score.status, score.exit_code) == (Status.INCONCLUSIVE, 1)
    assert (score.score, score.judged_points, score.pending_points) == (0, 0, 100)


def make_excluded(cases: tuple = (make_case(),)) -> Score:
    """Without modelled times."""
    evidence = Evidence(cases=cases, execution=make_execution())
    return make_score(replace(make_subject(), excluded=MODELLED), evidence)


def test_without_a_model_the_checks_of_times_leave_the_total() -> None:
    score = make_excluded()
    assert (score.status, score.exit_code) == (Status.PASSED, 0)
    assert (score.score, score.max_score, score.pending_points) == (75, 75, 0)
    assert score.message == "75 of 75 points"
    assert score.marks.grade() == score.marks.full == 100
    failed = failed_score(replace(make_subject(), excluded=MODELLED), Failure(Status.TIMEOUT, "no"))
    assert (failed.score, failed.max_score, failed.judged_points) == (0, 75, 75)


@pytest.mark.parametrize(
    ("rule", "grade"), [(None, None), (PendingRule.LOST, 80), (PendingRule.SCALED, 105)]
)
def test_pending_points_make_no_grade_unless_the_instructor_decides(
    rule: PendingRule | None, grade: float | None
) -> None:
    """75 of 75 judged points, and 5 of a bonus, which no rule scales."""
    score = make_graded(exercise=make_exercise((*CHECKS, BONUS)))
    assert score.marks.grade(rule) == grade
    assert make_excluded().marks.grade(rule) == 100


def test_a_missed_check_fails() -> None:
    score = make_graded(lines=CROOKED_LINES)
    assert (score.status, score.exit_code, score.score) == (Status.FAILED, 1, 25)


def test_a_wrong_case_earns_nothing_but_leaves_the_judged_points() -> None:
    score = make_graded(cases=(make_case(), make_case("ragged", passed=False)))
    assert (score.status, score.score, score.judged_points) == (Status.FAILED, 0, 100)
    counted = next(metric for metric in score.metrics if metric.name == "shared_wavefronts")
    assert counted.reason == "it is not counted while a case is wrong"


def test_everything_judged_reads_short() -> None:
    score = make_graded(exercise=make_exercise((CORRECTNESS,)))
    assert score.message == "25 of 25 points"


def test_a_bonus_comes_on_top_and_spoils_nothing() -> None:
    earned = make_graded(exercise=make_exercise((*CHECKS, BONUS)))
    assert (earned.score, earned.judged_points, earned.max_score) == (80, 75, 100)
    assert earned.checks[-1].title == "Occupancy (bonus)"
    missed = make_graded(
        exercise=make_exercise((*CHECKS, replace(BONUS, threshold=Threshold(at_least=1.1))))
    )
    assert (missed.score, missed.status) == (75, Status.INCONCLUSIVE)


def test_nothing_judged_is_inconclusive() -> None:
    score = make_score(make_subject(), Evidence())
    assert (score.status, score.exit_code, score.judged_points) == (Status.INCONCLUSIVE, 1, 0)


def test_lines_are_summed_over_launches_in_the_files_order() -> None:
    lines = (LineCounters(None, CLEAN), LineCounters(11, CLEAN), LineCounters(8, LOADING))
    launch = make_execution(lines).launches[0]
    twice = replace(make_execution(), launches=(launch, launch))
    score = make_score(make_subject(), Evidence(cases=(make_case(),), execution=twice))
    assert [line.line for line in score.lines] == [8, 11, None]
    assert score.lines[0].text == "tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];"
    assert score.lines[0].counters.global_load_sectors == 800
    assert [(entry.kernel, entry.shared_bytes) for entry in score.resources] == [
        ("transpose_shared", 4096)
    ] * 2


def test_all_metrics_are_in_every_score() -> None:
    of_kernels = [
        name for name, row in METRICS.items() if not row.is_of_program and name != PREDICTIONS
    ]
    failed = fail(Failure(Status.TIMEOUT, "too slow"))
    assert [metric.name for metric in make_graded().metrics] == of_kernels
    assert [metric.name for metric in failed.metrics] == of_kernels


def test_a_failure_keeps_its_words_and_earns_nothing() -> None:
    score = fail(
        Failure(
            Status.COMPILE_ERROR, "line 3 does not compile", detail="error: ...", advice="Fix it."
        )
    )
    assert (score.status, score.exit_code, score.score, score.judged_points) == (
        Status.COMPILE_ERROR,
        1,
        0,
        100,
    )
    assert (score.message, score.detail, score.advice) == (
        "line 3 does not compile",
        "error: ...",
        "Fix it.",
    )
    assert score.checks[0].hint == "line 3 does not compile Fix it."
    assert len(score.cases) == 1


def test_a_finding_brings_its_source_line_and_advice() -> None:
    finding = Finding(
        FindingKind.OUT_OF_BOUNDS, "line 11: beyond out", line=11, block=Dim3(1), thread=Dim3(2)
    )
    score = fail(Failure(Status.RUNTIME_ERROR, finding.message, findings=(finding,)))
    assert score.findings == (finding,)
    assert [(line.line, line.text[:6]) for line in score.lines] == [(11, "out[x ")]
    assert score.advice.startswith("Guard the access")


@pytest.mark.parametrize("status", [Status.UNSUPPORTED, Status.GRADER_ERROR])
def test_what_is_not_the_students_doing_judges_no_points(status: Status) -> None:
    score = fail(Failure(status, "no"))
    assert (score.judged_points, score.pending_points) == (0, 100)
    assert {check.status for check in score.checks} == {CheckStatus.NOT_MEASURED}


def test_a_mistake_costs_the_points_of_the_checks_that_wait_for_it() -> None:
    wrong = make_graded(cases=(make_case(), make_case("ragged", passed=False)))
    assert [check.cost_points for check in wrong.checks] == [100, 0, 0, 0]
    slow = make_graded(lines=CROOKED_LINES)
    assert [check.cost_points for check in slow.checks] == [0, 25, 25, 0]


def test_what_ends_a_grading_costs_all_points() -> None:
    failed = fail(Failure(Status.TIMEOUT, "no"))
    assert [check.cost_points for check in failed.checks] == [100, 0, 0, 0]
