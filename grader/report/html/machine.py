"""Machine code on a page, beside the source: bars of the modelled cycles of each line, and its
instructions, folded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from grader.messages.sizes import list_sizes
from grader.messages.warp_states import (
    LEAST_SHARE,
    STATE_WORDS,
    describe_states,
    order_states,
    sum_states,
)
from grader.records import LineCycles, MachineWork
from grader.report.machine_rows import CodeRow, KernelCode, group_code


@dataclass(frozen=True)
class MachineLine:
    """The parts beside and below a source line: its share of the cycles with a bar, and its
    instructions with the title of the fold. `kernels` are the rows by kernel; a name is set where
    there are several kernels."""

    share: str
    bar: Markup
    summary: str
    kernels: tuple[tuple[str, tuple[CodeRow, ...]], ...]
    hot: bool


@dataclass(frozen=True)
class Machine:
    """Machine code on a page. `timed`: there are bars. `legend` lists the states with at least a
    hundredth of the cycles: class, share, name, meaning."""

    lines: Mapping[int | None, MachineLine]
    timed: bool
    legend: Sequence[tuple[str, str, str, str]]
    note: str


def make_machine(work: MachineWork | None) -> Machine | None:
    """The machine code by source line; None where it was not requested."""
    if work is None or not (work.listings or work.lines):
        return None
    kernels = group_code(work.listings) if _is_listed(work) else []
    total = sum_states(work.lines)
    whole = sum(total.values())
    cycles = {line.line: line for line in work.lines}
    largest = max((line.cycles for line in work.lines), default=0.0)
    listed = (group.line for kernel in kernels for group in kernel.groups)
    lines = {
        number: _make_line(number, cycles.get(number), kernels, whole, largest)
        for number in dict.fromkeys([*cycles, *listed])
    }
    legend = [
        (state.value, f"{100 * part / whole:.0f} %", words.name, words.meaning)
        for state, part in total.items()
        for words in [STATE_WORDS[state]]
        if part >= LEAST_SHARE * whole
    ]
    return Machine(lines, timed=whole > 0, legend=legend, note=_describe(work))


def _is_listed(work: MachineWork) -> bool:
    """Whether the instructions were counted; otherwise only their cycles by line were requested."""
    return any(
        each.executed is not None for kernel in work.listings for each in kernel.instructions
    )


def _describe(work: MachineWork) -> str:
    counted = f" Executions are those at {list_sizes(work.sizes)}." if work.sizes else ""
    if not work.lines:
        return counted.strip()
    sizes = f" at {list_sizes(work.modelled_sizes)}" if work.modelled_sizes else ""
    return f"Cycles of warps are modelled{sizes}, and named as Nsight Compute does.{counted}"


def _make_line(
    number: int | None,
    cycles: LineCycles | None,
    kernels: Sequence[KernelCode],
    whole: float,
    largest: float,
) -> MachineLine:
    found = [
        (kernel.listing.kernel, group)
        for kernel in kernels
        for group in kernel.groups
        if group.line == number
    ]
    count = sum(len(group.rows) for _, group in found)
    share = cycles.cycles / whole if cycles is not None and whole else 0.0
    words = [f"{count} instruction{'s' if count > 1 else ''}"]
    if cycles is not None and share >= LEAST_SHARE:
        words.append(f"{100 * share:.0f} % of the cycles: {describe_states(cycles.states)}")
    return MachineLine(
        f"{100 * share:.0f} %" if share >= LEAST_SHARE else "",
        Markup("") if cycles is None or share < LEAST_SHARE else draw_bar(cycles, largest),
        ", ".join(words) if count else "",
        tuple((name if len(kernels) > 1 else "", group.rows) for name, group in found),
        any(group.hot for _, group in found),
    )


def draw_bar(line: LineCycles, largest: float) -> Markup:
    """A bar of the states of a line; its length is relative to the line with the most cycles."""
    parts, at = [], 0.0
    for state, cycles in order_states(line.states).items():
        width = 100 * cycles / largest
        tip = f"{STATE_WORDS[state].name} {100 * cycles / line.cycles:.0f} %"
        parts.append(
            f'<rect class="{state.value}" x="{at:.2f}" width="{width:.2f}" height="8">'
            f"<title>{escape(tip)}</title></rect>"
        )
        at += width
    words = escape(describe_states(line.states))
    return Markup(
        f'<svg class="bar states" viewBox="0 0 100 8" preserveAspectRatio="none" role="img"'
        f' aria-label="{words}">{"".join(parts)}</svg>'
    )
