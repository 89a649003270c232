"""Runs a submission over sizes, beside NumPy, the naive baseline, the comparisons, the reference and a library."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from statistics import median

from grader.devices.base import Arrays, Device, TimingDevice
from grader.devices.choose import EMULATED, GPU, Choice, gpu_works, has_pycuda, parse_device
from grader.devices.gpus import read_gpus
from grader.devices.library import find_array_library, time_on_gpu
from grader.devices.locks import hold_gpu
from grader.errors import SpecError, UsageError
from grader.folders import default_cache
from grader.grading.benchmark import count_input_sets, draw_input_set, judge_outputs
from grader.grading.cases import Oracle, run_case
from grader.grading.job import Job
from grader.grading.measure import measure
from grader.grading.others import build_others, make_others
from grader.grading.programs import Built, build, find_toolchain, make_program
from grader.records import SUBMISSION, Failure, Progress, ShowProgress, Source, Submission, Timing
from grader.report.sweep import Sweep, SweepPoint, SweepRow, format_sizes
from grader.sandbox.process import run_tool
from grader.sandbox.remote import RemoteDevice
from grader.spec.cases import make_inputs
from grader.spec.model import Case, Exercise
from grader.spec.oracle import load_library, load_oracle
from grader.spec.read import read_exercise
from grader.submission.read import read_submission

Sizes = dict[str, int]

NO_LIMIT = 10**15
"""Warp instructions: at sizes that no exercise foresaw, the limit of wall time ends what takes too long."""
CPU_SECONDS, CPU_REPEATS = 1.0, 5
"""NumPy's operation is repeated until either is reached."""
NUMPY = "NumPy"

_NO_TIMES = "A sweep on the emulated device tells right from wrong, and counts; it models no times. Times on a GPU: --device gpu."


@dataclass
class KnownOutputs:
    """The exercise's oracle, which computes each size once for all programs, for all have the same inputs."""

    oracle: Oracle
    outputs: dict[tuple[tuple[str, int], ...], Arrays] = field(default_factory=dict)

    def __call__(self, inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
        key = tuple(sizes.items())
        if key not in self.outputs:
            self.outputs[key] = self.oracle(inputs, sizes)
        return self.outputs[key]


def parse_sizes(texts: Sequence[str], names: Sequence[str]) -> list[Sizes]:
    """The points of --sizes: `128,512` are two, with all sizes the same; `rows=512,cols=1024` is one. UsageError for anything else."""
    points: list[Sizes] = []
    for text in texts:
        points += [_parse_named(text, names)] if "=" in text else [dict.fromkeys(names, _parse_size(part)) for part in text.split(",")]
    return points


def _parse_named(text: str, names: Sequence[str]) -> Sizes:
    given = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name.strip() not in names or name.strip() in given:
            what = "given twice" if name.strip() in given else "no size of this exercise"
            raise _bad_sizes(f"{name.strip()!r} in --sizes {text} is {what}", names)
        given[name.strip()] = _parse_size(value)
    if missing := [name for name in names if name not in given]:
        raise _bad_sizes(f"--sizes {text} leaves out {', '.join(missing)}", names)
    return {name: given[name] for name in names}


def _parse_size(text: str) -> int:
    if not re.fullmatch(r"\s*[0-9]{1,10}\s*", text) or not 0 < int(text) < 1 << 31:
        raise UsageError(f"{text.strip()!r} in --sizes is no size", "Sizes are integers from 1 on: --sizes 128,512,1024")
    return int(text)


def _bad_sizes(message: str, names: Sequence[str]) -> UsageError:
    each = ",".join(f"{name}={512 << index}" for index, name in enumerate(names))
    advice = f"The sizes are {', '.join(names)}. Give one number for all of them (--sizes 128,512), or each: --sizes {each}"
    return UsageError(message, advice)


def run_sweep(
    folder: Path, submission: Path, sizes: Sequence[str], *, device: str, seed: int, show: ShowProgress, cache: Path | None = None
) -> Sweep | Failure:
    """Run all programs at all sizes; a Failure where the submission does not even compile.

    Errors as of `pipeline.grade`; UsageError for sizes that are none.
    """
    choice = parse_device(device, gpu_works=lambda: gpu_works(run_tool, os.environ), has_pycuda=has_pycuda)
    exercise = read_exercise(folder)
    points = parse_sizes(sizes, exercise.size_names)
    source = read_submission(submission)
    if isinstance(source, Failure):
        return source
    exercise = replace(exercise, limits=replace(exercise.limits, warp_instructions=NO_LIMIT))
    info = read_gpus()[choice.id].emulated_info if choice.kind == EMULATED else None
    job = Job(exercise, source, choice, info, seed, cache or default_cache(os.environ), show, {})
    with RemoteDevice(str(choice)) as remote:
        job = replace(job, device=remote.info)
        show(Progress("compiling"))
        tools = find_toolchain(prefer_wheel=choice.kind == EMULATED, cache=job.cache)
        own = build(source, exercise, tools, arch=job.info.arch)
        if isinstance(own, Failure):
            return own
        built = {SUBMISSION: own, **build_others(job, tools)}
        with hold_gpu(remote.uuid, show=show):
            rows = _SWEEPS[choice.kind](job, built, remote, points)
    return _gather(job, source, points, rows)


def _gather(job: Job, source: Submission, points: Sequence[Sizes], rows: list[list[SweepRow]]) -> Sweep:
    """The rows of the device, with those of NumPy and a library in front and behind."""
    found, notes = [], [_NO_TIMES] if job.info.kind == EMULATED else []
    library = load_library(job.exercise)
    notes.append(
        f"{NUMPY}: `library` of oracle.py on float32 arrays, on this computer's processor, measured." if library
        else f"{NUMPY}: the oracle as it is (it may compute in float64), on this computer's processor, measured."
    )  # fmt: skip
    if library and job.info.kind == GPU and find_array_library() is None:
        notes.append("Neither CuPy nor PyTorch is installed here: no figures of the GPU's library (cuBLAS).")
    for index, (sizes, own) in enumerate(zip(points, rows, strict=True)):
        job.show(Progress("timing libraries", index, len(points)))
        inputs = make_inputs(job.exercise, _case(sizes), job.seed)
        every = [_time_numpy(job.exercise, library or load_oracle(job.exercise), inputs, sizes), *own]
        if library:
            every += time_library(job.exercise, library, inputs, sizes, job.choice)
        found.append(SweepPoint(sizes, job.exercise.useful_bytes.evaluate(sizes), tuple(every)))
    return Sweep(job.exercise.id, source.name, f"{job.info.name} ({job.info.stands_for})", tuple(found), tuple(notes))


# --- the devices -----------------------------------------------------------------------------------------------


def _sweep_emulated(job: Job, built: Mapping[str, Built], device: Device, points: Sequence[Sizes]) -> list[list[SweepRow]]:
    """Program by program, so that each is loaded once; a row list for each point."""
    oracle = KnownOutputs(load_oracle(job.exercise))
    rows: list[list[SweepRow]] = [[] for _ in points]
    for number, (label, each) in enumerate(built.items()):
        device.load(each.binary)
        for index, sizes in enumerate(points):
            job.show(Progress("running the programs at all sizes", number * len(points) + index, len(built) * len(points)))
            rows[index].append(_count(job, label, each, device, oracle, sizes))
    return rows


def _count(job: Job, label: str, built: Built, device: Device, oracle: Oracle, sizes: Sizes) -> SweepRow:
    run = run_case(at_sizes(job, sizes), built, device, oracle, _case(sizes))
    if isinstance(run, Failure):
        return SweepRow(label, False, note=run.message)
    counters = [launch.counters for launch in run.execution.launches]
    note = "" if run.result.passed else run.result.message
    return SweepRow(label, run.result.passed, counters=sum(counters[1:], counters[0]), note=note, source=Source.COUNTED)


def _sweep_gpu(job: Job, built: Mapping[str, Built], device: TimingDevice, points: Sequence[Sizes]) -> list[list[SweepRow]]:
    oracle = load_oracle(job.exercise)
    rows = []
    for index, sizes in enumerate(points):
        job.show(Progress("timing the programs at all sizes", index, len(points)))
        rows.append(list(time_programs(at_sizes(job, sizes), built, device, oracle, sizes)))
    return rows


def time_programs(job: Job, built: Mapping[str, Built], device: TimingDevice, oracle: Oracle, sizes: Sizes) -> Iterator[SweepRow]:
    """The submission's row, then those of the others; these have no times where the submission does not run."""
    own = make_program(SUBMISSION, built[SUBMISSION], job.exercise, sizes=sizes, limits=job.info.limits)
    if isinstance(own, Failure):
        yield SweepRow(SUBMISSION, False, note=own.message)
        return
    others = make_others(job, {label: each for label, each in built.items() if label != SUBMISSION})
    programs = [own, *others]
    sets = [draw_input_set(job, oracle, number) for number in range(count_input_sets(job))]
    execution, outputs = device.prepare(programs, [each.inputs for each in sets], limits=job.limits)
    if execution.failure is not None:
        yield SweepRow(SUBMISSION, False, note=execution.failure.message)
        return
    case = judge_outputs(job, sets, outputs, execution)
    labels = [program.label for program in programs]
    found = measure(device, labels, input_sets=len(sets), find_open=lambda _: (), rng=Random(job.seed))
    timings = {timing.plan: timing for timing in found.timings}
    disturbed = "disturbed" if found.failure is not None else ""
    for label in labels:
        is_own = label == SUBMISSION
        right = case.passed and found.wrong is None if is_own else None
        note = disturbed if right is not False else case.message if not case.passed else "wrong in a timed run"
        yield replace(_timed_row(job.exercise, label, timings.get(label), sizes), right=right, note=note)


_SWEEPS = {EMULATED: _sweep_emulated, GPU: _sweep_gpu}


def at_sizes(job: Job, sizes: Sizes) -> Job:
    """The job with these sizes as its benchmark."""
    return replace(job, exercise=replace(job.exercise, benchmark={EMULATED: sizes, GPU: sizes}))


def _case(sizes: Sizes) -> Case:
    return Case(f"sweep {format_sizes(sizes)}", sizes, hidden=False)


# --- libraries ---------------------------------------------------------------------------------------------------


def _time_numpy(exercise: Exercise, operation: Oracle, inputs: Arrays, sizes: Sizes) -> SweepRow:
    samples: list[float] = []
    while len(samples) < CPU_REPEATS and sum(samples) < 1000 * CPU_SECONDS:
        began = time.perf_counter()
        operation(inputs, sizes)
        samples.append(1000 * (time.perf_counter() - began))
    return _row(exercise, NUMPY, median(samples), (min(samples), max(samples)), sizes)


def time_library(exercise: Exercise, operation: Oracle, inputs: Arrays, sizes: Sizes, choice: Choice) -> list[SweepRow]:
    name = find_array_library()
    if choice.kind != GPU or name is None:
        return []
    label = f"library ({name})"
    try:
        samples = time_on_gpu(lambda arrays: operation(dict(arrays), sizes), inputs, library=name, gpu_index=int(choice.id))
    except SpecError:
        raise
    except Exception as error:  # whatever CuPy or PyTorch raise: no memory, no kernel for this GPU
        return [SweepRow(label, None, note=f"{type(error).__name__}: {error}")]
    return [_row(exercise, label, median(samples), (min(samples), max(samples)), sizes)]


def _timed_row(exercise: Exercise, label: str, timing: Timing | None, sizes: Sizes) -> SweepRow:
    return SweepRow(label, None) if timing is None else _row(exercise, label, timing.median_ms, timing.interval_ms, sizes)


def _row(exercise: Exercise, label: str, time_ms: float, interval_ms: tuple[float, float], sizes: Sizes) -> SweepRow:
    """A row with the rates that a time means."""
    flops = exercise.useful_flops.evaluate(sizes) if exercise.useful_flops is not None else None
    return SweepRow(
        label, None, time_ms, interval_ms,
        gflops=flops / time_ms / 1e6 if flops is not None else None,
        bandwidth_gbps=exercise.useful_bytes.evaluate(sizes) / time_ms / 1e6,
        source=Source.MEASURED,
    )  # fmt: skip
