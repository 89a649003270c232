"""The work of a program's machine code: its instructions with their control bits, executions and
modelled cycles, and the cycles by source line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.records import (
    CodeInstruction,
    CodeListing,
    Execution,
    Kernel,
    LaunchResult,
    LineCycles,
    MachineWork,
    Program,
    SassInstruction,
    SimulatedLaunch,
    WarpState,
)
from grader.sass import Control, read_control


@dataclass
class _Did:
    """Sums over the launches of a kernel, by the indices of its instructions."""

    launches: int = 0
    executed: list[int] | None = None
    cycles: dict[int, dict[WarpState, float]] = field(default_factory=dict)
    awaited: dict[int, float] = field(default_factory=dict)


def combine_machine_work(
    counted: tuple[Program, Execution] | None,
    sizes: Mapping[str, int],
    modelled: tuple[Program, Execution] | None,
    modelled_sizes: Mapping[str, int],
) -> MachineWork:
    """Combines the counted run and the modelled run, which may be the same run. Each is a program,
    of the same machine code, with its result."""
    kernels: dict[str, Kernel] = {}
    did: dict[str, _Did] = {}
    for kernel, launch in _launches(counted):
        kernels[kernel.symbol] = kernel
        _count(did.setdefault(kernel.symbol, _Did()), launch)
    simulated = []
    for kernel, launch in _launches(modelled):
        kernels[kernel.symbol] = kernel
        if launch.cycles is not None:
            _add_cycles(did.setdefault(kernel.symbol, _Did(launches=1)), launch)
            simulated.append(SimulatedLaunch(kernel.name, launch.cycles))
    listings = tuple(_list(kernels[symbol], each) for symbol, each in did.items())
    return MachineWork(
        listings,
        dict(sizes),
        _sum_lines(listings),
        dict(modelled_sizes) if simulated else {},
        tuple(each for each in simulated if each.cycles.spans),
    )


def list_kernel(kernel: Kernel) -> CodeListing:
    """A kernel's machine code without counts."""
    controls = [
        read_control(kernel.encoding, index) if kernel.encoding else _NO_CONTROL
        for index in range(len(kernel.instructions))
    ]
    setters = _find_setters(controls)
    rows = zip(kernel.instructions, controls, setters, strict=True)
    return CodeListing(
        kernel.name,
        tuple(
            CodeInstruction(each.offset, _format(each), each.line, control, waited)
            for each, control, waited in rows
        ),
    )


_NO_CONTROL = Control(0, False, None, None, (), 0)


def _launches(run: tuple[Program, Execution] | None) -> Iterator[tuple[Kernel, LaunchResult]]:
    if run is None:
        return
    program, execution = run
    kernels = {kernel.symbol: kernel for kernel in program.binary.kernels}
    # a run may end before its last launch
    for launch, result in zip(program.launches, execution.launches, strict=False):
        yield kernels[launch.symbol], result


def _count(did: _Did, launch: LaunchResult) -> None:
    did.launches += 1
    if launch.executed:
        before = did.executed or [0] * len(launch.executed)
        did.executed = [a + b for a, b in zip(before, launch.executed, strict=True)]


def _add_cycles(did: _Did, launch: LaunchResult) -> None:
    assert launch.cycles is not None
    scale = launch.cycles.scale
    for row in launch.cycles.instructions:
        states = did.cycles.setdefault(row.index, {})
        for state, cycles in zip(WarpState, row.cycles, strict=True):
            if cycles:
                states[state] = states.get(state, 0.0) + scale * cycles
        did.awaited[row.index] = did.awaited.get(row.index, 0.0) + scale * row.awaited


def _list(kernel: Kernel, did: _Did) -> CodeListing:
    listing = list_kernel(kernel)
    return replace(
        listing,
        launches=did.launches,
        instructions=tuple(
            replace(
                each,
                executed=None if did.executed is None else did.executed[index],
                states=did.cycles.get(index, {}),
                awaited=did.awaited.get(index, 0.0),
            )
            for index, each in enumerate(listing.instructions)
        ),
    )


def _sum_lines(listings: Iterable[CodeListing]) -> tuple[LineCycles, ...]:
    """The cycles of each line that has any, in the file's order; code from headers comes last."""
    lines: dict[int | None, dict[WarpState, float]] = {}
    for each in (each for listing in listings for each in listing.instructions if each.states):
        states = lines.setdefault(each.line, {})
        for state, cycles in each.states.items():
            states[state] = states.get(state, 0.0) + cycles
    ordered = sorted(lines, key=lambda line: (line is None, line or 0))
    return tuple(LineCycles(line, lines[line]) for line in ordered)


def _find_setters(controls: Sequence[Control]) -> list[tuple[int, ...]]:
    """For each instruction the instructions that set the scoreboards it waits for, in the order of
    the code: all since the previous wait, because a scoreboard counts. At the start of the code
    these are the instructions at its end, for loops."""
    known: dict[int, list[int]] = {}
    for _ in range(2):  # the second time with the scoreboards that are set at the end
        found = []
        waited = set[int]()
        for index, control in enumerate(controls):
            waited |= set(control.waits)
            setters = {each for board in control.waits for each in known.get(board, ())}
            found.append(tuple(sorted(setters)))
            for board in control.sets:
                if board in waited or any(each >= index for each in known.get(board, ())):
                    known[board] = []
                    waited.discard(board)
                known.setdefault(board, []).append(index)
    return found


def _format(instruction: SassInstruction) -> str:
    parts = (instruction.predicate, instruction.opcode, instruction.operands)
    return " ".join(part for part in parts if part)
