"""Sentences on the effects of fixes: the fix, its figures, and the fixes that were tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from grader.metrics import METRICS, format_value
from grader.records import CheckResult, MendEffect, MendKind, TriedMend, WhatIf

EXPLANATION = (
    "The grader rewrote your file in these ways, each compiled, run on the public cases and counted"
    " like a submission. Your points stay as they are."
)


def name_mend(mend: TriedMend) -> str:
    """The fix in few words: `tile: rows of 33, not 32`."""
    what = _NAMES[mend.kind](mend)
    return f"{mend.name}: {what}" if mend.name else what


def describe_best(what_if: WhatIf, checks: Sequence[CheckResult]) -> str:
    """The best fix and its gain in a sentence, beside others of its kind; empty where none improves
    the score."""
    if not what_if.mends:
        return ""
    best = what_if.mends[0]
    alike = [
        mend
        for mend in what_if.mends[1:]
        if (mend.kind, mend.name, mend.line) == (best.kind, best.name, best.line)
        and mend.effects != best.effects
    ]
    figures = [f"With {name_mend(best)}: {_list_effects(best, checks)}"]
    figures += [f"with {_NAMES[mend.kind](mend)}: {_list_effects(mend, checks)}" for mend in alike]
    return "; ".join(figures[:2]) + "."


def format_effect(effect: MendEffect) -> str:
    """A value with its verdict after the fix: `✓ 85.1 %`."""
    if effect.value is None:
        return "–"
    return f"{effect.status.row.glyph} {format_value(effect.metric, effect.value)}"


def format_gain(gain: float) -> str:
    """Points more or less: `+26.5`, `0`."""
    return f"{gain:+g}" if gain else "0"


def tell_others(what_if: WhatIf) -> str:
    """The results of the fixes that are not shown, and the device that counted: a sentence or
    two."""
    kinds = (
        (what_if.no_better, "is no better", "are no better"),
        (what_if.broken, "is not right", "are not right"),
        (what_if.untried, "was not tried for want of time", "were not tried for want of time"),
    )
    parts = [f"{count} {one if count == 1 else more}" for count, one, more in kinds if count]
    others = f"Of other fixes, {_join(parts)}. " if parts else ""
    modelled = any(mend.time_ms is not None for mend in what_if.mends)
    did = "Counted and modelled" if modelled else "Counted"
    return f"{others}{did} for {what_if.device}, in {what_if.seconds:.0f} s."


def tell_none(what_if: WhatIf) -> str:
    """The fixes that were tried, where none improves the score."""
    tried = what_if.broken + what_if.no_better
    return f"None of {tried} fixes that the grader knows brings a check nearer to its goal."


def _list_effects(mend: TriedMend, checks: Sequence[CheckResult]) -> str:
    labels = {check.name: check.headline or check.title for check in checks}
    told = [
        _say_effect(effect, labels.get(effect.check, effect.check))
        for effect in mend.effects
        if effect.value is not None
    ]
    return ", ".join(told)


def _say_effect(effect: MendEffect, label: str) -> str:
    assert effect.value is not None
    value = format_value(effect.metric, effect.value)
    if METRICS[effect.metric].is_of_peak:
        return f"{value} of the peak"
    return f"{label} {value}"


def _join(parts: Sequence[str]) -> str:
    *others, last = parts
    return " and ".join([", ".join(others), last]) if others else last


def _shape(sizes: Sequence[int]) -> str:
    return " x ".join(map(str, sizes))


def _axes(mend: TriedMend) -> str:
    if not mend.was or mend.was[0] == mend.was[1]:
        return "x and y exchanged, in the launch too"
    kept = "kept" if mend.was == mend.now else f"turned to {_shape(mend.now)}"
    return f"x and y exchanged, in the grid too, the block's {_shape(mend.was)} threads {kept}"


_NAMES: Mapping[MendKind, Callable[[TriedMend], str]] = {
    MendKind.ROW_LENGTH: lambda mend: f"rows of {mend.now[0]}, not {mend.was[0]}",
    MendKind.SWIZZLE: lambda mend: "columns permuted in each row (an exclusive or)",
    MendKind.ARRAY_AXES: lambda mend: "rows and columns exchanged",
    MendKind.AXES: _axes,
    MendKind.THREAD_AXES: lambda mend: "threadIdx.x and threadIdx.y exchanged",
    MendKind.STATEMENT_AXES: lambda mend: f"line {mend.line}: x and y of the thread exchanged",
    MendKind.DIVISION_AXES: lambda mend: "/ and % of the thread's number exchanged",
    MendKind.BLOCK_SHAPE: lambda mend: (
        f"blocks of {_shape(mend.now)} threads, not {_shape(mend.was)}"
    ),
    MendKind.VECTORS: lambda mend: f"float4 in the loop of line {mend.line}",
}
