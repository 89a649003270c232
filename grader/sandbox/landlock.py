"""Landlock: a thread gives up all files, TCP ports and signals except those that it names, also for
the programs that it starts.

System calls by ctypes (linux/landlock.h; Linux 5.13 and newer): the package `landlock` has only a
development release.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from enum import IntFlag
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same numbers on all architectures
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38
_NETWORK = 3  # bind and connect TCP: version 4
_SCOPES = 3  # abstract Unix sockets and signals: version 6
_ABSTRACT_SOCKETS = 1


class Access(IntFlag):
    """Rights on files, with the kernel's numbers."""

    EXECUTE = 1 << 0
    WRITE_FILE = 1 << 1
    READ_FILE = 1 << 2
    READ_DIR = 1 << 3
    REMOVE = 3 << 4
    MAKE = 0x7F << 6
    REFER = 1 << 13
    TRUNCATE = 1 << 14
    IOCTL_DEVICE = 1 << 15


READ = Access.READ_FILE | Access.READ_DIR
RUN = READ | Access.EXECUTE
WRITE = Access.WRITE_FILE | Access.REMOVE | Access.MAKE | Access.REFER | Access.TRUNCATE
_OF_FILES = (
    Access.EXECUTE | Access.WRITE_FILE | Access.READ_FILE | Access.TRUNCATE | Access.IOCTL_DEVICE
)
_KNOWN = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1}
"""Rights that a version of Landlock handles; later versions handle all of `Access`."""


def landlock_version() -> int:
    """The kernel's version of Landlock; 0 if there is none."""
    nothing = ctypes.c_size_t(0)
    version = _libc().syscall(_CREATE_RULESET, None, nothing, ctypes.c_uint32(_VERSION_FLAG))
    return max(0, int(version))


def restrict_thread(allowed: Iterable[tuple[Path, Access]], *, network: bool = True) -> None:
    """Leave this thread, and all processes and threads that it starts from now on, only the
    `allowed` files, and neither TCP nor signals to others; there is no way back.

    Without `network`, TCP and abstract sockets stay. Paths that do not exist are left out. Raises
    OSError.
    """
    version = landlock_version()
    rights = _KNOWN.get(version, (1 << 16) - 1)
    ports = _NETWORK if version >= 4 and network else 0
    scopes = _SCOPES if version >= 6 else 0
    if not network:
        scopes &= ~_ABSTRACT_SOCKETS
    attributes = struct.pack("=QQQ", rights, ports, scopes)[
        : 8 if version < 4 else 16 if version < 6 else 24
    ]
    ruleset = _call(
        _CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint32(0)
    )
    try:
        for path, access in allowed:
            _allow(ruleset, path, access & rights)
        _check(_libc().prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
        _call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    kept = path.is_relative_to("/proc") or path.is_relative_to("/sys")
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            access &= _OF_FILES
        _call(
            _ADD_RULE,
            ctypes.c_int(ruleset),
            ctypes.c_int(_PATH_BENEATH),
            struct.pack("=Qi", access, descriptor),
            ctypes.c_uint32(0),
        )
    finally:
        # A rule is bound to an inode, and under memory pressure the kernel replaces the inodes of
        # /proc and /sys that no process has open.
        if not kept:
            os.close(descriptor)


def _call(number: int, *arguments: object) -> int:
    return _check(_libc().syscall(number, *arguments))


def _check(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"Landlock: {os.strerror(code)}")
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
