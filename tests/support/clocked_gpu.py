"""A GPU whose clock is a FakeClock: PyCUDA runs and prepares all programs, on the driver of the
fixture `cuda_driver`. The emulated driver has no noise, no throttling, and the modelled times of
its kernels: only a FakeClock gives the times for which a test has a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Self

from grader.devices.base import Arrays
from grader.devices.remote.remote_device import RemoteDevice
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

open_gpu = cache(RemoteDevice)
"""One worker for all gradings on a device of this name."""


class ClockedGpu(FakeClock, AbstractContextManager["ClockedGpu"]):
    """Takes the place of RemoteDevice; see FakeClock for its times."""

    name = ""
    isolation = "none"
    prepared: tuple[str, ...] = ()

    def named(self, name: str, **_: object) -> Self:
        """The device of this name."""
        self.name = name
        return self

    def __exit__(self, *_: object) -> None:
        pass

    @property
    def info(self) -> DeviceInfo:
        return open_gpu(self.name).info

    def run(
        self,
        program: Program,
        arrays: Arrays,
        *,
        limits: RunLimits,
        mode: Mode = COUNTING,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        device = open_gpu(self.name)
        return device.run(program, arrays, limits=limits, mode=mode, progress=progress)

    def prepare(
        self, programs: Sequence[Program], input_sets: Sequence[Arrays], *, limits: RunLimits
    ) -> tuple[Execution, list[Arrays]]:
        self.prepared = tuple(program.label for program in programs)
        return open_gpu(self.name).prepare(programs, input_sets, limits=limits)
