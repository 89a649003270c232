from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.devices.mapped_arrays import SHARED_BYTES, find_file, gather_shared
from grader.devices.remote.protocol import (
    MAGIC,
    MAX_HEADER_BYTES,
    METHODS,
    PREFIX,
    Answer,
    Call,
    Channel,
    Crashed,
    Hello,
    Message,
    ProgressNote,
)
from grader.errors import WorkerError
from grader.records import (
    Act,
    Binary,
    BufferArgument,
    CheckedMode,
    ClockState,
    Counters,
    CountingMode,
    DeviceBuffer,
    DeviceInfo,
    Dim3,
    Execution,
    Faulted,
    Kernel,
    KernelParameter,
    Launch,
    LaunchLimits,
    LaunchResult,
    LineCounters,
    ModelledMode,
    Observation,
    Party,
    Program,
    Progress,
    Role,
    RunLimits,
    SassInstruction,
    ScalarArgument,
    Spot,
    TimedLaunch,
    TimedStep,
)

KERNEL = Kernel(
    "_Z1k",
    "k<32, 8>",
    (KernelParameter(0, 8, "float*"), KernelParameter(8, 4)),
    0x210,
    32,
    4096,
    0,
    None,
    (SassInstruction(0, "@!P0", "MOV", "R1, c[0x0][0x28]", None),),
)
LAUNCH = Launch(
    "_Z1k",
    Dim3(4, 5),
    Dim3(32, 8),
    16,
    (BufferArgument("out"), ScalarArgument(-3, 4)),
    12,
    "k<<<4, 32>>>(out, 3)",
)
BINARY = Binary("sm_90", "13.0", bytes(range(256)), (KERNEL,), "a warning")
INFO = DeviceInfo(
    kind="gpu",
    id="h100",
    name="H100",
    compute_capability="9.0",
    arch="sm_90",
    peak_bandwidth_gbps=3352.0,
    peak_fp32_tflops=66.9,
    limits=LaunchLimits(1024, Dim3(1024), Dim3(65535), 232448, 65536),
    stands_for="nothing",
)
OUT = DeviceBuffer("out", "float32", (3, 2), Role.OUTPUT)
FAILURE = Faulted(
    Observation(
        Act.ACCESS_OUT_OF_BOUNDS,
        by=Party(3, Dim3(1), Dim3(2, 3), stores=True),
        spot=Spot("global", 1 << 40, "out", -4, 4096),
    ),
    quoted="k<<<1, 2>>>()",
)
RESULT = LaunchResult(
    "k",
    Dim3(4, 5),
    Dim3(32, 8),
    32,
    4096,
    16,
    0,
    0.5,
    Counters(7),
    (LineCounters(None, Counters(shared_load_wavefronts=3)),),
)


OPEN_FILES = Path("/proc/self/fd")


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    left, right = socket.socketpair()
    with left, right:
        yield left, right


LIMITS = RunLimits(10, 1.5)
PROGRAM = Program("submission", BINARY, (LAUNCH,), (OUT,))
MODES = (CountingMode(), CountingMode(inspect_seed=3), CheckedMode(True), ModelledMode(7, True))


@pytest.mark.parametrize(
    "message",
    [
        Hello(INFO, "GPU-1", "Landlock"),
        *(
            Call("run", {"program": PROGRAM, "arrays": {}, "limits": LIMITS, "mode": mode}, 1.5)
            for mode in MODES
        ),
        Call("prepare", {"programs": (PROGRAM,), "input_sets": ({}, {}), "limits": LIMITS}, 2.0),
        Call("time", {"steps": (TimedStep("naive", 0), TimedStep("submission", 1))}, 3.0),
        Call("copy_bandwidth", {}, 60.0),
        ProgressNote(Progress("counting", 3, None)),
        Answer("run", (Execution((RESULT,), ("in",), FAILURE), {})),
        Answer("prepare", (Execution((RESULT,), ("in",)), [])),
        Answer(
            "time",
            (
                (TimedLaunch(TimedStep("naive", 0), 0.25, right=True),),
                ClockState((1200, 1980), None, 40, ("hw_slowdown",)),
            ),
        ),
        Answer("copy_bandwidth", 2960.5),
        Crashed("no row", "", "Traceback", usage=True),
    ],
    ids=lambda message: type(message).__name__,
)
def test_messages_arrive_as_they_were_sent(
    ends: tuple[socket.socket, socket.socket], message: Message
) -> None:
    left, right = map(Channel, ends)
    for channel in (left, right):
        channel.held.append(BINARY)
    left.send(message)
    assert right.receive(max_array_bytes=0) == message


def test_every_method_of_a_device_can_be_called() -> None:
    assert set(METHODS) == {"run", "prepare", "time", "copy_bandwidth"}
    assert set(METHODS["run"].parameters) == {"program", "arrays", "limits", "mode"}
    assert METHODS["run"].reports_progress


def test_machine_code_goes_over_once_and_then_by_its_number(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    other = replace(PROGRAM, binary=replace(BINARY, cubin=b"other"))
    left, right = map(Channel, ends)
    got = []
    for program in (other, PROGRAM, PROGRAM):
        left.send(Call("run", {"program": program}, 1.0))
        call = right.receive(max_array_bytes=0)
        assert isinstance(call, Call)
        got.append(call.arguments["program"].binary)
    assert left.held == right.held == got[:2] == [other.binary, BINARY]
    assert got[2] is got[1]


def test_channels_in_turn_keep_their_arrays_and_machine_code_apart() -> None:
    """All channels share a converter."""
    ends = [socket.socketpair() for _ in range(2)]
    (left, right), (other, far) = (tuple(map(Channel, pair)) for pair in ends)
    call = Call("run", {"program": PROGRAM, "arrays": {"x": np.arange(3)}}, 1.0)
    left.send(call)
    left.send(call)
    other.send(call)
    got = [each.receive(max_array_bytes=1 << 10) for each in (right, far, right)]
    assert left.held == right.held == other.held == far.held == [BINARY]
    assert right.held[0] is not far.held[0]
    for each in got:
        assert isinstance(each, Call)
        assert each.arguments["arrays"]["x"].tolist() == [0, 1, 2]
    for pair in ends:
        for end in pair:
            end.close()


def test_arrays_arrive_with_type_shape_and_contents(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    sent = {
        "matrix": np.arange(6, dtype=np.float32).reshape(2, 3).T,
        "poison": np.array([np.nan, np.inf], dtype=np.float64),
        "empty": np.zeros((0, 5), dtype=np.int8),
        "half": np.ones(3, dtype=np.float16),
    }
    Channel(ends[0]).send(Answer("prepare", (Execution(()), [sent, {"x": np.arange(3)}])))
    answer = Channel(ends[1]).receive(max_array_bytes=1000)
    assert isinstance(answer, Answer)
    execution, (got, second) = answer.result
    assert execution == Execution(())
    assert second["x"].tolist() == [0, 1, 2]
    assert list(got) == list(sent)
    for name, array in sent.items():
        assert got[name].dtype == array.dtype
        np.testing.assert_array_equal(got[name], array)
        assert got[name].flags.writeable


def test_the_deadline_holds_when_nothing_comes(ends: tuple[socket.socket, socket.socket]) -> None:
    with pytest.raises(TimeoutError):
        Channel(ends[0]).receive(max_array_bytes=0, deadline=time.monotonic() + 0.05)


def test_a_closed_end_is_told_apart_from_nonsense(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    ends[1].close()
    with pytest.raises(EOFError):
        Channel(ends[0]).receive(max_array_bytes=0)


def frame(header: object) -> bytes:
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return PREFIX.pack(MAGIC, len(raw)) + raw


def held(*arrays: object) -> bytes:
    body = {"method": "copy_bandwidth", "result": 1.0}
    return frame({"kind": "Answer", "body": body, "arrays": list(arrays)})


def answer(result: object) -> bytes:
    return frame({"kind": "Answer", "body": {"method": "run", "result": result}, "arrays": []})


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (b"JUNKJUNKJUNK", "not a frame"),
        (PREFIX.pack(MAGIC, MAX_HEADER_BYTES + 1), "not a frame"),
        (frame(b"{"), "not JSON"),
        (frame(b"\xff"), "not JSON"),
        (frame(b"[" * 100_000), "not JSON"),
        (frame([1, 2]), "lacks its fields"),
        (frame({"kind": "Answer", "body": {}}), "lacks its fields"),
        (frame({"kind": "Explode", "body": {}, "arrays": []}), "no known kind"),
        (frame({"kind": ["Answer"], "body": {}, "arrays": []}), "no known kind"),
        (frame({"kind": "Hello", "body": {"more": 1}, "arrays": []}), "fields of Hello"),
        (
            frame({"kind": "ProgressNote", "body": {"progress": 3}, "arrays": []}),
            "fields of ProgressNote",
        ),
        (frame({"kind": "Answer", "body": {}, "arrays": 3}), "list of arrays"),
        (
            frame({"kind": "Answer", "body": {"method": "exit", "result": 1}, "arrays": []}),
            "fields",
        ),
        (frame({"kind": "Call", "body": {"method": "close"}, "arrays": []}), "fields of Call"),
        (answer(3), "fields of Answer"),
        (answer([{"launches": []}, {"out": 0}]), "fields of Answer"),
        (answer([{"launches": []}, {"out": -1}]), "fields of Answer"),
        (answer([{"launches": []}, {"out": [1.5]}]), "fields of Answer"),
        (held(["float32", [1000]]), "more than 16 bytes"),
        (held(["float32", [2**40, 2**40]]), "more than 16 bytes"),
        (held(["float32", [-1]]), "lacks type"),
        (held(["float32", [True]]), "lacks type"),
        (held(["object", [1]]), "forbidden type"),
        (held(["U4", [1]]), "forbidden type"),
        (held(["no such", [1]]), "unknown type"),
        (held(["float32", [1], "file"]), "file is missing"),
        (held(["float32", [1], "elsewhere"]), "lacks type"),
    ],
)
def test_a_malformed_frame_is_refused(
    ends: tuple[socket.socket, socket.socket], raw: bytes, complaint: str
) -> None:
    ends[0].sendall(raw)
    with pytest.raises(WorkerError, match=complaint):
        Channel(ends[1]).receive(max_array_bytes=16, deadline=time.monotonic() + 5)


def test_counters_that_are_no_integers_are_refused(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    wrong = replace(RESULT, counters=Counters(1.5))  # type: ignore[arg-type]
    Channel(ends[0]).send(Answer("run", (Execution((wrong,)), {})))
    with pytest.raises(WorkerError, match="fields of Answer"):
        Channel(ends[1]).receive(max_array_bytes=16)


def test_a_shared_array_goes_over_as_its_file(ends: tuple[socket.socket, socket.socket]) -> None:
    shared = gather_shared([np.arange(SHARED_BYTES // 4)], (SHARED_BYTES // 4,), np.dtype("int64"))
    sent = {"a": np.arange(3), "b": shared, "c": np.arange(4)}
    Channel(ends[0]).send(Answer("run", (Execution(()), sent)))
    answer = Channel(ends[1]).receive(max_array_bytes=1 << 30)
    assert isinstance(answer, Answer)
    got = answer.result[1]
    assert all(np.array_equal(got[name], array) for name, array in sent.items())
    one, other = find_file(shared), find_file(got["b"])
    assert one is not None
    assert other is not None
    assert os.fstat(one).st_ino == os.fstat(other).st_ino


def test_a_file_that_might_change_is_refused_and_closed(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    file = os.memfd_create("test")
    os.ftruncate(file, 16)
    socket.send_fds(ends[0], [held(["float32", [4], "file"])], [file, file])
    before = list(OPEN_FILES.iterdir())
    with pytest.raises(WorkerError, match="the file of an array is none"):
        Channel(ends[1]).receive(max_array_bytes=16, deadline=time.monotonic() + 5)
    assert len(list(OPEN_FILES.iterdir())) == len(before)
    os.close(file)
