"""Faults in a student's words: the sentence, the finding, the advice."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.devices.emulated.finding_facts import read_fault
from grader.emulator import Fault, FaultKind, GlobalMemory
from grader.messages.hidden import describe_mistake
from grader.records import Dim3, Failure, FindingKind, Kernel, NotEmulated, RunLimits, Status

KERNEL = Kernel("_Z1kPf", "transpose<32, 8>", (), 0x210, 32, 0, 0, None, ())
MEMORY = GlobalMemory({"in": 6000, "out": 6000})
OUT = MEMORY.regions["out"].address
LIMITS = RunLimits(1_000_000, 60.0)

FAULT = Fault(
    kind=FaultKind.OUT_OF_BOUNDS,
    line=23,
    opcode="STG.E",
    block=(1, 2, 0),
    thread=(3, 4, 0),
    space="global",
    store=True,
    width=4,
    address=OUT + 6000,
)


def described(**changes: object) -> Failure:
    return describe_mistake(read_fault(replace(FAULT, **changes), KERNEL, MEMORY, LIMITS))  # type: ignore[arg-type]


PLACES = [
    (OUT + 6000, "right behind the end of buffer out (6,000 bytes)", "out", 6000),
    (OUT + 7024, "1,024 bytes past the end of buffer out (6,000 bytes)", "out", 7024),
    (OUT - 4, "4 bytes before the start of buffer out", "out", -4),
    (OUT + 5998, "byte 5,998 of buffer out (6,000 bytes)", "out", 5998),
    (MEMORY.regions["in"].address + 6001, "1 bytes past the end of buffer in", "in", 6001),
    (0, "address 0x0 is in no buffer", None, None),
    (0xDEADBEEF00000000, "address 0xdeadbeef00000000 is in no buffer", None, None),
]


@pytest.mark.parametrize(("address", "words", "buffer", "offset"), PLACES)
def test_an_access_out_of_bounds_names_buffer_and_offset(
    address: int, words: str, buffer: str | None, offset: int | None
) -> None:
    failure = described(address=address)
    (finding,) = failure.findings
    assert failure.status is Status.RUNTIME_ERROR
    assert words in failure.message
    assert "4-byte store to global memory out of bounds" in failure.message
    assert (finding.kind, finding.buffer, finding.offset_bytes) == (
        FindingKind.OUT_OF_BOUNDS,
        buffer,
        offset,
    )


def test_the_sentence_names_line_kernel_block_and_thread() -> None:
    failure = described()
    (finding,) = failure.findings
    assert failure.message.startswith("line 23: ")
    assert failure.message.endswith("(kernel transpose<32, 8>, block (1, 2, 0), thread (3, 4, 0)).")
    assert (finding.kernel, finding.line, finding.block, finding.thread) == (
        "transpose<32, 8>",
        23,
        Dim3(1, 2, 0),
        Dim3(3, 4, 0),
    )
    assert failure.advice


def test_code_without_a_source_line_is_told_without_one() -> None:
    failure = described(line=None)
    assert failure.message.startswith("4-byte store")
    assert failure.findings[0].line is None


def test_a_load_reads_as_a_load() -> None:
    assert "16-byte load from global memory" in described(store=False, width=16).message


SHARED = [
    (128, "byte 128 of the block's 128"),
    (-4, "byte -4 of the block's 128"),
    (4096, "byte 4,096 of the block's 128"),
]


@pytest.mark.parametrize(("address", "words"), SHARED)
def test_shared_memory_is_told_by_its_byte(address: int, words: str) -> None:
    failure = described(space="shared", address=address, shared_bytes=128)
    assert words in failure.message
    assert "shared memory" in failure.message
    assert failure.findings[0].buffer == "shared memory"


def test_a_misaligned_access_names_the_multiple_that_it_needs() -> None:
    failure = described(kind=FaultKind.MISALIGNED, width=16, address=OUT + 8)
    assert failure.findings[0].kind is FindingKind.MISALIGNED
    assert "no multiple of 16" in failure.message
    assert "byte 8 of buffer out" in failure.message
    assert "16" in failure.advice


def test_a_barrier_names_both_lines() -> None:
    failure = described(
        kind=FaultKind.BARRIER_DIVERGENCE, opcode="BAR.SYNC", space=None, other_line=31
    )
    (finding,) = failure.findings
    assert failure.status is Status.RUNTIME_ERROR
    assert (finding.kind, finding.line, finding.other_line) == (
        FindingKind.BARRIER_DIVERGENCE,
        23,
        31,
    )
    assert "__syncthreads()" in failure.message
    assert "line 31" in failure.message


def test_a_barrier_without_the_other_line_still_reads_as_a_sentence() -> None:
    message = described(kind=FaultKind.BARRIER_DIVERGENCE, space=None, other_line=None).message
    assert "None" not in message
    assert "__syncthreads()" in message


def test_a_spent_budget_is_a_timeout_near_its_line() -> None:
    failure = described(kind=FaultKind.INSTRUCTION_LIMIT, space=None)
    assert failure.status is Status.TIMEOUT
    assert "near line 23" in failure.message
    assert "1,000,000" in failure.message
    assert failure.findings[0].kind is FindingKind.INSTRUCTION_LIMIT
    assert "line" not in described(kind=FaultKind.INSTRUCTION_LIMIT, space=None, line=None).message


def test_a_trap_is_the_kernels_own_doing() -> None:
    failure = described(kind=FaultKind.TRAP, space=None)
    assert failure.status is Status.RUNTIME_ERROR
    assert failure.findings[0].kind is FindingKind.TRAP
    assert "__trap()" in failure.message


def test_a_failed_assertion_tells_its_condition() -> None:
    assert (
        "assert(n > 0) failed in f"
        in described(kind=FaultKind.ASSERT, space=None, message="assert(n > 0) failed in f").message
    )


@pytest.mark.parametrize("kind", list(FaultKind))
def test_every_kind_of_fault_has_words(kind: FaultKind) -> None:
    failure = described(kind=kind)
    assert failure.message.endswith(".")
    assert failure.advice.endswith((".", "?"))
    if kind is not FaultKind.UNSUPPORTED:
        others = {
            FaultKind.ASSERT: "trap",
            FaultKind.TOO_MANY_ARRIVALS: "trap",
            FaultKind.BAD_FREE: "trap",
            FaultKind.TIME_LIMIT: "wall_limit",
        }
        assert failure.findings[0].kind.value == others.get(kind, kind.value)


def test_an_unknown_instruction_is_the_graders_limit() -> None:
    failure = describe_mistake(NotEmulated("k", 12, "the instruction HMMA.16816.F32"))
    assert failure.status is Status.UNSUPPORTED
    assert "HMMA.16816.F32" in failure.message
    assert "line 12" in failure.message
    assert "not your mistake" in failure.advice
    assert "line" not in describe_mistake(NotEmulated("k", None, "X")).message
