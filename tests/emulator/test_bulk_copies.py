"""Bulk copies between global and shared memory, and within shared memory."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator import FaultKind
from tests.support.assembler import Run, build, launch

SHARED_BYTES = 4096
HEAD = """
    S2R R0,SR_TID.X
    ISETP.NE.AND P0,PT,R0,RZ,PT
    UMOV UR8,0x400
    UMOV UR6,0xfffff
    USHF.L.U32 UR7,UR6,0xb,URZ
    USHF.L.U32 UR6,UR6,0x1,URZ
    SYNCS.EXCH.64 URZ,[UR8],UR6
    UMOV UR9,{units:#x}
    ULDC.64 UR16,c[0x0][0x210]
    ULDC.64 UR18,c[0x0][0x218]
    @P0 EXIT
"""
COPY_IN = """
    UMOV UR10,{to:#x}
    UMOV UR11,0x400
    MOV R4,{bytes:#x}
    SYNCS.ARRIVE.TRANS64 RZ,[UR8],R4
    UBLKCP.S.G [UR10],[UR18],UR9  # in
    SYNCS.PHASECHK.TRANS64.TRYWAIT P1,[UR8],RZ
    @!P1 EXIT
"""
COPY_WITHIN = """
    UMOV UR12,{other:#x}
    UMOV UR13,0x400
    UMOV UR14,{to:#x}
    SYNCS.ARRIVE.TRANS64 RZ,[UR8],R4
    UBLKCP.S.S [UR12],[UR14],UR9
    MOV R5,0x80000000
    SYNCS.PHASECHK.TRANS64.TRYWAIT P1,[UR8],R5
    @!P1 EXIT
"""
COPY_OUT = """
    UMOV UR12,{place:#x}
    UIADD3.64 UR16,UR16,{behind:#x},URZ
    UBLKCP.G.S [UR16],[UR12],UR9  # out
    UTMACMDFLUSH
    DEPBAR.LE SB0,0x0
    EXIT
"""
TO, OTHER = 0x500, 0xC00


def copy(text: str, *, units: int, words: int = 512, check: bool = True, **places: int) -> Run:
    """Runs a program of a thread that copies this number of 16-byte units."""
    named = {"to": TO, "other": OTHER, "place": OTHER, "behind": 0, **places}
    program = (HEAD + text).format(units=units, bytes=16 * units, **named)
    buffers = {
        "out": np.full(words, -1, dtype=np.int32),
        "data": np.arange(words, dtype=np.int32),
    }
    return launch(build(program, shared_bytes=SHARED_BYTES), buffers, check=check)


@pytest.mark.parametrize("units", [0, 1, 7, 32, 33, 100])
def test_bytes_go_in_and_within_and_out(units: int) -> None:
    got = copy(COPY_IN + COPY_WITHIN + COPY_OUT, units=units).arrays["out"]
    assert got[: 4 * units].tolist() == list(range(4 * units))
    assert (got[4 * units :] == -1).all()


def test_an_address_of_64_bits_is_added_to_as_a_whole() -> None:
    got = copy(COPY_IN + COPY_OUT, units=2, place=TO, behind=64).arrays["out"]
    assert got[:24].tolist() == [-1] * 16 + list(range(8))


def test_a_copy_counts_as_one_instruction_and_as_no_access() -> None:
    counts = list(copy(COPY_IN + COPY_OUT, units=100, place=TO).outcome.counts)
    copies = [each for each in counts if each.opcode.startswith("UBLKCP")]
    assert sum(each.executed for each in copies) == 2
    assert not any(each.requests for each in counts if each.space in ("global", "shared"))
    assert [each.bytes for each in copies] == [1600, 0, 0, 1600], "loaded, stored"


@pytest.mark.parametrize(
    ("places", "kind", "space"),
    [
        ({"to": 0x508}, FaultKind.MISALIGNED, "shared"),
        ({"to": 0x400 + SHARED_BYTES - 16}, FaultKind.OUT_OF_BOUNDS, "shared"),
        ({"place": TO, "behind": 8}, FaultKind.MISALIGNED, "global"),
        ({"place": TO, "behind": 2032}, FaultKind.OUT_OF_BOUNDS, "global"),
    ],
)
def test_both_ends_are_checked(places: dict[str, int], kind: FaultKind, space: str) -> None:
    fault = copy(COPY_IN + COPY_OUT, units=2, check=False, **places).outcome.fault
    assert fault is not None
    assert (fault.kind, fault.space, fault.thread) == (kind, space, (0, 0, 0))
    assert fault.opcode == ("UBLKCP.S.G" if space == "shared" else "UBLKCP.G.S")


def test_a_guard_that_fails_copies_nothing() -> None:
    text = COPY_IN.replace("UBLKCP", "@!UPT UBLKCP") + COPY_OUT
    assert (copy(text, units=4, place=TO).arrays["out"] == -1).all()


REDUCTIONS = [
    ("ADD", 5, 7, 12),
    ("ADD.S32", 5, 0xFFFFFFFE, 3),
    ("MIN", 5, 0xFFFFFFFE, 5),
    ("MIN.S32", 5, 0xFFFFFFFE, 0xFFFFFFFE),
    ("MAX.S32", 5, 0xFFFFFFFE, 5),
    # observed on an H200
    ("INC", 0xA10EFF8, 0xDBAAE58D, 0xA10EFF9),
    ("INC", 0xF2EF57D6, 0x34CB4AEC, 0),
    ("DEC", 0xA6E654CB, 0xC4FFECD6, 0xA6E654CA),
    ("DEC", 0x9E7F1677, 0x3A51E079, 0x3A51E079),
    ("AND", 0xFFF2244E, 0x3F5A7FE8, 0x3F522448),
    ("OR", 0x80ACA61C, 0x8048F81, 0x88ACAF9D),
    ("XOR", 0xF4B81648, 0x72B51895, 0x860D0EDD),
    ("ADD.F32.RN", 0x123, 0x321, 0x444),
    ("ADD.F32.RN", 0x40B98107, 0xFFC12345, 0x7FFFFFFF),
    ("ADD.F16.RN", 0x4000C10B, 0xC0E4418A, 0xB72033F0),
    ("ADD.F16.RN", 0x8000, 0, 0),
    ("MIN.F16.RN", 0x70C07FC0, 0x4058418A, 0x4058418A),
    ("MAX.F16.RN", 0x8000, 0, 0),
    ("ADD.BF16.RN", 0x123, 0x321, 0x32B),
    ("ADD.BF16.RN", 0xC11472B1, 0xFFC12345, 0x7FFF72B1),
    ("MIN.BF16.RN", 0xC0477CEE, 0xFFC12345, 0xC0472345),
]


@pytest.mark.parametrize(("operation", "old", "comes", "left"), REDUCTIONS)
def test_elements_are_combined(operation: str, old: int, comes: int, left: int) -> None:
    text = (HEAD + COPY_IN + COPY_OUT).replace("UBLKCP.G.S", f"UBLKRED.G.S.{operation}")
    program = text.format(units=2, bytes=32, to=TO, place=TO, behind=0)
    buffers = {"out": np.full(8, old, dtype=np.uint32), "data": np.full(8, comes, dtype=np.uint32)}
    run = launch(build(program, shared_bytes=SHARED_BYTES), buffers)
    assert [f"{word:#x}" for word in run.arrays["out"].view(np.uint32)] == [f"{left:#x}"] * 8


def test_reductions_of_types_without_the_operation_are_not_executed() -> None:
    text = (HEAD + COPY_IN + COPY_OUT).replace("UBLKCP.G.S", "UBLKRED.G.S.MIN.F32.RN")
    buffers = {"out": np.zeros(8, dtype=np.int32), "data": np.zeros(8, dtype=np.int32)}
    program = text.format(units=2, bytes=32, to=TO, place=TO, behind=0)
    fault = launch(build(program, shared_bytes=SHARED_BYTES), buffers, check=False).outcome.fault
    assert fault is not None
    assert fault.kind is FaultKind.UNSUPPORTED
