"""One grading: what it is about (`Job`), and what its steps work with once the submission is
compiled (`Session`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from grader.devices.base import Device
from grader.devices.choose import Choice
from grader.devices.peak import GivenPeak
from grader.grading.building import Built, Toolchain
from grader.grading.cases import BENCHMARK, Bench, CaseRun, each_case
from grader.grading.mistakes import SubmissionError
from grader.judging.evidence import Evidence
from grader.records import DeviceInfo, RunLimits, ShowProgress, Submission
from grader.spec.exercise import Case, Exercise
from grader.spec.oracle import load_oracle
from grader.words.hints import explain_failed_case


@dataclass(frozen=True)
class Job:
    """What is asked: grade this submission of this exercise on this device."""

    exercise: Exercise
    submission: Submission
    choice: Choice
    seed: int
    cache: Path
    show: ShowProgress
    isolated: bool = True
    model: bool = True
    peak: GivenPeak | None = None

    @property
    def limits(self) -> RunLimits:
        """What one run of the plan may use."""
        limits = self.exercise.limits
        return RunLimits(limits.warp_instructions, limits.wall_seconds)


@dataclass(frozen=True)
class Session:
    """A grading whose submission is compiled. `bench` runs the cases of the exercise itself;
    whatever is found goes into the `evidence`.

    `hold` gives the device to this grading alone for a while: for what runs on it, not for what
    compiles, emulates and judges.
    """

    job: Job
    tools: Toolchain
    bench: Bench
    info: DeviceInfo
    evidence: Evidence
    hold: Callable[[], AbstractContextManager[None]] = nullcontext

    @property
    def exercise(self) -> Exercise:
        return self.job.exercise

    def benchmark_case(self, kind: str) -> Case:
        """The benchmark, as a case, at the sizes of a kind of device."""
        return Case(BENCHMARK, self.exercise.benchmark[kind], hidden=False)


def make_bench(job: Job, built: Built, device: Device, info: DeviceInfo) -> Bench:
    """What runs the exercise's cases on a device."""
    oracle = load_oracle(job.exercise)
    return Bench(device, built, job.exercise, oracle, job.seed, info.limits, job.limits)


def check_cases(session: Session, run_one: Callable[[Case], CaseRun]) -> None:
    """Runs the correctness cases; the first failure ends them. Raises SubmissionError."""
    job, results = session.job, session.evidence.cases
    for case in each_case(job.exercise, job.seed, job.show, "checking cases"):
        try:
            results.append(run_one(case).result)
        except SubmissionError as error:
            raise SubmissionError(explain_failed_case(error.failure, case, results)) from None


def describe_sizes(sizes: Mapping[str, int]) -> str:
    """`rows = 2,048, cols = 2,048`."""
    return ", ".join(f"{name} = {size:,}" for name, size in sizes.items())
