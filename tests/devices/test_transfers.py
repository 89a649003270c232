"""Copies between launches: they count against a run's time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.records import (
    Act,
    Copy,
    DeviceBuffer,
    Faulted,
    Fill,
    MemoryPlace,
    Role,
    RunLimits,
    Step,
)
from tests.support.device_plans import make_ready

TEXT = """
// launch: first<<<1, 1>>>(out)
extern "C" __global__ void first(int *out) { out[0] = 1; }
"""
COPIED_BYTES = 1 << 20
PLACES = MemoryPlace("out", COPIED_BYTES), MemoryPlace("out", 0)
COPY = Copy(*PLACES, COPIED_BYTES, 3, "cudaMemcpy(...)")
FILL = Fill(PLACES[0], 7, COPIED_BYTES, 3, "cudaMemset(...)")


@pytest.mark.parametrize("step", [COPY, FILL])
def test_copies_end_a_run_that_has_no_time_for_them(step: Step) -> None:
    device = EmulatedDevice()
    out = DeviceBuffer("out", "uint8", (2 * COPIED_BYTES,), Role.OUTPUT)
    program = make_ready(TEXT, (out,), {}, device.info).as_program()
    program = replace(program, steps=(*program.steps, *[step] * 100_000))
    execution, _ = device.run(program, {}, limits=RunLimits(10**9, 60.0, processor_seconds=0.2))
    assert isinstance(execution.failure, Faulted)
    assert execution.failure.observation.act is Act.TOO_LONG
    assert execution.failure.observation.of_processor
