"""The fault that ended a launch, from the context that native code left."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from grader.emulator.codegen.native_kernel import NativeKernel
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Constant
from grader.emulator.isa.program import VARIABLES_BANK
from grader.emulator.layouts.execution import WARP_LANES, FaultCode
from grader.emulator.run.host import Assertion, HostFunctions
from grader.emulator.run.launch import LaunchSettings, Triple, place_in


class FaultKind(StrEnum):
    """Reason for the end of a launch."""

    OUT_OF_BOUNDS = "out_of_bounds"
    MISALIGNED = "misaligned"
    BARRIER_DIVERGENCE = "barrier_divergence"
    INSTRUCTION_LIMIT = "instruction_limit"
    TIME_LIMIT = "time_limit"
    TRAP = "trap"
    ASSERT = "assert"
    ABSENT_LANES = "absent_lanes"
    TOO_MANY_ARRIVALS = "too_many_arrivals"
    ENDLESS_WAIT = "endless_wait"
    BAD_FREE = "bad_free"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class Fault:
    """The first fault of a launch, in the order of blocks. `space` is `shared` or `global`.
    `address`: the lane's; for shared memory, relative to the block's own.

    `line`: source line of the instruction, whose byte offset in the code is `offset`. For a
    barrier, `other_line` is the line where the missing threads, `lanes` of the warp, wait.
    `message`: the text of a failed assertion, or the unknown part of the instruction; empty for a
    known instruction in a form that is not emulated. `loop_lines`: first and last line of an
    endless loop.
    """

    kind: FaultKind
    line: int | None
    opcode: str
    block: Triple
    thread: Triple
    space: str | None = None
    store: bool = False
    width: int = 0
    address: int = 0
    shared_bytes: int = 0
    other_line: int | None = None
    message: str = ""
    resident: int = 0
    unstarted: int = 0
    offset: int = 0
    loop_lines: tuple[int, int] | None = None
    lanes: tuple[int, ...] = ()
    assertion: Assertion | None = None


_MEANINGS: Mapping[int, tuple[FaultKind, str | None]] = {
    FaultCode.SHARED_BOUNDS: (FaultKind.OUT_OF_BOUNDS, "shared"),
    FaultCode.GLOBAL_BOUNDS: (FaultKind.OUT_OF_BOUNDS, "global"),
    FaultCode.SHARED_ALIGNMENT: (FaultKind.MISALIGNED, "shared"),
    FaultCode.GLOBAL_ALIGNMENT: (FaultKind.MISALIGNED, "global"),
    FaultCode.LOCAL_BOUNDS: (FaultKind.OUT_OF_BOUNDS, "local"),
    FaultCode.LOCAL_ALIGNMENT: (FaultKind.MISALIGNED, "local"),
    FaultCode.CONSTANT_BOUNDS: (FaultKind.OUT_OF_BOUNDS, "constant"),
    FaultCode.UNSUPPORTED: (FaultKind.UNSUPPORTED, None),
    FaultCode.BARRIER: (FaultKind.BARRIER_DIVERGENCE, None),
    FaultCode.BUDGET: (FaultKind.INSTRUCTION_LIMIT, None),
    FaultCode.TRAP: (FaultKind.TRAP, None),
    FaultCode.ASSERT: (FaultKind.ASSERT, None),
    FaultCode.ABSENT_LANES: (FaultKind.ABSENT_LANES, None),
    FaultCode.TOO_MANY_ARRIVALS: (FaultKind.TOO_MANY_ARRIVALS, None),
    FaultCode.ENDLESS_WAIT: (FaultKind.ENDLESS_WAIT, None),
    FaultCode.BAD_FREE: (FaultKind.BAD_FREE, None),
}
"""The kind of a fault, and the space of its access."""


def describe_stop(
    kernel: NativeKernel,
    settings: LaunchSettings,
    context: Any,  # noqa: ANN401
    host: HostFunctions,
) -> Fault:
    """The fault in a CONTEXT record."""
    code, waits = int(context["fault_code"]), int(context["fault_block"])
    kind, space = _MEANINGS[code]
    instruction = (
        _last_before(kernel, waits) if waits else kernel.decoded[int(context["fault_instruction"])]
    )
    resident = int(context["most_resident"]) if code == FaultCode.ENDLESS_WAIT else 0
    other = _last_before(kernel, int(context["fault_other"]))
    own_shared = (  # start of the block's own shared memory in the shared window
        int(context["shared_base"])
        - kernel.code.shared_base
        + kernel.code.architecture.shared_window
    )
    fault = Fault(
        kind=kind,
        line=instruction.line,
        opcode=instruction.opcode,
        block=(int(context["ctaid_x"]), int(context["ctaid_y"]), int(context["ctaid_z"])),
        thread=place_in(
            settings.block, int(context["fault_warp"]) * WARP_LANES + int(context["fault_lane"])
        ),
        space=space,
        store=instruction.base.startswith("ST"),
        width=instruction.access_bytes if space else 0,
        address=int(context["fault_address"]) - (own_shared if space == "shared" else 0),
        shared_bytes=kernel.code.static_shared_bytes + settings.dynamic_shared_bytes,
        other_line=other.line if code in (FaultCode.BARRIER, FaultCode.ABSENT_LANES) else None,
        message=host.message or kernel.unknown.get(instruction.index, ""),
        resident=resident,
        offset=instruction.offset,
        lanes=tuple(lane for lane in range(WARP_LANES) if int(context["fault_mask"]) >> lane & 1),
        assertion=host.assertion,
        unstarted=resident and settings.blocks - int(context["blocks_begun"]),
    )
    beyond = _find_beyond(kernel, instruction)
    if code != FaultCode.UNSUPPORTED or beyond is None:
        return fault
    bounds, width = FaultKind.OUT_OF_BOUNDS, instruction.access_bytes
    return replace(
        fault, kind=bounds, space="constant", width=width, address=beyond, store=False, message=""
    )


def _find_beyond(kernel: NativeKernel, instruction: Decoded) -> int | None:
    """The byte behind the `__constant__` variables that the instruction reads at a fixed place:
    nvcc computes a constant index of an unrolled loop, and does not check it."""
    variables = kernel.code.constants.get(VARIABLES_BANK)
    if variables is None:
        return None
    reads = (
        each.offset + instruction.access_bytes - 4
        for each in instruction.operands
        if isinstance(each, Constant) and each.bank == VARIABLES_BANK and each.register is None
    )
    return next((last for last in reads if last >= len(variables)), None)


def _last_before(kernel: NativeKernel, block: int) -> Decoded:
    """The instruction before a basic block: the barrier at which a path waits that continues at
    this block."""
    return kernel.flow.blocks[max(block - 1, 0)].instructions[-1]
