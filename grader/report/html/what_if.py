"""The effects of fixes on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.messages.what_if import (
    EXPLANATION,
    describe_best,
    format_effect,
    format_gain,
    name_mend,
    tell_none,
    tell_others,
)
from grader.records import MendEffect, Score, TriedMend
from grader.report.text import clean_line, clean_text
from grader.report.what_if import AS_IT_IS, label_effects, list_code, shown_mends


@dataclass(frozen=True)
class MendRow:
    name: str
    effects: Sequence[str]
    gain: str
    code: str = ""


@dataclass(frozen=True)
class WhatIfSection:
    best: str
    labels: Sequence[str]
    mends: Sequence[MendRow]
    note: str


def make_what_if(score: Score) -> WhatIfSection | None:
    """The section; None where no fixes were requested."""
    what_if = score.what_if
    if what_if is None:
        return None
    others = tell_others(what_if)
    if not what_if.mends:
        return WhatIfSection(tell_none(what_if), (), (), others)
    labels = [clean_line(label) for label in label_effects(what_if.effects, score.checks)]
    rows = [
        MendRow(AS_IT_IS, _format(what_if.effects), ""),
        *(_make_row(mend) for mend in shown_mends(what_if)),
    ]
    best = clean_line(describe_best(what_if, score.checks))
    return WhatIfSection(best, labels, rows, f"{EXPLANATION} {others}")


def _make_row(mend: TriedMend) -> MendRow:
    code = clean_text("\n".join(list_code(mend)))
    name = clean_line(name_mend(mend))
    return MendRow(name, _format(mend.effects), format_gain(mend.gain), code)


def _format(effects: Sequence[MendEffect]) -> list[str]:
    return [format_effect(effect) for effect in effects]
