"""The program under `ncu`: `python -m grader.devices.gpu.profiled FOLDER` runs each plan of a
request once.

It reads the request and opens the GPU before it says that it is ready, and uses the GPU afterwards.
Only the launches are between cuProfilerStart and cuProfilerStop. Errors are written to the folder's
error file.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pycuda.driver as cuda

from grader.devices.base import Arrays
from grader.devices.gpu.arena import Arena
from grader.devices.gpu.driver import close_context, find_device, make_context
from grader.devices.gpu.gpu_lock import WAIT_SECONDS
from grader.devices.gpu.modules import Code
from grader.devices.gpu.ncu import (
    ERROR,
    GO,
    NEEDED,
    POLL_SECONDS,
    READY,
    REQUEST,
    START_SECONDS,
    Request,
    read_inputs,
)
from grader.records import Program


def main(argv: Sequence[str]) -> int:
    """Run the plans of the request in a folder, in order; exit code 1 at the first failure."""
    folder = Path(argv[0])
    # output of kernels' printf at each replay
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # The default action of SIGALRM ends the process even while it waits in the driver.
    signal.setitimer(signal.ITIMER_REAL, START_SECONDS + WAIT_SECONDS)
    cuda.init()
    try:
        request = read_request(folder)
        context = make_context(find_device(request.gpu_index))
        (folder / READY).touch()
        wait_for(folder / GO, folder)
        signal.setitimer(signal.ITIMER_REAL, request.wall_seconds)
        for number, program in enumerate(request.programs):
            run_program(program, read_inputs(folder, number))
        close_context(context)
    except Exception as error:
        (folder / ERROR).write_text(str(error) or type(error).__name__, encoding="utf-8")
        return 1
    return 0


def read_request(folder: Path) -> Request:
    """The request as soon as it is there."""
    wait_for(folder / REQUEST, folder)
    # The folder is the grader's own, accessible to its user only: no other user can have written
    # the file that is unpickled here.
    request: Request = pickle.loads((folder / REQUEST).read_bytes())
    return request


def wait_for(file: Path, folder: Path) -> None:
    """Wait for a file in the folder; the process ends at once if the grader does not need it."""
    while not file.exists():
        if not (folder / NEEDED).exists():
            os._exit(1)  # a context that is open would abort it
        time.sleep(POLL_SECONDS)


def run_program(program: Program, inputs: Arrays) -> None:
    """Load the kernels, fill the buffers, and launch the plan once under the profiler. Raises
    PlanError and PyCUDA's errors."""
    arena = Arena(program.buffers)
    arena.fill(inputs)
    ready = Code(program.binary).make_ready(program.steps, arena.addresses, arena.objects)
    cuda.Context.synchronize()
    cuda.start_profiler()
    for step in ready:
        step.start()
    cuda.Context.synchronize()
    cuda.stop_profiler()
    arena.free()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
