"""A run with its modelled time, and the inspection of a run: the plan runs a second time in the
opposite order, and some of its blocks in the checked mode."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

import numpy as np

from grader.devices.base import Arrays
from grader.devices.emulated.finding_facts import Checking, gather_findings
from grader.devices.emulated.plan_run import (
    LaunchRun,
    OnProgress,
    Plan,
    Ready,
    Runner,
    RunOptions,
    outputs_of,
)
from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.emulated.sampling import (
    SPREAD_BLOCKS,
    TRACED_SPREAD,
    SampleWrites,
    Stage,
    Timed,
    run_for_time,
)
from grader.devices.emulated.transfers import modelled_transfers_ms
from grader.emulator import NO_COUNTS, Digests, GlobalMemory, LaunchOutcome, run_launch
from grader.emulator.timing.figures import Figures
from grader.records import PLAIN, Execution, FindingKind, ModelledMode, Observation, Role

CHECKED_INSTRUCTIONS = 8_000_000
LEAST_CHECKED, FEW_CHECKED, MOST_CHECKED = 4, 8, 64
"""Numbers of blocks of a launch that run in the checked mode, as far as CHECKED_INSTRUCTIONS allow.
The small cases ran whole in the checked mode, so only a race that these sizes alone have is left to
find. A deliberate race of this kind is in many blocks, since a race in few blocks saves no time,
and the seed draws the blocks: 4 blocks miss a race in half of the blocks with a probability of
1/16, 12 blocks with 1/4,096. Even 20 million instructions would not find a race in 2 % of the
blocks."""
MOST_CHECKED_BYTES = 1 << 30
"""Of the buffers together; with larger buffers no block runs in the checked mode, which needs up to
16 bytes for each byte of memory."""
COMPARED_BYTES = 1 << 18
COPIED_BYTES = 32 << 20
"""Of the outputs together: up to this size they are compared with a copy, larger outputs by
digests."""


@dataclass
class Recorder:
    """Runs the launches of a plan for their times. `samples`: a sample of the blocks may run where
    the plan has a single launch, and `written` are its elements; `uneven`: such a sample did not
    represent all blocks. All blocks of several launches run, in both orders."""

    figures: Figures
    plan: Plan
    mode: ModelledMode
    pool: Executor
    samples: bool = True
    uneven: bool = False
    written: Arrays | None = None
    modelling: list[Future[LaunchRun]] = field(default_factory=list)
    """The result of `run` with the modelled time, for each launch in order."""

    def run(self, ready: Ready, on_progress: OnProgress) -> LaunchRun:
        writes = None
        if self.samples and len(self.plan.program.steps) == 1:
            assert isinstance(ready.memory, GlobalMemory)  # only a program has another memory
            writes = SampleWrites(ready.memory, self.plan)
        timed = self._run_for_time(ready, on_progress, writes)
        ran = timed.ran
        if writes is not None and ran.sample is not None and ran.outcome.fault is None:
            self.uneven = not writes.stand_for(ran.sample.blocks)
            self.written = writes.finish()
        if not self.uneven:
            before = self.modelling[-1] if self.modelling else None
            self.modelling.append(self.pool.submit(timed.model, before))
        return ran

    def run_again(self, ready: Ready, on_progress: OnProgress) -> LaunchRun:
        """Repeat a launch whose blocks all ran, in the same options; its time is known."""
        return self._run_for_time(ready, on_progress).ran

    def _run_for_time(
        self, ready: Ready, on_progress: OnProgress, groups: SampleWrites | None = None
    ) -> Timed:
        shared_bytes = ready.kernel.static_shared_bytes + ready.settings.dynamic_shared_bytes
        assert ready.settings.resident is not None
        resident = ready.settings.resident // self.figures.multiprocessors
        most = SPREAD_BLOCKS if self.mode.inspect else TRACED_SPREAD
        detail = self.mode.detail
        spans = detail.spans if detail.cycles or detail.spans else None
        stage = Stage(self.figures, resident, shared_bytes, self.mode.seed, groups, most, spans)
        return run_for_time(ready, stage, on_progress)

    def add_times(self, execution: Execution) -> Execution:
        if not self.modelling:
            return execution
        ran = [each.result() for each in self.modelling]
        launches = tuple(
            replace(launch, modelled=each.modelled, unmodelled=each.unmodelled, cycles=each.cycles)
            for launch, each in zip(execution.launches, ran, strict=True)
        )
        taken_ms = modelled_transfers_ms(self.plan.program.steps, self.figures)
        return replace(execution, launches=launches, transfers_ms=taken_ms)


def run_model(
    device: Runner, figures: Figures, plan: Plan, mode: ModelledMode
) -> tuple[Execution, Arrays]:
    """Run, count and model the time. A launch's time is modelled while others run, and while the
    plan is inspected."""
    with ThreadPoolExecutor(1) as pool:
        recorder = Recorder(figures, plan, mode, pool)
        execution, memory = device.perform(plan, RunOptions(recorder.run))
        if recorder.uneven:
            recorder = Recorder(figures, plan, mode, pool, samples=False)
            execution, memory = device.perform(plan.started(), RunOptions(recorder.run))
        if mode.inspect:
            again = RunOptions(recorder.run_again)
            execution = inspect_run(device, plan, mode.seed, execution, memory, again)
        left = recorder.written
        if left is None or execution.failure is not None:
            left = outputs_of(execution, memory, plan.program.buffers)
        return recorder.add_times(execution), left


def inspect_run(
    device: Runner,
    plan: Plan,
    seed: int,
    execution: Execution,
    memory: GlobalMemory,
    options: RunOptions,
) -> Execution:
    """Inspect a plan after its run: run it in the opposite order, and some blocks in the checked
    mode. Both run at the same time, each on one thread.

    The opposite order uses the memory of the run and restores its outputs; see `try_backwards`.
    """
    if execution.failure is not None or execution.modified_inputs:
        return execution
    quiet = replace(plan, progress=None, detail=PLAIN).started()
    if not execution.ran_whole:
        return replace(execution, findings=_check_some_blocks(device, quiet, seed, execution))
    with ThreadPoolExecutor(1) as pool:
        tried = pool.submit(try_backwards, device, quiet, execution, memory, options)
        findings = _check_some_blocks(device, quiet, seed, execution)
        return replace(tried.result(), findings=findings)


def _check_some_blocks(
    device: Runner, plan: Plan, seed: int, execution: Execution
) -> tuple[Observation, ...]:
    """The races that the checked mode finds in some blocks of each launch, drawn by the seed. Only
    races between these blocks count: values that they read from other blocks are missing.

    In a plan of several steps, a missing value may be an index: so races count only if the same
    blocks have them after complete earlier steps too.
    """
    if sum(array.nbytes for array in plan.arrays.values()) > MOST_CHECKED_BYTES:
        return ()
    run_some = partial(_run_some_checked, Random(f"{seed} checked"), execution)
    found = _find_races(device, plan, run_some, sparse=True)
    if not found or len(plan.program.steps) == 1:
        return found
    run_some = partial(_run_some_checked, Random(f"{seed} checked"), execution)
    return _find_races(device, plan, partial(_run_some_then_all, run_some), sparse=False)


def _find_races(
    device: Runner, plan: Plan, run: Callable[[Ready, OnProgress], LaunchRun], *, sparse: bool
) -> tuple[Observation, ...]:
    memory = device.lay_out(plan, sparse=sparse)
    memory.track_writes(())
    checking = Checking()
    device.launch_all(plan.started(), memory, RunOptions(run, checking))
    found = gather_findings(checking, memory, plan.program.buffers, certain_only=True)
    return tuple(finding for finding in found if finding.kind is FindingKind.RACE)


def _run_some_checked(
    rng: Random, execution: Execution, ready: Ready, on_progress: OnProgress
) -> LaunchRun:
    if ready.native.code.cluster_blocks > 1:
        return LaunchRun(LaunchOutcome(NO_COUNTS, None))
    executed = {
        launch.kernel: launch.counters.instructions_executed for launch in execution.launches
    }
    blocks = ready.settings.blocks
    allowed = CHECKED_INSTRUCTIONS * blocks // max(1, executed.get(ready.kernel.name, 1))
    most = FEW_CHECKED if ready.native.shares_atomics else MOST_CHECKED
    count = min(blocks, max(LEAST_CHECKED, min(most, allowed)))
    sample = tuple(sorted(rng.sample(range(blocks), count)))
    # without the other blocks, a block may take all work of a queue, or wait for a block that
    # does not run
    some = replace(ready.settings, sample=sample, budget=2 * CHECKED_INSTRUCTIONS)
    outcome = run_launch(ready.native, ready.memory, some, on_progress)
    return LaunchRun(replace(outcome, fault=None))


def _run_some_then_all(
    run_some: Callable[[Ready, OnProgress], LaunchRun], ready: Ready, on_progress: OnProgress
) -> LaunchRun:
    """Run some blocks; then restore the memory, and run all blocks without checks."""
    memory = ready.memory
    assert isinstance(memory, GlobalMemory)  # only a program has another memory
    before = {name: memory.view(name).copy() for name in memory.regions}
    ran = run_some(ready, on_progress)
    for name, contents in before.items():
        memory.view(name)[:] = contents
    run_launch(ready.native, memory, replace(ready.settings, checked=False))
    return ran


def try_backwards(
    device: Runner, plan: Plan, execution: Execution, memory: GlobalMemory, way: RunOptions
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
    memory.reset_variables()
    plan.fill_all(memory, inputs=False)
    backwards = device.launch_all(plan, memory, RunOptions(backwards=True))
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
    memory.reset_variables()
    plan.fill_all(memory)  # the inputs may have changed
    again = device.perform_in(memory, plan.started(), way)
    return replace(execution, failure=again.failure, modified_inputs=again.modified_inputs)


def _is_same(now: np.ndarray, before: np.ndarray) -> bool:
    """Whether two arrays have equal bytes."""
    old, new = before.reshape(-1).view(np.uint8), now.reshape(-1).view(np.uint8)
    # in pieces, because numpy writes the result of a comparison to memory
    pieces = (slice(at, at + COMPARED_BYTES) for at in range(0, len(new), COMPARED_BYTES))
    return all(np.array_equal(new[piece], old[piece]) for piece in pieces)
