"""What CUDA says, and what becomes of it. The sentences are cuGetErrorString's of CUDA 13 under
PyCUDA's prefix."""

from __future__ import annotations

import pytest

from grader.devices.gpu.cuda_facts import (
    out_of_memory,
    read_fault,
    read_refusal,
)
from grader.devices.plan_limits import SPARE_BYTES
from grader.errors import GraderError
from grader.messages.hidden import describe_mistake
from grader.records import Binary, DeviceBuffer, Dim3, FindingKind, Kernel, Launch, Role, Status

LAUNCH = Launch("_Z1k", Dim3(4, 5), Dim3(32, 8), 0, (), 1, "k<<<dim3(4, 5), dim3(32, 8)>>>()")


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("an illegal memory access was encountered", FindingKind.OUT_OF_BOUNDS),
        ("misaligned address", FindingKind.MISALIGNED),
        ("device-side assert triggered", FindingKind.TRAP),
        ("an illegal instruction was encountered", FindingKind.TRAP),
        ("unspecified launch failure", FindingKind.TRAP),
        ("hardware stack error", FindingKind.OUT_OF_BOUNDS),
        ("operation not supported on global/shared address space", FindingKind.OUT_OF_BOUNDS),
        ("invalid program counter", FindingKind.OUT_OF_BOUNDS),
        ("something that nobody has seen yet", FindingKind.TRAP),
    ],
)
def test_a_fault_is_the_students_and_names_what_cuda_said(said: str, kind: FindingKind) -> None:
    failure = describe_mistake(
        read_fault(RuntimeError(f"cuCtxSynchronize failed: {said}"), LAUNCH, "k")
    )
    assert failure.status is Status.RUNTIME_ERROR
    assert [finding.kind for finding in failure.findings] == [kind]
    assert f"(CUDA: {said})" in failure.message
    assert failure.message.startswith("Kernel k ")
    assert failure.detail == LAUNCH.text
    assert failure.advice


def test_the_watchdog_of_a_display_is_a_time_out() -> None:
    failure = read_fault(
        RuntimeError("cuCtxSynchronize failed: the launch timed out and was terminated"),
        LAUNCH,
        "k",
    )
    assert failure.status is Status.TIMEOUT


@pytest.mark.parametrize(
    "said",
    ["uncorrectable ECC error encountered", "unknown error", "uncorrectable NVLink error detected"],
)
def test_a_broken_gpu_is_not_the_students(said: str) -> None:
    with pytest.raises(GraderError, match="The GPU failed"):
        read_fault(RuntimeError(f"cuCtxSynchronize failed: {said}"), LAUNCH, "k")
    with pytest.raises(GraderError, match="The GPU failed"):
        read_refusal(RuntimeError(f"cuLaunchKernel failed: {said}"), LAUNCH, "k")


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("too many resources requested for launch", "registers"),
        ("out of memory", "scratch"),
        ("invalid argument", "grid"),
        ("what is this", "limits"),
    ],
)
def test_a_refused_launch_has_advice(said: str, advice: str) -> None:
    failure = describe_mistake(
        read_refusal(RuntimeError(f"cuLaunchKernel failed: {said}"), LAUNCH, "k")
    )
    assert failure.status is Status.LAUNCH_ERROR
    assert said in failure.message
    assert advice in failure.advice


GIVEN = DeviceBuffer("in", "float32", (1 << 28,), Role.INPUT)


def binary(*, variable_bytes: int = 0, local_bytes: int = 0) -> Binary:
    kernel = Kernel("_Z1k", "k", (), 0, 16, 0, local_bytes, None, ())
    return Binary("sm_90", "13.5", b"", (kernel,), variable_bytes=variable_bytes)


@pytest.mark.parametrize(
    ("scratch_bytes", "code"),
    [
        (SPARE_BYTES, binary()),
        (0, binary(variable_bytes=SPARE_BYTES)),
        (0, binary(local_bytes=16 << 10)),
    ],
    ids=["scratch", "variables", "local memory"],
)
def test_who_asks_for_much_memory_must_ask_for_less(scratch_bytes: int, code: Binary) -> None:
    scratch = DeviceBuffer("t", "int8", (scratch_bytes,), Role.SCRATCH)
    failure = describe_mistake(out_of_memory([GIVEN, scratch], code))
    assert failure.status is Status.LAUNCH_ERROR
    assert f"buffers need {(1 << 30) + scratch_bytes:,} bytes" in failure.message
    assert ("__device__" in failure.message) == (code.variable_bytes > 0)
    assert "less scratch" in failure.advice


def test_a_gpu_that_others_fill_is_not_the_students() -> None:
    with pytest.raises(
        GraderError, match="no room for the buffers, which need 1,073,742,848 bytes"
    ) as caught:
        out_of_memory(
            [GIVEN, DeviceBuffer("t", "int8", (1024,), Role.SCRATCH)], binary(variable_bytes=4096)
        )
    assert "nvidia-smi" in caught.value.advice
