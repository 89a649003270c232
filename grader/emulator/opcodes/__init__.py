"""The opcode table: one row per base opcode, one file per family. Whatever is not here is
unsupported."""

from contextlib import suppress

from grader.emulator.decode import Decoded
from grader.emulator.opcodes.asynchronous import ASYNCHRONOUS
from grader.emulator.opcodes.atomics import ATOMICS
from grader.emulator.opcodes.barrier_objects import BARRIER_OBJECTS
from grader.emulator.opcodes.barriers import BARRIERS
from grader.emulator.opcodes.bulk_copies import BULK_COPIES
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
from grader.emulator.opcodes.load_store import MEMORY
from grader.emulator.opcodes.logic import LOGIC
from grader.emulator.opcodes.move import MOVE
from grader.emulator.opcodes.packed import PACKED
from grader.emulator.opcodes.row import Opcode
from grader.emulator.opcodes.special import SPECIAL
from grader.emulator.opcodes.tensor import TENSOR
from grader.emulator.opcodes.textures import TEXTURES
from grader.emulator.opcodes.warp_groups import WARP_GROUPS
from grader.emulator.program import Unsupported

FAMILIES: dict[str, dict[str, Opcode]] = {
    "integers": INTEGER,
    "integers in parts of a word": PACKED,
    "bits and predicates": LOGIC,
    "moves, constants, votes, shuffles": MOVE,
    "float32": FLOATING,
    "special functions": SPECIAL,
    "float64": DOUBLE,
    "pairs of half or bfloat16": HALVES,
    "conversions": CONVERSIONS,
    "memory": MEMORY,
    "generic addresses": GENERIC,
    "atomics and reductions": ATOMICS,
    "asynchronous copies": COPIES,
    "tensor cores": TENSOR,
    "tensor cores, four warps together": WARP_GROUPS,
    "textures and surfaces": TEXTURES,
    "control flow": CONTROL,
    "lanes together": COLLECTIVE,
    "barriers of a block": BARRIERS,
    "barrier objects": BARRIER_OBJECTS,
    "bulk copies": BULK_COPIES,
    "stores that arrive at barrier objects": ASYNCHRONOUS,
    "calls": CALLS,
}
OPCODES: dict[str, Opcode] = {
    name: opcode for family in FAMILIES.values() for name, opcode in family.items()
}


def find_opcode(instruction: Decoded) -> Opcode:
    """The row of an instruction. Raises Unsupported with its full name and line when there is none,
    for an unknown modifier, and for a text that is not understood."""
    found = OPCODES.get(instruction.base)
    if found is None:
        raise Unsupported(f"the instruction {instruction.opcode}", instruction.line)
    unknown = [name for name in instruction.modifiers if name not in found.modifiers]
    if unknown:
        raise Unsupported(
            f"the instruction {instruction.opcode} (its modifier {unknown[0]})", instruction.line
        )
    if instruction.unknown is not None:
        raise Unsupported(instruction.unknown, instruction.line)
    return found


def look_up(instruction: Decoded) -> Opcode | None:
    """The row of an instruction; None of one that is not known."""
    with suppress(Unsupported):
        return find_opcode(instruction)
    return None
