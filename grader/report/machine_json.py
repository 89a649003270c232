"""Machine code, and the cycles of warps, as JSON types."""

from __future__ import annotations

from grader.records import CodeInstruction, CodeListing, LineCycles, MachineWork, States


def plain_machine(work: MachineWork) -> dict[str, object]:
    """All fields without times: cycles are whole numbers, by line where they were modelled."""
    kernels = [
        {"kernel": each.kernel, "launches": each.launches, "instructions": plain_code(each)}
        for each in work.listings
    ]
    return {"kernels": kernels} | (plain_lines(work) if work.lines else {})


def plain_lines(work: MachineWork) -> dict[str, object]:
    """The cycles of each source line, and the sizes at which they were modelled."""
    lines = [_plain_line(each) for each in work.lines]
    return {"modelled_sizes": dict(work.modelled_sizes), "lines": lines}


def plain_code(listing: CodeListing) -> list[dict[str, object]]:
    """The instructions in the order of the code; `executed` is left out where nothing was counted,
    `states` and `awaited` where nothing was modelled."""
    return [_plain_instruction(each) for each in listing.instructions]


def _plain_instruction(each: CodeInstruction) -> dict[str, object]:
    control = each.control
    plain: dict[str, object] = {
        "offset": each.offset,
        "text": each.text,
        "line": each.line,
        "stall_cycles": control.stall_cycles,
        "yields": control.yields,
        "writes": control.writes,
        "reads": control.reads,
        "waits": list(control.waits),
        "waits_for": list(each.waits_for),
    }
    if each.executed is not None:
        plain["executed"] = each.executed
    if each.states or each.awaited:
        plain |= {"states": _plain_states(each.states), "awaited": round(each.awaited)}
    return plain


def _plain_line(each: LineCycles) -> dict[str, object]:
    return {"line": each.line, "states": _plain_states(each.states)}


def _plain_states(states: States) -> dict[str, int]:
    return {state.value: round(cycles) for state, cycles in states.items()}
