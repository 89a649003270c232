"""The fixes for each cause of lost points: one row for each kind."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from grader.fixes.arrays import exchanged_subscripts, other_row_lengths, swizzles
from grader.fixes.blocks import other_blocks
from grader.fixes.exchanges import (
    exchanged_axes,
    exchanged_divisions,
    exchanged_statements,
    exchanged_threads,
)
from grader.fixes.text import FixText
from grader.fixes.vectors import loads_of_four
from grader.metrics import METRICS, Shows
from grader.records import CodeChange, Counters, Edit, Fix, FixKind

_LONGEST_TEXT = 50_000
"""Characters: longer files get no fixes, since not all searches take linear time."""
_MOST_FIXES = 64
_POOR_EFFICIENCY = 0.8
"""An efficiency of sectors below this contributes to a slow kernel."""


class Weakness(StrEnum):
    """The weakness by which a check lost its points, the same on every GPU."""

    CONFLICTS = "conflicts"
    SECTORS = "sectors"
    SHAPE = "shape"


@dataclass(frozen=True)
class FixRow:
    """The function that finds the fixes of a kind, the likely ones first, and the causes that they
    address."""

    find: Callable[[FixText], Iterator[Fix]]
    serves: frozenset[Weakness]


_CONFLICTS, _SECTORS, _SHAPE = (frozenset({cause}) for cause in Weakness)
ROWS: Sequence[FixRow] = (
    FixRow(exchanged_axes, _SECTORS),
    FixRow(other_row_lengths, _CONFLICTS),
    FixRow(exchanged_statements, _SECTORS | _CONFLICTS),
    FixRow(exchanged_threads, _SECTORS | _CONFLICTS),
    FixRow(exchanged_divisions, _SECTORS | _CONFLICTS),
    FixRow(swizzles, _CONFLICTS),
    FixRow(exchanged_subscripts, _CONFLICTS),
    FixRow(loads_of_four, _SHAPE),
    FixRow(other_blocks, _SECTORS | _SHAPE),
)
ABOUT_TIME = frozenset({FixKind.VECTORS, FixKind.BLOCK_SHAPE})
"""The kinds whose effect only times show."""


def find_causes(lost: Collection[str], counters: Counters) -> frozenset[Weakness]:
    """The possible causes for lost points in checks of these metrics, by the counters of a run."""
    causes = {cause for metric in lost for cause in _CAUSES.get(METRICS[metric].shows, ())}
    if Weakness.SHAPE in causes:
        if counters.shared_wavefronts_excessive:
            causes.add(Weakness.CONFLICTS)
        efficiencies = (counters.global_load_efficiency, counters.global_store_efficiency)
        if any(each is not None and each < _POOR_EFFICIENCY for each in efficiencies):
            causes.add(Weakness.SECTORS)
    return frozenset(causes)


_CAUSES: dict[Shows, tuple[Weakness, ...]] = {
    Shows.BANK_CONFLICTS: (Weakness.CONFLICTS,),
    Shows.WAVEFRONTS: (Weakness.CONFLICTS,),
    Shows.WASTED_LOADS: (Weakness.SECTORS,),
    Shows.WASTED_STORES: (Weakness.SECTORS,),
    Shows.LOADS: (Weakness.SECTORS, Weakness.SHAPE),
    Shows.STORES: (Weakness.SECTORS, Weakness.SHAPE),
    Shows.INSTRUCTIONS: (Weakness.SHAPE,),
    Shows.SLOWNESS: (Weakness.SHAPE,),
}
"""By the part of a run that a metric's hint shows."""


def find_fixes(text: FixText, causes: Collection[Weakness]) -> list[Fix]:
    """The fixes for these causes, the first of each kind before the second; each text once."""
    if len(text.source) > _LONGEST_TEXT:
        return []
    found = [row.find(text) for row in ROWS if row.serves & set(causes)]
    texts = {text.source}
    fixes = []
    every = itertools.chain.from_iterable(itertools.zip_longest(*found))
    for fix in itertools.islice(every, _MOST_FIXES):
        if fix is not None and (rewritten := apply_edits(text.source, fix.edits)) not in texts:
            texts.add(rewritten)
            fixes.append(fix)
    return fixes


def apply_edits(source: str, edits: Sequence[Edit]) -> str:
    """The source after all edits, which refer to the original text and do not overlap."""
    parts, at = [], 0
    for start, end, text in sorted(set(edits)):
        parts += [source[at:start], text]
        at = end
    return "".join([*parts, source[at:]])


def list_changes(source: str, edits: Sequence[Edit]) -> tuple[CodeChange, ...]:
    """The lines that edits change, before and after; edits of one line together."""
    groups: list[list[Edit]] = []
    for edit in sorted(set(edits)):
        if groups and "\n" not in source[groups[-1][-1].end : edit.start]:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    return tuple(_describe_group(source, group) for group in groups)


def _describe_group(source: str, group: Sequence[Edit]) -> CodeChange:
    start = source.rfind("\n", 0, group[0].start) + 1
    end = source.find("\n", group[-1].end)
    end = len(source) if end < 0 else end
    before = source[start:end]
    after = apply_edits(before, [Edit(a - start, b - start, text) for a, b, text in group])
    line = source.count("\n", 0, start) + 1
    return CodeChange(line, tuple(before.split("\n")), tuple(after.split("\n")))
