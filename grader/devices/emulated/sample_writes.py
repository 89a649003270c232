"""What the blocks of a sample write: which elements of the outputs, group by group, so that each
can be verified.

Before each group the outputs hold what they held before the launch, so that a block is not spared
what another one wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.devices.base import Arrays
from grader.devices.emulated.plan_run import fill
from grader.emulator import GlobalMemory
from grader.records import Coverage, DeviceBuffer, Role


@dataclass
class _Output:
    """One output, in words of an element's size: now, before the launch, and what was `written` so
    far, with its `values`."""

    name: str
    now: np.ndarray
    before: np.ndarray
    values: np.ndarray
    written: np.ndarray
    counts: list[int] = field(default_factory=list)
    repeated: int = 0

    def take(self) -> None:
        """Keep what the last group changed, and put back what was there before."""
        (places,) = np.nonzero(self.now != self.before)
        self.counts.append(len(places))
        self.repeated += int(np.count_nonzero(self.written[places]))
        self.written[places] = True
        self.values[places] = self.now[places]
        self.now[places] = self.before[places]


class CoverageRecorder:
    """The outputs of a launch of which groups of blocks are run; satisfies
    `sampling.Groups`.

    It is made before the launch. Where that is the plan's first, `arrays` are what the buffers
    hold.
    """

    def __init__(
        self, memory: GlobalMemory, buffers: Sequence[DeviceBuffer], arrays: Arrays | None
    ) -> None:
        self._outputs: list[_Output] = []
        self._views = {
            buffer.name: memory.view(buffer.name).view(f"u{np.dtype(buffer.dtype).itemsize}")
            for buffer in buffers
            if buffer.role is Role.OUTPUT
        }
        self._before = (
            None if arrays is not None else {name: now.copy() for name, now in self._views.items()}
        )
        self._arrays = arrays or {}

    def prepare(self) -> None:
        """A sample is going to be verified."""
        for name, now in self._views.items():
            poison = _filled(now, None)
            before = (
                self._before[name]
                if self._before is not None
                else _filled(now, self._arrays.get(name))
            )
            self._outputs.append(
                _Output(name, now, before, poison, np.zeros(len(now), dtype=np.bool_))
            )

    def next_group(self) -> None:
        """A group has run."""
        for output in self._outputs:
            output.take()

    def finish(self) -> tuple[Coverage, ...]:
        """Leave in each output what the sample wrote, and poison elsewhere."""
        found = []
        for output in self._outputs:
            output.now[:] = output.values
            found.append(
                Coverage(output.name, output.counts[0], sum(output.counts[1:]), output.repeated)
            )
        return tuple(found)


def _filled(like: np.ndarray, contents: np.ndarray | None) -> np.ndarray:
    """A row of words as long, with these contents, or poison."""
    words = np.empty_like(like)
    fill(words.view(np.uint8), contents)
    return words
