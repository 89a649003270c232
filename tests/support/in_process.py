"""An emulated device in the place of its worker: the same device behind the same verb, without a
process of its own that is started and confined for every grading.

For tests whose subject is what becomes of a run. What a worker adds (limits of time and memory,
isolation, death) is tested where the real one is: tests/devices/remote, tests/test_submissions.py.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import pytest

from grader.devices.base import Arrays
from grader.devices.remote.worker import DEVICES
from grader.grading import on_emulated, stand_in
from grader.records import COUNTING, DeviceInfo, Execution, Mode, Program, RunLimits, ShowProgress


class InProcessDevice:
    """Takes the place of RemoteDevice for `emulated:ID`."""

    uuid = None
    isolation = "none"
    limited = False

    def __init__(self, name: str, **_: Any) -> None:  # noqa: ANN401 - a worker's settings
        kind, _, id_ = name.partition(":")
        self._device = DEVICES[kind](id_)

    def __enter__(self) -> Self:
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
        return self._device.info

    def run(
        self,
        program: Program,
        arrays: Arrays,
        *,
        limits: RunLimits,
        mode: Mode = COUNTING,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        return self._device.run(program, arrays, limits=limits, mode=mode, progress=progress)


def grade_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let gradings, and the emulated device beside a GPU, use this process."""
    for module in (on_emulated, stand_in):
        monkeypatch.setattr(module, "RemoteDevice", InProcessDevice)
