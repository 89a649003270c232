from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.devices.base import places_of
from grader.devices.remote.remote_device import RemoteDevice
from grader.devices.remote.worker import seldom
from grader.devices.remote.worker_process import CACHE_VARIABLES
from grader.errors import UsageError, WorkerError
from grader.records import (
    Binary,
    ClockState,
    DeviceBuffer,
    Dim3,
    Execution,
    Launch,
    Program,
    Progress,
    Role,
    RunLimits,
    Status,
    TimedLaunch,
    TimedStep,
)

SUPPORT = Path(__file__).parents[2] / "support"
COMMAND = (sys.executable, str(SUPPORT / "fake_worker.py"))
ZYGOTE_COMMAND = (sys.executable, str(SUPPORT / "fake_zygote.py"))
BUFFERS = (
    DeviceBuffer("in", "float32", (4,), Role.INPUT),
    DeviceBuffer("out", "float32", (4,), Role.OUTPUT),
)
BINARY = Binary("sm_90", "13.0", b"cubin", ())


@pytest.fixture
def _forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of the emulated device are forked from a process that has loaded the fake one."""
    monkeypatch.setattr("grader.devices.remote.worker_process.ZYGOTE_COMMAND", ZYGOTE_COMMAND)
    monkeypatch.setenv(CACHE_VARIABLES[1], "/nonexistent/fake")  # it serves nobody else


@pytest.fixture
def device(_forks: None, request: pytest.FixtureRequest) -> Iterator[RemoteDevice]:
    """A worker that was forked, or, where a test asks for it, started by itself."""
    spawned = getattr(request, "param", "forked") == "spawned"
    with (
        RemoteDevice("fake", command=COMMAND, grace_seconds=0.05)
        if spawned
        else RemoteDevice("emulated:fake", grace_seconds=0.05, isolated=False)
    ) as device:
        yield device


either_way = pytest.mark.parametrize("device", ["forked", "spawned"], indirect=True)


def execute(
    device: RemoteDevice,
    what: str,
    *,
    seconds: float = 20.0,
    shown: list[Progress] | None = None,
) -> tuple[Execution, dict[str, np.ndarray]]:
    launch = Launch(what, Dim3(1), Dim3(1), 0, (), None, f"{what}<<<1, 1>>>()")
    arrays = {"in": np.arange(4, dtype=np.float32), "out": np.full(4, np.nan, dtype=np.float32)}
    show = None if shown is None else shown.append
    program = Program("submission", BINARY, (launch,), BUFFERS)
    return device.run(program, arrays, limits=RunLimits(1000, 20.0, seconds), progress=show)


@either_way
def test_the_answer_and_its_outputs_come_back(device: RemoteDevice) -> None:
    shown: list[Progress] = []
    execution, outputs = execute(device, "double", shown=shown)
    assert execution.failure is None
    np.testing.assert_array_equal(outputs["out"], [0, 2, 4, 6])
    assert shown == [Progress("running", 1, 2)]
    assert device.info.name == "Fake"


def test_of_many_notes_few_come_but_all_that_say_what_was_not_kept() -> None:
    shown: list[Progress] = []
    show = seldom(shown.append)
    notes = [Progress("running", number, 20_000) for number in range(20_000)]
    for note in notes:
        show(note)
    assert shown[0] == notes[0]
    assert len(shown) < len(notes) // 2
    unkept = [replace(note, unkept=1) for note in notes[:3]]
    shown.clear()
    for note in unkept:
        show(note)
    assert shown == unkept


def test_what_a_sample_wrote_comes_back(device: RemoteDevice) -> None:
    _, outputs = execute(device, "sample")
    assert (outputs["out"].tolist(), outputs[places_of("out")].tolist()) == ([3, 1], [3, 1])


def test_a_students_failure_is_a_value(device: RemoteDevice) -> None:
    execution, outputs = execute(device, "fail")
    assert execution.failure is not None
    assert execution.failure.status is Status.RUNTIME_ERROR
    assert outputs == {}


@pytest.mark.parametrize("what", ["loop", "loop_with_progress"])
def test_a_worker_that_hangs_is_our_error_and_the_next_request_gets_a_fresh_one(
    device: RemoteDevice, what: str
) -> None:
    started = time.monotonic()
    with pytest.raises(WorkerError, match="gave no answer for"):
        execute(device, what, seconds=0.05)
    assert time.monotonic() - started < 30
    np.testing.assert_array_equal(execute(device, "double")[1]["out"], [0, 2, 4, 6])


@either_way
def test_no_process_of_the_group_outlives_the_kill(device: RemoteDevice) -> None:
    before = sleepers()
    with pytest.raises(WorkerError):
        execute(device, "loop", seconds=0.05)
    deadline = time.monotonic() + 30
    while sleepers() - before and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not sleepers() - before


def sleepers() -> set[int]:
    """Processes that run `sleep 60`, zombies not counted: their command line is empty."""
    found = set()
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if command == b"sleep\x0060\x00":
                found.add(int(folder.name))
    return found


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("raise", "KeyError.*lacks a row"),
        ("segfault", "SIGSEGV"),
        ("exit", "exit code 7"),
        ("garbage", "malformed frame"),
        ("wrong_shape", "another name, type or shape"),
        ("sample_beyond", "elements that the output does not have"),
        ("sample_of_words", "a sample of another type or shape"),
        ("sample_of_more", "a sample of another type or shape"),
        ("sample_of_all", "a sample of other outputs"),
        ("too_much", "malformed frame.*more than 32 bytes"),
        ("allocate", "MemoryError"),
    ],
)
def test_a_worker_that_breaks_is_our_error_and_is_replaced(
    device: RemoteDevice, what: str, message: str
) -> None:
    with pytest.raises(WorkerError, match=message):
        execute(device, what)
    np.testing.assert_array_equal(execute(device, "double")[1]["out"], [0, 2, 4, 6])


@either_way
def test_after_a_students_failure_the_next_request_gets_a_fresh_worker(
    device: RemoteDevice,
) -> None:
    before = device._worker
    execute(device, "fail")
    np.testing.assert_array_equal(execute(device, "double")[1]["out"], [0, 2, 4, 6])
    assert device._worker is not before


def test_machine_code_goes_over_once_to_each_worker(device: RemoteDevice) -> None:
    for _ in range(2):
        execute(device, "double")
    assert device._worker is not None
    assert device._worker.channel.held == [BINARY]
    execute(device, "fail")
    execute(device, "double")
    assert device._worker.channel.held == [BINARY]


@either_way
def test_the_traceback_is_kept_for_the_instructor(device: RemoteDevice) -> None:
    with pytest.raises(WorkerError) as caught:
        execute(device, "raise")
    assert "do_raise" in caught.value.detail
    with pytest.raises(WorkerError) as caught:
        execute(device, "segfault")
    assert "noise on stdout" in caught.value.detail


def test_the_environment_does_not_reach_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET_OF_THE_COURSE", "1")
    with RemoteDevice("fake", command=COMMAND) as device, pytest.raises(WorkerError) as caught:
        execute(device, "environment")
    assert "PATH" in str(caught.value)
    assert "A_SECRET_OF_THE_COURSE" not in str(caught.value)


def test_a_device_that_cannot_be_made_says_why() -> None:
    with RemoteDevice("broken", command=COMMAND) as device, pytest.raises(WorkerError) as caught:
        _ = device.info
    assert "no such device" in caught.value.detail


def test_a_device_that_is_not_there_is_the_users_mistake() -> None:
    with (
        RemoteDevice("missing", command=COMMAND) as device,
        pytest.raises(UsageError, match="there is no GPU 99") as caught,
    ):
        _ = device.info
    assert caught.value.advice == "There is GPU 0 only."


def test_close_ends_the_process() -> None:
    device = RemoteDevice("fake", command=COMMAND)
    assert device.info.name == "Fake"
    pid = device._worker._process.pid  # type: ignore[union-attr]
    device.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


# --- a device with a clock ------------------------------------------------------------------------

STEPS = [TimedStep("naive", 0), TimedStep("submission", 1)]


@pytest.fixture
def clock(_forks: None) -> Iterator[RemoteDevice]:
    with RemoteDevice("emulated:clock", grace_seconds=0.05, isolated=False) as device:
        yield device


def prepare(
    device: RemoteDevice, what: str, *, wall_seconds: float = 20.0
) -> tuple[Execution, list[dict[str, np.ndarray]]]:
    launch = Launch(what, Dim3(1), Dim3(1), 0, (), None, f"{what}<<<1, 1>>>()")
    programs = [Program(label, BINARY, (launch,), BUFFERS) for label in ("naive", "submission")]
    sets = [{"in": np.full(4, value, dtype=np.float32)} for value in (1, 2, 3)]
    return device.prepare(programs, sets, limits=RunLimits(1000, wall_seconds))


def test_input_sets_go_over_and_their_outputs_come_back(clock: RemoteDevice) -> None:
    execution, outputs = prepare(clock, "double")
    assert execution == Execution(())
    assert [each["out"].tolist() for each in outputs] == [[2.0] * 4, [4.0] * 4, [6.0] * 4]


def test_times_come_back(clock: RemoteDevice) -> None:
    prepare(clock, "double")
    shown: list[Progress] = []
    launches, clocks = clock.time(STEPS, progress=shown.append)
    assert launches == tuple(TimedLaunch(step, 0.5, right=True) for step in STEPS)
    assert clocks == ClockState((1, 2))
    assert shown == [Progress("timing", 1, 2)]
    assert clock.copy_bandwidth() == 1234.5
    assert clock.uuid == "GPU-fake"


def test_a_submission_that_fails_when_it_is_prepared_is_a_value(clock: RemoteDevice) -> None:
    execution, outputs = prepare(clock, "fail")
    assert execution.failure is not None
    assert outputs == []


@pytest.mark.parametrize("what", ["fault", "loop"])
def test_a_submission_that_stops_while_it_is_timed_is_not_right(
    clock: RemoteDevice, what: str
) -> None:
    prepare(clock, what, wall_seconds=0.5)
    before = clock._worker
    launches, _ = clock.time(STEPS)
    assert launches[-1].step.program == "submission"
    assert not launches[-1].right
    assert np.isnan(launches[-1].milliseconds)
    assert prepare(clock, "double")[0].failure is None
    assert clock._worker is not before


def test_a_device_without_a_clock_cannot_be_asked_for_times(device: RemoteDevice) -> None:
    assert device.uuid is None
    with pytest.raises(WorkerError, match="cannot answer copy_bandwidth"):
        device.copy_bandwidth()
