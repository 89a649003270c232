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
    says, or ONE."""

    ARRIVES = 1
    COUNTED = 2
    LEAVES = 4
    EXPECTS = 8
    COMPLETES = 16
    ONE = 32


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
