"""The text of failed assertions of device code."""

from __future__ import annotations

from grader.emulator import Fault
from grader.records import Dim3


def describe_assertion(fault: Fault, block: Dim3) -> str:
    """The lines that CUDA writes to stderr for a failed assertion, one for each thread of a
    warp."""
    failed = fault.assertion
    if failed is None:
        return ""
    x, y, z = fault.thread
    first = x + block.x * (y + block.y * z) - failed.lanes[0]
    lines = []
    for lane in failed.lanes:
        place = first + lane
        thread = (place % block.x, place // block.x % block.y, place // (block.x * block.y))
        lines.append(
            f"{failed.file}:{failed.line}: {failed.function}: block: {_triple(fault.block)},"
            f" thread: {_triple(thread)} Assertion `{failed.condition}` failed.\n"
        )
    return "".join(lines)


def _triple(place: tuple[int, int, int]) -> str:
    return "[" + ",".join(map(str, place)) + "]"
