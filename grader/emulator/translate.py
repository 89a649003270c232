"""A kernel's machine code -> native code: decode, find blocks, emit both forms, compile with
LLVM."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import binding, ir

from grader.emulator.decode import Decoded, decode
from grader.emulator.emitter import SWITCH_FORM, Emitter
from grader.emulator.flow import Flow, find_blocks
from grader.emulator.layout import CONTEXT, COUNTS_PER_BLOCK, FaultCode, warp_layout
from grader.emulator.native.blocks import define_run_blocks
from grader.emulator.native.helpers import Helpers
from grader.emulator.native.paths import PathFunctions, define_paths
from grader.emulator.native.tools import I32, I64, POINTER, Record, cell, const, define, offset
from grader.emulator.native.tracing import trace_block
from grader.emulator.native.watching import Watching, granule_shifts
from grader.emulator.opcodes import find_opcode
from grader.emulator.operands import ZERO_REGISTER, Register
from grader.emulator.program import MAX_INSTRUCTIONS, MAX_LOCAL_BYTES, KernelCode, Unsupported

_LAST_ARGUMENT = 11
"""The last register with arguments of a function of the system (host.py)."""
LONG_RUNS, SHORT_RUNS = 1, 0
"""LLVM's code-generation levels: the second one translates 2 times faster, and runs 2 times slower.
The checked mode never runs long."""

RunBlocks = Callable[[int, int, int], int]
_RUN_BLOCKS = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint64)
_FORM = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64)


@dataclass(frozen=True)
class NativeKernel:
    """A kernel ready to run. `run_blocks(context address, first, end)` releases the GIL and returns
    a FaultCode.

    `ordered`: the outcome depends on which block comes first, so that one host thread is to run
    them all. `slots` maps the index of a memory instruction and a space that it touches to its
    SLOT; `diverged` is the form for split warps. `shifts` is there in the checked mode: log2 of the
    granule of each space that it watches.
    """

    code: KernelCode
    decoded: tuple[Decoded, ...]
    flow: Flow
    warp_type: np.dtype
    slots: dict[tuple[int, str], int]
    ordered: bool
    run_blocks: RunBlocks
    diverged: DivergedForm
    engine: Any
    shifts: Mapping[str, int] | None = None

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
                    self._native = _FORM(self._engine.get_function_address("diverged"))
        except Exception as problem:  # must not pass through native code
            self.error = problem
            return FaultCode.INTERNAL
        assert CONTEXT.fields is not None
        cell = ctypes.c_uint64.from_address(context + CONTEXT.fields["diverged"][1])
        cell.value = ctypes.cast(self._native, ctypes.c_void_p).value or 0
        return int(self._native(context, warp))


def translate(
    code: KernelCode, *, checked: bool = False, quickly: bool | None = None
) -> NativeKernel:
    """Translate one kernel. Raises Unsupported, with the source line, for anything that is not
    known.

    `checked`: it compares each access with those before it, see `watch.Watch`. `quickly`: for short
    runs, as the checked mode's are.
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
    module = _new_module(code)
    paths = define_paths(module, warp_type, watched=checked)
    shifts = granule_shifts(decoded)

    def helpers(target: ir.Module) -> Helpers:
        return Helpers(
            target,
            slots,
            Watching(target, warp_type, shifts, code.shared_extents) if checked else None,
        )

    converged = _emit_form(module, flow, warp_type, paths, helpers(module), code, converged=True)
    define_run_blocks(
        module, warp_type, _define_run_warp(module, warp_type, converged), paths, watched=checked
    )

    def emit_diverged() -> ir.Module:
        other = _new_module(code)
        _emit_form(
            other,
            flow,
            warp_type,
            define_paths(other, warp_type, watched=checked),
            helpers(other),
            code,
            converged=False,
        )
        return other

    engine = _compile(module, level)
    run_blocks = _RUN_BLOCKS(engine.get_function_address("run_blocks"))
    ordered = any(find_opcode(i).ordered(i) for block in flow.blocks for i in block.instructions)
    return NativeKernel(
        code,
        decoded,
        flow,
        warp_type,
        slots,
        ordered,
        run_blocks,
        DivergedForm(emit_diverged, level),
        engine,
        shifts if checked else None,
    )


def _new_module(code: KernelCode) -> ir.Module:
    module = ir.Module(name=code.name)
    module.triple = binding.get_default_triple()
    return module


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
    module: ir.Module,
    flow: Flow,
    warp_type: np.dtype,
    paths: PathFunctions,
    helpers: Helpers,
    code: KernelCode,
    *,
    converged: bool,
) -> ir.Function:
    """`i32 form(context, warp)`: continue at the warp's pc; returns a FaultCode (0: blocked or
    done) or SWITCH_FORM."""
    function, b = define(
        module,
        "converged" if converged else "diverged",
        I32,
        [POINTER, POINTER],
        internal=converged,
    )
    emitter = Emitter(function, warp_type, flow, paths, helpers, code, converged=converged)
    start = Record(b, function.args[1], warp_type).load("pc")
    table = b.switch(start, emitter.entries[0])
    for block in flow.blocks[1:]:
        table.add_case(const(block.index), emitter.entries[block.index])
    for block in flow.blocks:
        _emit_block(emitter, block.index)
    return function


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
    trace_block(e)
    left = e.b.sub(e.context.load("budget"), const(len(e.block.instructions), I64))
    e.context.store("budget", left)
    with e.b.if_then(e.b.icmp_signed("<", left, const(0, I64)), likely=False):
        e.context.store("fault_code", FaultCode.BUDGET)
        e.context.store("fault_instruction", e.block.instructions[0].index)
        e.b.ret(const(FaultCode.BUDGET))


def _define_run_warp(module: ir.Module, warp_type: np.dtype, converged: ir.Function) -> ir.Function:
    """`i32 run_warp(context, warp)`: run until every path waits at a barrier or has ended; returns
    a FaultCode."""
    function, b = define(module, "run_warp", I32, [POINTER, POINTER])
    warp = Record(b, function.args[1], warp_type)
    again = b.append_basic_block("again")
    b.branch(again)
    b.position_at_end(again)
    mask = warp.load("mask")
    runnable = b.and_(mask, b.not_(warp.load("at_barrier")))
    with b.if_then(b.icmp_unsigned("==", runnable, const(0))):
        b.ret(const(FaultCode.NONE))
    code = cell(b, I32)
    with b.if_else(b.icmp_unsigned("==", mask, warp.load("live"))) as (together, apart):
        with together:
            b.store(b.call(converged, list(function.args)), code)
        with apart:
            address = Record(b, function.args[0], CONTEXT).load("diverged")
            diverged = b.inttoptr(address, ir.FunctionType(I32, [POINTER, POINTER]).as_pointer())
            b.store(b.call(diverged, list(function.args)), code)
    result = b.load(code, typ=I32)
    done = b.append_basic_block("done")
    b.cbranch(b.icmp_unsigned("==", result, const(SWITCH_FORM)), again, done)
    b.position_at_end(done)
    b.ret(result)
    return function


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
