"""The child process that runs a submission's machine code: `python -m grader.sandbox.worker FD
DEVICE [open] [timed]`.

It makes the device, then answers requests over the socket FD until the other end closes. It never
sees the seed, an expected output or a verdict. What it prints is kept for diagnosis and never
parsed.
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
import threading
import traceback
from collections.abc import Callable, Sequence
from functools import partial

from grader.devices.base import Arrays, Device, GradingDevice, RehearsingDevice, TimingDevice
from grader.errors import GraderError, ToolMissing, UsageError, WorkerError
from grader.records import Progress, ShowProgress
from grader.sandbox.child import OPEN, TIMED
from grader.sandbox.isolation import restrict_emulating_process
from grader.sandbox.wire import (
    Channel,
    CopyBandwidth,
    CopyBandwidthRequest,
    Crashed,
    Executed,
    ExecuteRequest,
    GradeRequest,
    Hello,
    Loaded,
    LoadRequest,
    Message,
    Prepared,
    PrepareRequest,
    ProgressNote,
    RehearseRequest,
    Timed,
    TimeRequest,
    pack_sets,
    unpack_sets,
)

EMULATED = "emulated"
MAX_WRITTEN_BYTES = (
    64 << 20
)  # a file that it writes: its captured output, and the largest cubin that the toolchain lets pass
MAX_OPEN_FILES = 1024
CPU_SLACK_SECONDS = 10
LARGE_BYTES = 128 << 20
"""Inputs from which on memory is scarcer than the time that fresh pages take."""


def main(argv: Sequence[str]) -> int:
    """Serve one device over an inherited socket. Exit code 0 when the other end closes."""
    faulthandler.enable()
    limit_process()
    isolation, make = "", partial(make_device, argv[1])
    if argv[1].startswith(EMULATED):
        try:
            load_emulator(models=TIMED in argv[2:])
        except GraderError as error:
            make = partial(_refuse, error)
        isolation = restrict_emulating_process() if OPEN not in argv[2:] else ""
    channel = Channel(socket.socket(fileno=int(argv[0])))
    _end_with_grader(channel)
    return serve(channel, make, isolation)


def load_emulator(*, models: bool) -> None:
    """Load what is compiled for this machine and goes into caches that a confined process cannot
    write: the emulator's runtime, and the timing model."""
    from grader.devices.runtime import emulator_runtime

    emulator_runtime()
    if models:
        from grader.devices import modelled  # noqa: F401


def _refuse(error: GraderError) -> Device:
    raise error


def make_device(name: str) -> Device:
    """The device of a name such as `emulated:h100`."""
    kind, _, device_id = name.partition(":")
    return DEVICES[kind](device_id)


def serve(channel: Channel, make: Callable[[], Device], isolation: str = "") -> int:
    """Make the device, greet, and answer requests until the other end closes."""
    try:
        device = make()
        channel.send(
            Hello(device.info, device.uuid if isinstance(device, TimingDevice) else None, isolation)
        )
        while True:
            # The other end is the grader itself: only the memory limit, which it sets for each
            # request, bounds the arrays.
            message, arrays = channel.receive(max_array_bytes=sys.maxsize)
            answer, outputs = answer_request(device, message, arrays, channel)
            large = sum(array.nbytes for array in arrays.values()) >= LARGE_BYTES
            del arrays
            if large:
                give_back_memory()
            channel.send(answer, outputs)
            del outputs
            if large:
                give_back_memory()
    except EOFError:
        return 0
    except GraderError as error:
        channel.send(
            Crashed(
                str(error),
                error.advice,
                traceback.format_exc(),
                usage=isinstance(error, UsageError),
            )
        )
        return error.exit_code
    except Exception as error:
        channel.send(
            Crashed(
                f"the worker failed: {type(error).__name__}: {error}", "", traceback.format_exc()
            )
        )
        return 3


def give_back_memory() -> None:
    """Return what was freed to the system, which `sandbox.child` keeps this process from doing by
    itself: the grader needs it now."""
    with contextlib.suppress(AttributeError):  # where the C library is not glibc
        ctypes.CDLL(None).malloc_trim(0)


def answer_request(
    device: Device, message: Message, arrays: Arrays, channel: Channel
) -> tuple[Message, Arrays]:
    """Do what one request asks for; returns the answer and its arrays."""

    def show(progress: Progress) -> None:
        channel.send(ProgressNote(progress))

    match message:
        case LoadRequest(binary):
            device.load(binary)
            return Loaded(), {}
        case ExecuteRequest(launches, buffers, limits):
            limit_cpu(limits.wall_seconds)
            execution, outputs = device.execute(
                launches, buffers, arrays, limits=limits, progress=show
            )
            return Executed(execution), outputs
        case RehearseRequest(launches, buffers, limits, rehearsal) if isinstance(
            device, RehearsingDevice
        ):
            limit_cpu(limits.wall_seconds)
            execution, outputs = device.rehearse(
                launches, buffers, arrays, limits=limits, rehearsal=rehearsal, progress=show
            )
            return Executed(execution), outputs
        case GradeRequest(launches, buffers, limits, graded) if isinstance(device, GradingDevice):
            limit_cpu(graded.runs * limits.wall_seconds)
            execution, outputs = device.run_graded(
                launches, buffers, arrays, limits=limits, graded=graded, progress=show
            )
            return Executed(execution), outputs
    if isinstance(device, TimingDevice):
        return answer_timing(device, message, arrays, show)
    raise WorkerError(f"the worker cannot answer {type(message).__name__}")


def answer_timing(
    device: TimingDevice, message: Message, arrays: Arrays, show: ShowProgress
) -> tuple[Message, Arrays]:
    """Do what a request to a device with a clock asks for."""
    match message:
        case PrepareRequest(programs, input_sets, limits):
            limit_cpu(limits.wall_seconds)
            execution, outputs = device.prepare(
                programs, unpack_sets(arrays, input_sets), limits=limits
            )
            return Prepared(execution), pack_sets(outputs)
        case TimeRequest(steps, limits):
            limit_cpu(limits.wall_seconds)
            launches, clocks = device.time(steps, progress=show)
            return Timed(launches, clocks), {}
        case CopyBandwidthRequest():
            return CopyBandwidth(device.copy_bandwidth()), {}
    raise WorkerError(f"the worker cannot answer {type(message).__name__}")


def _end_with_grader(channel: Channel) -> None:
    """End at once when the grader is gone, in the middle of a kernel too."""

    def watch() -> None:
        channel.wait_for_hangup()
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def limit_process() -> None:
    """Limits that hold for the whole life of the process.

    RLIMIT_NPROC is left alone: it counts all threads of the user, the grader's neighbours included,
    and would make the device's own threads fail at random. The memory limit is set by the grader,
    which knows the buffers.
    """
    lower_limit(resource.RLIMIT_CORE, 0)
    lower_limit(resource.RLIMIT_FSIZE, MAX_WRITTEN_BYTES)
    lower_limit(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)


def limit_cpu(wall_seconds: float) -> None:
    """Bound the CPU time of one request. It ends a worker whose grader is gone; the grader's own
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


def _make_emulated(device_id: str) -> Device:
    from grader.devices.emulated import EmulatedDevice

    return EmulatedDevice(device_id)


def _make_gpu(name: str) -> Device:
    """The GPU of `0` or, with its peaks set, `0:3352,66.9`."""
    index, _, peak = name.partition(":")
    try:
        from grader.devices.gpu.device import GpuDevice
        from grader.devices.peak import parse_peak
    except ImportError as error:
        advice = "`grade doctor` tells how to install it; --device emulated needs none."
        raise ToolMissing(f"PyCUDA does not load: {error}", advice) from error
    return GpuDevice(int(index or "0"), parse_peak(peak) if peak else None)


DEVICES: dict[str, Callable[[str], Device]] = {"emulated": _make_emulated, "gpu": _make_gpu}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
