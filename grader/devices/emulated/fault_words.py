"""Faults of the emulated device in a student's words: what, where in the source, which thread,
which buffer and offset."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grader.emulator import Fault, FaultKind, GlobalMemory, Unsupported
from grader.records import Cause, Dim3, Failure, Finding, FindingKind, Kernel, Status


def describe_fault(fault: Fault, kernel: Kernel, memory: GlobalMemory, budget: int) -> Failure:
    """The Failure that a fault of a launch is, with its Finding. `budget` is the limit on executed
    warp instructions."""
    if fault.kind is FaultKind.UNSUPPORTED:
        return _unsupported(f"the way that {fault.opcode} takes here", kernel, fault.line)
    if fault.kind is FaultKind.INSTRUCTION_LIMIT:
        return _overlong(fault, kernel, memory, budget)
    kind, describe, advice = _DESCRIPTIONS[fault.kind]
    finding = _finding(fault, kernel, memory, kind, describe(fault, memory))
    place = "" if finding.line is None else f"line {finding.line}: "
    who = f"kernel {finding.kernel}, block {finding.block}, thread {finding.thread}"
    return Failure(
        Status.RUNTIME_ERROR,
        f"{place}{finding.message} ({who}).",
        advice=advice.format(width=fault.width),
        findings=(finding,),
    )


def describe_unsupported(problem: Unsupported, kernel: Kernel) -> Failure:
    """The Failure for a kernel that the emulated device cannot run."""
    return _unsupported(problem.what, kernel, problem.line)


def _unsupported(what: str, kernel: Kernel, line: int | None) -> Failure:
    place = f" (line {line})" if line is not None else ""
    return Failure(
        Status.UNSUPPORTED,
        f"The emulated device does not know {what}, which kernel {kernel.name} uses{place}.",
        advice=(
            "This is the grader's limit, not your mistake: grade it on a GPU, or write the line"
            " another way."
        ),
        cause=Cause(line=line, kernel=kernel.name),
    )


def _overlong(fault: Fault, kernel: Kernel, memory: GlobalMemory, budget: int) -> Failure:
    problem = f"the limit of {budget:,} executed warp instructions is spent"
    finding = _finding(fault, kernel, memory, FindingKind.INSTRUCTION_LIMIT, problem)
    place = "" if fault.line is None else f", near line {fault.line}"
    return Failure(
        Status.TIMEOUT,
        f"Kernel {kernel.name} had not ended in block {Dim3(*fault.block)}{place}: {problem}.",
        advice=(
            "Look for a loop whose condition never becomes false, for a grid far larger than the"
            " matrix, and for warps that wait for each other by other means than __syncthreads(),"
            " which the emulated device does not run side by side."
        ),
        findings=(finding,),
    )


def _others(fault: Fault) -> str:
    """Where those are that do not come to where some wait."""
    missing = (
        "have gone another way" if fault.other_line is None else f"are at line {fault.other_line}"
    )
    return f"some wait at it, others {missing}"


_DESCRIPTIONS: Mapping[FaultKind, tuple[FindingKind, Callable[[Fault, GlobalMemory], str], str]] = {
    FaultKind.OUT_OF_BOUNDS: (
        FindingKind.OUT_OF_BOUNDS,
        lambda fault, memory: f"{_access(fault)} out of bounds: {_target(fault, memory)}",
        "Compare the index with the sizes before the access; sizes need not be multiples of the"
        " tile.",
    ),
    FaultKind.MISALIGNED: (
        FindingKind.MISALIGNED,
        lambda fault, memory: (
            f"{_access(fault)} at an address that is no multiple of {fault.width}:"
            f" {_target(fault, memory)}"
        ),
        "An access of {width} bytes needs an address that is a multiple of {width}: treat rows of"
        " other lengths apart.",
    ),
    FaultKind.BARRIER_DIVERGENCE: (
        FindingKind.BARRIER_DIVERGENCE,
        lambda fault, _: f"__syncthreads() that not all threads reach: {_others(fault)}",
        "Move __syncthreads() out of the branch, so that every thread of the block executes it.",
    ),
    FaultKind.ABSENT_LANES: (
        FindingKind.ABSENT_LANES,
        lambda fault, _: (
            f"an operation of a warp's lanes that not all lanes of its mask reach: {_others(fault)}"
        ),
        "Name in the mask only lanes that get there, or move the shuffle or __syncwarp() out of the"
        " branch.",
    ),
    FaultKind.TRAP: (
        FindingKind.TRAP,
        lambda fault, _: "the kernel stopped itself with __trap()",
        "Look at the condition that leads there.",
    ),
    FaultKind.ASSERT: (
        FindingKind.TRAP,
        lambda fault, _: fault.message,
        "Look at what this thread has in the condition.",
    ),
}


def _finding(
    fault: Fault, kernel: Kernel, memory: GlobalMemory, kind: FindingKind, message: str
) -> Finding:
    located = memory.nearest(fault.address) if fault.space == "global" else None
    return Finding(
        kind=kind,
        message=message,
        kernel=kernel.name,
        line=fault.line,
        block=Dim3(*fault.block),
        thread=Dim3(*fault.thread),
        buffer=(
            located[0].name
            if located
            else (
                f"{fault.space} memory" if fault.space in ("shared", "local", "constant") else None
            )
        ),
        offset_bytes=located[1] if located else None,
        other_line=fault.other_line,
    )


def _access(fault: Fault) -> str:
    return f"{fault.width}-byte {'store to' if fault.store else 'load from'} {fault.space} memory"


def _target(fault: Fault, memory: GlobalMemory) -> str:
    if fault.space == "constant":
        return f"byte {fault.address:,} of a constant array"
    if fault.space == "local":
        return f"byte {fault.address:,} of the thread's local array or stack"
    if fault.space == "shared":
        return f"byte {fault.address:,} of the block's {fault.shared_bytes:,}"
    located = memory.nearest(fault.address)
    if located is None:
        return f"address {fault.address:#x} is in no buffer"
    region, offset = located
    if offset < 0:
        return f"{-offset:,} bytes before the start of buffer {region.name}"
    if offset >= region.size_bytes:
        beyond = (
            f"{offset - region.size_bytes:,} bytes past"
            if offset > region.size_bytes
            else "right behind"
        )
        return f"{beyond} the end of buffer {region.name} ({region.size_bytes:,} bytes)"
    return f"byte {offset:,} of buffer {region.name} ({region.size_bytes:,} bytes)"
