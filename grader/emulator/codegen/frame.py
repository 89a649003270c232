"""A step during emission: its cell (the address of a step, then the data words that the step
reads), calls of the runtime, and jumps to the next cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from llvmlite import ir

from grader.emulator.codegen.shapes import Hole
from grader.emulator.codegen.tools import (
    I32,
    I64,
    LANES_I1,
    LANES_I32,
    POINTER,
    VOID,
    Record,
    Value,
    Values,
    call_by_name,
    cell,
    const,
    offset,
    splat,
)
from grader.emulator.layouts.execution import (
    CELL_HEAD_BYTES,
    CONTEXT,
    DISPATCH,
    FUNCTION_PREFIX,
    WARP,
    FaultCode,
)

STEP = ir.FunctionType(I32, [POINTER, POINTER, POINTER])
"""`i32 step(context, warp, cell)` executes an instruction of a warp and continues in the next cell
or another cell. It returns a value for `run_warp` of the runtime: DISPATCH or a FaultCode (0: the
warp is blocked or done)."""


class CellLayout:
    """The data words of a shape's cells, in the order of their first use by either step."""

    def __init__(self) -> None:
        self.holes: dict[Hole, int] = {}
        self.size = ir.Constant(I64, 0)

    def place(self, hole: Hole) -> int:
        """Byte offset of a data word in a cell; adds the word on first use."""
        return CELL_HEAD_BYTES + 4 * self.holes.setdefault(hole, len(self.holes))

    def close(self) -> None:
        """Fixes the cell size, which is the distance to the next cell."""
        self.size.constant = cell_bytes(len(self.holes))


def cell_bytes(words: int) -> int:
    """Size of a cell with this number of data words."""
    return CELL_HEAD_BYTES + 8 * -(-4 * words // 8)


@dataclass(frozen=True)
class Place:
    """A basic block: its number, and the distance in bytes from this cell to its first cell."""

    block: Value
    distance: Value


class Frame(Values):
    """The arguments of a step, its cell, and ways to continue. `converged`: the step is for warps
    whose live lanes are all on one path."""

    def __init__(self, function: ir.Function, layout: CellLayout, *, converged: bool) -> None:
        self.function = function
        self.converged = converged
        self.layout = layout
        self.context_pointer, self.warp_pointer, self.cell_pointer = function.args
        super().__init__(ir.IRBuilder(function.append_basic_block("entry")), uniform=False)
        self.context = Record(self.b, self.context_pointer, CONTEXT)
        self.warp = Record(self.b, self.warp_pointer, WARP)
        self.mask = self.warp.load("mask")
        self.active = self.lanes_of(self.mask)

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

    def put(self, field: str, lanes: Value) -> None:
        """Stores a word per lane in an array of the context."""
        self.b.store(lanes, self.context.at(field), align=4)

    def load_lanes(self, address: Value) -> Value:
        """A word per lane at an address."""
        return self.b.load(address, typ=LANES_I32, align=4)

    def new_block(self, name: str) -> ir.Block:
        """Appends an LLVM block to the function."""
        return self.function.append_basic_block(name)

    # --- lanes and masks --------------------------------------------------------------------------

    def splat(self, scalar: Value) -> Value:
        """The scalar in all 32 lanes."""
        return splat(self.b, scalar)

    def mask_of(self, lanes: Value) -> Value:
        """A vector of 32 i1 as an i32 mask, lane 0 lowest."""
        return self.b.bitcast(lanes, I32)

    def lanes_of(self, mask: Value) -> Value:
        """An i32 mask as a vector of 32 i1."""
        return self.b.bitcast(mask, LANES_I1)

    def none(self, number: Value) -> Value:
        """Whether a mask is empty, or an i32 is 0."""
        return self.b.icmp_unsigned("==", number, const(0))

    def some(self, number: Value) -> Value:
        """Whether a mask has a lane, or an i32 is not 0."""
        return self.b.icmp_unsigned("!=", number, const(0))

    # --- calling the runtime ----------------------------------------------------------------------

    def call(self, name: str, *arguments: Value, result: ir.Type = VOID) -> Value:
        """Calls a function of the runtime; `name` is without prefix."""
        return call_by_name(self.b, FUNCTION_PREFIX + name, result, list(arguments))

    def try_call(self, name: str, *arguments: Value) -> None:
        """Calls a function of the runtime that returns a FaultCode; another code than NONE ends the
        launch."""
        code = self.call(name, *arguments, result=I32)
        with self.b.if_then(self.some(code), likely=False):
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

    def branch_if(self, condition: Value, place: Place, otherwise: ir.Block | None = None) -> None:
        """Continues at a basic block if the condition holds, otherwise at an LLVM block, by default
        a new one, where the builder stands then."""
        behind = otherwise or self.new_block("otherwise")
        leaving = self.new_block("leave")
        self.b.cbranch(condition, leaving, behind)
        self.b.position_at_end(leaving)
        self.go_to(place)
        self.b.position_at_end(behind)

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
        found, none = self.new_block("resume"), self.new_block("blocked")
        runs = self.call("next_path", self.warp_pointer, result=I32)
        self.b.cbranch(self.some(runs), found, none)
        self.b.position_at_end(none)
        self.b.ret(const(FaultCode.NONE))
        self.b.position_at_end(found)
        self.dispatch()

    def switch_path(self) -> None:
        """Continues in another path, possibly a path that was just pushed."""
        self.call("next_path", self.warp_pointer, result=I32)
        self.dispatch()

    def dispatch(self) -> None:
        """Returns to the dispatcher, which continues at the warp's pc."""
        self.b.ret(const(DISPATCH))
