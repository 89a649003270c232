"""A kernel's machine code in groups, one for each source line, with its hot instructions: rows for
any renderer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from grader.messages.warp_states import STATE_WORDS
from grader.records import CodeInstruction, CodeListing, States

HOT_CYCLES = 0.05
"""An instruction is hot if warps spend at least this fraction of all modelled cycles at it."""
HOT_EXECUTED = 2.0
"""Without a model: if it is executed at least this many times as often as the average."""
MOST_CAUSES = 2
"""Most causes of waiting that are named."""


@dataclass(frozen=True)
class CodeGroup:
    """The instructions of one source line in the order of the code; `line` None: of headers."""

    line: int | None
    rows: tuple[CodeRow, ...]

    @property
    def hot(self) -> bool:
        return any(row.hot for row in self.rows)

    @property
    def share(self) -> float | None:
        """Of all modelled cycles; None without a model."""
        shares = [row.share for row in self.rows if row.share is not None]
        return sum(shares) if shares else None


@dataclass(frozen=True)
class CodeRow:
    """An instruction with its `share` of all modelled cycles of the program, None without a model.
    `waits_for` names the instructions that set the scoreboards for which it waits; `note` gives the
    main stall of a hot instruction."""

    code: CodeInstruction
    share: float | None
    hot: bool
    waits_for: str
    note: str

    @property
    def text(self) -> str:
        """The instruction with a space behind each comma."""
        return self.code.text.replace(",", ", ")

    @property
    def percent(self) -> str:
        """The share in per cent, with a digit behind the point below ten; empty below a
        thousandth."""
        share = self.share or 0.0
        if share < 0.001:
            return ""
        return f"{100 * share:.0f} %" if share >= 0.0995 else f"{100 * share:.1f} %"

    @property
    def sets(self) -> str:
        """The scoreboards that it sets: `W0 R1`."""
        control = self.code.control
        named = (("W", control.writes), ("R", control.reads))
        return " ".join(f"{letter}{board}" for letter, board in named if board is not None)

    @property
    def waits(self) -> str:
        """The scoreboards that it waits for: `0,3`."""
        return ",".join(map(str, self.code.control.waits))

    @property
    def yields(self) -> str:
        return "Y" if self.code.control.yields else ""


@dataclass(frozen=True)
class KernelCode:
    """A kernel's groups in the order of the file, code of headers last. `padding` counts the
    omitted instructions at its end, which fill up the last line of the instruction cache."""

    listing: CodeListing
    groups: tuple[CodeGroup, ...]
    padding: int

    @cached_property
    def counted(self) -> bool:
        return any(each.executed is not None for each in self.listing.instructions)

    @cached_property
    def modelled(self) -> bool:
        return any(row.share is not None for group in self.groups for row in group.rows)


def group_code(listings: Iterable[CodeListing]) -> list[KernelCode]:
    """Each kernel's code by source line."""
    known = list(listings)
    whole = sum(each.cycles for listing in known for each in listing.instructions)
    return [_group(listing, whole) for listing in known]


def _group(listing: CodeListing, whole: float) -> KernelCode:
    code = listing.instructions
    kept = len(code)
    while kept > 1 and _is_padding(code[kept - 1]):
        kept -= 1
    executed = sum(each.executed or 0 for each in code) / max(1, kept)
    rows: dict[int | None, list[CodeRow]] = {}
    for each in code[:kept]:
        rows.setdefault(each.line, []).append(_make_row(each, code, whole, executed))
    ordered = sorted(rows, key=lambda line: (line is None, line or 0))
    groups = tuple(CodeGroup(line, tuple(rows[line])) for line in ordered)
    return KernelCode(listing, groups, len(code) - kept)


def _is_padding(each: CodeInstruction) -> bool:
    """Filler at the end of the last line of the instruction cache: NOP behind a jump to itself."""
    return each.text in ("NOP", f"BRA {each.offset:#x}")


def _make_row(
    each: CodeInstruction, code: tuple[CodeInstruction, ...], whole: float, average: float
) -> CodeRow:
    share = each.cycles / whole if whole else None
    often = bool(each.executed) and (each.executed or 0) >= HOT_EXECUTED * average
    hot = often if share is None else share >= HOT_CYCLES
    causes = ", ".join(_name(code[index], each) for index in each.waits_for[-MOST_CAUSES:])
    if len(each.waits_for) > MOST_CAUSES:
        causes = f"{len(each.waits_for) - MOST_CAUSES} more, {causes}"
    return CodeRow(each, share, hot, causes, describe(each.states) if share and hot else "")


def describe(states: States) -> str:
    """The states with at least a tenth of the cycles: `LG throttle 91 %, wait 8 %`."""
    whole = sum(states.values())
    largest = sorted(states.items(), key=lambda item: -item[1])
    return ", ".join(
        f"{STATE_WORDS[state].name} {100 * cycles / whole:.0f} %"
        for state, cycles in largest
        if cycles >= 0.1 * whole
    )


def _name(cause: CodeInstruction, waiting: CodeInstruction) -> str:
    """`LDG.E 02e0`, with its line if it differs."""
    line = "" if cause.line in (None, waiting.line) else f" (line {cause.line})"
    return f"{cause.opcode} {cause.offset:04x}{line}"
