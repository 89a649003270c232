"""The session's end of the connection: reads messages and checks their form, sends answers. Nothing
that the program sends is trusted."""

from __future__ import annotations

import array
import contextlib
import os
import socket
import stat
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.cuda.wire import ANSWERS, HEADER, MAX_DESCRIPTORS, MAX_MESSAGE_BYTES, MESSAGES, Kind

MOST_FILE_BYTES = 512 << 20
_HEAD = struct.Struct("<IIQ")
_LAYOUTS: Mapping[int, np.dtype] = {int(kind): layout for kind, layout in MESSAGES.items()}
_TRUNCATED = socket.MSG_TRUNC | socket.MSG_CTRUNC


class BadMessage(Exception):  # noqa: N818 - a property of the program
    """A message that no client of this project sends."""


@dataclass(frozen=True)
class Message:
    """A message: its record, the bytes that follow, and the descriptors of attached files."""

    kind: Kind
    site: int
    record: Any
    rest: bytes
    files: tuple[int, ...] = ()

    def number(self, name: str) -> int:
        """A field of the record."""
        return int(self.record[name])

    def triple(self, name: str) -> tuple[int, int, int]:
        """A field of three numbers."""
        x, y, z = self.record[name].tolist()
        return x, y, z

    @property
    def text(self) -> str:
        """The bytes that follow."""
        return self.rest.decode("utf-8", "replace")

    def read_files(self, count: int) -> list[bytes]:
        """The contents of the attached files. Raises BadMessage if there are not so many."""
        if not 1 <= count == len(self.files):
            raise BadMessage(f"{count} files are announced, {len(self.files)} attached.")
        return [_read_file(each) for each in self.files]


@dataclass(frozen=True)
class Channel:
    """A connected socket of type SOCK_SEQPACKET."""

    connection: socket.socket

    @contextlib.contextmanager
    def receive(self) -> Iterator[Message | None]:
        """The next message, whose files are closed afterwards; None at the end of the connection.
        Raises BadMessage."""
        space = socket.CMSG_SPACE(4 * MAX_DESCRIPTORS)
        try:
            data, attached, flags, _ = self.connection.recvmsg(MAX_MESSAGE_BYTES, space)
        except ConnectionError:
            data, attached, flags = b"", [], 0
        files = _read_descriptors(attached)
        try:
            yield parse(data, files, truncated=bool(flags & _TRUNCATED)) if data else None
        finally:
            for each in files:
                os.close(each)

    def answer(
        self,
        kind: Kind,
        text: bytes = b"",
        files: Sequence[int] = (),
        **values: int | float,
    ) -> None:
        """Sends the answer to a message of this kind. A program that has ended gets none."""
        record = np.zeros(1, ANSWERS[kind])
        for name, value in values.items():
            record[name] = value
        descriptors = array.array("i", files)
        attached = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)] if files else []
        with contextlib.suppress(ConnectionError):
            self.connection.sendmsg([record.tobytes() + text], attached)


def parse(data: bytes, files: tuple[int, ...] = (), *, truncated: bool = False) -> Message:
    """A message from its packet. Raises BadMessage."""
    start = HEADER.itemsize
    if truncated or len(data) < start:
        raise BadMessage(f"A message has a wrong size: {len(data)} bytes.")
    number, size, site = _HEAD.unpack_from(data)
    layout = _LAYOUTS.get(number)
    if layout is None:
        raise BadMessage(f"There is no message of kind {number}.")
    if size != len(data) - start or size < layout.itemsize:
        raise BadMessage(f"A message of kind {number} has a wrong size: {len(data)} bytes.")
    record = np.frombuffer(data, layout, 1, start)[0]
    return Message(Kind(number), site, record, data[start + layout.itemsize :], files)


@contextlib.contextmanager
def file_of(content: bytes) -> Iterator[int]:
    """The descriptor of a file in memory with this content."""
    file = os.memfd_create("cuda-answer", os.MFD_CLOEXEC)
    try:
        with os.fdopen(os.dup(file), "wb") as stream:
            stream.write(content)
        os.lseek(file, 0, os.SEEK_SET)
        yield file
    finally:
        os.close(file)


def _read_descriptors(attached: Sequence[tuple[int, int, bytes]]) -> tuple[int, ...]:
    files = array.array("i")
    for level, kind, data in attached:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(data[: len(data) // files.itemsize * files.itemsize])
    return tuple(files)


def _read_file(descriptor: int) -> bytes:
    """The content of a regular file, which the program may change meanwhile. Raises BadMessage."""
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or not 0 < found.st_size <= MOST_FILE_BYTES:
            raise BadMessage("An attached file is empty, too large or no file.")
        content, at = bytearray(), 0
        while at < found.st_size and (part := os.pread(descriptor, found.st_size - at, at)):
            content += part
            at = len(content)
    except OSError as error:
        raise BadMessage(f"An attached file cannot be read: {error.strerror}.") from None
    return bytes(content)
