"""A kernel's machine code -> native code: decode, find blocks, emit both forms, compile with
LLVM."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import binding, ir

from grader.emulator.decode import Decoded, decode
from grader.emulator.emitter import Emitter
from grader.emulator.flow import Flow, find_blocks
from grader.emulator.layout import CONTEXT, COUNTS_PER_BLOCK, FaultCode, warp_layout
from grader.emulator.native.tools import I32, I64, POINTER, Record, const, define, offset
from grader.emulator.opcodes import find_opcode
from grader.emulator.operands import ZERO_REGISTER, Register
from grader.emulator.program import MAX_INSTRUCTIONS, MAX_LOCAL_BYTES, KernelCode, Unsupported
from grader.emulator.runtime import Runtime

_LAST_ARGUMENT = 11
"""The last register with arguments of a function of the system (host.py)."""
LONG_RUNS, SHORT_RUNS = 1, 0
"""LLVM's code-generation levels: the second one translates 2 times faster, and runs 2 times slower.
The checked mode never runs long."""

FORM = "form"
"""The name of the one function of a module."""
_FORM = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)


@dataclass(frozen=True)
class NativeKernel:
    """A kernel ready to run by its `runtime`.

    `ordered`: the outcome depends on which block comes first, so that one host thread is to run
    them all. `slots` maps the index of a memory instruction and a space that it touches to its
    SLOT. `converged` is the address of the form for whole warps, `diverged` the form for split
    ones. `checked`: it compares each access with those before it.
    """

    code: KernelCode
    decoded: tuple[Decoded, ...]
    flow: Flow
    warp_type: np.dtype
    slots: dict[tuple[int, str], int]
    ordered: bool
    checked: bool
    runtime: Runtime
    converged: int
    diverged: DivergedForm
    engine: Any

    @property
    def meets_others(self) -> bool:
        """Whether blocks may meet in atomics on global memory: what some of them do says nothing of
        the outcome then."""
        return any(
            access.atomic and access.space == "global"
            for block in self.flow.blocks
            for i in block.instructions
            for access in i.accesses
        )


class DivergedForm:
    """The diverged form, compiled when a warp first splits: most kernels never need it, and it
    would double the time.

    `entry` is the address of a function `i32 (context, warp)` that compiles the form, stores its
    address in the context, and goes on in it. Emitting cannot fail where the converged form did
    not; if it does, `error` holds why.
    """

    def __init__(self, emit: Callable[[], ir.Module], level: int) -> None:
        self._emit, self._level = emit, level
        self._lock = threading.Lock()
        self._native: Any = None
        self._engine: Any = None
        self.error: Exception | None = None
        self._callback = _FORM(self._first_call)

    @property
    def entry(self) -> int:
        """The address that a context starts with."""
        return ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _first_call(self, context: int, warp: int) -> int:
        try:
            with self._lock:
                if self._native is None:
                    self._engine = _compile(self._emit(), self._level)
                    self._native = _FORM(self._engine.get_function_address(FORM))
        except Exception as problem:  # must not pass through native code
            self.error = problem
            return FaultCode.INTERNAL
        assert CONTEXT.fields is not None
        cell = ctypes.c_uint64.from_address(context + CONTEXT.fields["diverged"][1])
        cell.value = ctypes.cast(self._native, ctypes.c_void_p).value or 0
        return int(self._native(context, warp))


def translate(
    code: KernelCode, runtime: Runtime, *, checked: bool = False, quickly: bool | None = None
) -> NativeKernel:
    """Translate one kernel. Raises Unsupported, with the source line, for anything that is not
    known.

    `checked`: it compares each access with those before it, see `checked_launch`. `quickly`: for
    short runs, as the checked mode's are.
    """
    level = SHORT_RUNS if (checked if quickly is None else quickly) else LONG_RUNS
    if len(code.instructions) > MAX_INSTRUCTIONS:
        raise Unsupported(
            f"a kernel of {len(code.instructions):,} machine instructions ({MAX_INSTRUCTIONS:,} are"
            " the most)"
        )
    if code.local_bytes > MAX_LOCAL_BYTES:
        raise Unsupported("recursion: a stack whose size the compiler does not know")
    decoded = decode(code.instructions)
    flow = find_blocks(decoded, lambda each: find_opcode(each).flow, code.jump_targets)
    warp_type = warp_layout(_register_count(flow))
    slots: dict[tuple[int, str], int] = {}

    def emit(*, converged: bool) -> ir.Module:
        return _emit_form(flow, warp_type, code, slots, converged=converged, checked=checked)

    engine = _compile(emit(converged=True), level)
    ordered = any(find_opcode(i).ordered(i) for block in flow.blocks for i in block.instructions)
    return NativeKernel(
        code,
        decoded,
        flow,
        warp_type,
        slots,
        ordered,
        checked,
        runtime,
        engine.get_function_address(FORM),
        DivergedForm(lambda: emit(converged=False), level),
        engine,
    )


def _register_count(flow: Flow) -> int:
    """One more than the highest register used: wide accesses name the first of up to four;
    functions of the system take R4 to R11."""
    named = [
        operand.index
        for block in flow.blocks
        for instruction in block.instructions
        for operand in _registers(instruction)
        if not operand.uniform and operand.index != ZERO_REGISTER
    ]
    return max(*named, _LAST_ARGUMENT, 0) + 4


def _registers(instruction: Decoded) -> list[Register]:
    direct = [operand for operand in instruction.operands if isinstance(operand, Register)]
    inside = [getattr(operand, "register", None) for operand in instruction.operands]
    return direct + [register for register in inside if register is not None]


def _emit_form(
    flow: Flow,
    warp_type: np.dtype,
    code: KernelCode,
    slots: dict[tuple[int, str], int],
    *,
    converged: bool,
    checked: bool,
) -> ir.Module:
    """A module with `i32 form(context, warp)`: continue at the warp's pc; returns a FaultCode (0:
    blocked or done) or SWITCH_FORM."""
    module = ir.Module(name=code.name)
    module.triple = binding.get_default_triple()
    function, b = define(module, FORM, I32, [POINTER, POINTER], internal=False)
    emitter = Emitter(function, warp_type, flow, code, slots, converged=converged, checked=checked)
    start = Record(b, function.args[1], warp_type).load("pc")
    table = b.switch(start, emitter.entries[0])
    for block in flow.blocks[1:]:
        table.add_case(const(block.index), emitter.entries[block.index])
    for block in flow.blocks:
        _emit_block(emitter, block.index)
    return module


def _emit_block(e: Emitter, index: int) -> None:
    block = e.flow.blocks[index]
    e.start_block(block)
    _count_block(e)
    for instruction in block.instructions:
        _emit_instruction(e, instruction)
    if not e.b.block.is_terminated:
        e.write_back()
        e.go_to(e.following)


def _emit_instruction(e: Emitter, instruction: Decoded) -> None:
    opcode = find_opcode(instruction)
    try:
        e.start_instruction(instruction, uniform=opcode.uniform)
        if opcode.ends_block:
            e.write_back()
        opcode.emit(e, instruction)
    except (
        ValueError,
        IndexError,
    ):  # an opcode function unpacked another number of operands than the instruction has
        raise e.unsupported("with these operands") from None
    except Unsupported as problem:
        if problem.line is not None:
            raise
        raise e.unsupported(f"with {problem.what}") from None


def _count_block(e: Emitter) -> None:
    """Count an execution of the block, with its threads; stop when the budget of instructions is
    spent."""
    counts = offset(
        e.b, e.context.load_pointer("block_counts"), 8 * COUNTS_PER_BLOCK * e.block.index
    )
    threads = offset(e.b, counts, 8)
    e.b.store(e.b.add(e.b.load(counts, typ=I64), const(1, I64)), counts)
    here = e.b.zext(e.b.ctpop(e.mask), I64)
    e.b.store(e.b.add(e.b.load(threads, typ=I64), here), threads)
    has_room = e.b.icmp_unsigned("<", e.warp.load("trace"), e.warp.load("trace_end"))
    with e.b.if_then(has_room, likely=False):
        e.call("trace_block", e.warp_pointer, const(e.block.index))
    left = e.b.sub(e.context.load("budget"), const(len(e.block.instructions), I64))
    e.context.store("budget", left)
    with e.b.if_then(e.b.icmp_signed("<", left, const(0, I64)), likely=False):
        e.context.store("fault_code", FaultCode.BUDGET)
        e.context.store("fault_instruction", e.block.instructions[0].index)
        e.b.ret(const(FaultCode.BUDGET))


def _compile(module: ir.Module, level: int) -> binding.ExecutionEngine:
    """An execution engine with the native code of a module, for this host."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    parsed = binding.parse_assembly(str(module))
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=level,
        jit=True,
    )
    engine = binding.create_mcjit_compiler(parsed, machine)
    engine.finalize_object()
    return engine
