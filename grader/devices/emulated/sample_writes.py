"""The elements of the outputs that the blocks of a sample write, group by group, and whether such a
sample represents all blocks.

Before each group the outputs have their contents before the launch, so that each block has to write
its own elements. A sample represents all blocks if each group wrote exactly its share of each
output: the number of different elements is (blocks of the group) x (elements of the output) /
(blocks of the grid), and no element was written by another group. The rule has no tolerance,
because a submission would exploit it. All blocks of an honest launch that breaks the rule (an
uneven grid, blocks that share elements) run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from grader.devices.base import Arrays, places_of
from grader.devices.emulated.plan_run import Plan
from grader.emulator import GlobalMemory
from grader.records import DeviceBuffer, Role


@dataclass
class _Output:
    """The places and values of an output's changed elements, by group."""

    buffer: DeviceBuffer
    memory: GlobalMemory
    plan: Plan
    places: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)

    def take(self) -> None:
        """Keeps the elements that the last group changed, and restores them."""
        name, kind = self.buffer.name, np.dtype(self.buffer.dtype)
        before = self.plan.arrays.get(name, self.plan.poison)
        parts = list(self.memory.changed(name, before, kind))
        places = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        self.places.append(places.astype(np.uint32))  # all of a memory has 2**32 bytes
        self.values.append(self.memory.view(name).view(kind)[places])
        self.plan.fill(self.memory, self.buffer, sparse=True)

    def is_evenly_written(self, groups: list[int], blocks: int) -> bool:
        """Whether groups of these sizes, of a grid of `blocks` blocks, wrote exactly their
        share."""
        elements = prod(self.buffer.shape)
        if any(
            len(places) * blocks != elements * size
            for places, size in zip(self.places, groups, strict=True)
        ):
            return False
        written = np.zeros(elements, dtype=np.bool_)
        for places in self.places:
            if written[places].any():
                return False
            written[places] = True
        return True


class SampleWrites:
    """The outputs of a plan with a single launch that runs groups of blocks."""

    def __init__(self, memory: GlobalMemory, plan: Plan) -> None:
        self._outputs = [
            _Output(each, memory, plan) for each in plan.program.buffers if each.role is Role.OUTPUT
        ]
        self._groups: list[int] = []

    def next_group(self, blocks: int) -> None:
        """A group of this many blocks has run: the window first, then each group of the spread."""
        self._groups.append(blocks)
        for output in self._outputs:
            output.take()

    def stand_for(self, blocks: int) -> bool:
        """Whether the groups represent a grid of `blocks` blocks."""
        return all(output.is_evenly_written(self._groups, blocks) for output in self._outputs)

    def finish(self) -> Arrays:
        """The elements that the sample wrote: see `devices.base.places_of`."""
        arrays: Arrays = {}
        for output in self._outputs:
            arrays[output.buffer.name] = np.concatenate(output.values)
            arrays[places_of(output.buffer.name)] = np.concatenate(output.places)
        return arrays
