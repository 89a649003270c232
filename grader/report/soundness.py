"""The report of `grade check` for the author: the proven claims, and the claims that this device
cannot prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rich.console import Console
from rich.text import Text

from grader.report.ending import write_ending
from grader.report.terminal import Page


class Proof(StrEnum):
    """The result of a claim about an exercise; `open`: this device cannot decide it."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True)
class Claim:
    """A claim about an exercise, and the result; `details` has a line for each problem."""

    subject: str
    claim: str
    proof: Proof
    found: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Margin:
    """The margins of one check's goal to the reference and to the starter, in words and figures."""

    check: str
    goal: str
    reference: str
    starter: str
    margin: str
    proof: Proof


class Fate(StrEnum):
    """The fate of a mutant. An exercise must have no `survived` mutant."""

    CAUGHT = "caught"
    SURVIVED = "survived"
    ACCEPTED = "accepted"
    IDENTICAL = "identical"
    UNKNOWN = "unknown"
    NO_PROGRAM = "no program"


@dataclass(frozen=True)
class MutantFate:
    """A mutant of the reference: its line, its change, and the case that caught it, or the reason
    why none did."""

    line: int
    mistake: str
    change: str
    fate: Fate
    why: str


@dataclass(frozen=True)
class Soundness:
    """The results for an exercise. `mutants` is None where they were not tried."""

    exercise: str
    device: str
    claims: tuple[Claim, ...]
    margins: tuple[Margin, ...] = ()
    mutants: tuple[MutantFate, ...] | None = None

    @property
    def sound(self) -> bool:
        """Whether no claim failed and no goal has too small a margin."""
        proofs = {each.proof for each in self.claims} | {each.proof for each in self.margins}
        return Proof.FAILS not in proofs


_GLYPHS = {Proof.HOLDS: "✓", Proof.FAILS: "✗", Proof.OPEN: "–"}
_STYLES = {Proof.HOLDS: "green", Proof.FAILS: "red", Proof.OPEN: "yellow"}
_FATES = {
    Fate.CAUGHT: Proof.HOLDS,
    Fate.SURVIVED: Proof.FAILS,
    Fate.ACCEPTED: Proof.OPEN,
    Fate.IDENTICAL: Proof.HOLDS,
    Fate.UNKNOWN: Proof.OPEN,
    Fate.NO_PROGRAM: Proof.OPEN,
}

_MARGIN_TITLES = ("Check", "Goal", "Reference", "Starter", "Margin")
_MUTANT_TITLES = ("Line", "Mutant of the reference", "Change", "Fate", "Found by")


def print_soundness(found: Soundness, *, console: Console, all_mutants: bool = True) -> None:
    """Print the claims, the margins of the thresholds, the mutants, and the verdict."""
    page = Page(console)
    margins = [
        ((each.check, each.goal, each.reference, each.starter, each.margin), each.proof)
        for each in found.margins
    ]
    _write_table(page, "Margins of the goals", _MARGIN_TITLES, margins)
    mutants = [
        ((str(each.line), each.mistake, each.change, each.fate.value, each.why), _FATES[each.fate])
        for each in found.mutants or ()
        if all_mutants or each.fate not in (Fate.CAUGHT, Fate.NO_PROGRAM)
    ]
    _write_table(page, "Mutants of the reference", _MUTANT_TITLES, mutants)
    _write_claims(page, found.claims)
    _write_ending(found, page)


def _write_ending(found: Soundness, page: Page) -> None:
    wrong = [f"{each.subject}: {each.found}" for each in found.claims if each.proof is Proof.FAILS]
    wrong += [f"{each.check}: {each.margin}" for each in found.margins if each.proof is Proof.FAILS]
    open_ = [claim.subject for claim in found.claims if claim.proof is Proof.OPEN]
    if wrong:
        result = f"{found.exercise} is not sound: {len(wrong)} to fix"
        write_ending(page, f"Result: {result}", wrong[0], "above, in red or marked ✗")
        return
    step = f"grade handout {found.exercise} -o {found.exercise}.zip"
    if open_:
        step = f"prove the open claims: {', '.join(open_)}"
    result = f"{found.exercise} is sound{', as far as this device decides' if open_ else ''}"
    write_ending(page, f"Result: {result}", step, f"above, on {found.device}")


def _write_table(
    page: Page,
    title: str,
    titles: Sequence[str],
    rows: Sequence[tuple[tuple[str, ...], Proof]],
) -> None:
    """A table of cells; the last cell has the colour of the proof."""
    if rows:
        page.write_whole(title, style="bold")
        styled: list[list[str | Text]] = [
            [*cells[:-1], page.text(cells[-1], _STYLES[proof])] for cells, proof in rows
        ]
        page.write_table(titles, styled, right=())
        page.write_whole("")


def _write_claims(page: Page, claims: Sequence[Claim]) -> None:
    width = max(len(claim.subject) for claim in claims)
    for claim in claims:
        head = page.clean(f"{_GLYPHS[claim.proof]} {claim.subject}")
        page.write_whole(
            f"{claim.claim}: {claim.found}",
            style=_STYLES[claim.proof],
            indent=head + " " * (width - len(claim.subject) + 2),
        )
        for detail in claim.details:
            page.write_whole(detail, indent=" " * 6)
