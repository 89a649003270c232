"""Workers of the emulated device are forked from a process that has loaded it, and are as apart from
each other as if each had been started by itself."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from grader.devices import mapped_arrays
from grader.devices.mapped_arrays import find_file
from grader.devices.remote.remote_device import RemoteDevice
from grader.devices.remote.worker_process import CACHE_VARIABLES, ForkedProcess
from grader.errors import WorkerError
from grader.records import (
    CheckedMode,
    CountingMode,
    DeviceBuffer,
    Mode,
    ModelledMode,
    Role,
    RunLimits,
)
from tests.support.device_plans import make_ready

DEVICE = "emulated:h100"


@pytest.fixture
def device() -> Iterator[RemoteDevice]:
    with RemoteDevice(DEVICE) as device:
        yield device


def pid_of(device: RemoteDevice) -> int:
    assert device.info.id == "h100"
    assert device._worker is not None
    return device._worker._process.pid


def status(pid: int) -> dict[str, str]:
    rows = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (row.partition(":") for row in rows)}


def parent_of(pid: int) -> int:
    return int(status(pid)["PPid"])


def ended(pid: int) -> bool:
    """Whether a process is gone, or will be shortly."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            if status(pid)["State"].startswith("Z"):
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


def test_workers_share_what_is_loaded_and_nothing_else(device: RemoteDevice) -> None:
    with RemoteDevice(DEVICE) as other:
        first, second = pid_of(device), pid_of(other)
        assert first != second
        assert parent_of(first) == parent_of(second)
        assert os.getpgid(first) == first
        assert os.getpgid(second) == second
        sockets = [
            {str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()}
            for pid in (first, second)
        ]
        assert not {each for each in sockets[0] & sockets[1] if each.startswith("socket:")}
    assert ended(second)
    assert pid_of(device) == first


def test_only_the_worker_is_confined(device: RemoteDevice) -> None:
    """Landlock sets it for good; the zygote, which sees no submission, makes caches."""
    worker = pid_of(device)
    assert device.isolation == "none" or status(worker)["NoNewPrivs"] == "1"
    assert status(parent_of(worker))["NoNewPrivs"] == status(os.getpid())["NoNewPrivs"]


def test_how_a_worker_ended_is_told(device: RemoteDevice) -> None:
    os.kill(pid_of(device), signal.SIGSEGV)
    assert device._worker is not None
    assert device._worker.how_it_ended() == "was ended by SIGSEGV"


def test_two_threads_may_ask_how_a_worker_ended(device: RemoteDevice) -> None:
    """One that closes the device, and one whose request the end of the worker ended."""
    worker = pid_of(device)
    assert device._worker is not None
    asked: ForkedProcess = device._worker._process  # type: ignore[assignment]
    os.kill(worker, signal.SIGSEGV)
    with ThreadPoolExecutor(2) as pool:
        codes = [pool.submit(asked.wait, 5.0) for _ in range(2)]
        assert [code.result() for code in codes] == [-signal.SIGSEGV] * 2
    with RemoteDevice(DEVICE) as other:
        assert parent_of(pid_of(other)) == asked._zygote.process.pid


def test_a_zygote_that_was_killed_is_replaced(device: RemoteDevice) -> None:
    worker = pid_of(device)
    killed = parent_of(worker)
    os.kill(killed, signal.SIGKILL)
    assert ended(killed)
    device.close()
    assert ended(worker)
    with RemoteDevice(DEVICE) as other:
        assert parent_of(pid_of(other)) != killed


def test_another_environment_has_a_zygote_of_its_own(
    device: RemoteDevice, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = parent_of(pid_of(device))
    monkeypatch.setenv(CACHE_VARIABLES[1], "/nonexistent")
    with RemoteDevice(DEVICE) as other:
        assert parent_of(pid_of(other)) != first


def test_a_worker_that_is_not_wanted_any_more_ends(device: RemoteDevice) -> None:
    zygote = parent_of(pid_of(device))
    RemoteDevice(DEVICE).close()
    with RemoteDevice(DEVICE) as other:
        assert parent_of(pid_of(other)) == zygote
        children = Path(f"/proc/{zygote}/task/{zygote}/children").read_text().split()
        wanted = {pid_of(device), pid_of(other)}
        assert all(ended(int(pid)) for pid in children if int(pid) not in wanted)


def test_what_keeps_a_zygote_from_starting_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    command = ("/bin/sh", "-c", "echo no memory >&2; exit 5")
    monkeypatch.setattr("grader.devices.remote.worker_process.ZYGOTE_COMMAND", command)
    monkeypatch.setenv(CACHE_VARIABLES[1], "/nonexistent/too")
    with RemoteDevice(DEVICE) as device, pytest.raises(WorkerError, match="exit code 5") as caught:
        _ = device.info
    assert "no memory" in caught.value.detail


FILL = """
// launch: fill<<<2048, 1024>>>(out)
__global__ void fill(int *out) { out[blockIdx.x * 1024 + threadIdx.x] = blockIdx.x + threadIdx.x; }
"""
COUNT = 2048 * 1024


@pytest.mark.parametrize("mode", [CountingMode(inspect_seed=1), ModelledMode(1), CheckedMode()])
def test_an_output_comes_in_the_file_that_was_prepared_for_it(
    mode: Mode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped_arrays, "LARGE_BYTES", 4 * COUNT)
    out = DeviceBuffer("out", "int32", (COUNT,), Role.OUTPUT)
    index = np.arange(COUNT)
    with RemoteDevice(DEVICE, output_bytes=out.size_bytes) as device:
        program = make_ready(FILL, (out,), {}, device.info).as_program()
        in_file = []
        for _ in range(2):
            execution, outputs = device.run(program, {}, limits=RunLimits(10**9, 60.0), mode=mode)
            assert execution.failure is None
            assert np.array_equal(outputs["out"], index // 1024 + index % 1024)
            in_file.append(find_file(outputs["out"]) is not None)
    assert in_file == [True, False]


ENDLESS = """
// launch: wait<<<1, 32>>>(out)
__global__ void wait(int *out) { for (volatile int i = 0; ; ++i); }
"""


def test_a_closed_device_ends_the_request_of_another_thread() -> None:
    """Also while the worker's process is not known yet: then only its connection ends it."""
    out, endless = DeviceBuffer("out", "int32", (32,), Role.OUTPUT), RunLimits(1 << 60, 1e6, 1e6)
    with ThreadPoolExecutor(1) as pool, RemoteDevice(DEVICE) as device:
        program, began = make_ready(ENDLESS, (out,), {}, device.info).as_program(), Event()
        running = pool.submit(
            device.run, program, {}, limits=endless, progress=lambda _: began.set()
        )
        assert began.wait(60.0)
        worker = pid_of(device)
        os.kill(worker, signal.SIGSTOP)  # no message wakes the thread
        device._worker._process._forked.answer = None  # type: ignore[union-attr]
        device.close()
        with pytest.raises((WorkerError, OSError)):  # the end of the socket, or no socket
            running.result(10.0)
        os.kill(worker, signal.SIGCONT)
