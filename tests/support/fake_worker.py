"""A worker whose device is a small fake: what it does with a launch is the launch's symbol. Run as
`fake_worker.py FD DEVICE`."""

from __future__ import annotations

import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence

import numpy as np

from grader.devices.base import Arrays, places_of
from grader.devices.remote.protocol import PREFIX, Channel
from grader.devices.remote.worker import limit_process, serve
from grader.errors import UsageError
from grader.records import (
    COUNTING,
    Act,
    ClockState,
    Counters,
    DeviceInfo,
    Dim3,
    Execution,
    Faulted,
    LaunchLimits,
    LaunchResult,
    Mode,
    Observation,
    Program,
    Progress,
    RunLimits,
    Sample,
    ShowProgress,
    TimedLaunch,
    TimedStep,
)

INFO = DeviceInfo(
    kind="fake",
    id="fake",
    name="Fake",
    compute_capability="9.0",
    arch="sm_90",
    peak_bandwidth_gbps=1.0,
    peak_fp32_tflops=1.0,
    limits=LaunchLimits(1024, Dim3(1024, 1024, 64), Dim3(2**31 - 1, 65535, 65535), 232448, 65536),
    stands_for="nothing",
)


SAMPLED = Execution(
    (
        LaunchResult(
            "k",
            Dim3(1),
            Dim3(1),
            16,
            0,
            0,
            0,
            1.0,
            Counters(),
            (),
            sample=Sample(10, 1, 1),
        ),
    )
)


class FakeDevice:
    info = INFO

    def __init__(self, end: int) -> None:
        self._end = end

    def run(
        self,
        program: Program,
        arrays: Arrays,
        *,
        limits: RunLimits,
        mode: Mode = COUNTING,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        print("noise on stdout", flush=True)
        return getattr(self, f"do_{program.launches[0].symbol}")(arrays, progress)

    def do_double(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        progress(Progress("running", 1, 2))
        arrays["in"] *= 2  # the received arrays are the worker's own to write
        return Execution(()), {"out": arrays["in"]}

    def do_sample(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        places = np.array([3, 1], np.uint32)
        return SAMPLED, {"out": arrays["in"][places], places_of("out"): places}

    def do_sample_beyond(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        return SAMPLED, {"out": arrays["in"][:1], places_of("out"): np.array([4], np.uint32)}

    def do_sample_of_words(
        self, arrays: Arrays, progress: ShowProgress
    ) -> tuple[Execution, Arrays]:
        return SAMPLED, {"out": arrays["in"][:1], places_of("out"): np.array([0], np.int32)}

    def do_sample_of_more(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        return SAMPLED, {"out": arrays["in"], places_of("out"): np.array([0], np.uint32)}

    def do_sample_of_all(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        return SAMPLED, {"out": arrays["in"]}

    def do_fail(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        return Execution((), failure=Faulted(Observation(Act.ACCESS_OUT_OF_BOUNDS))), {}

    def do_loop(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        child = subprocess.Popen(["sleep", "60"])
        print(f"child {child.pid}", flush=True)
        time.sleep(60)
        return Execution(()), {}

    def do_loop_with_progress(
        self, arrays: Arrays, progress: ShowProgress
    ) -> tuple[Execution, Arrays]:
        while True:
            progress(Progress("running"))
            time.sleep(0.01)

    def do_raise(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        raise KeyError("a table lacks a row")

    def do_segfault(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        os.kill(os.getpid(), signal.SIGSEGV)
        return Execution(()), {}

    def do_exit(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        os._exit(7)

    def do_garbage(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        os.write(self._end, b"this is not a frame at all")
        time.sleep(60)
        return Execution(()), {}

    def do_wrong_shape(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        return Execution(()), {"out": arrays["in"][:-1]}

    def do_too_much(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        return Execution(()), {"out": np.zeros(1 << 20, dtype=np.float32)}

    def do_allocate(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        np.ones(1 << 30, dtype=np.float64)
        return Execution(()), {"out": arrays["in"]}

    def do_environment(self, arrays: Arrays, progress: ShowProgress) -> tuple[Execution, Arrays]:
        raise RuntimeError(" ".join(sorted(os.environ)))


class FakeTimingDevice(FakeDevice):
    """Doubles every input set; what a step of the program `submission` does is the first launch's
    symbol."""

    uuid = "GPU-fake"

    def prepare(
        self, programs: Sequence[Program], input_sets: Sequence[Arrays], *, limits: RunLimits
    ) -> tuple[Execution, list[Arrays]]:
        self._what = programs[-1].launches[0].symbol
        if self._what == "fail":
            return Execution((), failure=Faulted(Observation(Act.ACCESS_OUT_OF_BOUNDS))), []
        return Execution(()), [{"out": 2 * arrays["in"]} for arrays in input_sets]

    def time(
        self, steps: Sequence[TimedStep], *, progress: ShowProgress
    ) -> tuple[tuple[TimedLaunch, ...], ClockState]:
        progress(Progress("timing", 1, len(steps)))
        if self._what == "loop":
            time.sleep(60)
        milliseconds = math.nan if self._what == "fault" else 0.5
        return tuple(
            TimedLaunch(step, milliseconds, right=self._what == "double") for step in steps
        ), ClockState((1, 2))

    def copy_bandwidth(self) -> float:
        return 1234.5


def main() -> int:
    if sys.argv[2] == "broken":
        raise RuntimeError("no such device")
    limit_process()
    end = socket.socket(fileno=int(sys.argv[1]))
    assert PREFIX.size == 8
    return serve(Channel(end), lambda: make_device(sys.argv[2], end.fileno()))


def make_device(name: str, end: int) -> FakeDevice:
    if name == "missing":
        raise UsageError("there is no GPU 99", "There is GPU 0 only.")
    return (FakeTimingDevice if name == "clock" else FakeDevice)(end)


if __name__ == "__main__":
    sys.exit(main())
