"""The sentences beside the picture of an access."""

from __future__ import annotations

from collections.abc import Sequence

from grader.records import Memory, Operation, WarpAccess

_DOES = {
    Operation.LOAD: ("load", "from"),
    Operation.STORE: ("store", "to"),
    Operation.ATOMIC: ("atomic", "on"),
}
_MOST_NAMED = 4


def describe_cost(access: WarpAccess) -> str:
    """`a warp's load from tile[32][32] takes 32 wavefronts where 1 would do`."""
    what, preposition = _DOES[access.operation]
    memory = "shared memory" if access.memory is Memory.SHARED else "global memory"
    head = f"a warp's {what} {preposition} {access.array or memory}"
    if access.memory is Memory.SHARED:
        wavefronts = "wavefront" if access.passes == 1 else "wavefronts"
        return f"{head} takes {access.passes} {wavefronts} where {access.passes_ideal} would do"
    sectors = "sector" if access.passes == 1 else "sectors"
    moved = f"{access.passes} {sectors}, {access.bytes_moved:,} bytes"
    cost = f"{head} moves {moved}, and uses {access.bytes_used}"
    if access.passes == access.passes_ideal:
        return cost
    return f"{cost}; {access.passes_ideal} would do"


def describe_bank(access: WarpAccess, bank: int, lanes: Sequence[int]) -> str:
    """The words of one bank, each for one of the lanes: `bank 0 holds 32 of the words, and delivers
    one per wavefront: tile[0][0], tile[1][0], ...`. For an atomic, the number of lanes at one word,
    where that takes more wavefronts."""
    if access.operation is Operation.ATOMIC and (together := _describe_collision(access)):
        return together
    if len(lanes) < 2:
        return ""
    names = [access.elements[lane] or f"byte {access.addresses[lane]:,}" for lane in lanes]
    shown = names if len(names) <= _MOST_NAMED else [*names[: _MOST_NAMED - 1], "...", names[-1]]
    return (
        f"bank {bank} holds {len(lanes)} of the words, and delivers one per wavefront:"
        f" {', '.join(shown)}"
    )


def _describe_collision(access: WarpAccess) -> str:
    """`20 lanes update bins[3], one at a time`, where each lane has a wavefront of its own."""
    lanes: dict[int, list[int]] = {}
    for lane, address in enumerate(access.addresses):
        if address is not None:
            lanes.setdefault(address, []).append(lane)
    together = max(lanes.values(), key=len)
    served = {number for number, each in enumerate(access.wavefronts) if set(each) & set(together)}
    if len(together) < 2 or len(served) < len(together):
        return ""
    name = access.elements[together[0]] or f"byte {access.addresses[together[0]]:,}"
    return f"{len(together)} lanes update {name}, one at a time"


def describe_warp(access: WarpAccess) -> str:
    """`block (0, 0, 0), warp 3: lane 0 is thread (0, 3, 0)`."""
    first = next(lane for lane, address in enumerate(access.addresses) if address is not None)
    thread = access.thread(first)
    launch = f"launch {access.launch}, " if access.launch > 1 else ""
    return f"{launch}block {access.block}, warp {access.warp}: lane {first} is thread {thread}"


def describe_lanes(access: WarpAccess, lanes: Sequence[int]) -> str:
    """`lane 5, thread (5, 0, 0): tile[5][0], byte 640 of shared memory`, for lanes that read the
    same word."""
    first, address = lanes[0], access.addresses[lanes[0]]
    name = access.elements[first]
    named = f"{name}, " if name else ""
    where = f"byte {address:,}" if access.memory is Memory.SHARED else f"address {address:#x}"
    if len(lanes) == 1:
        return f"lane {first}, thread {access.thread(first)}: {named}{where}"
    return f"lanes {_list_ranges(lanes)}: {named}{where}"


def _list_ranges(lanes: Sequence[int]) -> str:
    """`0 to 7, 16`."""
    parts: list[list[int]] = []
    for lane in sorted(lanes):
        if parts and lane == parts[-1][-1] + 1:
            parts[-1].append(lane)
        else:
            parts.append([lane])
    return ", ".join(
        str(part[0]) if len(part) == 1 else f"{part[0]} to {part[-1]}" for part in parts
    )
