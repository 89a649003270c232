"""Words of constant memory: of bank 0, which a launch fills, and of banks with fixed contents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llvmlite import ir

from grader.emulator.native.tools import I32, I64, POINTER, Value, const
from grader.emulator.operands import Constant

if TYPE_CHECKING:
    from grader.emulator.emitter import Emitter


def constant_word(e: Emitter, operand: Constant) -> Value:
    """A word of constant bank 0 (launch parameters, dimensions) or of a bank with fixed
    contents."""
    size = constant_bank_bytes(e, operand.bank)
    known = 0 <= operand.offset <= size - 4 and e.code.knows_constant(operand.bank, operand.offset)
    if operand.register is not None or operand.offset % 4 or not known:
        raise e.unsupported(f"of c[{operand.bank:#x}][{operand.offset:#x}]")
    if operand.bank != 0:
        return const(
            int.from_bytes(
                e.code.constants[operand.bank][operand.offset : operand.offset + 4], "little"
            )
        )
    base = e.context.load_pointer("constants")
    return e.b.load(e.b.gep(base, [const(operand.offset // 4, I64)], source_etype=I32), typ=I32)


def constant_bank_bytes(e: Emitter, bank: int) -> int:
    """Size of a constant bank. Raises Unsupported for one whose contents are not known (bank 4:
    addresses)."""
    if bank == 0:
        return e.code.constant_bytes
    if bank not in e.code.constants:
        raise e.unsupported(f"with constant bank {bank}")
    return len(e.code.constants[bank])


def constant_bank(e: Emitter, bank: int) -> Value:
    """Host address of a constant bank."""
    if bank == 0:
        return e.context.load_pointer("constants")
    name, data = f"bank{bank}", e.code.constants[bank]
    if name not in e.function.module.globals:
        kind = ir.ArrayType(ir.IntType(8), len(data))
        variable = ir.GlobalVariable(e.function.module, kind, name)
        variable.linkage, variable.global_constant, variable.align = "internal", True, 16
        variable.initializer = ir.Constant(kind, bytearray(data))
        variable.type = POINTER  # of banks of all sizes alike
    return e.function.module.globals[name]
