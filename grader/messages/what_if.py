"""Sentences on the effects of fixes: the fix, its figures, and the fixes that were tried."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from grader.metrics import METRICS, format_value
from grader.records import CheckResult, FixEffect, FixKind, TriedFix, WhatIf

EXPLANATION = (
    "The grader rewrote your file in these ways, each compiled, run on the public cases and counted"
    " like a submission. Your points stay as they are."
)


def name_fix(fix: TriedFix) -> str:
    """The fix in few words: `tile: rows of 33, not 32`."""
    what = _NAMES[fix.kind](fix)
    return f"{fix.name}: {what}" if fix.name else what


def describe_best(what_if: WhatIf, checks: Sequence[CheckResult]) -> str:
    """The best fix and its gain in a sentence, beside others of its kind; empty where none improves
    the score."""
    if not what_if.fixes:
        return ""
    best = what_if.fixes[0]
    alike = [
        fix
        for fix in what_if.fixes[1:]
        if (fix.kind, fix.name, fix.line) == (best.kind, best.name, best.line)
        and fix.effects != best.effects
    ]
    figures = [f"With {name_fix(best)}: {_list_effects(best, checks)}"]
    figures += [f"with {_NAMES[fix.kind](fix)}: {_list_effects(fix, checks)}" for fix in alike]
    return "; ".join(figures[:2]) + "."


def format_effect(effect: FixEffect) -> str:
    """A value with its verdict after the fix: `✓ 85.1 %`."""
    if effect.value is None:
        return "–"
    return f"{effect.status.row.glyph} {format_value(effect.metric, effect.value)}"


def format_gain(gain: float) -> str:
    """Points more or less: `+26.5`, `0`."""
    return f"{gain:+g}" if gain else "0"


def describe_other_fixes(what_if: WhatIf) -> str:
    """The results of the fixes that are not shown, and the device that counted: a sentence or
    two."""
    kinds = (
        (what_if.no_better, "is no better", "are no better"),
        (what_if.broken, "is not right", "are not right"),
        (what_if.untried, "was not tried for want of time", "were not tried for want of time"),
    )
    parts = [f"{count} {one if count == 1 else more}" for count, one, more in kinds if count]
    others = f"Of other fixes, {_join(parts)}. " if parts else ""
    modelled = any(fix.time_ms is not None for fix in what_if.fixes)
    did = "Counted and modelled" if modelled else "Counted"
    return f"{others}{did} for {what_if.device}, in {what_if.seconds:.0f} s."


def describe_no_fix(what_if: WhatIf) -> str:
    """The fixes that were tried, where none improves the score."""
    tried = what_if.broken + what_if.no_better
    return f"None of {tried} fixes that the grader knows brings a check nearer to its goal."


def _list_effects(fix: TriedFix, checks: Sequence[CheckResult]) -> str:
    labels = {check.name: check.headline or check.title for check in checks}
    parts = [
        _describe_effect(effect, labels.get(effect.check, effect.check))
        for effect in fix.effects
        if effect.value is not None
    ]
    return ", ".join(parts)


def _describe_effect(effect: FixEffect, label: str) -> str:
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


def _axes(fix: TriedFix) -> str:
    if not fix.was or fix.was[0] == fix.was[1]:
        return "x and y exchanged, in the launch too"
    kept = "kept" if fix.was == fix.now else f"turned to {_shape(fix.now)}"
    return f"x and y exchanged, in the grid too, the block's {_shape(fix.was)} threads {kept}"


_NAMES: Mapping[FixKind, Callable[[TriedFix], str]] = {
    FixKind.ROW_LENGTH: lambda fix: f"rows of {fix.now[0]}, not {fix.was[0]}",
    FixKind.SWIZZLE: lambda fix: "columns permuted in each row (an exclusive or)",
    FixKind.ARRAY_AXES: lambda fix: "rows and columns exchanged",
    FixKind.AXES: _axes,
    FixKind.THREAD_AXES: lambda fix: "threadIdx.x and threadIdx.y exchanged",
    FixKind.STATEMENT_AXES: lambda fix: f"line {fix.line}: x and y of the thread exchanged",
    FixKind.DIVISION_AXES: lambda fix: "/ and % of the thread's number exchanged",
    FixKind.BLOCK_SHAPE: lambda fix: f"blocks of {_shape(fix.now)} threads, not {_shape(fix.was)}",
    FixKind.VECTORS: lambda fix: f"float4 in the loop of line {fix.line}",
}
