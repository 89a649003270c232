"""Frames between the grader and its worker process: a JSON header that becomes a message, then raw
array bytes.

A frame is `MAGIC`, the header's length (4 bytes, big-endian), the header, and the bytes of its
arrays in order. The header names the message, holds its fields, and gives dtype and shape of each
array, and whether it lies in a file (`devices.mapped_arrays`): then the file's descriptor is sent
with the first bytes of the frame, in place of the array's bytes. The signatures of
`devices.base.TimingDevice` define the allowed calls, their arguments and results; JSON holds an
array as its number in the frame. Machine code is sent once to each worker; later it is its number,
from 0 in order of arrival. Nothing is unpickled: data from the other end can become only one of the
messages below, and every size has a bound.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import math
import os
import socket
import struct
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args, get_type_hints

import numpy as np

from grader.devices.base import TimingDevice
from grader.devices.mapped_arrays import find_file, map_array, spend
from grader.errors import WorkerError
from grader.plumbing.record_json import converter, make_converter
from grader.records import Binary, Counters, DeviceInfo, Progress

if TYPE_CHECKING:
    from cattrs import Converter

MAGIC = b"CXG2"
PREFIX = struct.Struct("!4sI")
MAX_HEADER_BYTES = 64 << 20
MAX_ARRAYS = 1024
MAX_FILES = 64
"""Descriptors that come with a frame; Linux sends up to 253."""
IN_FILE = "file"
"""The mark of an array that lies in a file."""
SOCKET_BUFFER_BYTES = 1 << 20
ARRAY_KINDS = frozenset("biuf")  # bool, integers, floats: never objects, strings or records
Kept = TypeVar("Kept")
PROGRESS = "progress"
"""The parameter of a method that takes progress: the other end gets notes instead."""


@dataclass(frozen=True)
class Method:
    """A method of a device in the protocol: the types of its arguments, and of its result."""

    parameters: Mapping[str, Any]
    reports_progress: bool
    result: Any
    signature: inspect.Signature


def _describe(function: Callable[..., object]) -> Method:
    hints = get_type_hints(function)
    result = hints.pop("return")
    return Method(
        {name: kind for name, kind in hints.items() if name != PROGRESS},
        PROGRESS in hints,
        result,
        inspect.signature(function),
    )


METHODS = {
    name: _describe(function)
    for name, function in inspect.getmembers(TimingDevice, inspect.isfunction)
    if not name.startswith("_")
}


@dataclass(frozen=True)
class Hello:
    """The worker's first message: its device; `uuid` for a device with a lock.

    `isolation` names the sandbox that keeps the worker from the machine's files; empty without a
    sandbox.
    """

    info: DeviceInfo
    uuid: str | None = None
    isolation: str = ""


@dataclass(frozen=True)
class Call:
    """Call a method of the device, within this processor time."""

    method: str
    arguments: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class Answer:
    """The result of a method."""

    method: str
    result: Any


@dataclass(frozen=True)
class ProgressNote:
    """Sent while a call runs."""

    progress: Progress


@dataclass(frozen=True)
class Crashed:
    """The worker's own code raised: never the student's fault. `usage`: the user asked for a device
    that does not exist."""

    message: str
    advice: str
    traceback: str
    usage: bool = False


Message = Hello | Call | Answer | ProgressNote | Crashed
MESSAGES: dict[str, type[Message]] = {kind.__name__: kind for kind in get_args(Message)}


class Channel:
    """An end of a socket pair for frames. `held` is the machine code that was sent or received.

    Raises `TimeoutError` when a deadline (of `time.monotonic`) passes, `EOFError` when the other
    end is closed, and `WorkerError` for an invalid frame.
    """

    def __init__(self, end: socket.socket) -> None:
        self._socket = end
        self.held: list[Binary] = []
        self.arrays: list[np.ndarray] = []
        # six times the rate of the default buffers, measured
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            end.setsockopt(socket.SOL_SOCKET, option, SOCKET_BUFFER_BYTES)

    def close(self) -> None:
        with contextlib.suppress(OSError):  # a thread that waits for a frame keeps a socket open
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def fileno(self) -> int:
        return self._socket.fileno()

    def send(self, message: Message, *, deadline: float | None = None, spent: bool = False) -> None:
        """Send a frame. `spent`: its arrays are not used any more."""
        _CHANNEL.set(self)
        fields = _plain_fields(message)
        arrays, self.arrays = [np.asarray(array, order="C") for array in self.arrays], []
        files = [
            find_file(array) if number < MAX_FILES else None for number, array in enumerate(arrays)
        ]
        layout = [
            [array.dtype.name, list(array.shape), *([] if file is None else [IN_FILE])]
            for array, file in zip(arrays, files, strict=True)
        ]
        header = json.dumps(
            {"kind": type(message).__name__, "body": fields, "arrays": layout}
        ).encode()
        if len(header) > MAX_HEADER_BYTES:
            raise WorkerError(f"a message to or from the worker is too long ({len(header)} bytes)")
        try:
            prefix = PREFIX.pack(MAGIC, len(header))
            self._send_start(prefix, [file for file in files if file is not None], deadline)
            self._send_bytes(header, deadline)
            for array, file in zip(arrays, files, strict=True):
                if array.size and file is None:
                    for piece in spend(array) if spent else (array.data.cast("B"),):
                        self._send_bytes(piece, deadline)
        except ConnectionError as error:
            raise EOFError("the other end is gone") from error

    def receive(self, *, max_array_bytes: int, deadline: float | None = None) -> Message:
        """Wait for a frame. Its arrays may have at most `max_array_bytes` together; this is checked
        before they are read."""
        prefix, files = self._receive_start(deadline)
        try:
            return self._receive_rest(prefix, files, max_array_bytes, deadline)
        finally:
            self.arrays = []
            for file in files:
                os.close(file)

    def _receive_rest(
        self, prefix: bytes, files: list[int], max_array_bytes: int, deadline: float | None
    ) -> Message:
        """The message of a frame whose start has arrived. Files that it uses are removed from the
        list."""
        magic, length = PREFIX.unpack(prefix)
        if magic != MAGIC or length > MAX_HEADER_BYTES:
            raise _malformed("not a frame")
        header = _parse_header(self._receive_bytes(length, deadline).tobytes())
        for dtype, shape, in_file in _parse_layout(header["arrays"], max_array_bytes):
            if in_file:
                if not files:
                    raise _malformed("an array's file is missing")
                try:
                    self.arrays.append(map_array(files.pop(0), shape, dtype))
                except ValueError as error:
                    raise _malformed(str(error)) from error
                continue
            raw = self._receive_bytes(dtype.itemsize * math.prod(shape), deadline)
            self.arrays.append(raw.view(dtype).reshape(shape))
        _CHANNEL.set(self)
        return _parse_message(header["kind"], header["body"])

    def _send_bytes(self, data: bytes | memoryview, deadline: float | None) -> None:
        self._socket.settimeout(_remaining(deadline))
        self._socket.sendall(data)

    def _send_start(self, prefix: bytes, files: list[int], deadline: float | None) -> None:
        sent = 0
        if files:
            self._socket.settimeout(_remaining(deadline))
            sent = socket.send_fds(self._socket, [prefix], files)
        self._send_bytes(prefix[sent:], deadline)

    def _receive_start(self, deadline: float | None) -> tuple[bytes, list[int]]:
        self._socket.settimeout(_remaining(deadline))
        try:
            first, files, _, _ = socket.recv_fds(self._socket, PREFIX.size, MAX_FILES)
        except ConnectionError as error:
            raise EOFError("the other end is gone") from error
        if not first:
            raise EOFError("the other end is gone")
        rest = self._receive_bytes(PREFIX.size - len(first), deadline).tobytes()
        return first + rest, files

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


_CHANNEL: ContextVar[Channel] = ContextVar("_CHANNEL")
"""The channel whose message is converted."""


def _plain_fields(message: Message) -> object:
    match message:
        case Call(name, arguments, seconds):
            kinds = METHODS[name].parameters
            plain = {
                each: _frame_converter().unstructure(argument, kinds[each])
                for each, argument in arguments.items()
            }
            return {"method": name, "arguments": plain, "seconds": seconds}
        case Answer(name, result):
            plain_result = _frame_converter().unstructure(result, METHODS[name].result)
            return {"method": name, "result": plain_result}
    return converter().unstructure(message)


def _parse_message(name: object, fields: Any) -> Message:  # noqa: ANN401 (JSON)
    kind = MESSAGES.get(name) if isinstance(name, str) else None
    if kind is None:
        raise _malformed("the message is of no known kind")
    structure = _frame_converter().structure
    try:
        if kind is Call:
            kinds = METHODS[fields["method"]].parameters
            arguments = {
                each: structure(argument, kinds[each])
                for each, argument in fields["arguments"].items()
            }
            return Call(fields["method"], arguments, float(fields["seconds"]))
        if kind is Answer:
            method = METHODS[fields["method"]]
            return Answer(fields["method"], structure(fields["result"], method.result))
        return converter().structure(fields, kind)
    except Exception as error:  # cattrs collects all exceptions of the fields' constructors
        raise _malformed(f"the fields of {kind.__name__} are wrong") from error


@cache
def _frame_converter() -> Converter:
    """Records as JSON's values; arrays and machine code by number, counters as a row. All channels
    share it: cattrs generates the code of each record once per converter."""
    made = make_converter()
    made.register_unstructure_hook(np.ndarray, _collect_array)
    made.register_structure_hook(np.ndarray, lambda number, _: _pick(_CHANNEL.get().arrays, number))
    made.register_unstructure_hook(Counters, Counters.values)
    made.register_structure_hook(Counters, _parse_counters)
    made.register_unstructure_hook(Binary, _hold_sent)
    made.register_structure_hook(Binary, _hold_received)
    return made


def _collect_array(array: np.ndarray) -> int:
    arrays = _CHANNEL.get().arrays
    arrays.append(array)
    return len(arrays) - 1


def _hold_sent(binary: Binary) -> object:
    held = _CHANNEL.get().held
    if binary in held:
        return held.index(binary)
    held.append(binary)
    return converter().unstructure(binary)


def _hold_received(value: object, _: object) -> Binary:
    held = _CHANNEL.get().held
    if isinstance(value, dict):
        held.append(converter().structure(value, Binary))
        return held[-1]
    return _pick(held, value)


def _parse_counters(row: list[object], _: object) -> Counters:
    if set(map(type, row)) != {int}:
        raise ValueError("not counters")
    return Counters(*cast(list[int], row))


def _pick(kept: list[Kept], number: object) -> Kept:
    if type(number) is not int or number < 0:
        raise ValueError("not a number")
    return kept[number]


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


def _parse_layout(
    rows: object, max_array_bytes: int
) -> list[tuple[np.dtype, tuple[int, ...], bool]]:
    if not isinstance(rows, list) or len(rows) > MAX_ARRAYS:
        raise _malformed("the list of arrays is none")
    layout = [_parse_array(row) for row in rows]
    if sum(dtype.itemsize * math.prod(shape) for dtype, shape, _ in layout) > max_array_bytes:
        raise _malformed(f"more than {max_array_bytes} bytes of arrays")
    return layout


def _parse_array(row: object) -> tuple[np.dtype, tuple[int, ...], bool]:
    match row:
        case [str(dtype_name), list(shape), *rest] if (
            rest in ([], [IN_FILE])
            and all(type(extent) is int and extent >= 0 for extent in shape)
            and len(shape) <= 32
        ):
            try:
                dtype = np.dtype(dtype_name)
            except (TypeError, ValueError) as error:
                raise _malformed("an array has an unknown type") from error
            if dtype.kind not in ARRAY_KINDS:
                raise _malformed(f"an array has the forbidden type {dtype.name}")
            return dtype, tuple(shape), bool(rest)
    raise _malformed("an array lacks type or shape")


def _malformed(what: str) -> WorkerError:
    return WorkerError(
        f"a malformed frame came over the worker's pipe: {what}",
        "This is a fault of the grader; please report it.",
    )
