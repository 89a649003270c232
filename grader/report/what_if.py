"""The effects of fixes on a terminal: a table, and the code where the exercise shows it."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from grader.messages.what_if import (
    EXPLANATION,
    describe_best,
    describe_no_fix,
    describe_other_fixes,
    format_effect,
    format_gain,
    name_fix,
)
from grader.records import CheckResult, FixEffect, Score, TriedFix, WhatIf
from grader.report.terminal import Page
from grader.report.text import clean_line

MOST_SHOWN = 6
_TABLE_WIDTH = 70
"""Below this many columns the table becomes a list."""
_MOST_CODE = 24
"""Most lines of the best fix's code."""
AS_IT_IS = "as it is"
NO_FIX = "no fix that the grader knows applies to this file"
NOT_SHOWN = "this exercise does not show the effect of fixes"
NOTHING_LOST = "no check lost points that a fix could win back"
"""The reasons for a missing report."""


def print_what_if(score: Score, *, console: Console) -> None:
    """Print the effects of the score's fixes; nothing where none were requested."""
    what_if, page = score.what_if, Page(console)
    if what_if is None:
        return
    page.write_heading("What if")
    if not what_if.fixes:
        page.write(describe_no_fix(what_if), indent=2)
        return
    page.write(describe_best(what_if, score.checks), indent=2)
    page.console.print()
    if page.console.width < _TABLE_WIDTH:
        _print_list(what_if, score.checks, page)
    else:
        _print_table(what_if, score.checks, page)
    page.console.print()
    page.write(EXPLANATION, indent=2, style="dim")
    page.write(describe_other_fixes(what_if), indent=2, style="dim")
    _print_code(what_if.fixes[0], page)


def shown_fixes(what_if: WhatIf) -> Sequence[TriedFix]:
    """The fixes that fit in a report."""
    return what_if.fixes[:MOST_SHOWN]


def label_effects(effects: Sequence[FixEffect], checks: Sequence[CheckResult]) -> list[str]:
    """The names of the checks with effects."""
    labels = {check.name: check.headline or check.title for check in checks}
    return [labels.get(effect.check, effect.check) for effect in effects]


def list_code(fix: TriedFix) -> list[str]:
    """The lines that a fix changes, before and after; none where the exercise hides them."""
    return [
        f"{change.line + offset:>5} {mark} {text}"
        for change in fix.code
        for mark, texts in (("-", change.before), ("+", change.after))
        for offset, text in enumerate(texts)
    ]


def _print_table(what_if: WhatIf, checks: Sequence[CheckResult], page: Page) -> None:
    table = page.make_table()
    table.add_column("Fix")
    for label in label_effects(what_if.effects, checks):
        table.add_column(page.text(label), justify="right", overflow="fold", max_width=18)
    table.add_column("Points", justify="right")
    effects = map(page.text, map(format_effect, what_if.effects))
    table.add_row(AS_IT_IS, *effects, "", style="dim")
    for fix in shown_fixes(what_if):
        effects = map(page.text, map(format_effect, fix.effects))
        table.add_row(page.text(name_fix(fix)), *effects, format_gain(fix.gain))
    page.console.print(table)


def _print_list(what_if: WhatIf, checks: Sequence[CheckResult], page: Page) -> None:
    labels = label_effects(what_if.effects, checks)

    def join(effects: Sequence[FixEffect]) -> str:
        pairs = zip(labels, effects, strict=True)
        return ", ".join(f"{label} {format_effect(effect)}" for label, effect in pairs)

    page.write(f"{AS_IT_IS}: {join(what_if.effects)}", indent=2, hanging=2)
    for fix in shown_fixes(what_if):
        gain = format_gain(fix.gain)
        page.write(f"{name_fix(fix)}: {join(fix.effects)}; points {gain}", indent=2, hanging=2)


def _print_code(fix: TriedFix, page: Page) -> None:
    """The changed lines of the best fix, where the exercise shows them."""
    lines = list_code(fix)
    if not lines:
        return
    page.write_heading(f"The code of: {name_fix(fix)}")
    for line in lines[:_MOST_CODE]:
        page.write_verbatim(line.rstrip(), indent=2)
    if len(lines) > _MOST_CODE:
        more = f"... and {len(lines) - _MOST_CODE} more lines: --json FILE keeps them all"
        page.write(clean_line(more), indent=2, style="dim")
