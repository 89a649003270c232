"""What is said of a finding: one row a kind, with what to try, and how it is told of a hidden
case."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from grader.records import Failure, Finding, FindingKind

MEMORIES = ("shared memory", "local memory", "constant memory")
"""What a finding has as its buffer where it is in none."""

_MANGLED = re.compile(r"(?:\A|\s)_Z")


@dataclass(frozen=True)
class FindingRow:
    """A kind of finding. `advice` is what to try.

    `told` makes the message for a hidden case: of the finding without its figures, and of whether
    the access lies before its buffer (None: not known). `is_limit`: not a mistake that the checked
    mode looks for, but a limit that ended the run.
    """

    advice: str
    told: Callable[[Finding, bool | None], str]
    is_limit: bool = False


def advise(failure: Failure) -> str:
    """What to try after a failure: its own advice, else that of its first finding's kind, else
    nothing."""
    if failure.advice or not failure.findings:
        return failure.advice
    return FINDINGS[failure.findings[0].kind].advice


def advise_on_findings(findings: Iterable[Finding]) -> str:
    """How many findings there are, and what to do about the first one; the findings themselves
    stand in the report."""
    found = tuple(findings)
    if not found:
        return ""
    more = f"the first of {len(found)} findings: " if len(found) > 1 else ""
    place = f"line {found[0].line}: " if found[0].line else ""
    return f"{more}{place}{FINDINGS[found[0].kind].advice.removesuffix('.')}"


def describe_place(finding: Finding) -> str:
    """Where a finding was made: `kernel k, block (1, 0, 0), thread (3, 0, 0)`."""
    parts = (
        f"kernel {finding.kernel}" if finding.kernel else "",
        f"block {finding.block}" if finding.block else "",
        f"thread {finding.thread}" if finding.thread else "",
        (
            f"{finding.buffer} + {finding.offset_bytes:,} bytes"
            if finding.buffer and finding.offset_bytes is not None
            else ""
        ),
    )
    return ", ".join(part for part in parts if part)


def hide_figures(finding: Finding) -> Finding:
    """The finding as it may be told of a hidden case: its kind, its lines and plain names, in the
    words of its row. The message that a device made is never looked at: it may hold figures."""
    told = Finding(
        finding.kind,
        "",
        kernel=plain_name(finding.kernel),
        line=finding.line,
        buffer=plain_name(finding.buffer),
        other_line=finding.other_line,
    )
    before = None if finding.offset_bytes is None else finding.offset_bytes < 0
    return replace(told, message=FINDINGS[finding.kind].told(told, before))


def plain_name(name: str | None) -> str | None:
    """A kernel's or a buffer's own name without template arguments, which a launch line may make of
    the sizes; None for a mangled one."""
    return None if name is None or _MANGLED.search(name) else name.partition("<")[0]


# --- for a hidden case ----------------------------------------------------------------------------


def _out_of_bounds(told: Finding, before: bool | None) -> str:
    if told.buffer is None:
        return "access out of bounds, at an address that belongs to no buffer"
    if before is None or told.buffer in MEMORIES:
        return f"access out of bounds of {_at(told.buffer)}"
    side = "before the start" if before else "past the end"
    return f"access out of bounds, {side} of {_at(told.buffer)}"


def _at(buffer: str | None, otherwise: str = "memory") -> str:
    return otherwise if buffer is None else buffer if buffer in MEMORIES else f"buffer {buffer}"


def _barrier(told: Finding, _: bool | None) -> str:
    others = (
        "have gone another way" if told.other_line is None else f"are at line {told.other_line}"
    )
    return f"__syncthreads() that not all threads reach: some wait at it, others {others}"


def _race(told: Finding, _: bool | None) -> str:
    lines = (
        "threads"
        if told.other_line is None
        else f"the access of line {told.other_line} and that of line {told.line}"
    )
    return f"race on {_at(told.buffer)}: {lines} meet without having waited for each other"


def _copy_under_way(told: Finding, _: bool | None) -> str:
    source = (
        "an asynchronous copy"
        if told.other_line is None
        else f"the asynchronous copy of line {told.other_line}"
    )
    return f"{_at(told.buffer)} is used while {source} may still be under way"


# --- the rows -------------------------------------------------------------------------------------

FINDINGS: Mapping[FindingKind, FindingRow] = {
    FindingKind.OUT_OF_BOUNDS: FindingRow(
        "Guard the access with the matrix's sizes (`if (x < cols && y < rows)`), and check which of"
        " the two belongs to which index.",
        _out_of_bounds,
    ),
    FindingKind.MISALIGNED: FindingRow(
        "A float2 or float4 access needs an address that is a multiple of 8 or 16 bytes: check the"
        " row length and the column that it starts at.",
        lambda told, _: (
            f"access to {_at(told.buffer)} at an address that is no multiple of its size"
        ),
    ),
    FindingKind.BARRIER_DIVERGENCE: FindingRow(
        "Move __syncthreads() out of the branch or the loop that some threads of the block leave"
        " early.",
        _barrier,
    ),
    FindingKind.INSTRUCTION_LIMIT: FindingRow(
        "Check that every loop ends: does its counter move towards its bound for all sizes, 1 x 1"
        " too?",
        lambda told, _: "the limit of executed warp instructions is spent",
        is_limit=True,
    ),
    FindingKind.WALL_LIMIT: FindingRow(
        "Check that every loop ends, and that no thread waits for another one that never comes.",
        lambda told, _: "the kernels had not ended when the time limit of this exercise was over",
        is_limit=True,
    ),
    FindingKind.TRAP: FindingRow(
        "The kernel ended itself (assert, __trap): check the condition at that line.",
        lambda told, _: "the kernel was stopped, by itself (__trap(), assert()) or by a fault",
    ),
    FindingKind.INPUT_MODIFIED: FindingRow(
        "Write to the output or to a scratch buffer only: the inputs belong to the grader.",
        lambda told, _: f"the kernel wrote to {_at(told.buffer, 'an input')}",
    ),
    FindingKind.RACE: FindingRow(
        "Let all threads meet in a __syncthreads() between the two accesses, outside of any"
        " branch.",
        _race,
    ),
    FindingKind.UNINITIALIZED_READ: FindingRow(
        "Write every element before it is read: outputs, scratch and shared memory start with"
        " garbage.",
        lambda told, _: (
            f"an element of {_at(told.buffer)} is used that nothing was written to before, and the"
            " result depends on it"
        ),
    ),
    FindingKind.COPY_UNDER_WAY: FindingRow(
        "Wait for the asynchronous copy, then let all threads meet in a __syncthreads(), before its"
        " data is used.",
        _copy_under_way,
    ),
    FindingKind.ABSENT_LANES: FindingRow(
        "Name in a mask just the lanes that execute the operation, or move it to where all of them"
        " do.",
        lambda told, _: "an operation of a warp's lanes that not all lanes of its mask reach",
    ),
    FindingKind.ORDER_DEPENDENT: FindingRow(
        "Nothing says which block or warp runs first: look for a missing __syncthreads(), and for"
        " blocks that use each other's results.",
        lambda told, _: "the result depends on the order in which blocks and warps run",
    ),
}
