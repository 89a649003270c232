"""The steps of a grading of a whole program on the emulated device: compile it, run its cases in
the checked mode, and then the measured run with modelled times.

The compiler and the program are confined. The seed, the expected results and the judgement stay in
this process.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from grader.cuda.confined import make_builder
from grader.errors import GraderError
from grader.grading.program_grading import (
    FoundMistakes,
    Grading,
    build_own,
    open_grading,
    read_sources,
)
from grader.grading.program_results import check_end, find_missing_work, launches_of
from grader.grading.session import Job
from grader.grading.tools import find_toolchain
from grader.judging.overlaps import estimate_time, measure_overlap
from grader.metrics import METRICS
from grader.plumbing.cache import cache_key, recall, remember
from grader.plumbing.identity import grader_identity
from grader.records import CaseResult, Estimate, MeasuredProgram, Progress
from grader.spec.draws import draw_cases, draw_order_seed
from grader.spec.exercise import Case, Exercise
from grader.spec.whole_program import FILES_FOLDER, MEASURED

UNTIMED = "it belongs to a plan of launches"


def grade_on_program(job: Job) -> bool:
    """Grades a whole program. Returns whether a repetition gives the same score. Raises
    SubmissionError."""
    job.options.show(Progress("compiling"))
    isolated = job.options.isolated
    tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=isolated)
    job.note(tools.versions)
    builder = make_builder(tools, job.info.arch, cache=job.cache, isolated=isolated)
    with open_grading(job, builder, job.info.id) as grading:
        cases = draw_cases(job.exercise, job.seed)
        found = FoundMistakes(grading.spec.submit[0])
        for number, case in enumerate(cases):
            job.options.show(Progress("checking cases", number, len(cases)))
            run = grading.spec.runs[case.name]
            ran = grading.run(grading.order(run, case.sizes, check=True))
            check_end(ran, case)
            job.evidence.cases += (grading.judge(ran, case, run, case.sizes),)
            found.add(case, ran)
            if job.options.until_wrong and not job.evidence.all_right:
                break
        job.evidence.checked = found.checked(len(job.evidence.cases))
        job.evidence.host_mistakes = found.united()
        job.evidence.measured = MeasuredProgram(host_mistakes=len(job.evidence.host_mistakes))
        if job.evidence.all_right:
            _measure(grading)
    return True


def _measure(grading: Grading) -> None:
    """The measured run: its output must be right, too, in both orders of independent
    operations."""
    job, spec = grading.job, grading.spec
    evidence, case = job.evidence, Case(MEASURED, spec.measured_sizes, hidden=False)
    job.options.show(Progress("measuring"))
    ran = grading.run(grading.order(spec.measured, case.sizes, model=True))
    check_end(ran, case)
    result = grading.judge(ran, case, spec.measured, case.sizes)
    if result.passed and (lacking := find_missing_work(ran.found, spec)):
        result = replace(result, passed=False, message=lacking)
    if result.passed and ran.found.streams > 1:
        result = _repeat_in_other_order(grading, case)
    evidence.cases += (result,)
    if not result.passed:
        return
    evidence.execution = launches_of(ran.found, job.submission)
    evidence.missing_reason = "the program launched no kernel"
    evidence.untimed = UNTIMED
    if job.options.model:
        evidence.measured = MeasuredProgram(
            estimate_time(ran.found),
            _time_naive(grading),
            measure_overlap(ran.found),
            len(evidence.host_mistakes),
        )


def _repeat_in_other_order(grading: Grading, case: Case) -> CaseResult:
    """The result of the measured run in an order drawn from the job's seed. The order of the first
    run is fixed, so a program without dependencies may have been written for it."""
    order = grading.order(grading.spec.measured, case.sizes)
    ran = grading.run(replace(order, order_seed=draw_order_seed(grading.job.seed)))
    check_end(ran, case)
    result = grading.judge(ran, case, grading.spec.measured, case.sizes)
    if result.passed:
        return result
    message = f"the result depends on the order of operations in streams: {result.message}"
    return replace(result, message=message)


def needs_naive(exercise: Exercise) -> bool:
    """Whether a check compares with the starter's program."""
    return any(METRICS[check.metric].needs_naive for check in exercise.checks)


def _time_naive(grading: Grading) -> Estimate | None:
    """The time of the starter's program in the measured run, where a check needs it."""
    job, spec = grading.job, grading.spec
    if not needs_naive(job.exercise):
        return None
    sources = read_sources(job.exercise.baseline_source, spec)
    given = job.exercise.folder / FILES_FOLDER
    supplied = [(given / name).read_text(encoding="utf-8") for name in spec.supplied]
    parts = (*sources.values(), *supplied, repr(spec), job.info.id, grader_identity())
    key = f"naive-program-{cache_key(*parts)}"
    kept = recall(job.cache, key, Estimate)
    if kept is not None:
        return kept
    with tempfile.TemporaryDirectory(prefix="grader-program-") as name:
        program = build_own(job, grading.builder, sources, Path(name) / "starter")
        order = grading.order(spec.measured, spec.measured_sizes, model=True)
        ran = grading.run(replace(order, program=program))
    time = estimate_time(ran.found)
    if time is None:
        raise GraderError("the starter's program has no modelled time", ran.found.stderr or "")
    remember(job.cache, key, time)
    return time
