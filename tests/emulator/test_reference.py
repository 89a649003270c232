"""The table of what is covered has a row for every opcode."""

from __future__ import annotations

from grader.emulator.opcodes import OPCODES
from grader.emulator.opcodes.reference import render_coverage


def rows() -> list[list[str]]:
    lines = render_coverage().replace("\\|", "/").splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_opcode_has_a_row_that_says_what_it_does() -> None:
    named = [
        (name, what)
        for instruction, what, _, _ in rows()
        if not instruction.startswith("**")
        for name in instruction.split(", ")
    ]
    assert sorted(name for name, _ in named) == sorted(OPCODES)
    assert [name for name, what in named if not what] == []


def test_results_that_hardware_looks_up_in_tables_are_told_apart() -> None:
    apart = {
        name
        for instruction, _, _, result in rows()
        if result.startswith("within")
        for name in instruction.split(", ")
    }
    assert apart == {name for name, opcode in OPCODES.items() if opcode.approximate}
