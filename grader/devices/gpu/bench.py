"""Times several programs: buffers for every input set, cold launches between two events, and
digests of their outputs."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pycuda.driver as cuda

from grader.devices.base import Arrays
from grader.devices.gpu.arena import Arena
from grader.devices.gpu.cuda_facts import read_fault
from grader.devices.gpu.driver import reset_persisting_l2
from grader.devices.gpu.modules import Code, PlanError, ReadyLaunch, ReadyStep
from grader.devices.gpu.own_kernels import OwnKernels
from grader.records import SUBMISSION, DeviceBuffer, Program, Role, TimedStep

SHORT_MS = 0.1
"""A shorter program is timed as a batch of launches between one pair of events, because a pair
costs one or two microseconds on a GPU's clock."""
BATCH_MS = 0.2
MAX_BATCH = 64
LONG_MS, LAUNCHING_RUNS = 10.0, 3
LEAST_FLUSH_BYTES = 64 << 20
REORDERING_ULPS = 200
"""Atomics add floats in a different order each time: sums of 4096 products differ by less than this
number of units in the last place of the largest element, while inputs rounded to half precision or
tf32 change them by more."""


@dataclass(frozen=True)
class Slot:
    """Buffers for a run of any of the programs, with the contents of an input set.

    Each program has its own scratch buffers, named after it. `filled` are the contents of in-out
    buffers before a run. `input_digests` are the digests of the unchanged inputs.
    """

    input_set: int
    arena: Arena
    steps: Mapping[str, tuple[ReadyStep, ...]]
    filled: Arrays
    input_digests: tuple[int, ...]

    def poison(self, label: str) -> None:
        """Overwrite the outputs, with poison or with their contents before a run, and the program's
        scratch."""
        outputs, scratch = self.arena.names(Role.OUTPUT), self.arena.names(Role.SCRATCH)
        self.arena.poison([name for name in outputs if name not in self.filled])
        self.arena.upload(self.filled)
        self.arena.poison([name for name in scratch if name.startswith(f"{label}:")])

    def run(self, label: str) -> None:
        """Run a program once, step by step, and check the guard bands after each launch. Raises
        PlanError."""
        for step in self.steps[label]:
            step.run(self.arena)

    def launches(self, label: str) -> list[ReadyLaunch]:
        return [step for step in self.steps[label] if isinstance(step, ReadyLaunch)]


class Bench:
    """Programs and input sets on the GPU, ready to be timed. Call `verify` before `time_step`.

    Every launch of a batch has its own slot, which the preceding flush removed from L2, so each
    launch is as cold as a single launch.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        input_sets: Sequence[Arrays],
        own: OwnKernels,
        *,
        l2_bytes: int,
        is_modelled: bool,
    ) -> None:
        """See OpenGpu for the last two arguments.

        Raises PlanError, PyCUDA's MemoryError, and GraderError for machine code that the
        driver cannot load.
        """
        self._programs = {program.label: program for program in programs}
        self._codes = {program.label: Code(program.binary) for program in programs}
        self._input_sets = input_sets
        self._own = own
        self._is_modelled = is_modelled
        self._flush_words = max(2 * l2_bytes, LEAST_FLUSH_BYTES) // 4
        self._flush_memory = cuda.mem_alloc(4 * self._flush_words)
        self._flushes = 1
        self._batch = 1
        self._events = cuda.Event(), cuda.Event()
        self._slots = [self._make_slot(index) for index in range(len(input_sets))]
        self._digests: list[tuple[int, ...]] = []
        self._outputs: list[Arrays] = []

    def verify(self) -> tuple[list[Arrays], tuple[str, ...]]:
        """Run the submission on every input set. Returns its outputs, the reference for
        `time_step`, and the inputs that it wrote to.

        Raises PlanError.
        """
        modified: set[str] = set()
        for slot in self._slots:
            slot.poison(SUBMISSION)
            self._at_start(SUBMISSION, slot).run(SUBMISSION)
            modified.update(slot.arena.modified_inputs(slot.input_digests, self._own))
            self._digests.append(slot.arena.digests(slot.arena.names(Role.OUTPUT), self._own))
            self._outputs.append(slot.arena.outputs())
        return self._outputs, tuple(sorted(modified))

    def choose_batch(self) -> None:
        """Time each program briefly, and make enough slots for a batch of the shortest program.

        Raises PlanError and PyCUDA's MemoryError.
        """
        self._flushes = 4
        shortest_ms, host_seconds = math.inf, 0.0
        for label in self._programs:
            with _naming_the_culprit(label):
                self._at_start(label, self._slots[0]).run(label)  # a fault names this program
                milliseconds, seconds = self._time_launching(label)
                # now, or the next program would get the blame
                self._slots[0].launches(label)[-1].check_guards(self._slots[0].arena)
            shortest_ms, host_seconds = min(shortest_ms, milliseconds), max(host_seconds, seconds)
        if shortest_ms < SHORT_MS and not self._is_modelled:
            self._batch = min(MAX_BATCH, math.ceil(BATCH_MS / shortest_ms))
        missing = range(len(self._slots), self._batch)
        self._slots.extend(self._make_slot(index % len(self._input_sets)) for index in missing)
        # The flush must still run when the last launch of a batch is queued: then the time is the
        # GPU's, not the host's.
        self._flushes = 1 + math.ceil(2 * self._batch * host_seconds / self._flush_seconds())

    def time_step(self, step: TimedStep) -> tuple[float, bool]:
        """Milliseconds of a run of the program, and whether its inputs are unchanged and its
        outputs equal the verified outputs.

        Only the submission's outputs are verified. Raises PyCUDA's errors for a launch that faults.
        """
        slots = [
            self._slots[(step.input_set + index) % len(self._slots)] for index in range(self._batch)
        ]
        milliseconds, _ = self._launch(step.program, slots)
        return milliseconds, all(self._is_right(step.program, slot) for slot in slots)

    def is_damaged(self) -> bool:
        """Whether any guard band has changed."""
        return any(slot.arena.find_damage() is not None for slot in self._slots)

    def _launch(self, label: str, slots: Sequence[Slot]) -> tuple[float, float]:
        """Time a cold run of the program in each slot: milliseconds per run, and the host's seconds
        to queue a run."""
        slots = [self._at_start(label, slot) for slot in slots]
        start, end = self._events
        for slot in slots:
            slot.poison(label)
        reset_persisting_l2()
        self._flush()
        start.record()
        queued = time.perf_counter()
        for slot in slots:
            for step in slot.steps[label]:
                step.start()
        queued = 0.0 if self._is_modelled else time.perf_counter() - queued
        end.record()
        end.synchronize()
        return start.time_till(end) / len(slots), queued / len(slots)

    def _time_launching(self, label: str) -> tuple[float, float]:
        """The result of `_launch` for a run; for a short program the minimum of several, because
        the host may have been interrupted.

        Raises PlanError, because a program that ended well before may fault now, and PyCUDA's
        MemoryError.
        """
        try:
            taken = [self._launch(label, self._slots[:1])]
            if taken[0][0] < LONG_MS:
                taken += [self._launch(label, self._slots[:1]) for _ in range(LAUNCHING_RUNS - 1)]
        except cuda.MemoryError:
            raise
        except cuda.Error as error:
            launches = self._slots[0].launches(label)
            names = " or ".join(dict.fromkeys(launch.kernel.name for launch in launches))
            raise PlanError(read_fault(error, launches[0].launch, names)) from error
        milliseconds, seconds = zip(*taken, strict=True)
        return min(milliseconds), min(seconds)

    def _flush(self) -> None:
        for value in range(self._flushes):
            cuda.memset_d32_async(self._flush_memory, value, self._flush_words)

    def _flush_seconds(self) -> float:
        start, end = self._events
        start.record()
        self._flush()
        end.record()
        end.synchronize()
        return float(start.time_till(end)) / 1e3 / self._flushes

    def _is_right(self, label: str, slot: Slot) -> bool:
        arena, outputs = slot.arena, slot.arena.names(Role.OUTPUT)
        if arena.modified_inputs(slot.input_digests, self._own):
            return False
        if label != SUBMISSION:
            return True
        if arena.digests(outputs, self._own) == self._digests[slot.input_set]:
            return True
        verified = self._outputs[slot.input_set]
        return all(is_reordered(got, verified[name]) for name, got in arena.outputs().items())

    def _make_slot(self, input_set: int) -> Slot:
        programs = list(self._programs.values())
        shared = [buffer for buffer in programs[0].buffers if buffer.role is not Role.SCRATCH]
        scratch = [buffer for program in programs for buffer in _own_scratch(program)]
        arena = Arena([*shared, *scratch])
        inputs = self._input_sets[input_set]
        arena.upload(inputs)
        steps = {
            label: self._make_ready(program, arena, self._codes[label])
            for label, program in self._programs.items()
        }
        names = arena.names(Role.INPUT)
        filled = {name: array for name, array in inputs.items() if name not in names}
        return Slot(input_set, arena, steps, filled, arena.digests(names, self._own))

    def _at_start(self, label: str, slot: Slot) -> Slot:
        """The slot for the next run of a program. A program whose runs change variables is loaded
        again, with the initial values."""
        program = self._programs[label]
        if not program.keeps_something:
            return slot
        steps = self._make_ready(program, slot.arena, self._codes[label].load_again())
        return replace(slot, steps={**slot.steps, label: steps})

    def _make_ready(self, program: Program, arena: Arena, code: Code) -> tuple[ReadyStep, ...]:
        scratch = [buffer for buffer in program.buffers if buffer.role is Role.SCRATCH]
        renamed = {
            buffer.name: arena.addresses[_scratch_name(program, buffer)] for buffer in scratch
        }
        with _naming_the_culprit(program.label):
            addresses = {**arena.addresses, **renamed}
            return code.make_ready(program.steps, addresses, arena.objects)


@contextlib.contextmanager
def _naming_the_culprit(label: str) -> Iterator[None]:
    """Adds the program's label to a PlanError."""
    try:
        yield
    except PlanError as problem:
        problem.culprit = label
        raise


def is_reordered(got: np.ndarray, verified: np.ndarray) -> bool:
    """Whether the difference of outputs is small enough for another order of float additions."""
    if not np.issubdtype(verified.dtype, np.floating):
        return np.array_equal(got, verified)
    bound = REORDERING_ULPS * np.finfo(verified.dtype).eps * np.max(np.abs(verified), initial=0)
    return bool(np.all(np.abs(got - verified) <= bound))


def _own_scratch(program: Program) -> list[DeviceBuffer]:
    return [
        replace(buffer, name=_scratch_name(program, buffer))
        for buffer in program.buffers
        if buffer.role is Role.SCRATCH
    ]


def _scratch_name(program: Program, buffer: DeviceBuffer) -> str:
    return f"{program.label}:{buffer.name}"
