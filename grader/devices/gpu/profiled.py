"""The program under `ncu`: `python -m grader.devices.gpu.profiled FOLDER` runs each plan of a
request once.

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

from grader.devices.gpu.arena import Arena
from grader.devices.gpu.driver import close_context, find_device, make_context
from grader.devices.gpu.modules import Code
from grader.devices.gpu.ncu import ERROR, GO, POLL_SECONDS, READY, REQUEST, PlanRun, Request


def main(argv: Sequence[str]) -> int:
    """Run the plans of the request in a folder, in order; exit code 1 at the first failure."""
    folder = Path(argv[0])
    # output of kernels' printf at each replay
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    wait_for_the_gpu(folder)
    # The folder is the grader's own, accessible to its user only: no other user can have written
    # the file that is unpickled here.
    request: Request = pickle.loads((folder / REQUEST).read_bytes())
    # The default action of SIGALRM ends the process even while it waits in the driver.
    signal.setitimer(signal.ITIMER_REAL, request.wall_seconds)
    try:
        context = make_context(find_device(request.gpu_index))
        for plan in request.plans:
            run_plan(plan)
        close_context(context)
    except Exception as error:
        (folder / ERROR).write_text(str(error) or type(error).__name__, encoding="utf-8")
        return 1
    return 0


def wait_for_the_gpu(folder: Path) -> None:
    """Report that only request and GPU are missing, and wait for both; the process ends if they are
    refused."""
    cuda.init()
    (folder / READY).touch()
    while not (folder / GO).exists():
        if not (folder / REQUEST).exists():
            sys.exit(1)
        time.sleep(POLL_SECONDS)


def run_plan(plan: PlanRun) -> None:
    """Load the kernels, fill the buffers, and launch the plan once under the profiler. Raises
    PlanError and PyCUDA's errors."""
    program = plan.program
    arena = Arena(program.buffers)
    arena.fill(plan.inputs)
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
