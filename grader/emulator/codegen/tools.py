"""IR helpers: types, constants, record fields and loops in LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from llvmlite import ir

from grader.emulator.layouts.execution import WARP_LANES

I1 = ir.IntType(1)
I8 = ir.IntType(8)
I16 = ir.IntType(16)
I32 = ir.IntType(32)
I64 = ir.IntType(64)
F32 = ir.FloatType()
F64 = ir.DoubleType()
POINTER = ir.PointerType()
VOID = ir.VoidType()
LANES_I1 = ir.VectorType(I1, WARP_LANES)
LANES_I32 = ir.VectorType(I32, WARP_LANES)
LANES_I64 = ir.VectorType(I64, WARP_LANES)
LANES_F32 = ir.VectorType(F32, WARP_LANES)

Value = Any
"""An llvmlite value; llvmlite has no type annotations."""


def const(value: int, kind: ir.Type = I32) -> Value:
    """An integer constant of a scalar type, wrapped to its width."""
    return ir.Constant(kind, value & ((1 << kind.width) - 1))


def lanes(values: list[int] | range, element: ir.Type = I32) -> Value:
    """A constant vector with 32 elements."""
    return ir.Constant(ir.VectorType(element, WARP_LANES), list(values))


def splat(builder: ir.IRBuilder, scalar: Value) -> Value:
    """The scalar in all 32 lanes."""
    if isinstance(scalar, ir.Constant):
        return _SplatConstant(scalar)
    vector = ir.VectorType(scalar.type, WARP_LANES)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), scalar, const(0))
    zeros = ir.Constant(LANES_I32, [0] * WARP_LANES)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


class _SplatConstant(ir.Constant):  # type: ignore[misc]
    """A constant that is equal in all lanes, in short notation: llvmlite passes modules to LLVM as
    text, and lists of 32 elements would be most of that text."""

    def __init__(self, scalar: Value) -> None:
        super().__init__(ir.VectorType(scalar.type, WARP_LANES), ir.Undefined)
        self._text = f"splat ({scalar.type} {scalar.get_reference()})"

    def _get_reference(self) -> str:
        return self._text


def freeze(builder: ir.IRBuilder, value: Value) -> Value:
    """Freezes a value at the end of the block, so that LLVM cannot combine it with its users."""
    frozen = ir.instructions.Instruction(builder.block, value.type, "freeze", [value])
    builder.block.instructions.append(frozen)
    builder.position_at_end(builder.block)
    return frozen


def offset(builder: ir.IRBuilder, pointer: Value, byte_offset: Value | int) -> Value:
    """The pointer moved by bytes."""
    index = const(byte_offset, I64) if isinstance(byte_offset, int) else byte_offset
    return builder.gep(pointer, [index], source_etype=I8)


def cell(builder: ir.IRBuilder, kind: ir.Type) -> Value:
    """A stack variable, as an untyped pointer. Its `alloca` is in the entry block, because each
    execution of an `alloca` elsewhere would take more stack."""
    with builder.goto_entry_block():
        variable = builder.alloca(kind)
    variable.type = POINTER  # llvmlite creates a typed pointer, which its loads and geps reject
    return variable


class Record:
    """A record in memory, described by a NumPy structured dtype."""

    def __init__(self, builder: ir.IRBuilder, pointer: Value, layout: np.dtype) -> None:
        self.builder = builder
        self.pointer = pointer
        self.layout = layout

    def at(self, field: str, index: Value | int | None = None) -> Value:
        """Address of a field, or of element `index` of an array field."""
        fields = self.layout.fields
        assert fields is not None
        kind, start = fields[field][0], fields[field][1]
        address = offset(self.builder, self.pointer, start)
        if index is None:
            return address
        stride = kind.subdtype[0].itemsize if kind.subdtype else kind.itemsize
        if isinstance(index, int):
            return offset(self.builder, self.pointer, start + index * stride)
        wide = self.builder.zext(index, I64) if index.type.width < 64 else index
        return offset(self.builder, address, self.builder.mul(wide, const(stride, I64)))

    def load(self, field: str, index: Value | int | None = None) -> Value:
        """A scalar field or element. For pointer fields, use `load_pointer`."""
        return self.builder.load(self.at(field, index), typ=self._type(field))

    def load_pointer(self, field: str) -> Value:
        """A pointer field."""
        return self.builder.load(self.at(field), typ=POINTER)

    def load_lanes(self, field: str) -> Value:
        """An array of 32 words as a vector."""
        return self.builder.load(self.at(field), typ=LANES_I32, align=4)

    def store(self, field: str, value: Value | int, index: Value | int | None = None) -> None:
        """Writes a scalar field or element."""
        word = const(value, self._type(field)) if isinstance(value, int) else value
        self.builder.store(word, self.at(field, index))

    def add(self, field: str, value: Value, index: Value | int | None = None) -> None:
        """field += value."""
        self.store(field, self.builder.add(self.load(field, index), value), index)

    def _type(self, field: str) -> ir.Type:
        assert self.layout.fields is not None
        kind = self.layout.fields[field][0]
        return ir.IntType(8 * (kind.subdtype[0] if kind.subdtype else kind).itemsize)


@contextmanager
def each_set_bit(builder: ir.IRBuilder, mask: Value) -> Iterator[Value]:
    """Loops over the set bits of an i32; yields the index of a bit as i32."""
    head = builder.append_basic_block("bits")
    body = builder.append_basic_block("bit")
    done = builder.append_basic_block("bits_done")
    entry = builder.block
    builder.branch(head)
    builder.position_at_end(head)
    rest = builder.phi(I32)
    rest.add_incoming(mask, entry)
    builder.cbranch(builder.icmp_unsigned("!=", rest, const(0)), body, done)
    builder.position_at_end(body)
    index = builder.cttz(rest, const(1, I1))
    yield index
    rest.add_incoming(builder.xor(rest, builder.shl(const(1), index)), builder.block)
    builder.branch(head)
    builder.position_at_end(done)


def loop_while(
    builder: ir.IRBuilder, condition: Callable[[], Value], body: Callable[[], None]
) -> None:
    """`while (condition()) body()`; the loop's state is in memory."""
    head = builder.append_basic_block("while")
    inside = builder.append_basic_block("do")
    done = builder.append_basic_block("end")
    builder.branch(head)
    builder.position_at_end(head)
    builder.cbranch(condition(), inside, done)
    builder.position_at_end(inside)
    body()
    if not builder.block.is_terminated:
        builder.branch(head)
    builder.position_at_end(done)


def define(
    module: ir.Module,
    name: str,
    result: ir.Type,
    arguments: list[ir.Type],
) -> tuple[ir.Function, ir.IRBuilder]:
    """A new internal function with an entry block, which is never inlined."""
    function = ir.Function(module, ir.FunctionType(result, arguments), name)
    function.attributes.add("nounwind")
    function.linkage = "internal"
    function.attributes.add("noinline")
    return function, ir.IRBuilder(function.append_basic_block("entry"))


def call_by_name(
    builder: ir.IRBuilder, name: str, result: ir.Type, arguments: list[Value]
) -> Value:
    """Calls an external function, and declares it on first use."""
    module = builder.module
    callee = module.globals.get(name)
    if callee is None:
        kind = ir.FunctionType(result, [argument.type for argument in arguments])
        callee = ir.Function(module, kind, name)
    return builder.call(callee, arguments)


def lane_bits(builder: ir.IRBuilder, condition: Value) -> Value:
    """A vector of 32 i1 as an i32 mask, lane 0 lowest."""
    return builder.bitcast(condition, I32)


def bits_to_lanes(builder: ir.IRBuilder, mask: Value) -> Value:
    """An i32 mask as a vector of 32 i1."""
    return builder.bitcast(mask, LANES_I1)
