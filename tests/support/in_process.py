"""An emulated device in the place of its worker: the same device behind the same verb, without a
process of its own that is started and confined for every grading.

For tests whose subject is what becomes of a run. What a worker adds (limits of time and memory,
isolation, death) is tested where the real one is: tests/devices/remote, tests/test_submissions.py.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.grading import on_emulated, on_gpu, stand_in


class InProcessDevice(EmulatedDevice, AbstractContextManager["InProcessDevice"]):
    """Takes the place of RemoteDevice for `emulated:ID`."""

    uuid = None
    isolation = "none"
    limited = False

    def __init__(self, name: str, **_: Any) -> None:  # noqa: ANN401 - a worker's settings
        super().__init__(name.partition(":")[2])

    def __exit__(self, *_: object) -> None:
        pass


def grade_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let gradings, and the emulated device beside a GPU, use this process."""
    monkeypatch.setattr(on_gpu, "load_ahead", lambda: None)
    for module in (on_emulated, stand_in):
        monkeypatch.setattr(module, "RemoteDevice", InProcessDevice)
