"""Starts an untrusted program: a process that gives up its rights, and then becomes the program.

`launch_command` is the command line of the process. It connects to the program's server first: the
program inherits this connection and can open no other. On a GPU there is no server, and the program
keeps the rights that NVIDIA's driver needs. `isolate_command` starts a tool in a network of its
own, where the tool can talk to the program, and the program to no other machine.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

_ADDR_NO_RANDOMIZE = 0x0040000
"""Of <sys/personality.h>."""
_SET_SECUREBITS, _NOROOT_LOCKED = 28, 0x2F
"""Of <linux/securebits.h>: a program of root has no capabilities."""
_CAPSET_VERSION = 0x20080522
_NO_NEW_PRIVS, _END_WITH_PARENT = 38, 1
_AMBIENT, _RAISE, _SYS_ADMIN, _PERFMON = 47, 2, 21, 38
"""Of <linux/prctl.h> and <linux/capability.h>: the driver gives counters to these capabilities."""
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000
_SET_FLAGS, _UP = 0x8914, 1
"""Of <sched.h>, <linux/sockios.h> and <net/if.h>."""
_FILES, _GPU_FILES = 256, 4096
DRIVER_READS = (
    *("/proc/driver", "/proc/devices", "/proc/modules", "/proc/cpuinfo", "/proc/meminfo"),
    *("/proc/version", "/proc/stat", "/proc/sys", "/sys", "/dev/urandom", "/usr/share/nvidia"),
    *("/usr/local/nvidia", "/run/nvidia-persistenced", "/etc/nvidia"),
)
"""Files that NVIDIA's driver reads in a process; /dev/nvidia* and /dev/shm it also writes."""


class Place(StrEnum):
    """The place of a program: the emulated device, a GPU, or a GPU under a tool of NVIDIA."""

    EMULATED = "emulated"
    GPU = "gpu"
    TOOL = "tool"


@dataclass(frozen=True)
class LaunchOrder:
    """A program with its arguments. It may read the system's files and the paths of `readable`, and
    write below the paths of `writable`. `connection` is the path of its server's socket, and
    `connected_as` the variable that gets the number of the connection as `fd:N`; both are for the
    emulated device. `confined`: with Landlock and seccomp.

    `data_bytes` bounds its private memory, `file_bytes` each written file.
    """

    command: tuple[str, ...]
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    cpu_seconds: int
    data_bytes: int
    file_bytes: int
    connection: str = ""
    connected_as: str = ""
    confined: bool = True
    place: str = Place.EMULATED


def launch_command(order: LaunchOrder) -> list[str]:
    """The command line of a process that becomes the program. Python starts without packages of the
    machine, and without variables of the environment."""
    return _python("main", json.dumps(asdict(order)))


def isolate_command(command: Sequence[str]) -> list[str]:
    """The command line that runs a trusted tool in a network of its own. It exits with
    NO_NETWORK where the system does not permit one."""
    return _python("become_isolated", json.dumps(list(command)))


NO_NETWORK = 125


def _python(function: str, argument: str) -> list[str]:
    root = str(Path(__file__).resolve().parents[2])
    start = (
        f"import sys; sys.path.insert(0, {root!r}); "
        f"from grader.sandbox.launch import {function}; {function}(sys.argv[1])"
    )
    return [sys.executable, "-I", "-S", "-c", start, argument]


def become_isolated(text: str) -> None:
    """Becomes the tool of a command."""
    command = json.loads(text)
    libc = ctypes.CDLL(None, use_errno=True)
    end_with_parent()
    if libc.unshare(_NEW_NETWORK) and libc.unshare(_NEW_USER | _NEW_NETWORK):
        sys.exit(NO_NETWORK)
    with socket.socket(
        socket.AF_INET, socket.SOCK_DGRAM
    ) as each:  # the loopback device starts down
        fcntl.ioctl(each, _SET_FLAGS, struct.pack("16sH22x", b"lo", _UP))
    os.execv(command[0], command)


def main(text: str) -> None:
    """Becomes the program of an order."""
    order = LaunchOrder(**json.loads(text))
    environment = dict(os.environ)
    if order.connection:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        connection.connect(order.connection)
        os.set_inheritable(connection.fileno(), True)
        environment[order.connected_as] = f"fd:{connection.fileno()}"
    # libraries of the program get the usual addresses: none lies in the range of device memory
    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)
    end_with_parent()
    _limit(order)
    if order.confined:
        _confine(order)
    os.execve(order.command[0], list(order.command), environment)


def end_with_parent() -> None:
    """Linux kills this process when the thread that started it ends."""
    ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)


def _limit(order: LaunchOrder) -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: order.cpu_seconds,
        resource.RLIMIT_DATA: order.data_bytes,
        resource.RLIMIT_FSIZE: order.file_bytes,
        resource.RLIMIT_NOFILE: _FILES if order.place == Place.EMULATED else _GPU_FILES,
    }
    for kind, wanted in limits.items():
        hard = resource.getrlimit(kind)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (value, value))


def _confine(order: LaunchOrder) -> None:
    from grader.sandbox.isolation import SYSTEM
    from grader.sandbox.landlock import READ, RUN, WRITE, Access, restrict_thread
    from grader.sandbox.system_calls import FOR_DRIVER, FOR_TOOLS, refuse_system_calls

    _give_up_capabilities(order)
    null = (Path("/dev/null"), Access.READ_FILE | Access.WRITE_FILE)
    own = [(Path(path), READ | WRITE) for path in order.writable]
    read: Sequence[Path] = (*SYSTEM, *map(Path, order.readable))
    files = [*((path, RUN) for path in read), (Path("/proc/self"), READ), null, *own]
    if order.place != Place.EMULATED:
        device = READ | Access.WRITE_FILE | Access.IOCTL_DEVICE
        files += [(Path(path), RUN) for path in DRIVER_READS]
        files += [(path, device) for path in Path("/dev").glob("nvidia*")]
        files += [(Path("/dev/shm"), READ | WRITE)]
        # the driver names its threads: /proc/self/task/*/comm
        files += [(Path("/proc/self/task"), READ | Access.WRITE_FILE | Access.TRUNCATE)]
    if order.place == Place.TOOL:
        files += [(folder, RUN) for folder in _library_folders()]
    restrict_thread(files, network=order.place != Place.TOOL)
    allowed = {Place.EMULATED: (), Place.GPU: FOR_DRIVER, Place.TOOL: FOR_TOOLS}
    refuse_system_calls(os.getpid(), allowed[Place(order.place)])


def _library_folders() -> list[Path]:
    """The folders of the libraries in this process: a tool of NVIDIA has loaded its own, and will
    load them into the program. The environment does not name them: a loaded library adds them to
    LD_PRELOAD when the program starts."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    files = {Path(fields[5]) for line in lines if len(fields := line.split(maxsplit=5)) == 6}
    return sorted({file.parent for file in files if ".so" in file.suffixes})


def _give_up_capabilities(order: LaunchOrder) -> None:
    """All of them; under a tool of NVIDIA, root keeps those that give the GPU's counters."""
    kept = (_SYS_ADMIN, _PERFMON) if order.place == Place.TOOL and os.geteuid() == 0 else ()
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        libc.prctl(_SET_SECUREBITS, _NOROOT_LOCKED, 0, 0, 0)
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    words = [sum(1 << bit % 32 for bit in kept if bit // 32 == n) for n in (0, 1)]
    # effective, permitted and inheritable, 32 capabilities each, then the next 32
    sets = [word for word in words for _ in range(3)]
    libc.capset((ctypes.c_uint32 * 2)(_CAPSET_VERSION, 0), (ctypes.c_uint32 * 6)(*sets))
    for bit in kept:
        libc.prctl(_AMBIENT, _RAISE, bit, 0, 0)
