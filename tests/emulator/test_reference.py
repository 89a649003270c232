"""The table of supported instructions has a row for every opcode."""

from __future__ import annotations

from grader.emulator.codegen.opcodes import OPCODES
from grader.emulator.codegen.opcodes.reference import render_coverage


def rows() -> list[list[str]]:
    lines = render_coverage().replace("\\|", "/").splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_every_opcode_has_a_row_with_its_effect() -> None:
    named = [
        (name, what)
        for instruction, what, _ in rows()
        if not instruction.startswith("**")
        for name in instruction.split(", ")
    ]
    assert sorted(name for name, _ in named) == sorted(OPCODES)
    assert [name for name, what in named if not what] == []
