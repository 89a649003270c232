"""Repeats a plan with its blocks and warps in the opposite order, in the memory of the first run,
because fresh memory costs more time than most runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from grader.devices.emulated.plan_run import Plan, Runner, Way, same_bytes
from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import Digests, GlobalMemory
from grader.records import Execution, Role

COPIED_BYTES = 32 << 20
"""Of the outputs together: up to this size they are compared with a copy, larger outputs by
digests."""


def try_backwards(
    device: Runner, plan: Plan, execution: Execution, memory: GlobalMemory, way: Way
) -> Execution:
    """The execution of a plan with `same_backwards`. The plan ran to its end, and its inputs are
    unchanged.

    Afterwards the outputs hold the results of the first run. Where the opposite order gives another
    result, or fails, and the outputs are too large for a copy, the plan runs a third time, in the
    first order; a failure of that run is the execution's.
    """
    names = [each.name for each in plan.program.buffers if each.role is Role.OUTPUT]
    outputs = {name: memory.view(name) for name in names}
    copied = sum(map(len, outputs.values())) <= COPIED_BYTES
    describe: Callable[[np.ndarray], np.ndarray] = (
        np.asarray if copied else Digests(emulator_runtime()).of
    )
    before = {name: describe(output).copy() for name, output in outputs.items()}
    _put_back(plan, memory, inputs=False)
    backwards = device.launch_all(plan, memory, Way(backwards=True))
    same = None
    if backwards.failure is None:
        same = all(_is_same(describe(outputs[name]), before[name]) for name in names)
    execution = replace(execution, same_backwards=same, backwards_failure=backwards.failure)
    if same:
        return execution
    if copied:
        for name, output in outputs.items():
            output[:] = before[name]
        return execution
    _put_back(plan, memory, inputs=True)
    again = device.perform_in(memory, plan.started(), way)
    return replace(execution, failure=again.failure, modified_inputs=again.modified_inputs)


def _put_back(plan: Plan, memory: GlobalMemory, *, inputs: bool) -> None:
    """Restore the memory to its contents before the first run; `inputs`: they may have changed."""
    memory.reset_variables()
    plan.fill_all(memory, inputs=inputs)


def _is_same(now: np.ndarray, before: np.ndarray) -> bool:
    return same_bytes(now.reshape(-1).view(np.uint8), before.reshape(-1).view(np.uint8))
