"""The steps that are available on this machine: native code of instruction shapes, kept in files.

Each shape has its own file. The file's name is a digest of everything that its code depends on: the
shape, the sources of the emulator, LLVM, the processor. Several processes may write it, atomically,
at the same time. A file that is damaged or cannot be written only costs the time to compile again.
"""

from __future__ import annotations

import hashlib
import json
import platform
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite import binding, ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.frame import STEP, CellLayout
from grader.emulator.codegen.kept_files import read_whole, write_whole
from grader.emulator.codegen.opcodes import find_opcode
from grader.emulator.codegen.opcodes.intrinsics import end_launch
from grader.emulator.codegen.shapes import Hole, LiteralRead, shape_key, shape_of
from grader.emulator.codegen.tools import I64, Value, const, offset
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.program import Unsupported
from grader.emulator.layouts.execution import COUNTS_PER_BLOCK, DRAWS, SLICE_END, FaultCode

_EMULATOR = Path(__file__).parents[1]
_NAME_LENGTH = 32


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
    """This processor, on x86 without `vzeroupper`: the runtime, which calls the steps, clears the
    upper halves of vector registers at the end."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    less = ",-vzeroupper" if platform.machine() == "x86_64" else ""
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=f"{binding.get_host_cpu_features().flatten()}{less}",
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


@dataclass(frozen=True)
class Step:
    """The loaded steps of a shape: the data words of its cells in order, and code addresses."""

    holes: tuple[Hole, ...]
    converged: int
    diverged: int


Spelled = frozenset[int]
"""Positions of literals that the code depends on. A shape with such literals has no steps; the
shapes that contain their values have."""


class Steps:
    """The steps in a folder. Thread-safe. `unkept` counts the shapes that were compiled here and
    could not be written."""

    def __init__(self, folder: Path) -> None:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._lock = threading.Lock()
        self._known: dict[str, Step | Spelled] = {}
        self._engine: Any = None
        self.unkept = 0

    def find(self, instructions: Sequence[Decoded]) -> list[Step | Unsupported]:
        """The steps of instructions, in order; an Unsupported for each unknown instruction."""
        with self._lock:
            loading: dict[str, tuple[Hole, ...]] = {}
            keys = [self._try_key(i, loading) for i in instructions]
            self._load(loading)
            found = [key if isinstance(key, Unsupported) else self._known[key] for key in keys]
            return [each for each in found if isinstance(each, Step | Unsupported)]

    def find_one(self, i: Decoded) -> Step:
        """The steps of an instruction. Raises Unsupported, with the line, if it is unknown."""
        (found,) = self.find([i])
        if isinstance(found, Unsupported):
            raise found
        return found

    def _try_key(self, i: Decoded, loading: dict[str, tuple[Hole, ...]]) -> str | Unsupported:
        try:
            if i.unknown is not None:
                find_opcode(i)
            return self._final_key(i, loading)
        except Unsupported as problem:
            return Unsupported(problem.what, i.line)

    def _final_key(self, i: Decoded, loading: dict[str, tuple[Hole, ...]]) -> str:
        """The key of the instruction's shape, which is in `_known` or `loading` then."""
        spelled: Spelled = frozenset()
        while True:
            key = shape_key(i, spelled)
            known = self._known.get(key)
            if isinstance(known, Step) or key in loading:
                return key
            if known is None:
                found = self._obtain(key, i, spelled)
                if isinstance(found, StepCode):
                    loading[key] = found.holes
                    self._add(found)
                    return key
                known = self._known[key] = found
            spelled = known

    def _obtain(self, key: str, i: Decoded, spelled: Spelled) -> StepCode | Spelled:
        """Reads a shape's code from its file, or compiles it."""
        path = self.folder / _name(key)
        content = read_whole(path)
        if content is not None:
            return _unpack(content)
        try:
            made: StepCode | Spelled = compile_steps(shape_of(i, spelled), *_symbols(key))
        except LiteralRead as literal:
            made = spelled | {literal.position}
        try:
            write_whole(path, _pack(made))
        except OSError:  # the folder is not writable
            self.unkept += 1
        return made

    def _add(self, code: StepCode) -> None:
        if self._engine is None:
            self._engine = binding.create_mcjit_compiler(
                binding.parse_assembly(""), target_machine()
            )
        self._engine.add_object_file(binding.ObjectFileRef.from_data(code.content))

    def _load(self, loading: dict[str, tuple[Hole, ...]]) -> None:
        if loading:
            self._engine.finalize_object()
        for key, holes in loading.items():
            places = map(self._engine.get_function_address, _symbols(key))
            self._known[key] = Step(holes, *places)


def source_files() -> list[Path]:
    """The Python sources of the emulator. Native code contains offsets from layouts/."""
    return sorted(_EMULATOR.rglob("*.py"))


def _symbols(key: str) -> tuple[str, str]:
    """Names of a shape's steps for converged and diverged warps."""
    return f"converged_{_name(key)}", f"diverged_{_name(key)}"


@cache
def _name(key: str) -> str:
    return hashlib.sha256(f"{_origin()} {key}".encode()).hexdigest()[:_NAME_LENGTH]


@cache
def _origin() -> str:
    """A digest of everything that steps depend on besides their shape."""
    sources = [path.read_bytes() for path in source_files()]
    host = (binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten())
    parts = (sources, llvmlite.__version__, binding.llvm_version_info, host)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _pack(made: StepCode | Spelled) -> bytes:
    if isinstance(made, StepCode):
        return json.dumps({"holes": made.holes}).encode() + b"\n" + made.content
    return json.dumps({"spelled": sorted(made)}).encode() + b"\n"


def _unpack(content: bytes) -> StepCode | Spelled:
    head, _, code = content.partition(b"\n")
    facts = json.loads(head)
    if "spelled" in facts:
        return frozenset(facts["spelled"])
    return StepCode(tuple((kind, which) for kind, which in facts["holes"]), code)
