"""Each row of the opcode table has a time, or the reason why it takes only an issue slot."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.emulator import Instruction
from grader.emulator.codegen.opcodes import OPCODES
from grader.emulator.isa.decode import decode
from grader.emulator.timing.code_table import describe_code
from grader.emulator.timing.pipes import JUMP, NO_PIPE, UNIFORM, Kind, Pipe, Unit

TIMED_BY_KIND = {
    "MEMBAR": {Kind.FENCE_BLOCK, Kind.FENCE_GPU, Kind.FENCE_SYSTEM},
    "CCTL": {Kind.PREFETCH, Kind.INVALIDATE},
    "NANOSLEEP": {Kind.SLEEP},
    "CALL": {Kind.CALL},
    "BRX": {Kind.INDIRECT},
    "SYNCS": {Kind.OBJECT, Kind.PHASE},
    "HGMMA": {Kind.PRODUCT},
    "WARPGROUP": {Kind.PRODUCTS_DEPEND},
    "UBLKCP": {Kind.BULK_LOAD, Kind.BULK_STORE},
    "UTMACMDFLUSH": {Kind.COMMIT},
}


@pytest.mark.parametrize("name", OPCODES)
def test_each_row_has_a_time_or_a_reason_for_none(name: str) -> None:
    for pipe in OPCODES[name].pipes.values():
        assert pipe.has_time, f"{name} names a pipe without a time: use free() with the reason"


def test_a_pipe_without_a_time_and_a_reason_is_found() -> None:
    assert not Pipe(Unit.NONE).has_time
    assert not replace(NO_PIPE, free="").has_time
    assert Pipe(Unit.ALU).has_time


@pytest.mark.parametrize("name", TIMED_BY_KIND)
def test_instructions_that_hold_up_a_warp_have_a_time(name: str) -> None:
    assert TIMED_BY_KIND[name] <= {pipe.kind for pipe in OPCODES[name].pipes.values()}


def test_opcodes_that_take_only_an_issue_slot_are_listed() -> None:
    """An opcode is added here after a measurement: benchmarks/kernels/costs/issue_slots.cu."""
    found = {name for name, row in OPCODES.items() if row.pipes and NO_PIPE in row.pipes.values()}
    assert found == {
        *("EXIT", "BSSY", "WARPSYNC", "NOP", "YIELD", "ERRBAR", "FENCE", "ACQBULK"),
        *("PMTRIG", "CS2R", "NANOSLEEP", "WARPGROUP", "UTMACCTL"),
        *("HGMMA", "QGMMA", "IGMMA", "BGMMA"),  # for shapes that do not exist
    }
    assert {name for name, row in OPCODES.items() if JUMP in row.pipes.values()} == {"BRA"}
    assert all(row.uniform for row in OPCODES.values() if UNIFORM in row.pipes.values())


@pytest.mark.parametrize(
    ("opcode", "past"),
    [
        ("LDG.E", 0),
        ("LDG.E.EF", 0),
        ("LDG.E.EL", 0),
        ("LDG.E.STRONG.SM", 0),
        ("LDG.E.STRONG.GPU", 1),
        ("LDG.E.STRONG.SYS", 1),
        ("LDG.E.NA", 2),
        ("LDG.E.NA.CONSTANT", 2),
        ("LDG.E.LU", 2),
        ("LDL.LU", 0),
    ],
)
def test_hints_decide_which_loads_hit_in_the_l1(opcode: str, past: int) -> None:
    """As on an H200: benchmarks/kernels/costs/hinted_loads.cu; reloaded spills stay."""
    decoded = decode((Instruction(0, None, opcode, "R2,[R4]", None),))
    assert describe_code(decoded, bytes(16)).table["past_l1"].tolist() == [past]


@pytest.mark.parametrize(
    ("opcode", "narrow"), [("LDG.E", 0), ("LDG.E.64", 0), ("LDG.E.U16", 1), ("LDS.U16", 0)]
)
def test_loads_of_less_than_a_word_are_narrow(opcode: str, narrow: int) -> None:
    decoded = decode((Instruction(0, None, opcode, "R2,[R4]", None),))
    assert describe_code(decoded, bytes(16)).table["narrow"].tolist() == [narrow]
