"""The opcode table: one row per base opcode, one file per family. Whatever is not here is unsupported."""

from grader.emulator.decode import Decoded
from grader.emulator.opcodes.atomics import ATOMICS
from grader.emulator.opcodes.barriers import BARRIERS
from grader.emulator.opcodes.calls import CALLS
from grader.emulator.opcodes.collective import COLLECTIVE
from grader.emulator.opcodes.control import CONTROL
from grader.emulator.opcodes.convert import CONVERSIONS
from grader.emulator.opcodes.copies import COPIES
from grader.emulator.opcodes.double import DOUBLE
from grader.emulator.opcodes.floating import FLOATING
from grader.emulator.opcodes.generic import GENERIC
from grader.emulator.opcodes.half import HALVES
from grader.emulator.opcodes.integer import INTEGER
from grader.emulator.opcodes.logic import LOGIC
from grader.emulator.opcodes.memory import MEMORY
from grader.emulator.opcodes.move import MOVE
from grader.emulator.opcodes.packed import PACKED
from grader.emulator.opcodes.row import Opcode
from grader.emulator.opcodes.special import SPECIAL
from grader.emulator.program import Unsupported

OPCODES: dict[str, Opcode] = {
    **INTEGER,
    **PACKED,
    **LOGIC,
    **MOVE,
    **FLOATING,
    **SPECIAL,
    **DOUBLE,
    **HALVES,
    **CONVERSIONS,
    **MEMORY,
    **GENERIC,
    **ATOMICS,
    **COPIES,
    **CONTROL,
    **COLLECTIVE,
    **BARRIERS,
    **CALLS,
}


def find_opcode(instruction: Decoded) -> Opcode:
    """The row of an instruction. Raises Unsupported with its full name and line when there is none, or for an unknown modifier."""
    found = OPCODES.get(instruction.base)
    if found is None:
        raise Unsupported(f"the instruction {instruction.opcode}", instruction.line)
    unknown = [name for name in instruction.modifiers if name not in found.modifiers]
    if unknown:
        raise Unsupported(f"the instruction {instruction.opcode} (its modifier {unknown[0]})", instruction.line)
    return found
