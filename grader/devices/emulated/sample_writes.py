"""What the blocks of a sample write: which elements of the outputs, group by group, so that each
can be verified.

Before each group the outputs hold what they held before the launch, so that a block is not spared
what another one wrote.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

import numpy as np

from grader.devices.base import Arrays, places_of
from grader.devices.emulated.plan_run import Plan
from grader.emulator import GlobalMemory
from grader.records import Coverage, DeviceBuffer, Role


@dataclass
class _Output:
    """One output: what it held `before` the launch, contents or a word, and by group the places and
    values of the elements that were changed. `restore` puts back what was there, at places."""

    buffer: DeviceBuffer
    memory: GlobalMemory
    before: np.ndarray | int
    restore: Callable[[np.ndarray], None]
    places: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)

    def take(self) -> None:
        """Keep what the last group changed, and put back what was there before."""
        name, kind = self.buffer.name, np.dtype(self.buffer.dtype)
        parts = list(self.memory.changed(name, self.before, kind))
        places = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        self.places.append(places.astype(np.uint32))  # all of a memory has 2**32 bytes
        self.values.append(self.memory.view(name).view(kind)[places])
        self.restore(places)

    def describe(self) -> Coverage:
        """How much was written."""
        window, *spread = map(len, self.places)
        written = np.zeros(prod(self.buffer.shape), dtype=np.bool_)
        repeated = 0
        for places in self.places:
            repeated += int(np.count_nonzero(written[places]))
            written[places] = True
        return Coverage(self.buffer.name, window, sum(spread), repeated)


class CoverageRecorder:
    """The outputs of a plan's last launch, of which groups of blocks are run; satisfies
    `sampling.Groups`. It is made before the launch."""

    def __init__(self, memory: GlobalMemory, plan: Plan) -> None:
        self._memory, self._plan = memory, plan
        self._names = [each for each in plan.program.buffers if each.role is Role.OUTPUT]
        alone = len(plan.program.steps) == 1
        self._left = (
            {} if alone else {each.name: memory.view(each.name).copy() for each in self._names}
        )
        self._outputs: list[_Output] = []

    def prepare(self) -> None:
        """A sample is going to be verified."""
        self._outputs = [self._watch(buffer) for buffer in self._names]

    def next_group(self) -> None:
        """A group has run."""
        for output in self._outputs:
            output.take()

    def finish(self) -> tuple[tuple[Coverage, ...], Arrays]:
        """How much of each output the sample wrote, and what: see `devices.base.places_of`."""
        arrays: Arrays = {}
        for output in self._outputs:
            arrays[output.buffer.name] = np.concatenate(output.values)
            arrays[places_of(output.buffer.name)] = np.concatenate(output.places)
        return tuple(output.describe() for output in self._outputs), arrays

    def _watch(self, buffer: DeviceBuffer) -> _Output:
        memory, plan, left = self._memory, self._plan, self._left.get(buffer.name)
        if left is None:
            before = plan.arrays.get(buffer.name, plan.poison)
            return _Output(buffer, memory, before, lambda _: plan.fill(memory, buffer, sparse=True))
        kind = np.dtype(buffer.dtype)
        now, then = memory.view(buffer.name).view(kind), left.view(kind)

        def put_back(places: np.ndarray) -> None:
            now[places] = then[places]

        return _Output(buffer, memory, left, put_back)
