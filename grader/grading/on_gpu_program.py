"""The steps of a grading of a whole program on a GPU.

The program runs by itself for its output, with CUPTI for its times, under Nsight Compute for its
counters, and under memcheck of compute-sanitizer. It also runs on the emulated device, if it can:
the checked mode finds mistakes in host code that compute-sanitizer does not know, and the measured
run gives the counters of source lines, and the work, which the program cannot forge.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from grader.cuda.confined import ConfinedRun, RunOrder, make_builder, make_native_builder
from grader.cuda.gpu.real_gpu import RealGpu, find_real_gpu
from grader.cuda.gpu.runs import check_program, count_program, run_plain, run_traced
from grader.cuda.gpu.sanitizer import MEMCHECK, TOOLS, find_sanitizer
from grader.cuda.gpu.tracer import Tracer, find_tracer
from grader.devices.gpu.gpu_lock import hold_gpu
from grader.devices.gpu.nvml import read_versions
from grader.errors import GraderError
from grader.grading.mistakes import SubmissionError, refuse
from grader.grading.on_program import UNTIMED, needs_naive
from grader.grading.program_grading import (
    FoundMistakes,
    Grading,
    build_own,
    open_grading,
    read_sources,
)
from grader.grading.program_results import check_end, find_end, find_missing_work, launches_of
from grader.grading.session import Job
from grader.grading.tools import find_toolchain
from grader.judging.evidence import Checked
from grader.judging.overlaps import estimate_time, find_link_floor, measure_overlap
from grader.messages.counting import describe_not_counted
from grader.messages.times import reject_program_time
from grader.records import CaseResult, Estimate, MeasuredProgram, NotCounted, Progress, Status
from grader.records.program_run import ProgramRun
from grader.spec.draws import draw_cases
from grader.spec.exercise import Case
from grader.spec.whole_program import MEASURED, RunSpec, WholeProgram

ROUNDS = 7
"""Measured runs of a program. The interval of the median, from the least to the greatest, contains
the true median with a probability of 98 %."""
FLOOR_SLACK = 0.9
"""Clocks and published bandwidths are known to this part."""
_NO_HOST_CHECK = "compute-sanitizer alone does not find all mistakes in host code"


@dataclass
class _StandIn:
    """The program on the emulated device; without `grading`, `problem` is the reason why it does
    not run there."""

    grading: Grading | None
    problem: str = ""

    def run(self, run: RunSpec, case: Case, *, check: bool) -> ConfinedRun | None:
        """A run, or None. A fault of a kernel is a result."""
        if self.grading is None:
            return None
        ran = self.grading.run(self.grading.order(run, case.sizes, check=check))
        failure = find_end(ran)
        if failure is None or failure.status is Status.RUNTIME_ERROR:
            return ran
        self.grading = None
        self.problem = f"the emulated device cannot run the program: {failure.message}"
        return None


def grade_program_on_gpu(job: Job) -> bool:
    """Grades a whole program. Returns False: a repetition measures other times. Raises
    SubmissionError."""
    job.options.show(Progress("compiling"))
    gpu = find_real_gpu(job.choice)
    isolated = job.options.isolated
    tools = find_toolchain(prefer_wheel=False, cache=job.cache, isolated=isolated)
    job.subject.device = gpu.info
    job.note(tools.versions | read_versions())
    builder = make_native_builder(tools, gpu.arch, isolated=isolated)
    run = partial(run_plain, gpu=gpu)
    with (
        open_grading(job, builder, gpu.figures.id, run) as grading,
        _open_stand_in(job, gpu) as stand_in,
    ):
        _check(grading, stand_in, gpu)
        if job.evidence.all_right:
            _measure(grading, stand_in, gpu)
    return False


@contextmanager
def _open_stand_in(job: Job, gpu: RealGpu) -> Iterator[_StandIn]:
    """Compiles the submission for the emulated device."""
    isolated = job.options.isolated
    with ExitStack() as stack:
        try:
            tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=isolated)
            builder = make_builder(tools, gpu.figures.arch, cache=job.cache, isolated=isolated)
            grading = stack.enter_context(open_grading(job, builder, gpu.figures.id))
            stand_in = _StandIn(grading)
        except (GraderError, SubmissionError) as error:
            stand_in = _StandIn(None, f"the emulated device cannot compile the program: {error}")
        yield stand_in


def _check(grading: Grading, stand_in: _StandIn, gpu: RealGpu) -> None:
    """Runs the cases on the GPU for their output, and with all checks."""
    job, evidence = grading.job, grading.job.evidence
    cases = draw_cases(job.exercise, job.seed)
    found = FoundMistakes(grading.spec.submit[0])
    complete = True
    for number, case in enumerate(cases):
        job.options.show(Progress("checking cases", number, len(cases)))
        run = grading.spec.runs[case.name]
        ran = grading.run(grading.order(run, case.sizes))
        check_end(ran, case)
        evidence.cases += (grading.judge(ran, case, run, case.sizes),)
        checked = stand_in.run(run, case, check=True)
        if checked is not None:
            check_end(checked, case)
        runs = [checked] if checked is not None else []
        by_tools = _run_sanitizer(grading, run, case, gpu, all_tools=checked is None)
        complete = complete and (checked is not None or len(by_tools) == len(TOOLS))
        found.add(case, *runs, *by_tools)
    evidence.host_mistakes = found.united()
    known = stand_in.grading is not None
    reason = "" if known else f"{stand_in.problem}, and {_NO_HOST_CHECK}"
    count = len(evidence.host_mistakes) if known or evidence.host_mistakes else None
    evidence.measured = MeasuredProgram(host_mistakes=count, missing=reason)
    evidence.checked = (
        found.checked(len(cases)) if complete or found.findings else Checked(reason=reason)
    )


def _run_sanitizer(
    grading: Grading, run: RunSpec, case: Case, gpu: RealGpu, *, all_tools: bool
) -> list[ConfinedRun]:
    """The runs under memcheck, or under all tools of compute-sanitizer. A tool that does not work
    is a note in the score."""
    sanitizer = find_sanitizer()
    if sanitizer is None:
        grading.job.note({"compute_sanitizer": "not installed"})
        return []
    order, runs = grading.order(run, case.sizes), []
    for tool in TOOLS if all_tools else (MEMCHECK,):
        found = check_program(order, gpu, sanitizer, tool)
        if isinstance(found, str):
            grading.job.note({f"compute_sanitizer_{tool}": found})
        else:
            grading.job.note({f"compute_sanitizer_{tool}": "ran"})
            runs.append(ConfinedRun(found, {}))
    return runs


def _measure(grading: Grading, stand_in: _StandIn, gpu: RealGpu) -> None:
    """The measured run: times and counters of the GPU, and the work."""
    job, evidence = grading.job, grading.job.evidence
    spec, case = grading.spec, Case(MEASURED, grading.spec.measured_sizes, hidden=False)
    tools = find_toolchain(prefer_wheel=False, cache=job.cache, isolated=job.options.isolated)
    tracer = find_tracer(tools.nvcc, job.cache)
    emulated = stand_in.run(spec.measured, case, check=False)
    with hold_gpu(gpu.uuid, show=job.options.show):
        job.options.show(Progress("measuring"))
        rounds = _Rounds(grading, gpu, None if isinstance(tracer, str) else tracer, case)
        rounds.run()
        counted = count_program(grading.order(spec.measured, case.sizes), gpu, rounds.traced)
    evidence.cases += (_judge_work(rounds, emulated, spec),)
    if not evidence.all_right:
        return
    _keep_counters(job, counted, emulated)
    evidence.untimed = UNTIMED
    checked = evidence.measured
    assert checked is not None  # `_check` sets it
    missing = checked.missing
    if isinstance(tracer, str):
        missing = missing or f"it was not timed: {tracer}"
    elif not rounds.traced.timeline:
        missing = missing or "it was not timed: CUPTI recorded no copy and no kernel"
    own = _summarise(rounds.times_ms)
    overlap = statistics.median(rounds.overlaps) if rounds.overlaps else None
    naive, mistakes = _summarise(rounds.naive_ms), checked.host_mistakes
    evidence.measured = MeasuredProgram(own, naive, overlap, mistakes, missing)
    moved = (spec.least.to_device_bytes, spec.least.to_host_bytes)
    to_device, to_host = (int(each.evaluate(case.sizes)) if each else None for each in moved)
    floor_ms = find_link_floor(to_device, to_host, gpu.figures.link_gbps)
    if own is not None and own.value < FLOOR_SLACK * floor_ms:
        evidence.measured = replace(evidence.measured, time_ms=None, naive_time_ms=None)
        refuse(reject_program_time(own.value, floor_ms))


class _Rounds:
    """The measured runs of the submission and of the starter in turn, so that both meet the same
    state of the machine. Without a tracer, a single run for the output."""

    def __init__(self, grading: Grading, gpu: RealGpu, tracer: Tracer | None, case: Case) -> None:
        self._grading, self._gpu, self._tracer, self._case = grading, gpu, tracer, case
        self.traced = ProgramRun(0, gpu.figures.id, counted=False)
        self.times_ms: list[float] = []
        self.naive_ms: list[float] = []
        self.overlaps: list[float] = []
        self.result = CaseResult(case.name, False, dict(case.sizes), True, "right")

    def run(self) -> None:
        """All rounds; a wrong output ends them. Raises SubmissionError."""
        grading, spec = self._grading, self._grading.spec
        order = grading.order(spec.measured, self._case.sizes)
        naive = needs_naive(grading.job.exercise) and self._tracer is not None
        with tempfile.TemporaryDirectory(prefix="grader-program-") as name:
            starter = order
            if naive:
                texts = read_sources(grading.job.exercise.baseline_source, spec)
                program = build_own(grading.job, grading.builder, texts, Path(name) / "starter")
                starter = replace(order, program=program)
            for _ in range(ROUNDS if self._tracer is not None else 1):
                ran = self._trace(order, self.times_ms)
                check_end(ran, self._case)
                self.result = grading.judge(ran, self._case, spec.measured, self._case.sizes)
                if not self.result.passed:
                    return
                self.traced = ran.found
                if (overlap := measure_overlap(ran.found)) is not None:
                    self.overlaps.append(overlap)
                if naive:
                    self._trace(starter, self.naive_ms)

    def _trace(self, order: RunOrder, times_ms: list[float]) -> ConfinedRun:
        if self._tracer is None:
            return run_plain(order, self._gpu)
        ran = run_traced(order, self._gpu, self._tracer)
        if (time := estimate_time(ran.found)) is not None:
            times_ms.append(time.value)
        return ran


def _judge_work(rounds: _Rounds, emulated: ConfinedRun | None, spec: WholeProgram) -> CaseResult:
    """The result of the measured run. The run on the emulated device, in another process, counts
    the work; else the trace does."""
    if not rounds.result.passed:
        return rounds.result
    lacking = find_missing_work(rounds.traced if emulated is None else emulated.found, spec)
    return replace(rounds.result, passed=False, message=lacking) if lacking else rounds.result


def _keep_counters(
    job: Job, counted: ProgramRun | NotCounted, emulated: ConfinedRun | None
) -> None:
    """The counters of Nsight Compute, else of the emulated device, which also has those of
    lines."""
    evidence = job.evidence
    if emulated is not None:
        evidence.lines_from = launches_of(emulated.found, job.submission)
    if isinstance(counted, ProgramRun):
        evidence.execution = launches_of(counted, job.submission)
        job.note({"counters": "Nsight Compute"})
        return
    reason, advice = describe_not_counted(counted)
    evidence.execution, evidence.missing_reason = evidence.lines_from, reason
    if evidence.lines_from is not None:
        why = f"{reason}. {advice}".strip()
        job.note({"counters": f"emulated device, because {why}"})


def _summarise(times_ms: list[float]) -> Estimate | None:
    """The median, with the least and the greatest time."""
    if not times_ms:
        return None
    return Estimate(statistics.median(times_ms), min(times_ms), max(times_ms))
