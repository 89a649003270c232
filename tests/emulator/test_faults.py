"""Forbidden accesses: the launch ends, the process continues, and the fault contains thread and
address."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator import Fault, FaultKind
from grader.emulator.run.memory import FIRST_OFFSET, WINDOW
from tests.support.assembler import SHARED_BASE, Run, build, launch

SHARED_BYTES = 256
WORDS = 1024

PROGRAM = """
    S2R R0,SR_TID.X
    S2R R1,SR_TID.Y
    LDC R9,c[0x0][0x0]
    IMAD R0,R1,R9,R0
    S2R R1,SR_CTAID.X
    LEA R0,R1,R0,0x6               # block * 64 + thread
    LDC R1,c[0x0][0x230]
    ISETP.EQ.AND P0,PT,R0,R1,PT    # the thread that goes wrong
    LDC.64 R4,c[0x0][0x220]
    LDC.64 R6,c[0x0][0x228]
    ULDC.64 UR4,c[0x0][0x208]
    SEL R4,R4,R6,!P0
    SEL R5,R5,R7,!P0
    {access}
    EXIT
"""
"""Parameters: buffers a and b (0x210, 0x218), the right address (0x220), the wrong address (0x228),
the thread that uses it (0x230)."""

ACCESS_LINE = 15
LOAD, STORE = "LDG.E{} R8,desc[UR4][R4.64]", "STG.E{} desc[UR4][R4.64],R8"
A = WINDOW << 32 | FIRST_OFFSET
B = A + 4096 + 4096  # addresses of the two buffers of 4 KiB


def run(
    access: str,
    address: int,
    *,
    thread: int = 40,
    right: int = A,
    host_threads: int = 1,
    check: bool = False,
) -> Run:
    """Four blocks of 16 x 4 threads; the given thread of the grid uses the wrong address, the
    others the right address."""
    buffers = {"a": np.zeros(WORDS, dtype=np.int32), "b": np.zeros(WORDS, dtype=np.int32)}
    kernel = build(PROGRAM.format(access=access), shared_bytes=SHARED_BYTES)
    scalars = [right, address, thread]
    return launch(
        kernel,
        buffers,
        scalars,
        block=(16, 4, 1),
        grid=(4, 1, 1),
        check=check,
        threads=host_threads,
    )


def fault_of(
    access: str, address: int, *, thread: int = 40, right: int = A, host_threads: int = 1
) -> Fault:
    fault = run(
        access, address, thread=thread, right=right, host_threads=host_threads
    ).outcome.fault
    assert fault is not None
    return fault


def test_the_buffers_lie_where_these_tests_think() -> None:
    ran = run(LOAD.format(""), B + 4 * WORDS - 4, check=True)
    assert (ran.memory.regions["a"].address, ran.memory.regions["b"].address) == (A, B)


OUTSIDE = [
    ("before a", A - 4),
    ("far before a", A - (1 << 19)),
    ("right behind a", A + 4 * WORDS),
    ("in the red zone", A + 4 * WORDS + 2048),
    ("before b", B - 4),
    ("right behind b", B + 4 * WORDS),
    ("far behind b", B + (1 << 30)),
    ("null", 0),
    ("near null", 0x10),
    ("low 32 bits only", A & 0xFFFFFFFF),
    ("the next window", A + (1 << 32)),
    ("the window before", A - (1 << 32)),
    ("wild", 0x123456789ABCDEF0),
    ("all ones", 0xFFFFFFFFFFFFFFFC),
    ("top bit", A | 1 << 63),
]


@pytest.mark.parametrize("access", [LOAD.format(""), STORE.format("")], ids=["load", "store"])
@pytest.mark.parametrize(
    "address", [address for _, address in OUTSIDE], ids=[name for name, _ in OUTSIDE]
)
def test_a_global_access_out_of_bounds_is_reported_precisely(access: str, address: int) -> None:
    fault = fault_of(access, address, thread=2 * 64 + 37)
    assert fault.kind is FaultKind.OUT_OF_BOUNDS
    assert (fault.space, fault.store, fault.width) == ("global", access.startswith("STG"), 4)
    assert fault.address == address
    assert fault.line == ACCESS_LINE
    assert fault.opcode == access.split()[0]
    assert fault.block == (2, 0, 0)
    assert fault.thread == (37 % 16, 37 // 16, 0)


def test_the_process_and_the_kernel_survive_a_fault() -> None:
    ran = run(STORE.format(""), A - 4)
    assert ran.outcome.fault is not None
    assert run(STORE.format(""), A, check=True).outcome.fault is None


def test_a_faulting_store_writes_nothing() -> None:
    """All lanes are checked before any lane writes. R8 is 0 everywhere, so the buffer is filled
    with ones here."""
    buffers = {"a": np.ones(WORDS, dtype=np.int32), "b": np.ones(WORDS, dtype=np.int32)}
    kernel = build(PROGRAM.format(access=STORE.format("")), shared_bytes=SHARED_BYTES)
    ran = launch(
        kernel, buffers, [A, B + 4 * WORDS, 5], block=(16, 4, 1), grid=(1, 1, 1), check=False
    )
    assert ran.outcome.fault is not None
    assert all(array.tolist() == [1] * WORDS for array in ran.arrays.values())


@pytest.mark.parametrize("width", [8, 16])
def test_a_wide_access_that_only_starts_inside_is_out_of_bounds(width: int) -> None:
    name = {8: ".64", 16: ".128"}[width]
    buffers = {"a": np.zeros(1022, dtype=np.int32), "b": np.zeros(1, dtype=np.int32)}
    kernel = build(PROGRAM.format(access=LOAD.format(name)), shared_bytes=SHARED_BYTES)
    last = A + 4 * 1022 // width * width
    last = last if last + width > A + 4 * 1022 else last + width
    ran = launch(kernel, buffers, [A, last, 3], block=(16, 4, 1), check=False)
    fault = ran.outcome.fault
    assert fault is not None
    assert (fault.kind, fault.width, fault.address) == (FaultKind.OUT_OF_BOUNDS, width, last)
    assert launch(kernel, buffers, [A, last - width, 3], block=(16, 4, 1)).outcome.fault is None


MISALIGNED = [
    ("", 4, 1),
    ("", 4, 2),
    (".U16", 2, 1),
    (".64", 8, 4),
    (".128", 16, 8),
    (".128", 16, 4),
]


@pytest.mark.parametrize("form", [LOAD, STORE], ids=["load", "store"])
@pytest.mark.parametrize(("name", "width", "off"), MISALIGNED)
def test_a_misaligned_global_access_is_reported_precisely(
    form: str, name: str, width: int, off: int
) -> None:
    fault = fault_of(form.format(name), A + 64 + off, thread=9)
    assert fault.kind is FaultKind.MISALIGNED
    assert (fault.width, fault.address, fault.block, fault.thread) == (
        width,
        A + 64 + off,
        (0, 0, 0),
        (9, 0, 0),
    )


def test_single_bytes_need_no_alignment() -> None:
    assert run(LOAD.format(".U8"), A + 3, check=True).outcome.fault is None


SHARED_END = SHARED_BASE + SHARED_BYTES
SHARED = [
    ("LDS R8,[R4]", SHARED_BASE - 4, FaultKind.OUT_OF_BOUNDS),
    ("STS [R4],R8", SHARED_BASE - 4, FaultKind.OUT_OF_BOUNDS),
    ("LDS R8,[R4]", SHARED_END, FaultKind.OUT_OF_BOUNDS),
    ("STS [R4],R8", SHARED_END, FaultKind.OUT_OF_BOUNDS),
    ("LDS R8,[R4]", 0, FaultKind.OUT_OF_BOUNDS),
    ("LDS R8,[R4]", 0xFFFFFFFC, FaultKind.OUT_OF_BOUNDS),
    ("STS.U8 [R4],R8", SHARED_END, FaultKind.OUT_OF_BOUNDS),
    ("LDS.128 R8,[R4]", SHARED_END, FaultKind.OUT_OF_BOUNDS),
    ("LDS R8,[R4]", SHARED_BASE + 2, FaultKind.MISALIGNED),
    ("STS.64 [R4],R8", SHARED_BASE + 12, FaultKind.MISALIGNED),
    ("LDS.128 R8,[R4]", SHARED_BASE + 8, FaultKind.MISALIGNED),
]


@pytest.mark.parametrize(("access", "address", "kind"), SHARED)
def test_a_bad_shared_access_is_reported_precisely(
    access: str, address: int, kind: FaultKind
) -> None:
    fault = fault_of(access, address, right=SHARED_BASE, thread=64 + 33)
    assert fault.kind is kind
    assert (fault.space, fault.address, fault.shared_bytes) == (
        "shared",
        address - SHARED_BASE,
        SHARED_BYTES,
    )
    assert (fault.line, fault.block, fault.thread) == (ACCESS_LINE, (1, 0, 0), (1, 2, 0))


def test_the_last_bytes_of_shared_memory_are_within() -> None:
    assert (
        run("LDS.128 R8,[R4]", SHARED_END - 16, right=SHARED_BASE, check=True).outcome.fault is None
    )
    assert (
        run("STS.U8 [R4],R8", SHARED_END - 1, right=SHARED_BASE, check=True).outcome.fault is None
    )


def test_lanes_that_take_no_part_may_hold_any_address() -> None:
    assert run("@!P0 " + LOAD.format(""), 0x123456789ABCDEF1, check=True).outcome.fault is None


def test_the_first_faulty_block_is_reported_for_any_number_of_host_threads() -> None:
    """Every block from block 1 on has a fault; several host threads run them at once."""
    access = (
        "IADD3 R6,R1,R0,RZ\n    ISETP.GE.AND P1,PT,R0,0x40,PT\n    @P1 IADD3 R4,R4,-0x4,RZ\n    "
        + LOAD.format("")
    )
    faults = [fault_of(access, A, host_threads=count) for count in (1, 2, 3, 4)]
    assert {fault.block for fault in faults} == {(1, 0, 0)}
    assert len(set(faults)) == 1


LOCAL = [
    ("STL [R4],R8", 64, FaultKind.OUT_OF_BOUNDS),
    ("LDL R8,[R4]", 0xFFFFFFFC, FaultKind.OUT_OF_BOUNDS),
    ("LDL.128 R8,[R4]", 64, FaultKind.OUT_OF_BOUNDS),
    ("STL.64 [R4],R8", 0x12345678, FaultKind.OUT_OF_BOUNDS),
    ("LDL.64 R8,[R4]", 12, FaultKind.MISALIGNED),
]


@pytest.mark.parametrize(("access", "address", "kind"), LOCAL)
def test_a_bad_local_access_is_reported_precisely(
    access: str, address: int, kind: FaultKind
) -> None:
    kernel = build(PROGRAM.format(access=access), local_bytes=64)
    fault = launch(
        kernel,
        {"a": np.zeros(1), "b": np.zeros(1)},
        [0, address, 37],
        block=(16, 4, 1),
        check=False,
    ).outcome.fault
    assert fault is not None
    assert (fault.kind, fault.space, fault.address) == (kind, "local", address)
    assert (fault.line, fault.block, fault.thread) == (ACCESS_LINE, (0, 0, 0), (5, 2, 0))


def test_a_kernel_without_local_memory_has_no_byte_of_it() -> None:
    kernel = build(PROGRAM.format(access="LDL.U8 R8,[R4]"))
    fault = launch(
        kernel, {"a": np.zeros(1), "b": np.zeros(1)}, [0, 0, 0], block=(16, 4, 1), check=False
    ).outcome.fault
    assert fault is not None
    assert (fault.kind, fault.space) == (FaultKind.OUT_OF_BOUNDS, "local")


TRAP = """
    S2R R0,SR_TID.X
    ISETP.EQ.AND P0,PT,R0,0x25,PT
    @P0 BPT.TRAP 0x1
    EXIT
"""


def test_a_trap_ends_the_launch_in_the_thread_that_set_it_off() -> None:
    fault = launch(build(TRAP), {}, block=(64, 1, 1), check=False).outcome.fault
    assert fault is not None
    assert (fault.kind, fault.line, fault.thread) == (FaultKind.TRAP, 4, (0x25, 0, 0))
    assert launch(build(TRAP), {}, block=(32, 1, 1)).outcome.fault is None


# --- the budget -----------------------------------------------------------------------------------

ENDLESS = "NOP\nloop: IADD3 R4,R4,0x1,RZ\nNOP\nNOP\nBRA loop\n"
LOOP_INSTRUCTIONS = 4

COUNTED = """
    LDC R5,c[0x0][0x210]
loop: IADD3 R5,R5,-0x1,RZ
    ISETP.NE.AND P0,PT,R5,RZ,PT
    @P0 BRA loop
    EXIT
"""


@pytest.mark.parametrize("budget", [1, 2, 100, 1001, 5_000_000])
def test_an_endless_loop_ends_at_its_budget_within_a_basic_block(budget: int) -> None:
    ran = launch(build(ENDLESS), {}, check=False, budget=budget)
    fault = ran.outcome.fault
    assert fault is not None
    assert fault.kind is FaultKind.INSTRUCTION_LIMIT
    assert budget < ran.executed <= budget + LOOP_INSTRUCTIONS
    assert fault.line in (1, 2)


def test_a_kernel_that_takes_its_whole_budget_is_within_it() -> None:
    instructions = 1 + 3 * 50 + 1
    assert launch(build(COUNTED), {}, [50], budget=instructions).executed == instructions
    fault = launch(build(COUNTED), {}, [50], budget=instructions - 1, check=False).outcome.fault
    assert fault is not None
    assert fault.kind is FaultKind.INSTRUCTION_LIMIT


@pytest.mark.parametrize("host_threads", [1, 2, 5])
def test_all_blocks_and_host_threads_share_the_budget(host_threads: int) -> None:
    blocks, instructions = 20, 1 + 3 * 50 + 1
    enough = launch(
        build(COUNTED),
        {},
        [50],
        grid=(blocks, 1, 1),
        budget=blocks * instructions,
        threads=host_threads,
    )
    assert enough.executed == blocks * instructions
    short = launch(
        build(COUNTED),
        {},
        [50],
        grid=(blocks, 1, 1),
        budget=blocks * instructions - 1,
        threads=host_threads,
        check=False,
    )
    assert short.outcome.fault is not None
    assert short.outcome.fault.kind is FaultKind.INSTRUCTION_LIMIT


def test_an_endless_loop_on_a_split_warp_ends_too() -> None:
    text = "S2R R0,SR_TID.X\nISETP.EQ.AND P0,PT,R0,0x3,PT\nloop: @P0 BRA loop\nEXIT\n"
    fault = launch(build(text), {}, check=False, budget=10_000).outcome.fault
    assert fault is not None
    assert (fault.kind, fault.line) == (FaultKind.INSTRUCTION_LIMIT, 3)


def test_progress_counts_finished_blocks_up_to_the_last() -> None:
    told: list[tuple[int, int]] = []
    launch(
        build(COUNTED),
        {},
        [1],
        grid=(10, 3, 1),
        progress=lambda done, total: told.append((done, total)),
    )
    assert told[-1] == (30, 30)
    assert told == sorted(told)
