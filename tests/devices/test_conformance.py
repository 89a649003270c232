"""One suite for both devices: every known kernel gives the outputs that one H100 gave, or those of
the exercise's oracle.

The emulated device runs it everywhere, a GPU with --run-gpu; there the outputs of the two are
compared bit by bit as well. On the emulated device, tests/emulator/test_truth.py runs the truth's
kernels and compares the counters too, and tests/test_submissions.py runs the submissions by options of
the whole grader.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import pytest

from grader.devices.base import Arrays, Device
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.remote.remote_device import RemoteDevice
from grader.grading.building import Built, build, make_program
from grader.grading.tools import find_toolchain
from grader.judging.compare import judge_case
from grader.messages.hidden import describe_mistake
from grader.plumbing.cache import default_cache
from grader.records import Program, Role, RunLimits, Status, Stop, Submission
from grader.spec.draws import make_inputs
from grader.spec.exercise import Case, Exercise
from grader.spec.oracle import load_oracle
from grader.spec.reader import read_exercise
from grader.spec.tolerance import tolerance_at
from grader.submission.source_file import read_submission
from tests.support.known import KNOWN
from tests.support.truth import Recorded, make_plan, read_records

ROOT = Path(__file__).resolve().parents[2]
ARCH = "sm_90"
LIMITS = RunLimits(warp_instructions=10**10, wall_seconds=60.0)

PROGRAMS = {"streams"}
"""Exercises that grade whole programs."""
HANDED_OUT = [
    path
    for folder in ("starter", "solutions")
    for path in sorted((ROOT / folder).glob("*.cu"))
    if path.stem not in PROGRAMS
]
HANDED_IN = [
    known.file for known in KNOWN if known.runs_right and known.file.parent.name not in PROGRAMS
]
GEMMS = ("gemm_coalesced", "gemm_tiled", "gemm_register_blocked", "gemm_tensor_cores")
VECTOR_SIZES = [(1,), (257,), (10_007,)]
GEMM_SIZES = [(1, 1, 1), (33, 31, 17), (100, 75, 50), (67, 131, 61), (128, 160, 96)]
SIZES = {
    "transpose": [(1, 1), (33, 31), (100, 75), (67, 311), (256, 256)],
    "reduction": [(1,), (31,), (257,), (10_007,), (262_143,)],
    "sort": [(1,), (257,), (10_007,), (40_961,)],
    "convolution": [(1, 1), (33, 31), (5, 132), (67, 311)],
    **dict.fromkeys(("vector_add", "scan", "histogram", "find_the_bugs"), VECTOR_SIZES),
    "softmax": [(1, 1), (33, 31), (5, 1001), (3, 4096)],
    "spmv": [(1, 1, 1), (1, 700, 5000), (33, 31, 700), (1000, 900, 20_000), (3000, 500, 200)],
    "attention": [(1, 1), (3, 31), (2, 64), (1, 257)],
    **dict.fromkeys(GEMMS, GEMM_SIZES),
}


@pytest.fixture(scope="module", params=["emulated", pytest.param("gpu", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    if request.param == "emulated":
        yield EmulatedDevice("h100")
        return
    with RemoteDevice("gpu:0") as device:
        yield needing_arch(device)


@pytest.fixture(scope="module")
def gpu() -> Iterator[Device]:
    with RemoteDevice("gpu:0") as device:
        yield needing_arch(device)


@dataclass(frozen=True)
class Known:
    """A source that is known to be right: compiled, and its outputs at SIZES on the emulated
    device, or what that cannot run."""

    built: Built
    emulated: list[Arrays] | Stop


@pytest.fixture(scope="module")
def known() -> Iterator[dict[Path, Future[Known]]]:
    """All sources that the tests on a GPU need, being compiled and emulated side by side since the
    first one does."""
    paths = [*HANDED_OUT, *HANDED_IN]
    with ProcessPoolExecutor(
        mp_context=get_context("spawn")
    ) as pool:  # translating a kernel holds the interpreter's lock
        yield {path: pool.submit(learn, path) for path in paths}


def compiled(path: Path, *, prefer_wheel: bool) -> Built:
    """With the wheel's nvcc as an emulated device compiles, else as a GPU's driver needs it."""
    source = read_submission(path)
    assert isinstance(source, Submission), source
    return build(
        source,
        exercise_of(path),
        find_toolchain(prefer_wheel=prefer_wheel, cache=default_cache(os.environ)),
        arch=ARCH,
    )


def learn(path: Path) -> Known:
    made = compiled(path, prefer_wheel=False)
    return Known(made, run_all(EmulatedDevice("h100", threads=1), made, exercise_of(path)))


def needing_arch(device: RemoteDevice) -> RemoteDevice:
    if device.info.arch != ARCH:
        pytest.skip(f"the emulated device executes {ARCH}, this GPU {device.info.arch}")
    return device


def exercise_of(path: Path) -> Exercise:
    return read_exercise(
        ROOT / "exercises" / (path.parent.name if path.parent.name in SIZES else path.stem)
    )


def run(device: Device, program: Program, inputs: Arrays) -> Arrays | Stop:
    """The outputs of one run of the program, which must leave its inputs alone."""
    given = {each.name for each in program.buffers if each.role is Role.INPUT}
    contents = {name: array for name, array in inputs.items() if name in given}
    execution, outputs = device.run(program, contents, limits=LIMITS)
    assert execution.modified_inputs == ()
    return execution.failure or outputs


def run_all(device: Device, made: Built, exercise: Exercise) -> list[Arrays] | Stop:
    """The outputs at each of the exercise's sizes, which must be the oracle's; the failure of a
    kernel that the device cannot run."""
    oracle, found = load_oracle(exercise), []
    for extents in SIZES[exercise.id]:
        sizes = dict(zip(exercise.size_names, extents, strict=True))
        program = make_program("submission", made, exercise, sizes=sizes, limits=device.info.limits)
        case = Case("conformance", sizes, hidden=False)
        inputs = make_inputs(exercise, case, 5)
        outputs = run(device, program, inputs)
        if isinstance(outputs, Stop):
            assert outputs.status is Status.UNSUPPORTED, outputs
            return outputs
        judged = judge_case(
            case, program.buffers, oracle(inputs, sizes), outputs, tolerance_at(exercise, case)
        )
        assert judged.passed, judged.message
        found.append(outputs)
    return found


@pytest.mark.gpu
@pytest.mark.parametrize("recorded", [*read_records("counted"), *read_records("timed")], ids=str)
def test_a_truth_kernel_gives_the_output_that_was_recorded(gpu: Device, recorded: Recorded) -> None:
    program, arrays = make_plan(recorded, gpu.info)
    outputs = run(gpu, program, arrays)
    assert not isinstance(outputs, Stop), outputs
    (output,) = outputs.values()
    assert hashlib.sha256(output.tobytes()).hexdigest() == recorded.sha256


@pytest.mark.parametrize("path", HANDED_OUT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_is_handed_out_gives_the_outputs_of_the_oracle(device: Device, path: Path) -> None:
    made = compiled(path, prefer_wheel=isinstance(device, EmulatedDevice))
    assert isinstance(run_all(device, made, exercise_of(path)), list)


@pytest.mark.gpu
@pytest.mark.parametrize(
    "path", [*HANDED_OUT, *HANDED_IN], ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_both_devices_give_the_same_bits(
    gpu: Device, known: dict[Path, Future[Known]], path: Path
) -> None:
    one = known[path].result()
    measured = run_all(gpu, one.built, exercise_of(path))
    assert isinstance(measured, list), measured
    if isinstance(one.emulated, Stop):
        pytest.skip(f"right on the GPU; {describe_mistake(one.emulated).message}")
    for real, emulated in zip(measured, one.emulated, strict=True):
        assert {name: array.tobytes() for name, array in real.items()} == {
            name: array.tobytes() for name, array in emulated.items()
        }
