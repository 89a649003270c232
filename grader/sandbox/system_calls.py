"""A seccomp filter for a program that is a single process: it starts no other process, opens no
socket, and reaches no other process.

The numbers are those of Linux (unistd.h); the filter is a program of classic BPF (linux/filter.h,
linux/seccomp.h, linux/audit.h). Landlock restricts neither sockets of files nor new processes.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Collection

_LOAD, _EQUAL, _GREATER_EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_KILL_PROCESS, _FAIL, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER, _ARCHITECTURE, _FIRST = 0, 4, 16
"""Offsets in struct seccomp_data; arguments have 8 bytes."""
_X32 = 0x40000000
"""The bit of the numbers of another interface of x86-64."""
_CLONE_THREAD = 0x00010000
_LOCAL = 1
"""AF_UNIX."""
_SET_SECCOMP, _FILTER = 22, 2

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "fork": (57, None),
    "vfork": (58, None),
    "setsid": (112, 157),
    "setpgid": (109, 154),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "io_uring_setup": (425, 425),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "setpriority": (141, 140),
    "sched_setaffinity": (203, 122),
}
"""Calls that fail with EPERM: the number on x86-64 and on AArch64. System V's objects
outlive a process, and do not count in its limits."""
LOCAL_SOCKETS = "local sockets"
"""Sockets of the machine (AF_UNIX) only."""
FOR_DRIVER = frozenset({LOCAL_SOCKETS, "socketpair", "bind", "listen", "sched_setaffinity"})
"""Calls of NVIDIA's driver in a process; it connects to no other."""
FOR_TOOLS = frozenset({"socket", "socketpair", "bind", "listen", "connect", "sched_setaffinity"})
"""Calls of the libraries that ncu and compute-sanitizer load into a process."""
_CLONE, _CLONE3 = (56, 220), (435, 435)
_OF_OWN_PROCESS = {"kill": (62, 129), "tgkill": (234, 131)}
"""Calls whose first argument must be the process itself: abort() uses them."""
_OWN_OR_ZERO = (302, 261)
"""prlimit64: of the process itself, or of 0, which means the same."""


def filter_known() -> bool:
    """Whether the numbers of this processor's calls are known."""
    return platform.machine() in _ARCHITECTURES


def refuse_system_calls(process: int, allowed: Collection[str] = ()) -> None:
    """Filters the calls of this thread, and of the program that it becomes. `process` is its own
    number; `allowed` names calls that pass. Raises OSError."""
    code = _filter(process, platform.machine(), allowed)
    length = len(code) // 8
    buffer = ctypes.create_string_buffer(code, len(code))
    # struct sock_fprog: the pointer follows 6 bytes of padding
    program = struct.pack("=H6xQ", length, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def _filter(process: int, machine: str, allowed: Collection[str] = ()) -> bytes:
    column = list(_ARCHITECTURES).index(machine)
    fail = _FAIL | errno.EPERM
    code = [
        *_unless(_load(_ARCHITECTURE), _ARCHITECTURES[machine], _KILL_PROCESS),
        *_when(_load(_NUMBER), _GREATER_EQUAL, _X32, fail),
    ]
    if LOCAL_SOCKETS in allowed:
        body = [*_when(_load(_FIRST), _EQUAL, _LOCAL, _ALLOW), _return(fail)]
        code += [_jump(_EQUAL, _REFUSED["socket"][column] or 0, 0, len(body)), *body]
    for name, numbers in _REFUSED.items():
        number = numbers[column]
        if number is not None and name not in allowed:
            code += [_jump(_EQUAL, number, 0, 1), _return(fail)]
    # the C library falls back to clone, whose flags a filter can read
    code += [_jump(_EQUAL, _CLONE3[column], 0, 1), _return(_FAIL | errno.ENOSYS)]
    body = [*_load(_FIRST), _jump(_ANY_BIT, _CLONE_THREAD, 1, 0), _return(fail), _return(_ALLOW)]
    code += [_jump(_EQUAL, _CLONE[column], 0, len(body)), *body]
    for numbers in _OF_OWN_PROCESS.values():
        body = [*_unless(_load(_FIRST), process, fail), _return(_ALLOW)]
        code += [_jump(_EQUAL, numbers[column], 0, len(body)), *body]
    body = [*_load(_FIRST), _jump(_EQUAL, 0, 2, 0), _jump(_EQUAL, process, 1, 0), _return(fail)]
    code += [_jump(_EQUAL, _OWN_OR_ZERO[column], 0, len(body)), *body, _return(_ALLOW)]
    return b"".join(code)


def _load(offset: int) -> list[bytes]:
    return [struct.pack("=HBBI", _LOAD, 0, 0, offset)]


def _jump(test: int, value: int, if_true: int, if_false: int) -> bytes:
    return struct.pack("=HBBI", test, if_true, if_false, value)


def _return(action: int) -> bytes:
    return struct.pack("=HBBI", _RETURN, 0, 0, action)


def _when(load: list[bytes], test: int, value: int, action: int) -> list[bytes]:
    return [*load, _jump(test, value, 0, 1), _return(action)]


def _unless(load: list[bytes], value: int, action: int) -> list[bytes]:
    return [*load, _jump(_EQUAL, value, 1, 0), _return(action)]
