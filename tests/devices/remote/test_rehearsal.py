"""A run before the first submission: it works on every architecture, and leaves nothing to load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.gpus import read_gpus
from grader.devices.remote.rehearsal import empty_program, rehearse
from grader.records import CheckedMode, Mode, ModelledMode, RunLimits

ROOT = Path(__file__).resolve().parents[3]
FIRST_RUN = """
import sys
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.remote.rehearsal import rehearse
from grader.devices.remote.worker import load_emulator

load_emulator()
loaded = set(sys.modules)
rehearse(EmulatedDevice("h100"))
print(sorted(set(sys.modules) - loaded))
"""


@pytest.mark.parametrize("mode", [CheckedMode(), ModelledMode(0)])
@pytest.mark.parametrize("gpu", sorted(read_gpus()))
def test_the_empty_kernel_runs(gpu: str, mode: Mode) -> None:
    device = EmulatedDevice(gpu)
    program = empty_program(device.info.arch)
    execution, outputs = device.run(program, {}, limits=RunLimits(1000, 10.0), mode=mode)
    assert execution.failure is None
    assert execution.launches[0].counters.instructions_executed == 2
    assert outputs.keys() == {"y"}


@pytest.mark.filterwarnings("error")
def test_it_needs_no_submission() -> None:
    rehearse(EmulatedDevice("h100"))


def test_a_loaded_emulator_imports_nothing_for_its_first_run() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_RUN], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
