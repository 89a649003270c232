"""Runs a submission over sizes, beside the processor, the naive baseline, the comparisons, the
reference and a library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.authoring.sweep.points import Sizes, compare_rows, parse_sizes, sweep_case
from grader.authoring.sweep.processor import LoopTimer, load_loop, time_numpy
from grader.authoring.sweep.programs import sweep_emulated, sweep_gpu, time_library
from grader.devices.choose import EMULATED, GPU
from grader.devices.gpu.gpu_lock import hold_gpu
from grader.devices.gpu.library import find_array_library
from grader.devices.remote.remote_device import RemoteDevice
from grader.grading.baselines import build_baselines
from grader.grading.building import Built, build
from grader.grading.grade import choose_device
from grader.grading.mistakes import SubmissionError
from grader.grading.other_exercise import read_kernel_exercise
from grader.grading.session import Job, Session, open_session
from grader.grading.tools import find_toolchain
from grader.judging.evidence import Subject
from grader.records import SUBMISSION, DeviceInfo, Failure, Options, Progress, Source, Submission
from grader.report.sweep import C_LOOP, NUMPY, Sweep, SweepPoint, SweepRow
from grader.spec.draws import draw_scalars, make_inputs
from grader.spec.oracle import SharedOracle, load_library, load_oracle
from grader.submission.source_file import read_submission

NO_LIMIT = 1e6
"""Processor time in seconds: the author of the exercise did not foresee these sizes."""

_Sweep = Callable[[Session, Mapping[str, Built], Sequence[Sizes]], list[list[SweepRow]]]
_SWEEPS: Mapping[str, _Sweep] = {EMULATED: sweep_emulated, GPU: sweep_gpu}


def run_sweep(
    folder: Path, submission: Path, sizes: Sequence[str], options: Options
) -> Sweep | Failure:
    """Runs all programs at all sizes; a Failure if the submission does not compile. `options` have
    a seed. Errors as of `grade`; UsageError for invalid sizes."""
    choice, seed = choose_device(str(options.device)), options.fixed_seed
    exercise = draw_scalars(read_kernel_exercise(folder, "grade sweep"), seed)
    points = parse_sizes(sizes, exercise.size_names)
    source = read_submission(submission)
    if not isinstance(source, Submission):
        return SubmissionError(source).failure
    exercise = replace(exercise, limits=replace(exercise.limits, processor_seconds=NO_LIMIT))
    subject = Subject(exercise, source, None, {}, seed)
    # All programs have the same inputs. Where all blocks run, the oracle computes a size once.
    oracle = None if options.model else SharedOracle(load_oracle(exercise))
    job = Job(subject, choice, options, oracle=oracle)
    with RemoteDevice(str(choice)) as remote:
        subject.device = info = remote.info
        options.show(Progress("compiling"))
        tools = find_toolchain(prefer_wheel=choice.kind == EMULATED, cache=job.cache)
        try:
            own = build(source, exercise, tools, arch=info.arch)
        except SubmissionError as error:
            return error.failure
        built = {SUBMISSION: own, **build_baselines(exercise, tools, arch=info.arch)}
        session = open_session(job, tools, own, remote)
        with hold_gpu(remote.uuid, show=options.show):
            rows = _SWEEPS[choice.kind](session, built, points)
    return _gather(session, points, rows)


def _gather(session: Session, points: Sequence[Sizes], rows: list[list[SweepRow]]) -> Sweep:
    """The rows of the device, with the processor's rows before and the library's row behind."""
    job, exercise = session.job, session.exercise
    library, loop = load_library(exercise), load_loop(exercise, job.cache)
    timer = LoopTimer(exercise, loop, job.seed) if loop is not None else None
    found = []
    for index, (sizes, own) in enumerate(zip(points, rows, strict=True)):
        job.options.show(Progress("timing the processor", index, len(points)))
        inputs = make_inputs(exercise, sweep_case(sizes), job.seed)
        every = [timer.time(sizes)] if timer is not None else []
        every += [time_numpy(exercise, library or load_oracle(exercise), inputs, sizes), *own]
        if library:
            every += time_library(exercise, library, inputs, sizes, job.choice)
        moved = exercise.useful_bytes.evaluate(sizes)
        found.append(SweepPoint(sizes, moved, compare_rows(every)))
    info, swept = session.info, tuple(found)
    notes = _notes(info, has_library=bool(library), has_loop=bool(loop), points=swept)
    return Sweep(exercise.id, job.submission.name, info.description, swept, tuple(notes))


def _notes(
    info: DeviceInfo, *, has_library: bool, has_loop: bool, points: Sequence[SweepPoint]
) -> Iterator[str]:
    """The meaning of the figures, and the reasons for missing figures."""
    rows = [row for point in points for row in point.rows]
    if any(row.source is Source.MODELLED for row in rows):
        yield (
            "Kernels: times are modelled, not measured, as of a first launch with a cold L2;"
            " counters are counted."
        )
    elif info.kind == EMULATED:
        yield "Kernels: counted only; leave out --no-model for modelled times."
    if any(row.is_sampled for row in rows):
        yield (
            "~ counted on a sample of the blocks, which stands for all; outputs are judged as far"
            " as these wrote them."
        )
    if has_loop:
        yield f"{C_LOOP}: cpu.c, compiled with g++ -O2, measured on this computer."
    own = "the oracle as it is (it may compute in float64)"
    what = "`library` of oracle.py on float32 arrays" if has_library else own
    yield f"{NUMPY}: {what}, on as many cores as NumPy takes, measured on this computer."
    if has_library and info.kind == GPU and find_array_library() is None:
        yield (
            "Neither CuPy nor PyTorch is installed here: no figures of the GPU's library (cuBLAS)."
        )
