"""The child process that runs a submission's machine code.

`python -m grader.devices.remote.worker FD DEVICE` makes the device, then answers requests over the
socket FD until the other end closes; workers of the emulated device are forked by a zygote and do
the same. A worker never sees the seed, an expected output or a verdict. Its output is kept for
diagnosis and never parsed.
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import math
import os
import resource
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from grader.devices.base import Device, TimingDevice
from grader.devices.choose import DEFAULT_GPU
from grader.devices.mapped_arrays import LARGE_BYTES
from grader.devices.remote.protocol import (
    METHODS,
    PROGRESS,
    Answer,
    Call,
    Channel,
    Crashed,
    Hello,
    ProgressNote,
)
from grader.devices.remote.rehearsal import rehearse
from grader.errors import GraderError, ToolMissing, UsageError, WorkerError
from grader.plumbing.children import end_with_parent
from grader.records import Progress, ShowProgress

if TYPE_CHECKING:
    from grader.devices.emulated.emulated_device import EmulatedDevice

MAX_WRITTEN_BYTES = 64 << 20
"""Of a file that it writes: its captured output, and the largest cubin of the toolchain."""
MAX_OPEN_FILES = 1024
CPU_SLACK_SECONDS = 10
PROGRESS_SECONDS = 0.05


def main(argv: Sequence[str]) -> int:
    """Serve a device over an inherited socket. Exit code 0 when the other end closes."""
    faulthandler.enable()
    channel = Channel(socket.socket(fileno=int(argv[0])))
    end_with_parent(channel.fileno())
    return serve(channel, partial(_make_then_limit, argv[1]))


def load_emulator() -> list[Path]:
    """Load the modules of workers of the emulated device, and the emulator's runtime, which is
    compiled for this machine into a cache that a confined process cannot write. Returns the folders
    that the workers read."""
    from grader.devices.emulated.runtime import emulator_runtime

    runtime = emulator_runtime()
    rehearse(_make_emulated(DEFAULT_GPU))
    return [runtime.steps.folder]


def refuse(error: GraderError) -> Device:
    """Replaces `make_device` where the device is known to be unavailable."""
    raise error


def make_device(name: str) -> Device:
    """The device of a name such as `emulated:h100`."""
    kind, _, device_id = name.partition(":")
    return DEVICES[kind](device_id)


def make_emulated(name: str, *, output_file: int | None) -> Device:
    """The emulated GPU of a name such as `emulated:h100`; `output_file`: the descriptor of a file
    for an output (mapped_arrays.FilledFile)."""
    device = _make_emulated(name.partition(":")[2])
    if output_file is not None:
        device.offer_output(output_file)
    return device


def _make_then_limit(name: str) -> Device:
    """Limits the process last: the driver of grader.cuda starts a server, whose memory is a large
    file."""
    device = make_device(name)
    limit_process()
    return device


def serve(channel: Channel, make: Callable[[], Device], isolation: str = "") -> int:
    """Make the device, send the first message, and answer requests until the other end closes."""
    try:
        device = make()
        uuid = device.uuid if isinstance(device, TimingDevice) else None
        channel.send(Hello(device.info, uuid, isolation))
        while True:
            # The other end is the grader itself: only the memory limit, which it sets for each
            # request, bounds the arrays.
            message = channel.receive(max_array_bytes=sys.maxsize)
            if not isinstance(message, Call):
                raise WorkerError(f"the worker cannot answer {type(message).__name__}")
            large = _count_bytes(message.arguments) >= LARGE_BYTES
            if large:
                give_back_memory()
            answer = answer_call(device, message, channel)
            del message
            if large:
                give_back_memory()
            channel.send(answer, spent=large)
            del answer
            if large:
                give_back_memory()
    except EOFError:
        return 0
    except GraderError as error:
        usage = isinstance(error, UsageError)
        channel.send(Crashed(str(error), error.advice, traceback.format_exc(), usage=usage))
        return error.exit_code
    except Exception as error:
        problem = f"the worker failed: {type(error).__name__}: {error}"
        channel.send(Crashed(problem, "", traceback.format_exc()))
        return 3


def answer_call(device: Device, call: Call, channel: Channel) -> Answer:
    """Execute a call. Raises WorkerError where the device does not have the method."""
    method = getattr(device, call.method, None)
    if method is None:
        raise WorkerError(f"the worker cannot answer {call.method}")
    limit_cpu(call.seconds)
    arguments = dict(call.arguments)
    if METHODS[call.method].reports_progress:
        arguments[PROGRESS] = seldom(lambda note: channel.send(ProgressNote(note)))
    return Answer(call.method, method(**arguments))


def seldom(show: ShowProgress) -> ShowProgress:
    """Forwards the first note, every note about native code that could not be kept, and other notes
    at most once per PROGRESS_SECONDS."""
    due = -math.inf

    def show_some(note: Progress) -> None:
        nonlocal due
        now = time.monotonic()
        if note.unkept or now >= due:
            due = now + PROGRESS_SECONDS
            show(note)

    return show_some


def give_back_memory() -> None:
    """Return freed memory to the system, because the grader needs it now. `worker_process` disables
    the automatic return."""
    with contextlib.suppress(AttributeError):  # where the C library is not glibc
        ctypes.CDLL(None).malloc_trim(0)


def _count_bytes(value: object) -> int:
    match value:
        case np.ndarray():
            return value.nbytes
        case Mapping():
            return sum(map(_count_bytes, value.values()))
        case list() | tuple():
            return sum(map(_count_bytes, value))
    return 0


def limit_process() -> None:
    """Set the limits for the whole life of the process.

    RLIMIT_NPROC stays: it counts all threads of the user, including other programs, and would make
    the device's own threads fail at random. The grader sets the memory limit, because it knows the
    buffers.
    """
    lower_limit(resource.RLIMIT_CORE, 0)
    lower_limit(resource.RLIMIT_FSIZE, MAX_WRITTEN_BYTES)
    lower_limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)


def limit_cpu(wall_seconds: float) -> None:
    """Bound the CPU time of a request. It ends a worker whose grader has ended; the grader's own
    wall limit comes first."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    allowed = (wall_seconds + CPU_SLACK_SECONDS) * len(os.sched_getaffinity(0))
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = math.ceil(usage.ru_utime + usage.ru_stime + allowed)
    resource.setrlimit(
        resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard)
    )


def lower_limit(which: int, value: int) -> None:
    """Lower a limit for good; never raise one that is lower already."""
    _, hard = resource.getrlimit(which)
    bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (bound, bound))


def _make_emulated(device_id: str) -> EmulatedDevice:
    from grader.devices.emulated.emulated_device import EmulatedDevice

    return EmulatedDevice(device_id)


def _make_gpu(name: str) -> Device:
    """The GPU of `0` or, with its peaks set, `0:3352,66.9`."""
    index, _, peak = name.partition(":")
    try:
        from grader.devices.gpu.gpu_device import GpuDevice
        from grader.devices.gpu.peak import parse_peak
    except ImportError as error:
        advice = "`grade doctor` tells how to install it; --device emulated needs none."
        raise ToolMissing(f"PyCUDA does not load: {error}", advice) from error
    return GpuDevice(int(index or "0"), parse_peak(peak) if peak else None)


DEVICES: dict[str, Callable[[str], Device]] = {"emulated": _make_emulated, "gpu": _make_gpu}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
