"""A process that has loaded the emulated device, and forks workers: loading takes a second of
processor time, a fork some milliseconds.

`python -m grader.devices.remote.zygote FD` executes requests from the socket FD until its other end
closes. It never sees a submission. A worker is confined after the fork, before it answers; so it
can reach this process, or another worker, no more than a separately started worker can.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import socket
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from grader.devices.remote.protocol import Channel
from grader.devices.remote.worker import limit_process, load_emulator, make_emulated, refuse, serve
from grader.errors import GraderError
from grader.plumbing.children import end_with_parent
from grader.sandbox.isolation import restrict_emulating_process

MAX_REQUEST_BYTES = 4096
_POLL_SECONDS = 0.002

Loaded = list[Path] | GraderError
"""The folders that workers read, or the reason why the device is unavailable."""


def main(argv: Sequence[str]) -> int:
    """Fork workers on request. Exit code 0 when the other end closes."""
    faulthandler.enable()
    gc.disable()
    limit_process()
    loaded: Loaded
    try:
        loaded = load_emulator()
    except GraderError as error:
        loaded = error
    gc.freeze()  # workers do not search the loaded objects, so they share their pages
    control = socket.socket(fileno=int(argv[0]))
    while True:
        request, descriptors, _, _ = socket.recv_fds(control, MAX_REQUEST_BYTES, 3)
        if not request:
            return 0
        match json.loads(request):
            case {"device": str(device), "open": bool(unconfined)}:
                pid = os.fork()
                if pid == 0:
                    control.close()
                    _become_worker(descriptors, device, loaded, unconfined=unconfined)
                _lead_group(pid)
                for descriptor in descriptors:
                    os.close(descriptor)
                control.send(json.dumps({"pid": pid}).encode())
            case {"wait": int(pid), "seconds": float(seconds)}:
                control.send(json.dumps({"code": _wait(pid, seconds)}).encode())


def _become_worker(
    descriptors: Sequence[int], device: str, loaded: Loaded, *, unconfined: bool
) -> None:
    """Serve the device as `worker.main` does, and end the process."""
    code = 3
    try:
        gc.enable()
        _lead_group(0)
        end, output, *files = descriptors
        for standard in (1, 2):
            os.dup2(output, standard)
        os.close(output)
        make = partial(make_emulated, device, output_file=files[0] if files else None)
        readable = list[Path]()
        if isinstance(loaded, GraderError):
            make = partial(refuse, loaded)
        else:
            readable = loaded
        isolation = "" if unconfined else restrict_emulating_process(readable)
        channel = Channel(socket.socket(fileno=end))
        end_with_parent(channel.fileno())
        code = serve(channel, make, isolation)
    finally:
        os._exit(code)


def _lead_group(pid: int) -> None:
    """Make a worker the leader of a process group of its own. Both processes do this, because
    either may need the group first."""
    os.setpgid(pid, pid)


def _wait(pid: int, seconds: float) -> int | None:
    """The exit code of a worker, or minus the signal that ended it; None where it has not ended
    after this time."""
    until = time.monotonic() + seconds
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= until:
            return None
        time.sleep(_POLL_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
