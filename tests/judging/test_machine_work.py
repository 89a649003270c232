"""What machine code did: its control bits, who sets the scoreboards that it waits for, and the cycles
of warps by source line."""

from __future__ import annotations

import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.judging.machine_work import combine_machine_work, list_kernel
from grader.records import (
    CheckedMode,
    CountingMode,
    Detail,
    Execution,
    Kernel,
    MachineWork,
    Mode,
    ModelledMode,
    SassInstruction,
    WarpState,
)
from grader.sass import Control, read_control
from tests.support.truth import LIMITS, Recorded, make_plan

SIZES = {"rows": 96, "cols": 160}
ALL = Detail(instructions=True, cycles=True, spans=2_000)


def encode(
    stall: int = 1, writes: int = 7, reads: int = 7, waits: int = 0, *, stays: bool = True
) -> bytes:
    """An instruction with these control bits and no others."""
    bits = stall | stays << 4 | writes << 5 | reads << 8 | waits << 11
    return (bits << 105).to_bytes(16, "little")


def kernel_of(*encodings: bytes) -> Kernel:
    code = tuple(SassInstruction(16 * i, None, "MOV", "R0,R1", 1) for i in range(len(encodings)))
    return Kernel("k", "k", (), 0, 8, 0, 0, None, code, encoding=b"".join(encodings))


def waits_for(*encodings: bytes) -> list[tuple[int, ...]]:
    return [each.waits_for for each in list_kernel(kernel_of(*encodings)).instructions]


def run(mode: Mode) -> tuple[MachineWork, Execution]:
    device = EmulatedDevice("h100")
    program, arrays = make_plan(Recorded("transpose_padded", SIZES, "", None), device.info)
    execution, _ = device.run(program, arrays, limits=LIMITS, mode=mode)
    assert execution.failure is None
    ran = program, execution
    modelled = ran if isinstance(mode, ModelledMode) else None
    return combine_machine_work(ran, SIZES, modelled, SIZES), execution


def test_control_bits_are_read_from_the_encoding() -> None:
    """As ptxas encodes `LDC.64 R2, c[0x0][0x210]` and `ULDC.64 UR4, c[0x0][0x208]` for sm_90, which
    CuAssembler writes as [B------:R-:W0:-:S01] and [B------:R-:W-:Y:S06]."""
    words = (0x00084FF027B82, 0x000E220000000A00, 0x0000820000047AB9, 0x000FCC0000000A00)
    code = b"".join(word.to_bytes(8, "little") for word in words)
    assert read_control(code, 0) == Control(1, False, 0, None, (), 0)
    assert read_control(code, 1) == Control(6, True, None, None, (), 0)


def test_an_instruction_waits_for_all_that_set_its_scoreboard_since_it_was_waited_for() -> None:
    sets, waits = encode(writes=2), encode(waits=1 << 2)
    assert waits_for(sets, sets, waits, sets, waits) == [(), (), (0, 1), (), (3,)]
    assert waits_for(encode(reads=0), waits, encode(waits=1)) == [(), (), (0,)]


def test_at_the_head_of_a_loop_it_waits_for_its_end() -> None:
    assert waits_for(encode(waits=1), encode(writes=0), encode()) == [(1,), (), ()]


@pytest.mark.parametrize("mode", [CountingMode(detail=ALL), CheckedMode(detail=ALL)])
def test_executions_of_instructions_make_up_those_of_lines(mode: Mode) -> None:
    work, execution = run(mode)
    (listing,), (launch,) = work.listings, execution.launches
    assert listing.launches == 1
    executed: dict[int | None, int] = {}
    for each in listing.instructions:
        executed[each.line] = executed.get(each.line, 0) + (each.executed or 0)
    counted = {line.line: line.counters.instructions_executed for line in launch.lines}
    assert {line: count for line, count in executed.items() if count} == counted
    assert work.lines == work.simulated == ()


def test_modelled_cycles_are_those_of_the_simulated_warps_and_change_no_time() -> None:
    work, execution = run(ModelledMode(1, detail=ALL))
    _, plain = run(ModelledMode(1))
    (launch,) = execution.launches
    assert launch.modelled == plain.launches[0].modelled
    assert plain.launches[0].cycles is None
    assert plain.launches[0].executed == ()
    cycles = launch.cycles
    assert cycles is not None
    assert sum(sum(row.cycles) for row in cycles.instructions) == cycles.resident_cycles
    lines = sum(line.cycles for line in work.lines)
    assert lines == pytest.approx(cycles.scale * cycles.resident_cycles)
    issued = sum(line.states[WarpState.SELECTED] for line in work.lines)
    assert issued == pytest.approx(launch.counters.instructions_executed)
    assert len(cycles.spans) <= 7 * ALL.spans


def test_most_cycles_of_a_transpose_go_to_the_lines_that_move_data() -> None:
    work, _ = run(ModelledMode(1, detail=Detail(cycles=True)))
    (listing,) = work.listings
    loads = {each.line for each in listing.instructions if each.opcode.startswith("LDG")}
    stores = {each.line for each in listing.instructions if each.opcode.startswith("STG")}
    moved = sum(line.cycles for line in work.lines if line.line in loads | stores)
    assert moved > 0.5 * sum(line.cycles for line in work.lines)
    assert all(each.executed is None for each in listing.instructions)
