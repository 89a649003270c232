"""Flags of an instruction's form that steps pass to the runtime."""

from __future__ import annotations

from grader.emulator.layouts.blocks import flags


class CopyForm:
    """Properties of an asynchronous copy that its counters depend on.

    PAST_L1, FILLS: the modifiers BYPASS and ZFILL. For a copy past the L1, the others describe
    whether P0 is its guard, or the operand that selects the lanes that read.
    """

    PAST_L1, FILLS, GUARD_IS_P0, GUARD_NEGATED, OPERAND_IS_P0, OPERAND_NEGATED = flags(6)


class ArrivalForm:
    """Effects of a lane's arrival at a barrier object.

    ARRIVES: counts a thread. COUNTED: counts as many threads as a word gives. LEAVES: those threads
    leave for good. EXPECTS, COMPLETES: expects or completes as many bytes or copies as a word
    gives, or ONE. BEHIND_COPIES: takes effect when the lane's earlier copies are complete.
    """

    ARRIVES, COUNTED, LEAVES, EXPECTS, COMPLETES, ONE, BEHIND_COPIES = flags(7)


class GroupForm:
    """Operands of a warp group's product: whether A lies in shared memory, and the transposed or
    negated operands; for bytes, the signed operands and whether sums saturate."""

    LEFT_SHARED, LEFT_TRANSPOSED, RIGHT_TRANSPOSED, LEFT_NEGATED, RIGHT_NEGATED = flags(5)
    LEFT_SIGNED, RIGHT_SIGNED, SATURATED = flags(5, 8)


class VoteMode:
    """The vote of `BAR.RED` over the block's threads."""

    ANY, ALL = range(2)


class ElementType:
    """Element types in the numbering of tensor maps (PTX ISA, `tensormap.replace`)."""

    U8, U16, U32, S32, U64, S64, F16 = range(7)
    F32, F32_FTZ, F64, BF16 = range(7, 11)
    TF32, TF32_FTZ = 11, 12  # in maps: a separate bit beside F32 and F32_FTZ


class ReductionForm:
    """How a reduction combines each element in memory with an incoming element."""

    ADD, MIN, MAX, INC, DEC, AND, OR, XOR = range(8)


class BulkForm:
    """A bulk copy: its memories, whether it writes to several blocks of a cluster, and whether it
    is a reduction. The bits above the flags hold a reduction's operation and type.

    DIMENSIONS: the number of coordinates, for tensors only. BLOCKS_SHIFT: position of the block
    mask in the register that names the blocks.
    """

    DIMENSIONS = 7
    TO_GLOBAL = 8
    FROM_GLOBAL = 16
    TO_BLOCKS = 32
    REDUCES = 64
    OPERATION_SHIFT = 8
    OPERATION = 7
    TYPE_SHIFT = 11
    BLOCKS_SHIFT = 16


class WorkKind:
    """Asynchronous work that lasts until the code waits for its group: copies of lanes, bulk copies
    to global memory, and products of warp groups."""

    COPIES, STORES, PRODUCTS = range(3)
    COUNT = 3
