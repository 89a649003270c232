"""Messages between a CUDA program and the server of its emulated device, as records that Python and
C++ share.

The socket is a Unix socket of type SOCK_SEQPACKET: a message is one packet, a HEADER followed by
the record of its kind and, for some kinds, by bytes. Messages are executed in order, but a LAUNCH
with a number waits for its EXECUTE. Kinds below ANSWERED get no answer, so that the program does
not wait; their errors come with the next answer. Larger data (an image of a module) travels as a
file in memory whose descriptor is attached.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from grader.emulator.layouts.textures import TEXTURE

VERSION = 2
MAX_MESSAGE_BYTES = 64 << 10
MAX_DESCRIPTORS = 64
"""Of a message."""


class Kind(IntEnum):
    """Kinds of messages. Those from ANSWERED on get an answer."""

    ALLOCATE = 1
    FREE = 2
    UNLOAD = 3
    LAUNCH = 4
    COPY = 5
    SET = 6
    RECORD_EVENT = 7
    WAIT_FOR_EVENT = 8
    HOST_FUNCTION = 9
    TEXTURE = 10
    LIMIT = 11
    WRITTEN = 12
    HOST_FINDING = 13
    NAME_OBJECT = 14
    PEER = 15
    EXECUTE = 16
    WAITED = 17
    CALL = 18
    LIBRARY = 19
    ANSWERED = 64
    HELLO = 65
    LOAD = 66
    SYNCHRONIZE = 67
    QUERY = 68
    ELAPSED = 69
    LINK = 70
    GOODBYE = 71


HEADER = np.dtype([("kind", "u4"), ("bytes", "u4"), ("site", "u8")], align=True)
"""`bytes`: size of all that follows the header. `site`: return address of the API call in the
program, 0 if unknown."""


def _record(*fields: tuple[object, ...]) -> np.dtype:
    return np.dtype(list(fields), align=True)


_PLACE = (("stream", "u8"), ("device", "u4"))
_TARGET = _record(("sort", "u4"), ("device", "u4"), ("handle", "u8"))
"""`sort`: see Sort. `handle`: number of a stream or an event."""
MESSAGES = {
    Kind.ALLOCATE: _record(("address", "u8"), ("bytes", "u8"), ("device", "u4"), ("space", "u4")),
    Kind.FREE: _record(("address", "u8")),
    Kind.UNLOAD: _record(("module", "u4")),
    # the parameters follow, from the kernel's first parameter on; a cluster of 0: the kernel's own;
    # `number`: of EXECUTE, which executes the launch later; 0: at once
    Kind.LAUNCH: _record(
        *_PLACE,
        ("module", "u4"),
        ("kernel", "u4"),
        ("grid", "u4", 3),
        ("block", "u4", 3),
        ("cluster", "u4", 3),
        ("dynamic_shared", "u4"),
        ("cooperative", "u4"),
        ("parameter_bytes", "u4"),
        ("number", "u8"),
    ),
    # the client moves the data; `bytes` of a row
    Kind.COPY: _record(
        ("from", "u8"),
        ("to", "u8"),
        ("bytes", "u8"),
        ("rows", "u8"),
        ("from_pitch", "u8"),
        ("to_pitch", "u8"),
        *_PLACE,
        ("direction", "u4"),
        ("pageable", "u4"),
        ("asynchronous", "u4"),
    ),
    Kind.SET: _record(("to", "u8"), ("bytes", "u8"), ("rows", "u8"), ("to_pitch", "u8"), *_PLACE),
    # `mark`: an edge of a graph, which costs no time
    Kind.RECORD_EVENT: _record(*_PLACE, ("event", "u8"), ("mark", "u4")),
    Kind.WAIT_FOR_EVENT: _record(*_PLACE, ("event", "u8"), ("mark", "u4")),
    Kind.HOST_FUNCTION: _record(*_PLACE),
    # a texture of zeros: the object was destroyed
    Kind.TEXTURE: _record(("handle", "u8"), ("texture", TEXTURE)),
    # `limit`: CUlimit
    Kind.LIMIT: _record(("limit", "u4"), ("device", "u4"), ("value", "u8")),
    Kind.WRITTEN: _record(("address", "u8"), ("bytes", "u8")),
    # lines follow: `kind=...` and other `name=value`, then `frame OBJECT OFFSET`, innermost first
    Kind.HOST_FINDING: _record(("address", "u8"), ("bytes", "u8")),
    # the name follows; `flags`: see ObjectFlag
    Kind.NAME_OBJECT: _record(("handle", "u8"), ("sort", "u4"), ("flags", "u4")),
    Kind.PEER: _record(("device", "u4"), ("peer", "u4"), ("enabled", "u4")),
    # a function of a library, whose name follows; `arithmetic`: see Arithmetic
    Kind.LIBRARY: _record(*_PLACE, ("arithmetic", "u4"), ("operations", "f8"), ("bytes", "f8")),
    Kind.EXECUTE: _record(("number", "u8")),
    # in the checked mode: a call has waited for all work of the device, besides SYNCHRONIZE
    Kind.WAITED: _record(("device", "u4")),
    # in the checked mode, before an operation of one of several streams: lines `call=NAME` and
    # `frame OBJECT OFFSET` follow
    Kind.CALL: _record(("device", "u4")),
    Kind.HELLO: _record(("process", "u4"), ("version", "u4")),
    # lines `name=value` of options follow; the image is attached
    Kind.LOAD: _record(("device", "u4")),
    Kind.SYNCHRONIZE: _TARGET,
    Kind.QUERY: _TARGET,
    Kind.ELAPSED: _record(("start", "u8"), ("end", "u8")),
    # lines of options follow; `count` images are attached
    Kind.LINK: _record(("count", "u4")),
    Kind.GOODBYE: _record(("status", "u4")),
}
"""The record of each kind, which follows the header."""
_ENDED = _record(("status", "u4"), ("printed_bytes", "u4"), ("error_bytes", "u4"), ("more", "u4"))
"""Text for stdout follows, then text for stderr. `more`: the client asks once more."""
ANSWERS = {
    # the window's descriptor is attached; lines `name=value` of the device's properties follow
    Kind.HELLO: _record(
        ("status", "u4"),
        ("devices", "u4"),
        ("window", "u8"),
        ("window_bytes", "u8"),
        ("check", "u4"),
        ("wall_clock", "u4"),
        ("order_seed", "u8"),
    ),
    # lines follow: kernels, variables, the log; `attached`: they are in a file instead
    Kind.LOAD: _record(
        ("status", "u4"), ("module", "u4"), ("text_bytes", "u4"), ("attached", "u4")
    ),
    Kind.SYNCHRONIZE: _ENDED,
    Kind.QUERY: _record(("status", "u4"), ("done", "u4")),
    Kind.ELAPSED: _record(("status", "u4"), ("milliseconds", "f4")),
    # the cubin is attached if `status` is 0; the log follows
    Kind.LINK: _record(("status", "u4"), ("text_bytes", "u4")),
    Kind.GOODBYE: _ENDED,
}
"""The record of the answer to each kind; an answer has no header."""


class Sort(IntEnum):
    """Kinds of objects that a message names. NOTHING: the program does not wait on the modelled
    clock, the library waits until launches have ended, because it copies their results."""

    DEVICE = 0
    STREAM = 1
    EVENT = 2
    NOTHING = 3


class ObjectFlag:
    """Of a stream: it does not wait for the legacy default stream."""

    NON_BLOCKING = 1


class Arithmetic(IntEnum):
    """The units that decide the time of a library's function."""

    SINGLE = 0
    DOUBLE = 1
    TENSOR = 2
