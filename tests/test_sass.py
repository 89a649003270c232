"""What is read off opcodes without the emulator agrees with their rows."""

from __future__ import annotations

import pytest

from grader.emulator.codegen.opcodes import OPCODES
from grader.emulator.timing.pipes import Kind
from grader.sass import (
    ACCESSES,
    OPERANDS,
    MemoryOperation,
    accesses_of,
    is_block_barrier,
    is_call,
    may_name_code,
)

NOT_EXECUTED = {"SUATOM", "SURED"}
LOCAL = {"LDL", "STL"}
UNTIMED = {"STAS", "REDAS", "UBLKCP", "UBLKRED", "UTMALDG", "UTMASTG", "UTMAREDG"}
"""What is executed, and has no time on the model."""
SURFACES = {"SULD", "SUST"}
"""They end as reads of textures do, and as stores of their own kind."""


def test_what_is_not_executed_is_named() -> None:
    assert {name for name in ACCESSES if name not in OPCODES} == NOT_EXECUTED


def test_what_ends_as_an_access_is_known_to_access_memory() -> None:
    """Local memory is no thread's but its own."""
    ending = {
        name
        for name, row in OPCODES.items()
        if any(Kind.SHARED <= pipe.kind <= Kind.COPY for pipe in row.pipes.values())
    }
    fences = {name for name in ACCESSES if ACCESSES[name][0].kind is MemoryOperation.FENCE}
    products = {name for name in ACCESSES if ACCESSES[name][0].space == OPERANDS}
    assert ending == {*ACCESSES, *LOCAL} - NOT_EXECUTED - UNTIMED - SURFACES - fences - products


@pytest.mark.parametrize(
    ("opcode", "spaces"),
    [
        ("ATOMG.E.ADD.STRONG.GPU", ["global"]),
        ("ATOMS.POPC.INC.32", ["shared"]),
        ("RED.E.ADD", ["global", "shared"]),
        ("REDUX.SUM", []),
        ("LDGSTS.E.BYPASS.128", []),
    ],
)
def test_atomics_are_known_by_their_opcode(opcode: str, spaces: list[str]) -> None:
    assert [access.space for access in accesses_of(opcode) if access.atomic] == spaces


def test_only_code_that_may_go_elsewhere_names_places() -> None:
    """A convergence barrier (BSSY) names where its paths will meet."""
    naming = {
        name for name in OPCODES if may_name_code(name) or may_name_code(f"{name}.COLLECTIVE")
    }
    assert naming == {"BRA", "BSSY", "CALL", "WARPSYNC"}
    assert all(OPCODES[name].flow is not None for name in naming)


def test_calls_and_barriers_are_told_from_what_begins_like_them() -> None:
    assert [is_call(each) for each in ("CALL.REL.NOINC", "CCTL.IVALL")] == [True, False]
    assert [is_block_barrier(each) for each in ("BAR.SYNC", "BAR", "BREAK")] == [True, True, False]
