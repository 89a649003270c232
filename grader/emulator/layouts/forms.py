"""What steps tell the runtime of the form of an instruction."""


class CopyForm:
    """What an asynchronous copy's counters depend on, besides its lanes.

    PAST_L1, FILLS: its modifiers BYPASS and ZFILL. Of a copy past the L1, whether P0 is its guard,
    or says which lanes read.
    """

    PAST_L1 = 1
    FILLS = 2
    GUARD_IS_P0 = 4
    GUARD_NEGATED = 8
    OPERAND_IS_P0 = 16
    OPERAND_NEGATED = 32


class ArrivalForm:
    """What each lane does that arrives at a barrier object: count a thread, or as many as a word
    says (COUNTED), which may leave for good; expect or complete as many bytes or copies as a word
    says, or ONE; BEHIND_COPIES, once the lane's copies so far are there."""

    ARRIVES = 1
    COUNTED = 2
    LEAVES = 4
    EXPECTS = 8
    COMPLETES = 16
    ONE = 32
    BEHIND_COPIES = 64


class GroupForm:
    """How a warp group's product takes its operands: whether A lies in shared memory, what is
    transposed or negated; of bytes, which are signed, and whether sums end at the limits of a
    word."""

    LEFT_SHARED = 1
    LEFT_TRANSPOSED = 2
    RIGHT_TRANSPOSED = 4
    LEFT_NEGATED = 8
    RIGHT_NEGATED = 16
    LEFT_SIGNED = 32
    RIGHT_SIGNED = 64
    SATURATED = 128


class VoteMode:
    """What `BAR.RED` computes over the block's threads."""

    ANY = 0
    ALL = 1


class ElementType:
    """Types of elements, in the order of tensor maps (PTX ISA, `tensormap.replace`)."""

    U8, U16, U32, S32, U64, S64, F16 = range(7)
    F32, F32_FTZ, F64, BF16 = range(7, 11)
    TF32, TF32_FTZ = 11, 12  # in maps, a bit of its own beside F32 and F32_FTZ


class ReductionForm:
    """What a reduction does with each element in memory and one that comes."""

    ADD, MIN, MAX, INC, DEC, AND, OR, XOR = range(8)


class BulkForm:
    """What a copy of many bytes does: between which memories, to several blocks of a cluster, as a
    reduction of elements. The operation and the type of a reduction stand above its flags.

    DIMENSIONS, of tensors only: how many coordinates there are. BLOCKS_SHIFT: of the register that
    names the blocks, where their mask begins.
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
    """What goes on behind its instruction until its group is waited for: asynchronous copies of
    lanes, bulk copies to global memory, and products of warp groups."""

    COPIES, STORES, PRODUCTS = range(3)
    COUNT = 3
