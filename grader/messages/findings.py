"""Cause, meaning and advice for each kind of finding."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from grader.records import Failure, Finding, FindingKind


@dataclass(frozen=True)
class FindingRow:
    """A kind of finding: the `cause` by which a class is grouped, its `meaning` for the
    documentation, and advice. `is_limit`: a limit that ended the run, not a mistake for the checked
    mode. `sanitizer`: the tool of compute-sanitizer that finds it on a GPU. `code` is an example
    where no kernel of the gallery shows it."""

    cause: str
    meaning: str
    advice: str
    is_limit: bool = False
    sanitizer: str = ""
    code: str = ""


def advise(failure: Failure) -> str:
    """The failure's own advice, else the advice for its first finding's kind, else ""."""
    if failure.advice or not failure.findings:
        return failure.advice
    return FINDINGS[failure.findings[0].kind].advice


def advise_on_findings(findings: Iterable[Finding]) -> str:
    """The number of findings, and the advice for the first; the report lists the findings."""
    found = tuple(findings)
    if not found:
        return ""
    more = f"the first of {len(found)} findings: " if len(found) > 1 else ""
    place = f"line {found[0].line}: " if found[0].line else ""
    return f"{more}{place}{FINDINGS[found[0].kind].advice.removesuffix('.')}"


def format_finding(finding: Finding) -> str:
    """A finding with its case, if it has one."""
    case = f" (case '{finding.case}')" if finding.case is not None else ""
    return f"{finding.message.removesuffix('.')}{case}" if case else finding.message


def describe_place(finding: Finding) -> str:
    """The place of a finding: `kernel k, block (1, 0, 0), thread (3, 0, 0)`."""
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


def describe_finding(finding: Finding) -> str:
    """A finding with its line and place: `line 7: race on x[3] (kernel k, ...)`."""
    line = f"line {finding.line}: " if finding.line else ""
    where = describe_place(finding)
    return f"{line}{format_finding(finding)}{f' ({where})' if where else ''}"


# --- the rows -------------------------------------------------------------------------------------

FINDINGS: Mapping[FindingKind, FindingRow] = {
    FindingKind.OUT_OF_BOUNDS: FindingRow(
        "access out of bounds",
        "An access outside of its buffer or array.",
        "Guard the access with the matrix's sizes (`if (x < cols && y < rows)`), and check which of"
        " the two belongs to which index.",
        sanitizer="memcheck",
    ),
    FindingKind.MISALIGNED: FindingRow(
        "misaligned address",
        "An address that is not a multiple of the access's width.",
        "A float2 or float4 access needs an address that is a multiple of 8 or 16 bytes: check the"
        " row length and the column that it starts at.",
        sanitizer="memcheck",
    ),
    FindingKind.BARRIER_DIVERGENCE: FindingRow(
        "barrier that some threads skip",
        "A barrier that some threads of the block cannot reach.",
        "Move __syncthreads() out of the branch or the loop that some threads of the block leave"
        " early.",
        sanitizer="synccheck",
    ),
    FindingKind.ENDLESS_WAIT: FindingRow(
        "waits forever",
        "A loop that waits for a value that no thread will write.",
        "Find the thread that writes the value for which the loop waits. It must reach that write:"
        " no barrier or lock may keep it, and its block must be on the GPU, too.",
    ),
    FindingKind.INSTRUCTION_LIMIT: FindingRow(
        "too many instructions: an endless loop?",
        "More warp instructions than the exercise allows.",
        "Check that every loop ends: does its counter move towards its bound for all sizes, 1 x 1"
        " too?",
        is_limit=True,
    ),
    FindingKind.WALL_LIMIT: FindingRow(
        "too much time: an endless loop?",
        "More time than the exercise allows.",
        "Check that every loop ends, and that no thread waits for a thread that never arrives.",
        is_limit=True,
        code="while (flag[0] == 0) {}    // no thread sets the flag",
    ),
    FindingKind.TRAP: FindingRow(
        "the kernel stopped itself",
        "The kernel stopped itself: `__trap()` or `assert`.",
        "The kernel ended itself (assert, __trap): check the condition at that line.",
    ),
    FindingKind.INPUT_MODIFIED: FindingRow(
        "wrote to an input",
        "An input is not as it was before the launch.",
        "Write to the output or to a scratch buffer only: the inputs belong to the grader.",
    ),
    FindingKind.RACE: FindingRow(
        "race between threads",
        "Two threads use an element, one of them writes, and nothing orders them.",
        "Let all threads wait at a __syncthreads() between the two accesses, outside of any"
        " branch.",
        sanitizer="racecheck",
    ),
    FindingKind.UNINITIALIZED_READ: FindingRow(
        "read of unwritten memory",
        "A read of memory that no kernel and no copy wrote.",
        "Write every element before it is read: outputs, scratch and shared memory start with"
        " garbage.",
        sanitizer="initcheck",
    ),
    FindingKind.COPY_UNDER_WAY: FindingRow(
        "asynchronous copy not waited for",
        "An access to data whose asynchronous copy may not have arrived.",
        "Wait for the asynchronous copy, then let all threads wait at a __syncthreads(), before its"
        " data is used.",
    ),
    FindingKind.ABSENT_LANES: FindingRow(
        "mask names lanes that do not arrive",
        "A mask of a shuffle, vote or barrier names lanes that do not arrive.",
        "Name in a mask only the lanes that execute the operation, or move the operation to a place"
        " that all lanes of the mask reach.",
        sanitizer="synccheck",
    ),
    FindingKind.ORDER_DEPENDENT: FindingRow(
        "result depends on the order of the warps",
        "The result differs when the warps run in the opposite order.",
        "The order of blocks and warps is not fixed: look for a missing __syncthreads(), and for"
        " blocks that use each other's results.",
        code="if (threadIdx.x == 0)\n"
        "    atomicExch(last, blockIdx.x);    // the last block to arrive wins",
    ),
}
