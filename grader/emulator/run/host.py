"""System functions that device code calls and Python implements: vprintf and __assertfail
(cpp/memory/heap.cpp implements the heap's).

Native code calls back with the addresses of context and warp, and the lane mask; the arguments are
in registers from R4 on, in nvcc's calling convention.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any, TypeVar
from weakref import WeakMethod

import numpy as np

from grader.emulator.layouts.execution import (
    CONTEXT,
    LOCAL_WINDOW,
    SHARED_HIGH,
    WARP_LANES,
    FaultCode,
)
from grader.emulator.layouts.heap import (
    LAUNCH_HEAD_BYTES,
    LAUNCH_KERNEL,
    LAUNCH_PARAMETER_BYTES,
    LAUNCH_WORDS,
    SYSTEM_WINDOW,
)
from grader.emulator.run.formatting import (
    Arguments,
    BadAddressError,
    count_arguments,
    format_text,
    read_string,
)
from grader.emulator.run.launch import Triple, block_number
from grader.emulator.run.memory import (
    HOST_FUNCTIONS,
    MAKE_HANDLE,
    SUCCEED,
    WINDOW,
    DeviceMemory,
)

Piece = TypeVar("Piece")
TAIL_LAUNCH = 3
"""cudaStreamTailLaunch of driver_types.h."""
_FIRST_ARGUMENT, _LINE_ARGUMENT = 4, 8
_HANDLES = count(0x1000)
"""Handles of streams and events of device code: unlike the named streams of CUDA."""
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32)


@dataclass(frozen=True)
class Assertion:
    """A failed assertion: its text, its place, and the lanes of a warp for which it failed."""

    condition: str
    file: str
    line: int
    function: str
    lanes: tuple[int, ...]


@dataclass(frozen=True)
class DeviceLaunch:
    """A launch by device code: the address of its kernel, its sizes, its stream (a handle, or
    TAIL_LAUNCH), and its parameters, with unused bytes behind them."""

    kernel: int
    grid: Triple
    block: Triple
    dynamic_shared_bytes: int
    stream: int
    parameters: bytes


class HostFunctions:
    """The callback of a worker, and its results: `printed` and `launched` by block in order,
    `message` of a failed assertion."""

    def __init__(self, warp_type: np.dtype, memory: DeviceMemory, limit: int) -> None:
        self._warp_type = warp_type
        self.memory = memory
        self._limit = limit
        self.error: BaseException | None = None
        self.restart()
        self._callback = _CALLBACK(
            partial(_call, WeakMethod(self._called))
        )  # a strong reference to self would keep all memory in a cycle

    def restart(self) -> None:
        """Forgets the results of a launch."""
        self._free_characters = self._limit
        self.printed: list[tuple[int, str]] = []
        self.launched: list[tuple[int, DeviceLaunch]] = []
        self.message = ""
        self.assertion: Assertion | None = None

    @property
    def entry(self) -> int:
        """Address of the callback: `i32 (context, warp, mask)` returns a FaultCode."""
        return ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def _called(self, context_address: int, warp_address: int, mask: int) -> int:
        try:
            context = _record(context_address, CONTEXT)
            warp = _record(warp_address, self._warp_type)
            function = _FUNCTIONS.get(int(context["call_target"]))
            lanes = [lane for lane in range(WARP_LANES) if mask >> lane & 1]
            if function is None:
                return self._fail(context, FaultCode.UNSUPPORTED, lanes[0])
            return function(self, context, warp, lanes)
        except BaseException as problem:  # native code cannot propagate any, not even Ctrl-C
            self.error = problem
            return FaultCode.INTERNAL

    def print_lanes(self, context: Any, warp: Any, lanes: list[int]) -> int:  # noqa: ANN401 - NumPy records
        """vprintf(format, arguments): prints each lane's text; the result is the number of
        arguments."""
        if self._free_characters <= 0:
            return self._count_arguments(context, warp, lanes)
        for lane in lanes:
            read, template = self._reader(context, warp, lane), _argument(warp, lane, 0)
            arguments = Arguments(read, _argument(warp, lane, 1))
            try:
                text = format_text(read_string(read, template), arguments, read)
            except BadAddressError:
                return self._fail(context, FaultCode.GLOBAL_BOUNDS, lane, template)
            warp["registers"][_FIRST_ARGUMENT, lane] = arguments.taken
            if self._free_characters > 0:
                self.printed.append((block_number(context), text[: self._free_characters]))
                self._free_characters -= max(1, len(text))  # empty texts take time, too
        return FaultCode.NONE

    def _count_arguments(self, context: Any, warp: Any, lanes: list[int]) -> int:  # noqa: ANN401
        """vprintf's result for text beyond the limit: computed once for all lanes with the same
        format."""
        taken: dict[int, int] = {}
        for lane in lanes:
            template = _argument(warp, lane, 0)
            if template not in taken:
                try:
                    taken[template] = count_arguments(
                        read_string(self._reader(context, warp, lane), template)
                    )
                except BadAddressError:
                    return self._fail(context, FaultCode.GLOBAL_BOUNDS, lane, template)
            warp["registers"][_FIRST_ARGUMENT, lane] = taken[template]
        return FaultCode.NONE

    def fail_assertion(self, context: Any, warp: Any, lanes: list[int]) -> int:  # noqa: ANN401
        """__assertfail(condition, file, line, function, character size): ends the launch."""
        read = self._reader(context, warp, lanes[0])
        try:
            condition, file, function = (
                read_string(read, _argument(warp, lanes[0], number)) for number in (0, 1, 3)
            )
        except BadAddressError:
            condition, file, function = "?", "?", "?"
        line = int(warp["registers"][_LINE_ARGUMENT, lanes[0]])
        self.assertion = Assertion(condition, file, line, function, tuple(lanes))
        self.message = f"assert({condition}) failed in {function}"
        return self._fail(context, FaultCode.ASSERT, lanes[0])

    def keep_launches(self, context: Any, warp: Any, lanes: list[int]) -> int:  # noqa: ANN401
        """cudaLaunchDeviceV2(memory of cudaGetParameterBufferV2, stream)."""
        for lane in lanes:
            read, buffer = self._reader(context, warp, lane), _argument(warp, lane, 0)
            try:
                head = read(buffer - LAUNCH_HEAD_BYTES, 4 * LAUNCH_WORDS)
                parameters = read(buffer, LAUNCH_PARAMETER_BYTES)
            except BadAddressError:
                return self._fail(context, FaultCode.GLOBAL_BOUNDS, lane, buffer)
            kernel, *sizes, shared = struct.unpack("<Q7I", head)
            launch = DeviceLaunch(
                *(kernel, tuple(sizes[:3]), tuple(sizes[3:]), shared),
                *(_argument(warp, lane, 1), parameters),
            )
            self.launched.append((block_number(context), launch))
        return FaultCode.NONE

    def succeed(self, _: Any, warp: Any, lanes: list[int]) -> int:  # noqa: ANN401
        """A function that has nothing to do: the result is cudaSuccess."""
        warp["registers"][_FIRST_ARGUMENT, lanes] = 0
        return FaultCode.NONE

    def make_handles(self, context: Any, warp: Any, lanes: list[int]) -> int:  # noqa: ANN401
        """cudaStreamCreateWithFlags(stream, flags), cudaEventCreateWithFlags(event, flags)."""
        for lane in lanes:
            address = _argument(warp, lane, 0)
            thread = int(warp["index"]) * WARP_LANES + lane
            try:
                place = _find(self.memory, context, thread, address, 8)
            except BadAddressError:
                return self._fail(context, FaultCode.GLOBAL_BOUNDS, lane, address)
            ctypes.c_uint64.from_address(place).value = next(_HANDLES)
        return self.succeed(context, warp, lanes)

    def _reader(self, context: Any, warp: Any, lane: int) -> Callable[[int, int], bytes]:  # noqa: ANN401
        """A function that reads bytes at a generic address of a lane, or raises BadAddressError."""
        thread = int(warp["index"]) * WARP_LANES + lane
        return lambda address, size: _read(self.memory, context, thread, address, size)

    @staticmethod
    def _fail(context: Any, code: int, lane: int, address: int = 0) -> int:  # noqa: ANN401
        context["fault_code"], context["fault_lane"], context["fault_address"] = code, lane, address
        return code


def _read(memory: DeviceMemory, context: Any, thread: int, address: int, size: int) -> bytes:  # noqa: ANN401
    """Bytes at a generic address of a thread of the context's block."""
    return ctypes.string_at(_find(memory, context, thread, address, size), size)


def _find(memory: DeviceMemory, context: Any, thread: int, address: int, size: int) -> int:  # noqa: ANN401
    """The host address of these bytes. Raises BadAddressError."""
    high, low = address >> 32, address & 0xFFFFFFFF
    if high == WINDOW:
        for region in memory.regions.values():
            if region.offset <= low and low + size <= region.offset + region.size_bytes:
                return (memory.host_base + low) % (1 << 64)
    first, local_bytes = int(context["shared_base"]), int(context["local_bytes"])
    if high == SHARED_HIGH and first <= low and low + size <= first + int(context["shared_bytes"]):
        return int(context["shared_host"]) + low
    if high == LOCAL_WINDOW and low + size <= local_bytes:
        return int(context["local_host"]) + thread * local_bytes + low
    raise BadAddressError


_FUNCTIONS = {
    HOST_FUNCTIONS["vprintf"]: HostFunctions.print_lanes,
    HOST_FUNCTIONS["__assertfail"]: HostFunctions.fail_assertion,
    SYSTEM_WINDOW << 32 | LAUNCH_KERNEL: HostFunctions.keep_launches,
    SYSTEM_WINDOW << 32 | SUCCEED: HostFunctions.succeed,
    SYSTEM_WINDOW << 32 | MAKE_HANDLE: HostFunctions.make_handles,
}


def _call(
    method: WeakMethod[Callable[[int, int, int], int]],
    context_address: int,
    warp_address: int,
    mask: int,
) -> int:
    called = method()
    return FaultCode.INTERNAL if called is None else called(context_address, warp_address, mask)


def join_launched(parts: list[list[tuple[int, DeviceLaunch]]]) -> tuple[DeviceLaunch, ...]:
    """The launches by a launch's blocks, in the order of blocks."""
    return tuple(_order(parts))


def join_printed(parts: list[list[tuple[int, str]]], limit: int) -> str:
    """The output of a launch's blocks, in the order of blocks, up to `limit` characters."""
    return "".join(_order(parts))[:limit]


def _order(parts: list[list[tuple[int, Piece]]]) -> list[Piece]:
    """The pieces of all workers, in the order of blocks."""
    pieces = sorted((piece for part in parts for piece in part), key=lambda piece: piece[0])
    return [piece for _, piece in pieces]


def _record(address: int, kind: np.dtype) -> Any:  # noqa: ANN401
    memory = (ctypes.c_uint8 * kind.itemsize).from_address(address)
    return np.frombuffer(memoryview(memory), dtype=kind)[0]


def _argument(warp: Any, lane: int, number: int) -> int:  # noqa: ANN401
    """The 64-bit argument in registers: number 0 in R4 and R5. The third argument is a 32-bit word,
    but the fourth is in R10."""
    register = _FIRST_ARGUMENT + 2 * number
    return int(warp["registers"][register, lane]) | int(warp["registers"][register + 1, lane]) << 32
