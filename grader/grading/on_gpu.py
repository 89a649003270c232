"""The steps of a grading on a GPU."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial

from grader.devices.choose import GPU
from grader.devices.gpu.counting import Counting
from grader.devices.gpu.gpu_lock import hold_gpu
from grader.devices.gpu.nvml import guess_arch, read_versions
from grader.devices.remote.remote_device import RemoteDevice
from grader.devices.remote.worker_process import load_ahead
from grader.grading.baselines import build_baselines
from grader.grading.benchmark import draw_inputs, run_benchmark
from grader.grading.building import Built, build
from grader.grading.cases import run_case
from grader.grading.parts import check_parts, run_parts
from grader.grading.session import Job, Session, check_cases, open_session
from grader.grading.stand_in import check_on_stand_in
from grader.grading.tools import find_toolchain
from grader.records import SUBMISSION, Progress
from grader.sandbox.process import run_tool
from grader.spec.oracle import Oracle, SharedOracle


def grade_on_gpu(job: Job) -> bool:
    """Compiles all programs and runs the cases on the GPU and, at the same time, in the checked
    mode of the emulated device. If they are right, runs the benchmark; then the parts. Returns
    False: a repetition measures other times. Raises SubmissionError."""
    load_ahead()
    with ExitStack() as started:
        device, counting = _start(job, started)
        session, built = _open(job, device, counting.arch)
        if session.info.arch != counting.arch:
            counting = started.enter_context(_count(job, session.info.arch))
        with ThreadPoolExecutor() as pool:
            cases = _share_answers(session)
            checked = pool.submit(check_on_stand_in, cases)
            inputs = draw_inputs(session.bench, session.benchmark_case(GPU), pool)
            with session.hold():
                check_cases(cases, partial(run_case, cases.bench))
            try:
                if job.evidence.all_right:
                    run_benchmark(session, device, built, inputs, counting, checked)
            finally:
                job.evidence.checked = checked.result()
        with session.hold():
            run_parts(session)
        check_parts(session)
        return False


def _start(job: Job, started: ExitStack) -> tuple[RemoteDevice, Counting]:
    """The GPU's worker, and Nsight Compute for the GPU's probable architecture."""
    begun = job.begun
    if begun.worker is not None and begun.counting is not None and begun.device == str(job.choice):
        return begun.worker, begun.counting
    device = RemoteDevice(str(job.choice), isolated=job.options.isolated)
    started.enter_context(device)
    guess = guess_arch(int(job.choice.id)) or device.info.arch
    return device, started.enter_context(_count(job, guess))


def _count(job: Job, arch: str) -> Counting:
    return Counting(int(job.choice.id), arch, job.limits, run_tool)


def _share_answers(session: Session) -> Session:
    """The session with an oracle that answers both devices at once. The oracle of the benchmark
    then has all threads of BLAS: a small case leaves it only one."""
    oracle = session.bench.oracle
    if not isinstance(oracle, Oracle):
        return session
    return replace(session, bench=replace(session.bench, oracle=SharedOracle(oracle)))


def _open(job: Job, device: RemoteDevice, guess: str) -> tuple[Session, dict[str, Built]]:
    """Compiles the submission and all baselines, for the guessed architecture while the device
    starts."""
    job.options.show(Progress("compiling"))
    tools = find_toolchain(prefer_wheel=False, cache=job.cache, isolated=job.options.isolated)
    with ThreadPoolExecutor() as pool:

        def begin(arch: str) -> tuple[Future[Built], Future[dict[str, Built]]]:
            submission = pool.submit(build, job.submission, job.exercise, tools, arch=arch)
            return submission, pool.submit(build_baselines, job.exercise, tools, arch=arch)

        begun = begin(guess)
        job.subject.device = info = device.info
        job.note(tools.versions | read_versions() | {"device_isolation": device.isolation})
        submission, others = begun if info.arch == guess else begin(info.arch)
        built = {SUBMISSION: submission.result(), **others.result()}
    hold = partial(hold_gpu, device.uuid, show=job.options.show)
    return open_session(job, tools, built[SUBMISSION], device, hold), built
