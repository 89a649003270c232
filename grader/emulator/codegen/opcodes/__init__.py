"""The opcode table: a row per base opcode, a file per family. All other opcodes are unsupported."""

from functools import lru_cache

from grader.emulator.codegen.opcodes.atomics import ATOMICS
from grader.emulator.codegen.opcodes.barriers import BARRIER_OBJECTS, BARRIERS
from grader.emulator.codegen.opcodes.collective import COLLECTIVE
from grader.emulator.codegen.opcodes.control import CALLS, CONTROL
from grader.emulator.codegen.opcodes.convert import CONVERSIONS
from grader.emulator.codegen.opcodes.copies import ASYNCHRONOUS, BULK_COPIES, COPIES
from grader.emulator.codegen.opcodes.double import DOUBLE
from grader.emulator.codegen.opcodes.floating import FLOATING
from grader.emulator.codegen.opcodes.half import HALVES
from grader.emulator.codegen.opcodes.integer import INTEGER
from grader.emulator.codegen.opcodes.load_store import GENERIC, MEMORY
from grader.emulator.codegen.opcodes.logic import LOGIC
from grader.emulator.codegen.opcodes.move import MOVE
from grader.emulator.codegen.opcodes.packed import PACKED
from grader.emulator.codegen.opcodes.row import Opcode
from grader.emulator.codegen.opcodes.special import SPECIAL
from grader.emulator.codegen.opcodes.tensor import TENSOR, WARP_GROUPS
from grader.emulator.codegen.opcodes.textures import TEXTURES
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.program import Unsupported

FAMILIES: dict[str, dict[str, Opcode]] = {
    "integers": INTEGER,
    "packed integers": PACKED,
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
    "tensor cores: warp groups": WARP_GROUPS,
    "textures and surfaces": TEXTURES,
    "control flow": CONTROL,
    "collective operations of a warp": COLLECTIVE,
    "barriers of a block": BARRIERS,
    "barrier objects": BARRIER_OBJECTS,
    "bulk copies": BULK_COPIES,
    "asynchronous stores": ASYNCHRONOUS,
    "calls": CALLS,
}
OPCODES: dict[str, Opcode] = {
    name: opcode for family in FAMILIES.values() for name, opcode in family.items()
}


def find_opcode(instruction: Decoded) -> Opcode:
    """The row of an instruction. Raises Unsupported for an unknown opcode, modifier or text."""
    found, unknown = _find_row(instruction.base, instruction.modifiers)
    if found is None:
        raise Unsupported(f"the instruction {instruction.opcode}{unknown}", instruction.line)
    if instruction.unknown is not None:
        raise Unsupported(instruction.unknown, instruction.line)
    return found


def look_up(instruction: Decoded) -> Opcode | None:
    """The row of an instruction; None if it is unknown."""
    if instruction.unknown is not None:
        return None
    return _find_row(instruction.base, instruction.modifiers)[0]


@lru_cache(maxsize=1 << 12)
def _find_row(base: str, modifiers: tuple[str, ...]) -> tuple[Opcode | None, str]:
    """The row of an opcode, or None and the unknown modifier. A translation asks five times for
    each instruction."""
    found = OPCODES.get(base)
    unknown = [name for name in modifiers if found is not None and name not in found.modifiers]
    if unknown:
        return None, f" (its modifier {unknown[0]})"
    return found, ""
