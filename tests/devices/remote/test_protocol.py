from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest

from grader.devices.remote.protocol import (
    MAGIC,
    MAX_HEADER_BYTES,
    PREFIX,
    Channel,
    CopyBandwidth,
    CopyBandwidthRequest,
    Executed,
    Loaded,
    LoadRequest,
    Message,
    Prepared,
    PrepareRequest,
    ProgressNote,
    RunRequest,
    Timed,
    TimeRequest,
    pack_sets,
    unpack_sets,
)
from grader.errors import WorkerError
from grader.records import (
    Binary,
    BufferArgument,
    CheckedMode,
    ClockState,
    Counters,
    DeviceBuffer,
    Dim3,
    Execution,
    Failure,
    Finding,
    FindingKind,
    Kernel,
    KernelParameter,
    Launch,
    LaunchResult,
    LineCounters,
    Program,
    Progress,
    Role,
    RunLimits,
    SassInstruction,
    ScalarArgument,
    Status,
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
OUT = DeviceBuffer("out", "float32", (3, 2), Role.OUTPUT)
FAILURE = Failure(
    Status.TIMEOUT,
    "too long",
    findings=(
        Finding(
            FindingKind.OUT_OF_BOUNDS, "beyond", block=Dim3(1), thread=Dim3(2, 3), offset_bytes=-4
        ),
    ),
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


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    left, right = socket.socketpair()
    with left, right:
        yield left, right


@pytest.mark.parametrize(
    "message",
    [
        LoadRequest(BINARY),
        Loaded(),
        RunRequest("naive", (LAUNCH,), (OUT,), RunLimits(10, 1.5), CheckedMode(True)),
        ProgressNote(Progress("counting", 3, None)),
        PrepareRequest((Program("submission", BINARY, (LAUNCH,), (OUT,)),), 2, RunLimits(10, 1.5)),
        Prepared(Execution((RESULT,), ("in",))),
        TimeRequest((TimedStep("naive", 0), TimedStep("submission", 1)), RunLimits(10, 1.5)),
        Timed(
            (TimedLaunch(TimedStep("naive", 0), 0.25, right=True),),
            ClockState((1200, 1980), None, 40, ("hw_slowdown",)),
        ),
        CopyBandwidthRequest(),
        CopyBandwidth(2960.5),
        Executed(Execution((RESULT,), ("in",), FAILURE)),
    ],
    ids=lambda message: type(message).__name__,
)
def test_messages_arrive_as_they_were_sent(
    ends: tuple[socket.socket, socket.socket], message: Message
) -> None:
    Channel(ends[0]).send(message)
    assert Channel(ends[1]).receive(max_array_bytes=0) == (message, {})


def test_arrays_arrive_with_type_shape_and_contents(
    ends: tuple[socket.socket, socket.socket],
) -> None:
    sent = {
        "matrix": np.arange(6, dtype=np.float32).reshape(2, 3).T,
        "poison": np.array([np.nan, np.inf], dtype=np.float64),
        "empty": np.zeros((0, 5), dtype=np.int8),
        "half": np.ones(3, dtype=np.float16),
    }
    Channel(ends[0]).send(Loaded(), sent)
    _, got = Channel(ends[1]).receive(max_array_bytes=1000)
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


def loaded(*arrays: object) -> bytes:
    return frame({"kind": "Loaded", "body": {}, "arrays": list(arrays)})


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        (b"JUNKJUNKJUNK", "not a frame"),
        (PREFIX.pack(MAGIC, MAX_HEADER_BYTES + 1), "not a frame"),
        (frame(b"{"), "not JSON"),
        (frame(b"\xff"), "not JSON"),
        (frame(b"[" * 100_000), "not JSON"),
        (frame([1, 2]), "lacks its fields"),
        (frame({"kind": "Loaded", "body": {}}), "lacks its fields"),
        (frame({"kind": "Explode", "body": {}, "arrays": []}), "no known kind"),
        (frame({"kind": ["Loaded"], "body": {}, "arrays": []}), "no known kind"),
        (frame({"kind": "Loaded", "body": {"more": 1}, "arrays": []}), "fields of Loaded"),
        (
            frame({"kind": "ProgressNote", "body": {"progress": 3}, "arrays": []}),
            "fields of ProgressNote",
        ),
        (frame({"kind": "Loaded", "body": {}, "arrays": 3}), "list of arrays"),
        (loaded(["x", "float32", [1000]]), "more than 16 bytes"),
        (loaded(["x", "float32", [2**40, 2**40]]), "more than 16 bytes"),
        (loaded(["x", "float32", [-1]]), "lacks name"),
        (loaded(["x", "float32", [True]]), "lacks name"),
        (loaded(["x", "object", [1]]), "forbidden type"),
        (loaded(["x", "U4", [1]]), "forbidden type"),
        (loaded(["x", "no such", [1]]), "unknown type"),
    ],
)
def test_a_malformed_frame_is_refused(
    ends: tuple[socket.socket, socket.socket], raw: bytes, complaint: str
) -> None:
    ends[0].sendall(raw)
    with pytest.raises(WorkerError, match=complaint):
        Channel(ends[1]).receive(max_array_bytes=16, deadline=time.monotonic() + 5)


def test_sets_of_arrays_travel_as_one() -> None:
    sets = [
        {"in": np.arange(4.0), "other": np.arange(2)},
        {"in": np.arange(4.0) + 1, "other": np.arange(2) + 1},
    ]
    got = unpack_sets(pack_sets(sets), 2)
    assert [{name: array.tolist() for name, array in arrays.items()} for arrays in got] == [
        {name: array.tolist() for name, array in arrays.items()} for arrays in sets
    ]
    assert unpack_sets({}, 2) == [{}, {}]


@pytest.mark.parametrize("key", ["2/in", "-1/in", "in", "x/in"])
def test_an_array_of_no_set_is_refused(key: str) -> None:
    with pytest.raises(WorkerError, match="belongs to no set"):
        unpack_sets({key: np.zeros(1)}, 2)
