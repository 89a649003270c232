"""Starts an untrusted program: a process that gives up its rights, and then becomes the program.

`launch_command` is the command line of the process. It connects to the program's server first: the
program inherits this connection and can open no other.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

_ADDR_NO_RANDOMIZE = 0x0040000
"""Of <sys/personality.h>."""
_SET_SECUREBITS, _NOROOT_LOCKED = 28, 0x2F
"""Of <linux/securebits.h>: a program of root has no capabilities."""
_CAPSET_VERSION = 0x20080522
_NO_NEW_PRIVS, _END_WITH_PARENT = 38, 1


@dataclass(frozen=True)
class LaunchOrder:
    """A program with its arguments. It may read the system's files and the paths of `readable`, and
    write below those of `writable`. `connection` is the path of its server's socket, and
    `connected_as` the variable that gets the number of the connection as `fd:N`. `confined`: with
    Landlock and seccomp.

    `data_bytes` bounds its private memory, `file_bytes` each written file.
    """

    command: tuple[str, ...]
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    connection: str
    connected_as: str
    cpu_seconds: int
    data_bytes: int
    file_bytes: int
    confined: bool = True


def launch_command(order: LaunchOrder) -> list[str]:
    """The command line of a process that becomes the program. Python starts without packages of the
    machine, and without variables of the environment."""
    root = str(Path(__file__).resolve().parents[2])
    start = (
        f"import sys; sys.path.insert(0, {root!r}); "
        "from grader.sandbox.launch import main; main(sys.argv[1])"
    )
    return [sys.executable, "-I", "-S", "-c", start, json.dumps(asdict(order))]


def main(text: str) -> None:
    """Becomes the program of an order."""
    order = LaunchOrder(**json.loads(text))
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(order.connection)
    os.set_inheritable(connection.fileno(), True)
    environment = dict(os.environ) | {order.connected_as: f"fd:{connection.fileno()}"}
    # libraries of the program get the usual addresses: none lies in the range of device memory
    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    _limit(order)
    if order.confined:
        _confine(order)
    os.execve(order.command[0], list(order.command), environment)


def _limit(order: LaunchOrder) -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: order.cpu_seconds,
        resource.RLIMIT_DATA: order.data_bytes,
        resource.RLIMIT_FSIZE: order.file_bytes,
        resource.RLIMIT_NOFILE: 256,
    }
    for kind, wanted in limits.items():
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))


def _confine(order: LaunchOrder) -> None:
    from grader.sandbox.isolation import SYSTEM
    from grader.sandbox.landlock import READ, RUN, WRITE, Access, restrict_thread
    from grader.sandbox.system_calls import refuse_system_calls

    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        libc.prctl(_SET_SECUREBITS, _NOROOT_LOCKED, 0, 0, 0)
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    null = (Path("/dev/null"), Access.READ_FILE | Access.WRITE_FILE)
    own = [(Path(path), READ | WRITE) for path in order.writable]
    read: Sequence[Path] = (*SYSTEM, *map(Path, order.readable))
    restrict_thread([*((path, RUN) for path in read), (Path("/proc/self"), READ), null, *own])
    header = (ctypes.c_uint32 * 2)(_CAPSET_VERSION, 0)
    libc.capset(header, (ctypes.c_uint32 * 6)())
    refuse_system_calls(os.getpid())
