"""A GPU that is none: the emulated device runs the kernels, a modelled clock times them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import ClassVar, Self

from grader.devices.base import Arrays
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.records import (
    COUNTING,
    DeviceInfo,
    Execution,
    Mode,
    Program,
    RunLimits,
    ShowProgress,
)
from tests.support.fake_clock import FakeClock

PEAK_GBPS = 3.352
"""At 256 x 256 the transpose moves 0.5 MB: a thousandth of an H100's bandwidth gives an H100's
times."""


class FakeGpu(FakeClock):
    """Stands in for the worker of a GPU; see FakeClock for how it keeps time."""

    name = ""
    translated: ClassVar[dict[bytes, EmulatedDevice]] = {}
    """A device for each code that was loaded, which translates it once for all gradings of the
    run."""

    isolation = "none"

    def named(self, name: str, *, isolated: bool = True) -> Self:
        """Takes the place of RemoteDevice."""
        self.name = name
        return self

    def __enter__(self) -> Self:
        self.emulated = EmulatedDevice("h100", threads=1)
        self.prepared: tuple[str, ...] = ()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    @property
    def info(self) -> DeviceInfo:
        return replace(
            self.emulated.info,
            kind="gpu",
            name="Fake H100",
            peak_bandwidth_gbps=PEAK_GBPS,
            stands_for="nothing",
            peak_source="made up",
        )

    def run(
        self,
        program: Program,
        arrays: Arrays,
        *,
        limits: RunLimits,
        mode: Mode = COUNTING,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        cubin = program.binary.cubin
        known = self.translated.setdefault(cubin, EmulatedDevice("h100", threads=1))
        return known.run(program, arrays, limits=limits, mode=mode, progress=progress)

    def prepare(
        self, programs: Sequence[Program], input_sets: Sequence[Arrays], *, limits: RunLimits
    ) -> tuple[Execution, list[Arrays]]:
        self.prepared = tuple(program.label for program in programs)
        submission = programs[0]
        outputs = []
        for inputs in input_sets:
            execution, got = self.run(submission, inputs, limits=limits)
            if execution.failure is not None:
                return execution, []
            outputs.append(got)
        return execution, outputs
