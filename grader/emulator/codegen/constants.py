"""Words of constant memory: bank 0, which a launch fills, and banks with fixed contents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.emulator.codegen.shapes import BANK_OF_LAUNCH
from grader.emulator.codegen.tools import POINTER, Value
from grader.emulator.isa.operands import Constant
from grader.emulator.isa.program import VARIABLES_BANK, KernelCode, Unsupported
from grader.emulator.layouts.execution import CONSTANT_BANKS

if TYPE_CHECKING:
    from grader.emulator.codegen.emitter import Emitter


def constant_data(code: KernelCode, operand: Constant, words_behind: int) -> int:
    """The data word of a cell for a constant operand: for bank 0 its offset, for other banks its
    contents. Raises Unsupported if they are unknown."""
    place = operand.offset // 4 * 4 + 4 * words_behind
    size = constant_bank_bytes(code, operand.bank)
    if operand.bank == VARIABLES_BANK and place >= size:
        raise Unsupported(
            f"of c[{operand.bank:#x}][{place:#x}], behind the {size} bytes of __constant__"
            " variables"
        )
    if not 0 <= place <= size - 4 or not code.knows_constant(operand.bank, place):
        raise Unsupported(f"of c[{operand.bank:#x}][{place:#x}]")
    if operand.bank == BANK_OF_LAUNCH:
        return place
    return int.from_bytes(code.constants[operand.bank][place : place + 4], "little")


def constant_bank_bytes(code: KernelCode, bank: int) -> int:
    """Size of a constant bank. Raises Unsupported for unknown contents (bank 4: addresses)."""
    if bank == BANK_OF_LAUNCH:
        return code.constant_bytes
    if bank not in code.constants or bank >= CONSTANT_BANKS:
        raise Unsupported(f"with constant bank {bank}")
    return len(code.constants[bank])


def constant_bank(e: Emitter, bank: int) -> tuple[Value, Value]:
    """Host address and size of a constant bank, for accesses with a register as index."""
    e.require("known bank", bank)
    address = e.b.inttoptr(e.context.load("banks", bank), POINTER)
    return address, e.context.load("bank_bytes", bank)
