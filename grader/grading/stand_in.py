"""The emulated device as a stand-in for the GPU of a grading: findings of the checked mode, and
counters per source line, which Nsight Compute does not give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from grader.devices.choose import DEFAULT_GPU, EMULATED
from grader.devices.gpus import Gpu, read_gpus
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import GraderError
from grader.grading.building import Built, build
from grader.grading.cases import Bench, Findings, run_case, run_checked
from grader.grading.mistakes import SubmissionError
from grader.grading.session import Session
from grader.judging.evidence import Checked
from grader.records import DeviceInfo, Execution, Status
from grader.spec.draws import draw_cases


def check_on_stand_in(session: Session) -> Checked:
    """Runs the cases in the checked mode; gives the reason if this is impossible."""
    findings = Findings()
    try:
        with stand_in_bench(session, session.bench.built) as bench:
            for case in draw_cases(session.exercise, bench.seed):
                try:
                    run_checked(bench, case, findings)
                except SubmissionError as error:
                    if error.status is not Status.RUNTIME_ERROR:
                        reason = f"the emulated device cannot run it: {error.message}"
                        return Checked(reason=reason)
                    # These mistakes end a run here but may pass on a GPU: an access beyond a
                    # buffer, a barrier that some threads skip.
                    findings.add(case, error.failure.findings)
                    break
    except (GraderError, SubmissionError) as error:
        return Checked(reason=str(error))
    return findings.outcome


def count_on_stand_in(session: Session, built: Built) -> Execution | str:
    """Counts at the emulated device's benchmark sizes; a clause with the reason if this is
    impossible."""
    try:
        with stand_in_bench(session, built) as bench:
            run = run_case(bench, session.benchmark_case(EMULATED))
    except (GraderError, SubmissionError) as error:
        return str(error)
    if not run.result.passed:
        return f"it computes another output: {run.result.message}"
    return run.execution


@contextmanager
def stand_in_bench(session: Session, built: Built) -> Iterator[Bench]:
    """Runs the exercise's cases on the emulated device. Raises SubmissionError if the code does not
    compile for it."""
    gpu = stand_in(session.info)
    own = built
    if gpu.arch != session.info.arch:
        own = build(built.source, session.exercise, session.tools, arch=gpu.arch, plan=built.plan)
    with RemoteDevice(f"emulated:{gpu.id}", isolated=session.job.options.isolated) as device:
        limits = gpu.emulated_info.limits
        yield replace(session.bench, device=device, built=own, launch_limits=limits)


def stand_in(info: DeviceInfo) -> Gpu:
    """The emulated GPU for a real GPU: the same model, else a model that runs the same machine
    code, else the default."""
    known = read_gpus()
    same_code = (gpu for gpu in known.values() if gpu.arch == info.arch)
    return known.get(info.id) or next(same_code, known[DEFAULT_GPU])
