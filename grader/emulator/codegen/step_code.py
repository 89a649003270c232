"""Native code of a shape of instruction: the LLVM IR of its two steps, and their object code."""

from __future__ import annotations

from dataclasses import dataclass, replace

from llvmlite import binding, ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.frame import STEP, CellLayout
from grader.emulator.codegen.opcodes import find_opcode
from grader.emulator.codegen.opcodes.intrinsics import end_launch
from grader.emulator.codegen.shapes import Hole
from grader.emulator.codegen.tools import I64, Value, const, offset
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.program import Unsupported
from grader.emulator.layouts.execution import COUNTS_PER_BLOCK, DRAWS, SLICE_END, FaultCode

ENTER = Decoded(0, 0, "ENTER", (), None, (), None)
"""The pseudo-instruction before each basic block. It counts the block's executions."""

DRAW = replace(ENTER, base="DRAW")
"""Replaces ENTER before blocks with a global atomic that returns the old value: thread blocks
execute such atomics in the order of their clocks."""

UNKNOWN = Decoded(0, 0, "UNKNOWN", (), None, (), None)
"""Replaces, with the same guard, an unknown instruction."""

LEVEL = 2
"""LLVM's code-generation level."""


@dataclass(frozen=True)
class StepCode:
    """Object code with the steps of a shape, and the data words of its cells in order."""

    holes: tuple[Hole, ...]
    content: bytes


def compile_steps(shape: Decoded, converged: str, diverged: str) -> StepCode:
    """Compiles both steps of a shape under these names. Raises Unsupported, without a line, and
    LiteralRead if a literal must be part of the shape."""
    module = ir.Module(name="steps")
    module.triple = binding.get_default_triple()
    layout = CellLayout()
    emit = _STANDING.get(shape.base, _emit_instruction)
    for name, whole in ((converged, True), (diverged, False)):
        e = Emitter(ir.Function(module, STEP, name), layout, converged=whole)
        emit(e, shape)
        if not e.b.block.is_terminated:
            e.registers.write_back()
            e.go_on()
    layout.close()
    return StepCode(tuple(layout.holes), _compile(str(module)))


def target_machine() -> binding.TargetMachine:
    """This processor, without `vzeroupper`: the runtime, which calls the steps, clears the upper
    halves of vector registers at the end."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=f"{binding.get_host_cpu_features().flatten()},-vzeroupper",
        opt=LEVEL,
        jit=True,
    )


def _compile(text: str) -> bytes:
    return bytes(target_machine().emit_object(binding.parse_assembly(text)))


def _emit_instruction(e: Emitter, instruction: Decoded) -> None:
    opcode = find_opcode(instruction)
    try:
        e.start_instruction(instruction, uniform=opcode.uniform)
        opcode.emit(e, instruction)
    except (ValueError, IndexError):  # the opcode function expects another number of operands
        raise e.unsupported("with these operands") from None
    except Unsupported as problem:
        if problem.what.startswith(instruction.opcode):
            raise
        raise e.unsupported(f"with {problem.what}") from None


def _emit_enter(e: Emitter, i: Decoded) -> None:
    """Counts an execution of the block and its threads. Stops before the block if the budget of
    instructions is too small for it."""
    block = e.data("block")
    clock = e.warp.load("clock")
    if i.base == DRAW.base:
        late = e.b.icmp_signed(">", clock, e.context.load("horizon"))
        with e.b.if_then(late, likely=False):
            e.warp.store("pc", block)
            e.b.ret(const(DRAWS))
    left = e.b.sub(e.context.load("budget"), e.b.zext(e.data("length"), I64))
    with e.b.if_then(e.b.icmp_signed("<", left, const(0, I64)), likely=False):
        e.warp.store("pc", block)
        e.context.store("fault_instruction", e.index)
        e.b.ret(const(SLICE_END))
    e.context.store("budget", left)
    e.warp.store("clock", e.b.add(clock, e.b.zext(e.data("cycles"), I64)))
    place = e.b.mul(e.b.zext(block, I64), const(8 * COUNTS_PER_BLOCK, I64))
    counts = offset(e.b, e.context.load_pointer("block_counts"), place)
    _add(e, counts, const(1, I64))
    _add(e, offset(e.b, counts, 8), e.b.zext(e.b.ctpop(e.mask), I64))
    has_space = e.b.icmp_unsigned("<", e.warp.load("trace"), e.warp.load("trace_end"))
    with e.b.if_then(has_space, likely=False):
        e.call("trace_block", e.warp_pointer, block)


def _emit_unknown(e: Emitter, i: Decoded) -> None:
    """Ends the launch if any lane executes the instruction."""
    e.start_instruction(i, uniform=False)
    end_launch(e, FaultCode.UNSUPPORTED)


_STANDING = {ENTER.base: _emit_enter, DRAW.base: _emit_enter, UNKNOWN.base: _emit_unknown}


def _add(e: Emitter, place: Value, number: Value) -> None:
    e.b.store(e.b.add(e.b.load(place, typ=I64), number), place)
