"""Grades one submission: the only file that knows the order of the stages.

Data flows one way: exercise, submission, plan, preprocessor, compiler, then each case through the
worker's device and the comparison, then the benchmark, and at last the judgement. The submission's
code runs in the worker only; inputs, seed and expected outputs stay here. A student's mistake ends
the flow as a `Failure`; whatever was known by then is in the score.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import platform
import secrets
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from grader.devices.base import Device, TimingDevice
from grader.devices.choose import EMULATED, GPU, gpu_works, has_pycuda, parse_device
from grader.devices.gpu.gpu_lock import hold_gpu
from grader.devices.gpu.nvml import read_versions
from grader.devices.gpu.peak import GivenPeak
from grader.devices.gpus import read_gpus
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import GraderError, SpecError, UsageError
from grader.folders import default_cache
from grader.grading.benchmark import Benchmark, benchmark_case, run_benchmark
from grader.grading.cases import CaseRun, Oracle, run_case
from grader.grading.counting import Counts
from grader.grading.graded import Graded, run_graded
from grader.grading.job import Job
from grader.grading.others import build_others, make_others
from grader.grading.parts import run_parts
from grader.grading.programs import Built, Toolchain, build, find_toolchain, make_program
from grader.grading.rehearsal import Findings, rehearse_case, rehearse_on_stand_in
from grader.judging.evidence import Checked, Evidence
from grader.judging.score import make_score
from grader.records import (
    SUBMISSION,
    CaseResult,
    Failure,
    PartResult,
    Progress,
    Score,
    ShowProgress,
    Status,
    Submission,
)
from grader.sandbox.process import run_tool
from grader.spec.draws import draw_cases
from grader.spec.exercise import Case
from grader.spec.oracle import load_oracle
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission
from grader.words.hints import explain_failed_case

SEED_BITS = 53  # what a JSON number holds exactly
LIBRARIES = ("numpy", "llvmlite")


def grade(
    exercise: Path | str,
    submission: Path | str,
    *,
    device: str = "auto",
    seed: int | None = None,
    peak: GivenPeak | None = None,
    progress: ShowProgress | None = None,
    cache: Path | None = None,
    isolated: bool = True,
    model: bool = True,
) -> Score:
    """Grade one submission of an exercise.

    `device` is `auto`, `emulated`, `emulated:ID`, `gpu` or `gpu:N`. `seed` draws the hidden cases
    and all inputs; a secret one is made without it, and the score holds it. `peak` replaces the
    peaks of a GPU. `cache` is the folder of compiled submissions (default: the user's cache
    folder). `isolated`: the compiler and the emulated device see of the machine's files only what
    they need; where neither bubblewrap nor Landlock works, ToolMissing says so. `model`: the
    emulated device models the times, at a GPU's benchmark sizes; without, the checks of them are
    not judged. Raises UsageError (no such file or device) and SpecError (a broken exercise); any
    other fault of the grader or of the machine is a score of status `grader_error`.
    """
    choice = parse_device(
        device, gpu_works=lambda: gpu_works(run_tool, os.environ), has_pycuda=has_pycuda
    )
    if peak is not None and choice.kind == EMULATED:
        raise UsageError(
            "--peak is for a GPU, and this would be graded on the emulated device",
            "Leave it out, or use --device gpu.",
        )
    read = read_exercise(Path(exercise))
    text = read_submission(Path(submission))
    job = Job(
        exercise=read,
        submission=text if isinstance(text, Submission) else _unread_submission(Path(submission)),
        choice=choice,
        device=read_gpus()[choice.id].emulated_info if choice.kind == EMULATED else None,
        seed=secrets.randbits(SEED_BITS) if seed is None else check_seed(seed),
        cache=default_cache(os.environ) if cache is None else cache,
        show=progress or _show_nothing,
        environment=_describe_environment(),
        isolated=isolated,
        model=model,
    )
    if isinstance(text, Failure):
        return job.fail(text)
    try:
        return _FLOWS[choice.kind](job, peak)
    except (UsageError, SpecError):
        raise
    except GraderError as error:
        return job.fail(Failure(Status.GRADER_ERROR, str(error), error.detail, error.advice))


def check_seed(seed: int) -> int:
    """The seed, if a JSON number holds it exactly; UsageError otherwise."""
    if not 0 <= seed < 1 << SEED_BITS:
        raise UsageError(
            f"the seed {seed} is out of range", f"Give an integer from 0 to {(1 << SEED_BITS) - 1}."
        )
    return seed


# --- the emulated device --------------------------------------------------------------------------


def _grade_emulated(job: Job, _: GivenPeak | None) -> Score:
    with RemoteDevice(
        str(job.choice), isolated=job.isolated, models=job.model
    ) as device:  # it starts while the compiler runs
        job.show(Progress("compiling"))
        tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=job.isolated)
        job = job.noting(tools.versions)
        built = build(job.submission, job.exercise, tools, arch=job.info.arch)
        if isinstance(built, Failure):
            return job.fail(built)
        job = job.noting({"device_isolation": device.isolation})
        oracle = load_oracle(job.exercise)
        findings = Findings()
        results = _run_cases(
            job, lambda case: rehearse_case(job, built, device, oracle, case, findings)
        )
        if isinstance(results, Score):
            return results
        return _count_and_judge(
            job, built, device, tools, results, oracle=oracle, findings=findings
        )


def _count_and_judge(
    job: Job,
    built: Built,
    device: Device,
    tools: Toolchain,
    results: list[CaseResult],
    *,
    oracle: Oracle,
    findings: Findings,
) -> Score:
    graded = (
        run_graded(job, built, device, tools, oracle)
        if all(result.passed for result in results)
        else None
    )
    if isinstance(graded, Failure):
        return job.fail(graded, results)
    if graded is None:
        parts = run_parts(job, built, device, tools)
        return _judge(job, built, results, Benchmark(results[-1]), parts, findings.outcome)
    job = job.noting(graded.facts)
    if graded.failure is not None:
        return job.fail(graded.failure, [*results, graded.case], graded.timings)
    results.append(graded.case)
    findings.add(benchmark_case(job), graded.findings)
    parts = run_parts(job, built, device, tools)
    counts = Counts(graded.counted[0].execution if graded.counted else None, traffic=graded.traffic)
    others = graded.counted[0].others if graded.counted else {}
    found = Benchmark(
        graded.case, graded.timings, counts, other_counts=others, model=graded.launches
    )
    return _judge(job, built, results, found, parts, findings.outcome, graded)


# --- a GPU ----------------------------------------------------------------------------------------


def _grade_on_gpu(job: Job, peak: GivenPeak | None) -> Score:
    with RemoteDevice(_name_gpu(job, peak), isolated=job.isolated) as device:
        job.show(Progress("compiling"))
        tools = find_toolchain(prefer_wheel=False, cache=job.cache, isolated=job.isolated)
        job = replace(job, device=device.info).noting(
            {**tools.versions, **read_versions(), "device_isolation": device.isolation}
        )
        programs = _build_all(job, tools)
        if isinstance(programs, Failure):
            return job.fail(programs)
        job = replace(job, hold=partial(hold_gpu, device.uuid, show=job.show))
        return _run_on_gpu(job, programs, device, tools)


def _run_on_gpu(job: Job, built: dict[str, Built], device: TimingDevice, tools: Toolchain) -> Score:
    oracle = load_oracle(job.exercise)
    with ThreadPoolExecutor() as pool:
        rehearsed = pool.submit(rehearse_on_stand_in, job, built[SUBMISSION], tools, oracle)
        with job.hold():
            results = _run_cases(
                job, lambda case: run_case(job, built[SUBMISSION], device, oracle, case)
            )
            wrong = not isinstance(results, Score) and not all(result.passed for result in results)
            parts = run_parts(job, built[SUBMISSION], device, tools) if wrong else ()
        checked = rehearsed.result()  # nothing else keeps the machine busy while it is timed
    if isinstance(results, Score):
        return results
    if wrong:
        return _judge(job, built[SUBMISSION], results, Benchmark(results[-1]), parts, checked)
    own = make_program(
        SUBMISSION,
        built[SUBMISSION],
        job.exercise,
        sizes=job.exercise.benchmark[GPU],
        limits=job.info.limits,
    )
    if isinstance(own, Failure):
        return job.fail(own, results)
    others = make_others(job, {label: each for label, each in built.items() if label != SUBMISSION})
    found = run_benchmark(job, built, [own, *others], device, tools=tools, oracle=oracle)
    if isinstance(found, Failure):
        return job.fail(found, results)
    job = job.noting(found.facts)
    results.append(found.case)
    if found.failure is not None:
        return job.fail(found.failure, results, found.timings)
    with job.hold():
        parts = run_parts(job, built[SUBMISSION], device, tools)
    return _judge(job, built[SUBMISSION], results, found, parts, checked)


def _build_all(job: Job, tools: Toolchain) -> dict[str, Built] | Failure:
    """The submission and the exercise's own programs, compiled side by side."""
    with ThreadPoolExecutor() as pool:
        submission = pool.submit(build, job.submission, job.exercise, tools, arch=job.info.arch)
        others = pool.submit(build_others, job, tools)
    built = submission.result()
    return built if isinstance(built, Failure) else {SUBMISSION: built, **others.result()}


def _name_gpu(job: Job, peak: GivenPeak | None) -> str:
    """The GPU as its worker takes it, with the peaks that were set."""
    figures = (
        []
        if peak is None
        else [figure for figure in (peak.bandwidth_gbps, peak.fp32_tflops) if figure is not None]
    )
    return ":".join([str(job.choice), ",".join(map(str, figures))]) if figures else str(job.choice)


# --- both -----------------------------------------------------------------------------------------


def _run_cases(job: Job, run_one: Callable[[Case], CaseRun | Failure]) -> list[CaseResult] | Score:
    """Run the correctness cases; the first failure ends it."""
    results: list[CaseResult] = []
    cases = draw_cases(job.exercise, job.seed)
    for index, case in enumerate(cases):
        job.show(Progress("checking cases", index, len(cases)))
        run = run_one(case)
        if isinstance(run, Failure):
            return job.fail(explain_failed_case(run, case, results), results)
        results.append(run.result)
    return results


def _judge(
    job: Job,
    built: Built,
    results: Sequence[CaseResult],
    found: Benchmark,
    parts: Sequence[PartResult],
    checked: Checked,
    graded: Graded | None = None,
) -> Score:
    job.show(Progress("judging"))
    counts = found.counts
    evidence = Evidence(
        cases=tuple(results),
        parts=tuple(parts),
        checked=checked,
        plan=built.plan,
        execution=counts.execution,
        missing_reason=counts.reason,
        lines_from=counts.lines_from,
        counted=graded.counted if graded else (),
        others=found.other_counts,
        timings=found.timings,
        untimed=graded.untimed if graded else "",
        traffic=counts.traffic,
        model=found.model,
    )
    return make_score(job.noting(counts.facts).subject, evidence)


_FLOWS = {EMULATED: _grade_emulated, GPU: _grade_on_gpu}


def _unread_submission(path: Path) -> Submission:
    """What a score says of a file that is no source text: its name and hash."""
    with path.open("rb") as file:
        return Submission(path.name, hashlib.file_digest(file, "sha256").hexdigest(), "")


def _describe_environment() -> dict[str, str]:
    """Versions of what had a part in a score, the compiler's tools left out: those are known once
    they are found."""
    versions = {library: importlib.metadata.version(library) for library in LIBRARIES}
    return {
        "grader": importlib.metadata.version("cuda-exercise-grader"),
        "python": platform.python_version(),
        **versions,
        "platform": platform.platform(),
    }


def _show_nothing(_: Progress) -> None:
    """For who does not want to see progress."""
