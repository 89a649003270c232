"""A step during emission: the data of its cell, calls of the runtime, and jumps to the next
cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from llvmlite import ir

from grader.emulator.codegen.cells import CellLayout
from grader.emulator.codegen.tools import (
    I32,
    I64,
    POINTER,
    VOID,
    Record,
    Value,
    bits_to_lanes,
    call_by_name,
    cell,
    const,
    offset,
)
from grader.emulator.layouts.execution import CONTEXT, DISPATCH, FUNCTION_PREFIX, WARP, FaultCode

STEP = ir.FunctionType(I32, [POINTER, POINTER, POINTER])
"""`i32 step(context, warp, cell)` executes an instruction of a warp and continues in the next cell
or another cell. It returns a value for `run_warp` of the runtime: DISPATCH or a FaultCode (0: the
warp is blocked or done)."""


@dataclass(frozen=True)
class Place:
    """A basic block as a target: its number, and the distance in bytes from the current cell to the
    block's first cell."""

    block: Value
    distance: Value


class Frame:
    """The arguments of a step, its cell, and ways to continue. `converged`: the step is for warps
    whose live lanes are all on one path."""

    def __init__(self, function: ir.Function, layout: CellLayout, *, converged: bool) -> None:
        self.function = function
        self.converged = converged
        self.layout = layout
        self.context_pointer, self.warp_pointer, self.cell_pointer = function.args
        self.b = ir.IRBuilder(function.append_basic_block("entry"))
        self.context = Record(self.b, self.context_pointer, CONTEXT)
        self.warp = Record(self.b, self.warp_pointer, WARP)
        self.mask = self.warp.load("mask")
        self.active = bits_to_lanes(self.b, self.mask)

    def data(self, kind: str, which: int = 0) -> Value:
        """A data word of the cell as an i32; `translate._FACTS` lists the kinds."""
        place = offset(self.b, self.cell_pointer, self.layout.place((kind, which)))
        return self.b.load(place, typ=I32)

    def require(self, kind: str, which: int = 0) -> None:
        """Makes the instruction Unsupported in kernels where `translate` finds this false."""
        self.layout.place((kind, which))

    @property
    def index(self) -> Value:
        """The instruction's index in its kernel."""
        return self.data("index")

    def stack_word(self, value: Value) -> Value:
        """A 32-bit stack variable with this initial value."""
        variable = cell(self.b, I32)
        self.b.store(value, variable)
        return variable

    # --- calling the runtime ----------------------------------------------------------------------

    def call(self, name: str, *arguments: Value, result: ir.Type = VOID) -> Value:
        """Calls a function of the runtime; `name` is without prefix."""
        return call_by_name(self.b, FUNCTION_PREFIX + name, result, list(arguments))

    def return_if_nonzero(self, code: Value) -> None:
        """Ends the launch if a function returned a FaultCode."""
        with self.b.if_then(self.b.icmp_unsigned("!=", code, const(FaultCode.NONE)), likely=False):
            self.b.ret(code)

    def push_path(self, mask: Value, pc: Value, wait: Value) -> None:
        """Creates a path for lanes that wait or continue later."""
        self.call("push_path", self.warp_pointer, mask, pc, wait)

    def is_checked(self) -> Value:
        """Whether the launch runs in checked mode, as an i1."""
        state = self.b.ptrtoint(self.context.load_pointer("checked_state"), I64)
        return self.b.icmp_unsigned("!=", state, const(0, I64))

    @contextmanager
    def if_checked(self) -> Iterator[None]:
        """Code for the checked mode only. It must not be the first to read a register."""
        with self.b.if_then(self.is_checked(), likely=False):
            yield

    # --- going on ---------------------------------------------------------------------------------

    @property
    def following(self) -> Place:
        """The block after this one. Unsupported if the code ends here."""
        return Place(self.data("following"), self.layout.size)

    @property
    def target(self) -> Place:
        """The block that a branch names as its target."""
        distance = self.b.sext(self.data("distance"), I64)
        return Place(self.data("target"), distance)

    def go_on(self) -> None:
        """Continues in the next cell."""
        self._enter(self.layout.size)

    def go_to(self, place: Place) -> None:
        """Continues at a basic block with the lanes of the warp's mask."""
        self._enter(place.distance)

    def branch_if(self, condition: Value, place: Place, otherwise: ir.Block) -> None:
        """Continues at a basic block if the condition holds, otherwise at an LLVM block of the
        function."""
        leaving = self.function.append_basic_block("leave")
        self.b.cbranch(condition, leaving, otherwise)
        self.b.position_at_end(leaving)
        self.go_to(place)

    def _enter(self, distance: Value) -> None:
        there = offset(self.b, self.cell_pointer, distance)
        step = self.b.load(there, typ=POINTER)
        step.type = STEP.as_pointer()  # llvmlite requires the function's type for a call
        arguments = [self.context_pointer, self.warp_pointer, there]
        self.b.ret(self.b.call(step, arguments, tail="musttail"))

    def next_path(self) -> None:
        """The current path waits or has ended: runs another path, or returns if none can run."""
        if self.converged:
            self.b.ret(const(FaultCode.NONE))
            return
        found = self.function.append_basic_block("resume")
        none = self.function.append_basic_block("blocked")
        runs = self.call("next_path", self.warp_pointer, result=I32)
        self.b.cbranch(self.b.icmp_unsigned("!=", runs, const(0)), found, none)
        self.b.position_at_end(none)
        self.b.ret(const(FaultCode.NONE))
        self.b.position_at_end(found)
        self.dispatch()

    def switch_path(self) -> None:
        """Continues in another path, possibly a path that was just pushed."""
        self.call("next_path", self.warp_pointer, result=I32)
        self.dispatch()

    def dispatch(self) -> None:
        """Returns to the dispatcher, which continues at the warp's pc with the steps for its
        mask."""
        self.b.ret(const(DISPATCH))
