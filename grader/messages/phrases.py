"""Phrases for mistakes of kernels: each with all figures, and, as `..._hidden`, without anything
that depends on the sizes of the run: kinds, lines and plain names."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.records import Failure, Observation, Party, Spot
from grader.statuses import Status

_MANGLED = re.compile(r"(?:\A|\s)_Z")


def join_sentences(parts: Sequence[str]) -> str:
    """Sentences, each with its full stop."""
    whole = (part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)
    return " ".join(whole)


def plain_name(name: str | None) -> str | None:
    """A kernel's or a buffer's name without template arguments, which a launch line may compute
    from the sizes; None for a mangled name."""
    return None if name is None or _MANGLED.search(name) else name.partition("<")[0]


def outline(
    words: str, line: int | None = None, column: int | None = None, kernel: str | None = None
) -> str:
    """The message of a failure in a hidden case: words without figures, and the place."""
    at = "" if column is None else f", column {column}"
    place = "" if line is None else f"line {line}{at}: "
    name = plain_name(kernel)
    return f"{place}{words}{f' (kernel {name})' if name else ''}."


def outline_status(
    status: Status, line: int | None = None, column: int | None = None, kernel: str | None = None
) -> Failure:
    """The failure with its status and place only."""
    row = status.row
    return Failure(status, outline(row.unseen, line, column, kernel), advice=row.unseen_advice)


# --- accesses -------------------------------------------------------------------------------------


def access(seen: Observation) -> str:
    verb = "store to" if seen.by.stores else "load from"
    return f"{seen.width_bytes}-byte {verb} {seen.spot.space} memory"


def target(spot: Spot) -> str:
    if spot.space == "constant":
        return f"byte {spot.address:,} of a constant array"
    if spot.space == "local":
        return f"byte {spot.address:,} of the thread's local array or stack"
    if spot.space == "shared" and spot.array is not None:
        return _in_array(spot)
    if spot.space == "shared":
        return f"byte {spot.address:,} of the block's {spot.size_bytes:,}"
    return beside(spot) if spot.buffer else f"address {spot.address:#x} is in no buffer"


def _in_array(spot: Spot) -> str:
    """The place of a byte of a block's shared memory, by the indices of the array."""
    assert spot.address is not None
    assert spot.size_bytes is not None
    if 0 <= spot.address < spot.size_bytes:
        return f"{spot.element} of `{spot.array}`"
    where = "before the start" if spot.address < 0 else "behind the end"
    return f"{spot.element} lies {where} of `{spot.array}`"


def beside(spot: Spot) -> str:
    """The place of a spot in its buffer, or before or behind the buffer."""
    assert spot.offset_bytes is not None
    assert spot.size_bytes is not None
    offset, size = spot.offset_bytes, spot.size_bytes
    if offset < 0:
        return f"{-offset:,} bytes before the start of buffer {spot.buffer}"
    where = f"byte {offset:,} of"
    if offset >= size:
        beyond = f"{offset - size:,} bytes past" if offset > size else "right behind"
        where = f"{beyond} the end of"
    return f"{where} buffer {spot.buffer} ({size:,} bytes)"


def stray_hidden(seen: Observation) -> str:
    offset, name = seen.spot.offset_bytes, plain_name(seen.spot.memory)
    if name is None:
        return "access out of bounds, at an address that belongs to no buffer"
    if offset is None or not _is_buffer(seen):
        return f"access out of bounds of {_at(seen)}"
    side = "before the start" if offset < 0 else "past the end"
    return f"access out of bounds, {side} of {_at(seen)}"


def misaligned_hidden(seen: Observation) -> str:
    return f"access to {_at(seen)} at an address that is no multiple of its size"


def _at(seen: Observation) -> str:
    """The memory without a figure."""
    name = plain_name(seen.spot.memory)
    return "memory" if name is None else f"buffer {name}" if _is_buffer(seen) else name


def _is_buffer(seen: Observation) -> bool:
    return seen.spot.buffer is not None


def other_array(seen: Observation) -> str:
    verb = "changed" if seen.by.atomic else "stored" if seen.by.stores else "read"
    access = f"is {verb} by thread {seen.by.thread} at {_line(seen.line)}"
    if seen.meant is None:
        return f"{_element(seen)} {access}, which means another array"
    where = "before the start" if seen.meant.before else "behind the end"
    return (
        f"{seen.meant.element} {access}: it lies {where} of {seen.meant.name}, at {_element(seen)}"
    )


def unwritten(seen: Observation) -> str:
    verb = "changed" if seen.by.stores else "read"
    where = " in shared memory" if seen.spot.space == "shared" else ""
    return (
        f"{_element(seen)}{where} is {verb} at {_line(seen.line)}, but nothing was written there"
        " before, and the result depends on it"
    )


def unwritten_hidden(seen: Observation) -> str:
    return (
        f"an element of {_at(seen)} is used that nothing was written to before, and the result"
        " depends on it"
    )


def _element(seen: Observation) -> str:
    return seen.spot.element or "memory"


# --- two that meet --------------------------------------------------------------------------------


def race(seen: Observation) -> str:
    first, second = seen.other or Party(), seen.by
    known = first.thread is not None
    another = _who(first, second) if known else "another lane of its warp"
    return (
        f"race on {_element(seen)}: {another} {_does(first)} it at {_line(first.line)}, and"
        f" {_who(second, first)} {_does(second)} it at {_line(second.line)} without having waited;"
        f" {_missing(seen, first, second)}"
    )


def ended_block(seen: Observation) -> str:
    """An access to the shared memory of a block that has ended."""
    owner = None if seen.other is None else seen.other.block
    return (
        f"thread {seen.by.thread} of block {seen.by.block} {_does(seen.by)} {_element(seen)} of"
        f" block {owner} at {_line(seen.line)}, which may have ended: a cluster.sync() is missing"
        " at the end of the kernel"
    )


def race_hidden(seen: Observation) -> str:
    lines = (
        "threads"
        if seen.other_line is None
        else f"the access of line {seen.other_line} and that of {_line(seen.line)}"
    )
    return f"race on {_at(seen)}: {lines} meet without having waited for each other"


def _missing(seen: Observation, first: Party, second: Party) -> str:
    """The missing synchronisation between two accesses."""
    if first.block != second.block and seen.spot.space == "shared":
        return "a cluster.sync() is missing between the two"
    if first.block != second.block:
        return (
            "blocks run in any order: use an atomic operation, or a launch of its own for the"
            " second step"
        )
    barrier = "__syncwarp()" if seen.in_warp else "__syncthreads()"
    if first.line is None or second.line is None:
        return f"a {barrier} is missing between the two"
    if first.line == second.line:
        if first.stores and second.stores:
            return "only one of them should, or it should be an atomic operation"
        return (
            f"a {barrier} is missing between the two accesses of line {first.line}: write the line"
            " as two"
        )
    if seen.in_warp:  # lanes of a warp run in the order of the program, warps do not
        return f"a {barrier} is missing between line {first.line} and line {second.line}"
    upper, lower = sorted((first.line, second.line))
    if seen.barrier_between:  # the order in which they ran tells nothing: they ran in one interval
        return (
            f"a {barrier} is missing behind line {lower}, before the loop returns to line {upper}"
        )
    return f"a {barrier} is missing between line {upper} and line {lower}"


def _line(line: int | None) -> str:
    return "a line of a header" if line is None else f"line {line}"


def _does(party: Party) -> str:
    if party.atomic:
        return "changes" if party.stores else "reads"
    return "stores" if party.stores else "reads"


def _who(party: Party, other: Party) -> str:
    thread = f"thread {party.thread}"
    return thread if party.block == other.block else f"{thread} of block {party.block}"


def during_copy(seen: Observation) -> str:
    return (
        f"{_element(seen)} is used at {_line(seen.line)} while the asynchronous copy of"
        f" {_line(seen.other_line)} may still be under way: wait for it (cp.async.wait_group,"
        " __pipeline_wait_prior), then for the other threads (__syncthreads)"
    )


def during_copy_hidden(seen: Observation) -> str:
    source = (
        "an asynchronous copy"
        if seen.other_line is None
        else f"the asynchronous copy of line {seen.other_line}"
    )
    return f"{_at(seen)} is used while {source} may still be under way"


# --- threads that do not come ---------------------------------------------------------------------


def skipped_barrier(seen: Observation) -> str:
    if not seen.lanes:
        return skipped_barrier_hidden(seen)
    where = (
        "" if seen.other_line is None else f", which take another branch at line {seen.other_line}"
    )
    return (
        f"__syncthreads() that not all threads reach: some wait at it for {_lanes(seen.lanes)} of a"
        f" warp{where}"
    )


def skipped_barrier_hidden(seen: Observation) -> str:
    return f"__syncthreads() that not all threads reach: {_others(seen)}"


def skipped_collective(seen: Observation) -> str:
    return f"an operation of a warp's lanes that not all lanes of its mask reach: {_others(seen)}"


def absent_hidden(seen: Observation) -> str:
    return "an operation of a warp's lanes that not all lanes of its mask reach"


def endless_wait(seen: Observation) -> str:
    words = "a loop waits forever: all remaining threads wait, and none can end it"
    if not seen.unstarted_blocks:
        return words
    return (
        f"{words}; {seen.unstarted_blocks:,} blocks have not begun, since the GPU has room for"
        f" {seen.resident_blocks:,} at a time, and these wait"
    )


def endless_wait_hidden(seen: Observation) -> str:
    return "a loop waits forever for a write that no thread will make"


def trap_hidden(seen: Observation) -> str:
    return "the kernel was stopped, by itself (__trap(), assert()) or by a fault"


def time_limit(*, of_exercise: bool) -> str:
    return f"the time limit of {'this exercise' if of_exercise else 'a run'}"


def too_long_hidden(seen: Observation) -> str:
    return f"the kernels had not ended when {time_limit(of_exercise=True)} was over"


def _others(seen: Observation) -> str:
    """The places of the threads that do not reach the barrier."""
    missing = "took another branch" if seen.other_line is None else f"are at line {seen.other_line}"
    return f"some wait at it, others {missing}"


def absent_in_mask(seen: Observation) -> str:
    verb = "does" if len(seen.lanes) == 1 else "do"
    return (
        f"the mask of the operation at {_line(seen.line)} names {_lanes(seen.lanes)} of the warp,"
        f" which {verb} not reach it"
    )


def read_from_absent(seen: Observation) -> str:
    return (
        f"the shuffle at {_line(seen.line)} gives {_lanes(seen.lanes)} of the warp the value of a"
        " lane that takes no part in it, and the result depends on it"
    )


def _lanes(lanes: Sequence[int]) -> str:
    if len(lanes) == 1:
        return f"lane {lanes[0]}"
    if list(lanes) == list(range(lanes[0], lanes[-1] + 1)):
        return f"lanes {lanes[0]} to {lanes[-1]}"
    return "lanes " + ", ".join(map(str, lanes[:4])) + (" ..." if len(lanes) > 4 else "")
