"""Messages about memory: allocations, copies, textures, limits, peers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from grader.cuda.channel import BadMessage, Message
from grader.cuda.launches import MOST_TEXTURES, Status
from grader.cuda.ordering import ranges_of
from grader.cuda.session import Session
from grader.cuda.timeline import Direction, SyncKind
from grader.cuda.window import CLIENT_OFFSET, HEAP_OFFSET, Occupied, Space, offset_of
from grader.emulator import Access, Edge, Texels
from grader.emulator.run.memory import ALIGNMENT, FIRST_OFFSET, LIMIT, RED_ZONE

_HEAP_LIMIT = 2
"""CU_LIMIT_MALLOC_HEAP_SIZE."""
_TEXEL_BYTES = 16


def allocate(session: Session, message: Message) -> None:
    space = message.number("space")
    if space not in tuple(Space):
        raise BadMessage(f"There is no kind {space} of memory.")
    device = session.device(message.number("device"))
    offset, size = offset_of(message.number("address")), message.number("bytes")
    try:
        session.window.allocate(offset, size, device, Space(space))
    except Occupied:
        raise BadMessage(f"{size} bytes at {offset:#x} cannot be allocated.") from None
    session.note(session.timeline.call)


def free(session: Session, message: Message) -> None:
    offset = offset_of(message.number("address"))
    session.ordering.forget(offset, session.window.size_at(offset))
    try:
        if offset < CLIENT_OFFSET:
            raise Occupied
        session.window.free(offset)
    except Occupied:
        raise BadMessage(f"There is no allocation at {offset:#x}.") from None
    session.note(session.timeline.call)


def written(session: Session, message: Message) -> None:
    _mark(session, message.number("address"), message.number("bytes"), 1, 0)


def _mark(session: Session, address: int, size: int, rows: int, pitch: int) -> None:
    """Notes that rows of bytes have contents, where they lie in the window."""
    offset = offset_of(address)
    if not 0 <= offset < LIMIT or not session.settings.check or size == 0:
        return
    if offset < FIRST_OFFSET or rows > LIMIT or (rows - 1) * pitch + size > LIMIT - offset:
        raise BadMessage(f"{rows} rows of {size} bytes at {offset:#x} leave the window.")
    for row in range(rows if pitch > size else 1):
        session.window.mark(offset + row * pitch, size if pitch > size else rows * size)


def copy(session: Session, message: Message) -> None:
    size, rows = message.number("bytes"), message.number("rows")
    direction = message.number("direction")
    if direction not in tuple(Direction):
        raise BadMessage(f"There is no direction {direction} of copies.")
    _mark(session, message.number("to"), size, rows, message.number("to_pitch"))
    stream, device = message.number("stream"), session.device(message.number("device"))
    pageable = bool(message.number("pageable"))
    asynchronous = bool(message.number("asynchronous"))
    sides = {"from": Access.READ, "to": Access.WRITE}
    _issue(session, message, sides, pageable=pageable)
    if not asynchronous or (pageable and direction == Direction.DEVICE_TO_HOST):
        session.ordering.wait(SyncKind.STREAM, stream, device)
    session.note(
        partial(
            session.timeline.copy,
            stream,
            device,
            direction,
            min(size * rows, LIMIT),
            pageable=pageable,
            asynchronous=asynchronous,
        )
    )


def _issue(
    session: Session, message: Message, sides: Mapping[str, Access], *, pageable: bool
) -> None:
    """Notes the accesses of a copy or a fill. Pageable memory of the host is used at the call."""
    stream, device = message.number("stream"), message.number("device")
    operation = session.ordering.issue(stream, device)
    if operation is None:
        return
    size, rows = message.number("bytes"), message.number("rows")
    if rows > LIMIT // ALIGNMENT:
        raise BadMessage(f"There are too many rows: {rows}.")
    touched = {}
    for name, access in sides.items():
        offset = offset_of(message.number(name))
        if 0 <= offset < LIMIT or not pageable:
            touched[access] = ranges_of(offset, size, rows, message.number(f"{name}_pitch"))
    session.ordering.complete(operation, touched)


def set_memory(session: Session, message: Message) -> None:
    size, rows = message.number("bytes"), message.number("rows")
    _mark(session, message.number("to"), size, rows, message.number("to_pitch"))
    stream, device = message.number("stream"), session.device(message.number("device"))
    _issue(session, message, {"to": Access.WRITE}, pageable=False)
    session.note(partial(session.timeline.set, stream, device, min(size * rows, LIMIT)))


def texture(session: Session, message: Message) -> None:
    handle, texture = message.number("handle"), message.record["texture"]
    if not 1 <= handle <= MOST_TEXTURES:
        raise BadMessage(f"There is no texture object {handle}.")
    if texture["dimensions"] and not _is_good(texture):
        raise BadMessage(f"The texture object {handle} leaves the window.")
    session.launches.textures[handle - 1] = texture


def limit(session: Session, message: Message) -> None:
    session.device(message.number("device"))
    value = message.number("value")
    if message.number("limit") != _HEAP_LIMIT:
        return
    if value > CLIENT_OFFSET - HEAP_OFFSET - RED_ZONE:
        session.error = Status.INVALID_VALUE
        return
    session.window.heap_bytes = max(4096, value // 4096 * 4096)


def peer(session: Session, message: Message) -> None:
    device, peer = (session.device(message.number(name)) for name in ("device", "peer"))
    session.window.connect(device, peer, enabled=bool(message.number("enabled")))


def _is_good(texture: Any) -> bool:  # noqa: ANN401 - a NumPy record
    """Whether all texels of a TEXTURE record lie in the window."""
    extents, layers = texture["extents"].tolist(), int(texture["layers"])
    texel_bytes, channels = int(texture["texel_bytes"]), int(texture["channels"])
    row_texels = int(texture["row_texels"])
    size = row_texels * math.prod(extents[1:]) * layers * texel_bytes
    first = int(texture["first"])
    return (
        1 <= texture["dimensions"] <= 3
        and min(*extents, layers) >= 1
        and row_texels >= extents[0]
        and channels in (1, 2, 4)
        and texel_bytes in (channels, 2 * channels, 4 * channels)
        and texture["texels"] <= Texels.SIGNED_16_FRACTIONS
        and texture["edge"] <= Edge.BORDER
        and FIRST_OFFSET <= first <= LIMIT - size - _TEXEL_BYTES
    )
