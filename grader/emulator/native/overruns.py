"""The checked mode looks whether an access to shared memory stays in the array that the program
means: its neighbour is no fault."""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from grader.emulator.layout import CONTEXT
from grader.emulator.native.shadow_layout import FindingCode
from grader.emulator.native.suspects import report_lanes
from grader.emulator.native.tools import (
    I1,
    I32,
    I64,
    POINTER,
    VOID,
    Record,
    const,
    define,
    lane_bits,
    splat,
)


def define_stay(module: ir.Module, warp_type: np.dtype, width: int) -> ir.Function:
    """`void stay(context, warp, instruction, mask, first, past)`: report lanes that leave these
    bytes of the block's shared memory."""
    function, b = define(module, f"stay_{width}", VOID, [POINTER, POINTER, I32, I32, I32, I32])
    context, warp = Record(b, function.args[0], CONTEXT), Record(b, function.args[1], warp_type)
    instruction, mask, first, past = function.args[2:]
    starts = b.sub(context.load_lanes("lane_addresses"), splat(b, context.load("shared_base")))
    last = b.sub(past, const(width))
    outside = b.or_(
        b.icmp_signed("<", starts, splat(b, first)), b.icmp_signed(">", starts, splat(b, last))
    )
    strays = b.and_(lane_bits(b, outside), mask)
    with b.if_then(b.icmp_unsigned("!=", strays, const(0)), likely=False):
        lane = b.cttz(strays, const(1, I1))
        place = b.zext(context.load("lane_addresses", lane), I64)
        report_lanes(b, context, warp, FindingCode.SHARED_OVERRUN, instruction, lane, strays, place)
    b.ret_void()
    return function
