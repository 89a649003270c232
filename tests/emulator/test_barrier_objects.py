"""Barrier objects in shared memory: their words after arrivals, waits between threads, and phases
that never end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.emulator import Fault, FaultKind
from tests.support.assembler import Run, build, launch
from tests.support.planted import find_bugs, named_lines, read_planted

THREADS = 64
HEAD = """S2R R0,SR_TID.X
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R0,0x8,R2
    UMOV UR8,0x400
    ISETP.NE.AND P0,PT,R0,RZ,PT
    VOTEU.ALL UP0,P0
    UMOV UR6,{expected:#x}
    UIADD3 UR6,-UR6,0x100000,URZ
    USHF.L.U32 UR7,UR6,0xb,URZ
    USHF.L.U32 UR6,UR6,0x1,URZ
    @!UP0 SYNCS.EXCH.64 URZ,[UR8],UR6
    MOV R4,RZ
    MOV R5,RZ
    BAR.SYNC.DEFER_BLOCKING 0x0
"""
"""R0 thread, R2:R3 address of its 64-bit output, UR8 a barrier object with an expected count."""

TAIL = """
    STG.E.64 desc[UR4][R2.64],R4
    EXIT
"""


def run(body: str, *, expected: int, threads: int = THREADS, check: bool = True) -> Run:
    """Runs HEAD, the body, TAIL: every thread stores its R4:R5."""
    out = np.full(threads, -1, dtype=np.int64)
    kernel = build(HEAD.format(expected=expected) + body + TAIL, shared_bytes=4096)
    return launch(kernel, {"out": out}, block=(threads, 1, 1), check=check)


def outputs(body: str, *, expected: int, threads: int = THREADS) -> list[int]:
    found: list[int] = run(body, expected=expected, threads=threads).arrays["out"].tolist()
    return found


def fault_of(body: str, *, expected: int) -> Fault:
    fault = run(body, expected=expected, check=False).outcome.fault
    assert fault is not None
    return fault


def line_of(body: str, comment: str) -> int:
    lines = (HEAD + body).splitlines()
    return next(n for n, line in enumerate(lines, start=1) if line.endswith(f"# {comment}"))


# --- arrivals -------------------------------------------------------------------------------------

OPERATIONS = {
    "arrive": "ARRIVE.TRANS64.ART0 R8",
    "drop": "ARRIVE.TRANS64.OPTOUT.ART0 R8",
    "arrive_expect": "ARRIVE.TRANS64 R8",
    "drop_expect": "ARRIVE.TRANS64.OPTOUT R8",
    "expect": "ARRIVE.TRANS64.RED.A0TR RZ",
    "complete": "ARRIVE.TRANS64.RED.A0TX RZ",
}
SEQUENCES = {
    "3: arrive 1, arrive 1, arrive 1, arrive 2, arrive 1": "7fffe800 7ffff000 7ffff800 ffffe800"
    " fffff800",
    "1048575: arrive 1048574, arrive 1": "00000800 7ffff800",
    "3: arrive 0": "7fffe800",
    "4: drop 1, arrive 3, drop 2, arrive 1, drop 1": "7fffe000 7fffe800 ffffe800 fffff800 7ffff800",
    "2: expect 100, complete 40, arrive 1, arrive_expect 5": "7ffff3ff 7ffffbff",
    "1: complete 16, complete 1, arrive_expect 17, arrive_expect 1048575, complete 1048575, "
    "complete 100, expect 50, expect 50, arrive 1": "7ffff800 fffff800 7ffff800",
    "3: drop_expect 64, arrive 2, complete 64, arrive 2": "7fffe800 7ffff3ff fffff000",
}
"""The upper words that an H200 returned, for an object with this expected count."""


def read_sequence(text: str) -> tuple[int, str]:
    """The expected count of an object, and a program of a thread that stores the results."""
    expected, _, operations = text.partition(":")
    lines = ["@P0 EXIT"]
    place = 0
    for operation in operations.split(","):
        name, amount = operation.split()
        target = OPERATIONS[name].rpartition(" ")[2]
        lines += [f"MOV R7,{int(amount):#x}", f"SYNCS.{OPERATIONS[name]},[UR8],R7"]
        if target != "RZ":
            lines.append(f"STG.E desc[UR4][R2.64+{place:#x}],R9")
            place += 4
    return int(expected), "\n".join((*lines, "EXIT\n"))


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_an_arrival_returns_the_objects_old_value(sequence: str) -> None:
    expected, body = read_sequence(sequence)
    words = run(body, expected=expected).arrays["out"].view(np.uint32)
    found = SEQUENCES[sequence].split()
    assert [f"{word:08x}" for word in words[: len(found)]] == found


@pytest.mark.parametrize(
    "sequence",
    ["3: arrive 5", "0: arrive 1", "2: drop 2, arrive 1", "1: expect 9, arrive 1, arrive 1"],
)
def test_more_arrivals_than_a_phase_waits_for_end_the_launch(sequence: str) -> None:
    expected, body = read_sequence(sequence)
    fault = fault_of(body, expected=expected)
    assert (fault.kind, fault.thread) == (FaultKind.TOO_MANY_ARRIVALS, (0, 0, 0))


TOGETHER = """
    ISETP.GE.AND P1,PT,R0,0x20,PT
    @P1 EXIT
    MOV R4,0x5
    SYNCS.ARRIVE.TRANS64.A1T0 R4,[UR8],RZ
"""


def test_lanes_arrive_together_and_get_the_same_value() -> None:
    """Only the upper word is written."""
    assert outputs(TOGETHER, expected=32)[:32] == [0x7FFF0000_00000005] * 32


def test_lanes_together_end_one_phase_at_most() -> None:
    assert fault_of(TOGETHER, expected=8).kind is FaultKind.TOO_MANY_ARRIVALS


# --- waiting --------------------------------------------------------------------------------------

HANDED_OVER = """
    ISETP.GE.AND P1,PT,R0,0x20,PT
    LEA R6,R0,0x800,0x2
    @P1 BRA writer
    MOV R7,RZ
again: SYNCS.PHASECHK.TRANS64{tries} P0,[UR8],R7  # wait
    @!P0 BRA again
    LDS R4,[R6+0x80]
    BRA end
writer: IADD3 R7,R0,0x64,RZ
    STS [R6],R7
    SYNCS.ARRIVE.TRANS64.A1T0 RZ,[UR8],RZ
end: NOP
"""


@pytest.mark.parametrize("tries", ["", ".TRYWAIT"])
def test_a_warp_that_waits_lets_others_go_on(tries: str) -> None:
    got = outputs(HANDED_OVER.format(tries=tries), expected=32)
    assert got == [132 + thread for thread in range(32)] + [0] * 32


def test_a_try_waits_as_one_instruction() -> None:
    body = HANDED_OVER.format(tries=".TRYWAIT")
    assert run(body, expected=32).at_line(line_of(body, "wait")).executed == 1


LANES_APART = """
    BSSY B0,join
    LOP3.LUT R6,R0,0x1,RZ,0xc0,!PT
    ISETP.EQ.AND P1,PT,R6,RZ,PT
    MOV R7,RZ
    @P1 BRA wait
    SYNCS.ARRIVE.TRANS64.A1T0 RZ,[UR8],RZ
    BRA meet
wait: SYNCS.PHASECHK.TRANS64.TRYWAIT P0,[UR8],R7
    @!P0 BRA wait
    MOV R4,0x7
meet: BSYNC B0
join: NOP
"""


@pytest.mark.parametrize("threads", [32, 64])
def test_lanes_wait_for_lanes_of_their_own_warp(threads: int) -> None:
    got = outputs(LANES_APART, expected=threads // 2, threads=threads)
    assert got == [7, 0] * (threads // 2)


NEVER = """
    ISETP.GE.AND P1,PT,R0,0x20,PT
    @P1 BRA end
    SYNCS.ARRIVE.TRANS64.A1T0 RZ,[UR8],RZ
again: SYNCS.PHASECHK.TRANS64{tries} P0,[UR8],RZ  # wait
    @!P0 BRA again
end: NOP
"""


@pytest.mark.parametrize("tries", ["", ".TRYWAIT"])
def test_a_phase_that_never_ends_is_waited_for_without_end(tries: str) -> None:
    body = NEVER.format(tries=tries)
    fault = fault_of(body, expected=33)
    assert (fault.kind, fault.line) == (FaultKind.ENDLESS_WAIT, line_of(body, "wait"))
    assert (fault.thread, fault.opcode.split(".")[0]) == ((0, 0, 0), "SYNCS")


def test_a_try_without_arrivals_is_false_after_a_while() -> None:
    body = """
    SYNCS.PHASECHK.TRANS64.TRYWAIT P0,[UR8],RZ
    SEL R4,RZ,0x1,!P0
    SYNCS.ARRIVE.TRANS64.A1T0 RZ,[UR8],RZ
    SYNCS.PHASECHK.TRANS64.TRYWAIT P0,[UR8],RZ
    SEL R5,RZ,0x1,!P0
    """
    assert outputs(body, expected=THREADS) == [1 << 32] * THREADS


# --- lanes and objects ----------------------------------------------------------------------------

OBJECT_OF_EACH = """
    LEA R6,R0,0x500,0x3
    MOV R8,0xffffe
    PLOP3.LUT P0,PT,PT,PT,PT,0x80,0x0
set: PLOP3.LUT P1,PT,P1,P0,PT,0xa2,0x0
    @P0 R2UR P1,UR10,R6
    PLOP3.LUT P1,PT,P1,P0,PT,0xa2,0x0
    @P0 R2UR.OR P1,UR12,R8
    @P0 PLOP3.LUT P0,PT,P1,PT,PT,0x80,0x0
    USHF.L.U32 UR13,UR12,0xb,URZ
    USHF.L.U32 UR12,UR12,0x1,URZ
    SYNCS.EXCH.64 URZ,[UR10],UR12
    @P0 BRA.U.ANY set
    LOP3.LUT R7,R0,0x3,RZ,0x3c,!PT
    LEA R7,R7,0x500,0x3
    SYNCS.ARRIVE.TRANS64.A1T0 RZ,[R7+URZ],RZ
    WARPSYNC.ALL
    LDS.64 R4,[R6]
"""


def test_a_loop_over_the_values_of_lanes_sets_up_the_object_of_each() -> None:
    expecting_two, waiting_for_one = (1 << 20) - 2, (1 << 20) - 1
    word = expecting_two << 1 | waiting_for_one << 43
    assert outputs(OBJECT_OF_EACH, expected=1, threads=32) == [word] * 32


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("0x404", FaultKind.MISALIGNED),
        ("0x1400", FaultKind.OUT_OF_BOUNDS),
        ("0x0", FaultKind.OUT_OF_BOUNDS),
    ],
)
@pytest.mark.parametrize(
    "line",
    [
        "SYNCS.ARRIVE.TRANS64.A1T0 RZ,[R6+URZ],RZ",
        "SYNCS.PHASECHK.TRANS64.TRYWAIT P0,[R6+URZ],RZ",
        "SYNCS.CCTL.IV [R6+URZ]",
    ],
)
def test_an_object_lies_in_shared_memory_at_a_multiple_of_eight(
    line: str, address: str, kind: FaultKind
) -> None:
    body = f"\n    MOV R6,{address}\n    @!P0 {line}  # bad\n"
    fault = fault_of(body, expected=1)
    assert (fault.kind, fault.space, fault.line) == (kind, "shared", line_of(body, "bad"))


# --- copies ---------------------------------------------------------------------------------------

COPIES = """
    LDC.64 R8,c[0x0][0x218]
    IMAD.WIDE.U32 R8,R0,0x4,R8
    LEA R6,R0,0x800,0x2
    LDGSTS.E [R6],desc[UR4][R8.64]
    {arrive}
    SYNCS.PHASECHK.TRANS64.TRYWAIT P0,[UR8],RZ
    LDS R4,[R6]
    SEL R5,RZ,0x1,!P0
"""
BESIDES = "SYNCS.ARRIVE.TRANS64.RED.A0T1 RZ,[UR8],RZ\n    ARRIVES.LDGSTSBAR.64.TRANSCNT [UR8]"
FORMS = {
    "ARRIVES.LDGSTSBAR.64.ARVCNT [UR8]": True,
    BESIDES: False,
    f"{BESIDES}\n    SYNCS.ARRIVE.TRANS64.A1T0 RZ,[UR8],RZ": True,
}
"""Whether the phase ends, and the copies with it."""


@pytest.mark.parametrize("arrive", FORMS)
def test_copies_arrive_in_place_of_their_threads_or_besides(arrive: str) -> None:
    out, data = np.zeros(THREADS, dtype=np.int64), np.arange(THREADS, dtype=np.int32)
    text = HEAD.format(expected=THREADS) + COPIES.format(arrive=arrive) + TAIL
    kernel = build(text, shared_bytes=4096)
    got = launch(kernel, {"out": out, "data": data}, block=(THREADS, 1, 1)).arrays["out"]
    there = [1 << 32 | thread for thread in range(THREADS)]
    assert got.tolist() == (there if FORMS[arrive] else [0xFFFFFFFF] * THREADS)


# --- the checked mode -----------------------------------------------------------------------------

TILES = """// in: float a[256]
// out: float y[256]
// launch: load<<<1, 128>>>(y, a)
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void load(float* y, const float* a) {{
    __shared__ barrier b;
    __shared__ float row[128];
    if (threadIdx.x == 0) init(&b, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 2; ++i) {{
        {copy}
        {first}
        y[128 * i + threadIdx.x] = row[127 - threadIdx.x];  // BUG
        {second}
    }}
}}
"""
COPY = "cuda::memcpy_async(&row[threadIdx.x], &a[128 * i + threadIdx.x], 4, b);  // BUG"
STORE = "row[threadIdx.x] = a[128 * i + threadIdx.x];  // BUG"
WAIT, ARRIVE = "b.arrive_and_wait();", "(void)b.arrive();"
SYNC = "__syncthreads();"


@pytest.mark.parametrize(
    ("copy", "first", "second", "kind"),
    [
        (COPY, WAIT, WAIT, None),
        (STORE, WAIT, WAIT, None),
        (STORE, "", "", "race"),
        (STORE, ARRIVE, WAIT, "race"),
        (COPY, f"{ARRIVE} {SYNC}", SYNC, "copy_under_way"),
    ],
)
def test_a_wait_for_a_phase_orders_earlier_work(
    copy: str, first: str, second: str, kind: str | None, tmp_path: Path
) -> None:
    path = tmp_path / f"{kind or 'none'}--tiles.cu"
    path.write_text(TILES.format(copy=copy, first=first, second=second), encoding="utf-8")
    findings = find_bugs(read_planted(path))
    assert {finding.kind.value for finding in findings} == ({kind} - {None})
    assert kind is None or named_lines(findings) <= read_planted(path).lines
