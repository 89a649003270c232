"""Frames between the grader and its worker process: a JSON header that becomes records, then raw
array bytes.

A frame is `MAGIC`, the header's length (4 bytes, big-endian), the header, and the bytes of its
arrays in order. The header names the message, holds its fields, and gives name, dtype and shape of
each array. Nothing is unpickled: what comes from the other end can become only one of the records
below, and everything has a bound.
"""

from __future__ import annotations

import json
import math
import select
import socket
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from grader.errors import WorkerError
from grader.records import (
    Binary,
    ClockState,
    DeviceBuffer,
    DeviceInfo,
    Dim3,
    Execution,
    Launch,
    Mode,
    Program,
    Progress,
    RunLimits,
    TimedLaunch,
    TimedStep,
)

if TYPE_CHECKING:
    from cattrs import Converter

MAGIC = b"CXG1"
PREFIX = struct.Struct("!4sI")
MAX_HEADER_BYTES = 64 << 20
MAX_ARRAYS = 1024
SOCKET_BUFFER_BYTES = 1 << 20
ARRAY_KINDS = frozenset("biuf")  # bool, integers, floats: never objects, strings or records


@dataclass(frozen=True)
class Hello:
    """The worker's first message: the device that it made; `uuid` where it is one that needs a
    lock.

    `isolation` names what keeps the worker from the machine's files; empty for nothing.
    """

    info: DeviceInfo
    uuid: str | None = None
    isolation: str = ""


@dataclass(frozen=True)
class LoadRequest:
    """Keep this binary."""

    binary: Binary


@dataclass(frozen=True)
class Loaded:
    """The answer to `LoadRequest`."""


@dataclass(frozen=True)
class RunRequest:
    """Run the loaded binary's launches; the contents of the buffers travel as the frame's
    arrays."""

    label: str
    launches: tuple[Launch, ...]
    buffers: tuple[DeviceBuffer, ...]
    limits: RunLimits
    mode: Mode


@dataclass(frozen=True)
class ProgressNote:
    """Sent while an execution runs."""

    progress: Progress


@dataclass(frozen=True)
class Executed:
    """The answer to `RunRequest`; the output buffers travel as the frame's arrays."""

    execution: Execution


@dataclass(frozen=True)
class PrepareRequest:
    """Hold these programs for timing; so many input sets travel as the frame's arrays
    (`pack_sets`)."""

    programs: tuple[Program, ...]
    input_sets: int
    limits: RunLimits


@dataclass(frozen=True)
class Prepared:
    """The answer to `PrepareRequest`; the outputs of each input set travel as the frame's arrays
    (`pack_sets`)."""

    execution: Execution


@dataclass(frozen=True)
class TimeRequest:
    """Carry out these steps."""

    steps: tuple[TimedStep, ...]
    limits: RunLimits


@dataclass(frozen=True)
class Timed:
    """The answer to `TimeRequest`."""

    launches: tuple[TimedLaunch, ...]
    clocks: ClockState


@dataclass(frozen=True)
class CopyBandwidthRequest:
    """Measure the copy bandwidth."""


@dataclass(frozen=True)
class CopyBandwidth:
    """The answer to `CopyBandwidthRequest`, in 10^9 B/s."""

    gbps: float


@dataclass(frozen=True)
class Crashed:
    """The worker's own code raised: never the student's doing. `usage`: the user asked for what
    there is not."""

    message: str
    advice: str
    traceback: str
    usage: bool = False


Message = (
    Hello
    | LoadRequest
    | Loaded
    | RunRequest
    | ProgressNote
    | Executed
    | PrepareRequest
    | Prepared
    | TimeRequest
    | Timed
    | CopyBandwidthRequest
    | CopyBandwidth
    | Crashed
)
MESSAGES: dict[str, type[Message]] = {kind.__name__: kind for kind in get_args(Message)}


class Channel:
    """One end of a socket pair that speaks frames.

    Raises `TimeoutError` when a deadline (of `time.monotonic`) passes, `EOFError` when the other
    end is gone, and `WorkerError` for a frame that is not one.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        for option in (
            socket.SO_SNDBUF,
            socket.SO_RCVBUF,
        ):  # six times the rate of the default buffers, measured
            end.setsockopt(socket.SOL_SOCKET, option, SOCKET_BUFFER_BYTES)

    def close(self) -> None:
        self._socket.close()

    def wait_for_hangup(self) -> None:
        """Return when the other end is closed, whatever may still be unread."""
        poll = select.poll()
        poll.register(self._socket, 0)  # hang-ups are told unasked
        while not any(event & select.POLLHUP for _, event in poll.poll()):
            pass

    def send(
        self,
        message: Message,
        arrays: Mapping[str, np.ndarray] | None = None,
        *,
        deadline: float | None = None,
    ) -> None:
        """Send one frame. The arrays need not be contiguous; they are sent in C order."""
        contents = {name: np.ascontiguousarray(array) for name, array in (arrays or {}).items()}
        header = json.dumps(
            {
                "kind": type(message).__name__,
                "body": converter().unstructure(message),
                "arrays": [
                    [name, array.dtype.name, list(array.shape)] for name, array in contents.items()
                ],
            }
        ).encode()
        if len(header) > MAX_HEADER_BYTES:
            raise WorkerError(f"a message to or from the worker is too long ({len(header)} bytes)")
        try:
            self._send_bytes(PREFIX.pack(MAGIC, len(header)) + header, deadline)
            for array in contents.values():
                self._send_bytes(array.data.cast("B") if array.size else b"", deadline)
        except ConnectionError as error:
            raise EOFError("the other end is gone") from error

    def receive(
        self, *, max_array_bytes: int, deadline: float | None = None
    ) -> tuple[Message, dict[str, np.ndarray]]:
        """Wait for one frame. Its arrays may hold at most `max_array_bytes` together; checked
        before they are read."""
        magic, length = PREFIX.unpack(self._receive_bytes(PREFIX.size, deadline).tobytes())
        if magic != MAGIC or length > MAX_HEADER_BYTES:
            raise _malformed("not a frame")
        header = _parse_header(self._receive_bytes(length, deadline).tobytes())
        message = _parse_message(header)
        layout = _parse_layout(header, max_array_bytes)
        arrays = {}
        for name, (dtype, shape) in layout.items():
            raw = self._receive_bytes(dtype.itemsize * math.prod(shape), deadline)
            arrays[name] = raw.view(dtype).reshape(shape)
        return message, arrays

    def _send_bytes(self, data: bytes | memoryview, deadline: float | None) -> None:
        self._socket.settimeout(_remaining(deadline))
        self._socket.sendall(data)

    def _receive_bytes(self, count: int, deadline: float | None) -> np.ndarray:
        data = np.empty(count, dtype=np.uint8)
        view, got = data.data, 0
        while got < count:
            self._socket.settimeout(_remaining(deadline))
            try:
                received = self._socket.recv_into(view[got:])
            except ConnectionError as error:
                raise EOFError("the other end is gone") from error
            if received == 0:
                raise EOFError("the other end is gone")
            got += received
        return data


def pack_sets(sets: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Several sets of arrays as the arrays of one frame."""
    return {
        f"{index}/{name}": array
        for index, arrays in enumerate(sets)
        for name, array in arrays.items()
    }


def unpack_sets(arrays: Mapping[str, np.ndarray], count: int) -> list[dict[str, np.ndarray]]:
    """The sets that `pack_sets` packed. Raises WorkerError for arrays of another set than the first
    `count`."""
    sets: list[dict[str, np.ndarray]] = [{} for _ in range(count)]
    for key, array in arrays.items():
        index, _, name = key.partition("/")
        if not index.isdecimal() or int(index) >= count:
            raise _malformed("an array belongs to no set")
        sets[int(index)][name] = array
    return sets


def _remaining(deadline: float | None) -> float | None:
    """Seconds until the deadline, None for no limit. Zero would mean non-blocking: a passed
    deadline raises."""
    if deadline is None:
        return None
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("the deadline passed")
    return seconds


def _parse_header(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _malformed("the header is not JSON") from error
    if not isinstance(header, dict) or not {"kind", "body", "arrays"} == header.keys():
        raise _malformed("the header lacks its fields")
    return header


def _parse_message(header: dict[str, Any]) -> Message:
    kind = MESSAGES.get(header["kind"]) if isinstance(header["kind"], str) else None
    if kind is None:
        raise _malformed("the message is of no known kind")
    try:
        return converter().structure(header["body"], kind)
    except Exception as error:  # cattrs collects whatever the fields' constructors raise
        raise _malformed(f"the fields of {kind.__name__} are wrong") from error


def _parse_layout(
    header: dict[str, Any], max_array_bytes: int
) -> dict[str, tuple[np.dtype, tuple[int, ...]]]:
    rows = header["arrays"]
    if not isinstance(rows, list) or len(rows) > MAX_ARRAYS:
        raise _malformed("the list of arrays is none")
    layout = {}
    total = 0
    for row in rows:
        name, dtype, shape = _parse_array(row)
        total += dtype.itemsize * math.prod(shape)
        if total > max_array_bytes:
            raise _malformed(f"more than {max_array_bytes} bytes of arrays")
        layout[name] = (dtype, shape)
    return layout


def _parse_array(row: object) -> tuple[str, np.dtype, tuple[int, ...]]:
    match row:
        case [str(name), str(dtype_name), list(shape)] if (
            all(type(extent) is int and extent >= 0 for extent in shape) and len(shape) <= 32
        ):
            try:
                dtype = np.dtype(dtype_name)
            except (TypeError, ValueError) as error:
                raise _malformed("an array has an unknown type") from error
            if dtype.kind not in ARRAY_KINDS:
                raise _malformed(f"an array has the forbidden type {dtype.name}")
            return name, dtype, tuple(shape)
    raise _malformed("an array lacks name, type or shape")


def _malformed(what: str) -> WorkerError:
    return WorkerError(
        f"a malformed frame came over the worker's pipe: {what}",
        "This is a fault of the grader; please report it.",
    )


@cache
def converter() -> Converter:
    """Makes JSON's values of records, and records of them. Structuring raises what the fields'
    constructors raise, collected."""
    from cattrs.preconf.json import make_converter
    from cattrs.strategies import configure_tagged_union

    converter = make_converter(forbid_extra_keys=True)
    configure_tagged_union(Mode, converter)
    converter.register_structure_hook(Dim3, _structure_dim3)
    return converter


def _structure_dim3(value: object, _: object) -> Dim3:
    match value:
        case [int(x), int(y), int(z)]:
            return Dim3(x, y, z)
    raise ValueError("not three integers")
