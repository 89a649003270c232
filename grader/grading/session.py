"""The state of a grading: `Job` before the compilation of the submission, `Session` after it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from grader.devices.base import Arrays, Device
from grader.devices.mapped_arrays import gather_shared
from grader.grading.building import Built
from grader.grading.cases import BENCHMARK, Bench, CaseRun, Findings, Oracle, each_case
from grader.grading.early import NOTHING, Begun
from grader.grading.mistakes import SubmissionError
from grader.grading.shared_work import Made, SharedWork
from grader.grading.tools import Toolchain
from grader.judging.evidence import CountedRun, Evidence, Subject
from grader.judging.score import make_score
from grader.judging.values import TIMED_ON
from grader.messages.output_advice import explain_failed_case
from grader.metrics import MODELLED
from grader.plumbing.cache import cache_folder
from grader.records import (
    CaseResult,
    DeviceChoice,
    DeviceInfo,
    Execution,
    Options,
    Role,
    RunLimits,
    Submission,
)
from grader.spec.draws import device_buffers, make_inputs
from grader.spec.exercise import Case, Exercise, Limits
from grader.spec.oracle import RepeatedOracle, load_oracle


@dataclass(frozen=True)
class Job:
    """A grading: the submission, exercise and seed in `subject`, the device that `options.device`
    stands for in `choice`. The steps add the device and versions to `subject`, and results to
    `evidence`. `begun`: work that runs already; `oracle`: the exercise's oracle if several
    gradings share it; `shared`: their other shared work."""

    subject: Subject
    choice: DeviceChoice
    options: Options
    begun: Begun = NOTHING
    oracle: Oracle | None = None
    shared: SharedWork | None = None
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def exercise(self) -> Exercise:
        return self.subject.exercise

    @property
    def submission(self) -> Submission:
        return self.subject.submission

    @property
    def seed(self) -> int:
        return self.subject.seed

    @property
    def info(self) -> DeviceInfo:
        """The device. For a GPU it is known only after the start of its worker."""
        assert self.subject.device is not None
        return self.subject.device

    def note(self, facts: Mapping[str, str]) -> None:
        """Adds to the score's `environment`."""
        self.subject.environment.update(facts)

    def once(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """A value that the gradings share, or a new one."""
        return make() if self.shared is None else self.shared.once(name, make)

    @property
    def limits(self) -> RunLimits:
        return self.options.limits or run_limits(self.exercise.limits)

    @property
    def cache(self) -> Path:
        return cache_folder(self.options)


@dataclass(frozen=True)
class Session:
    """A grading whose submission is compiled. `bench` runs the cases of the exercise, not of its
    parts.

    `hold` reserves the device for this grading. It surrounds only work on the device, not
    compilation, emulation and judgement.
    """

    job: Job
    tools: Toolchain
    bench: Bench
    hold: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def exercise(self) -> Exercise:
        return self.job.exercise

    @property
    def info(self) -> DeviceInfo:
        return self.job.info

    @property
    def evidence(self) -> Evidence:
        return self.job.evidence

    def benchmark_case(self, kind: str) -> Case:
        """The benchmark as a case, at the sizes for a kind of device."""
        return Case(BENCHMARK, self.exercise.benchmark[kind], hidden=False)


def open_session(
    job: Job,
    tools: Toolchain,
    built: Built,
    device: Device,
    hold: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Session:
    """The session of a compiled submission on its device."""
    job.evidence.plan = built.plan
    oracle = job.oracle or job.once("oracle", partial(_load_oracle, job))
    limits = job.info.limits
    bench = Bench(device, built, job.exercise, oracle, job.seed, limits, job.limits)
    return Session(job, tools, bench, hold)


def _load_oracle(job: Job) -> Oracle:
    oracle = load_oracle(job.exercise)
    return oracle if job.shared is None else RepeatedOracle(oracle)


def is_timed(job: Job) -> bool:
    """Whether there is a run at a GPU's sizes: a check needs modelled metrics, and the options
    allow them."""
    asked = any(check.metric in MODELLED for check in job.exercise.checks)
    return TIMED_ON in job.exercise.benchmark and asked and job.options.model


@contextmanager
def draw_ahead(job: Job) -> Iterator[Future[Arrays] | None]:
    """Draws the inputs of the timed run, if there is one, while the submission is compiled and its
    small cases run."""
    pool = ThreadPoolExecutor(1)
    try:
        yield pool.submit(draw_benchmark, job, TIMED_ON) if is_timed(job) else None
    finally:
        pool.shutdown(wait=False)  # a failed submission does not wait for its inputs


def largest_output(job: Job) -> int:
    """Bytes of the largest output of the timed run; 0 without a timed run."""
    if not is_timed(job):
        return 0
    buffers = device_buffers(job.exercise, job.exercise.benchmark[TIMED_ON])
    return max((each.size_bytes for each in buffers if each.role is Role.OUTPUT), default=0)


def draw_benchmark(job: Job, kind: str) -> Arrays:
    """The inputs at the benchmark sizes for a kind of device."""
    case = Case(BENCHMARK, job.exercise.benchmark[kind], hidden=False)
    draw = partial(make_inputs, job.exercise, case, job.seed, gather=gather_shared)
    return job.once(("inputs", kind), draw)


def run_limits(limits: Limits) -> RunLimits:
    """The exercise's limits of a run, of the submission or of a baseline."""
    return RunLimits(limits.warp_instructions, limits.wall_seconds, limits.processor_seconds)


def check_cases(session: Session, run_one: Callable[[Case], CaseRun]) -> None:
    """Runs the correctness cases. The first failed run ends them: raises SubmissionError. With
    `until_wrong`, the first wrong case ends them too."""
    job, evidence = session.job, session.evidence
    for case in each_case(job.exercise, job.seed, job.options.show, "checking cases"):
        try:
            evidence.cases += (run_one(case).result,)
        except SubmissionError as error:
            raise SubmissionError(
                explain_failed_case(error.failure, case, evidence.cases)
            ) from None
        if job.options.until_wrong and not evidence.all_right:
            return


def show_cases(job: Job, findings: Findings) -> None:
    """Shows the checks after the correctness cases."""
    _show(job, replace(job.evidence, checked=findings.outcome))


def show_counted(job: Job, findings: Findings, case: CaseResult, execution: Execution) -> None:
    """Shows the checks after the correctness cases and a counted run."""
    evidence = replace(
        job.evidence,
        cases=(*job.evidence.cases, case),
        checked=findings.outcome,
        execution=execution,
        counted=(CountedRun(case.sizes, execution),),
    )
    _show(job, evidence)


def _show(job: Job, evidence: Evidence) -> None:
    if job.options.interim is not None:
        job.options.interim(make_score(job.subject, evidence).checks)


def describe_sizes(sizes: Mapping[str, int]) -> str:
    """`rows = 2,048, cols = 2,048`."""
    return ", ".join(f"{name} = {size:,}" for name, size in sizes.items())
