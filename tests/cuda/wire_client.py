"""A client of the emulated device's server that speaks the wire protocol, without the libraries."""

from __future__ import annotations

import array
import json
import mmap
import os
import socket
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from grader.cuda.server import Settings, start_server
from grader.cuda.window import CLIENT_OFFSET
from grader.cuda.wire import ANSWERS, HEADER, MAX_MESSAGE_BYTES, MESSAGES, VERSION, Kind
from grader.emulator.run.memory import WINDOW

FIRST = CLIENT_OFFSET
Triple = tuple[int, int, int]


@dataclass(frozen=True)
class Answer:
    """An answer: its record, the text behind it, an attached file."""

    record: Any
    text: bytes
    files: tuple[int, ...]

    def __getitem__(self, name: str) -> int:
        return int(self.record[name])


@dataclass
class Client:
    """A connected client. `properties` are the device's."""

    connection: socket.socket
    memory: np.ndarray = field(default_factory=lambda: np.zeros(0, np.uint8))
    properties: dict[str, str] = field(default_factory=dict)
    welcome: Answer | None = None
    top: int = FIRST

    def send(
        self,
        kind: Kind,
        rest: bytes = b"",
        files: Sequence[int] = (),
        site: int = 0,
        **values: Any,  # noqa: ANN401 - fields of a record
    ) -> None:
        record = np.zeros(1, MESSAGES[kind])
        for name, value in values.items():
            record[name] = value
        body = record.tobytes() + rest
        head = struct.pack("<IIQ", kind, len(body), site)
        assert len(head) == HEADER.itemsize
        self.send_raw(head + body, files)

    def send_raw(self, data: bytes, files: Sequence[int] = ()) -> None:
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))] if files else []
        self.connection.sendmsg([data], rights)

    def receive(self, kind: Kind) -> Answer:
        data, attached, _, _ = self.connection.recvmsg(MAX_MESSAGE_BYTES, 64)
        if not data:
            raise ConnectionError
        files = array.array("i")
        for _, _, part in attached:
            files.frombytes(part)
        record = np.frombuffer(data, ANSWERS[kind], 1)[0]
        return Answer(record, data[ANSWERS[kind].itemsize :], tuple(files))

    def ask(
        self,
        kind: Kind,
        rest: bytes = b"",
        files: Sequence[int] = (),
        **values: Any,  # noqa: ANN401
    ) -> Answer:
        self.send(kind, rest, files, **values)
        return self.receive(kind)

    def hello(self) -> Client:
        answer = self.welcome = self.ask(Kind.HELLO, process=os.getpid(), version=VERSION)
        lines = answer.text.decode().splitlines()
        self.properties = dict(line.split("=", 1) for line in lines)
        window = mmap.mmap(answer.files[0], answer["window_bytes"], flags=mmap.MAP_SHARED)
        self.memory = np.frombuffer(window, np.uint8)
        return self

    def allocate(self, array_or_bytes: np.ndarray | int, space: int = 0, device: int = 0) -> int:
        """The address of new memory, with the contents of an array."""
        contents = None if isinstance(array_or_bytes, int) else array_or_bytes
        size = array_or_bytes if contents is None else contents.nbytes
        address, self.top = WINDOW << 32 | self.top, self.top + -(-(size + 4096) // 512) * 512
        self.send(Kind.ALLOCATE, address=address, bytes=size, device=device, space=space)
        if contents is not None:
            self.view(address, size)[:] = contents.reshape(-1).view(np.uint8)
            self.send(Kind.WRITTEN, address=address, bytes=size)
        return address

    def view(self, address: int, size: int) -> np.ndarray:
        offset = address & 0xFFFFFFFF
        return self.memory[offset : offset + size]

    def read(self, address: int, count: int, kind: str) -> np.ndarray:
        return self.view(address, count * np.dtype(kind).itemsize).view(kind).copy()

    def load(self, image: bytes, options: str = "", device: int = 0) -> Module:
        with _file(image) as file:
            answer = self.ask(Kind.LOAD, options.encode(), (file,), device=device)
        text = answer.text
        if answer["attached"]:
            text = os.pread(answer.files[0], answer["text_bytes"], 0)
        return Module(self, answer["status"], answer["module"], text.decode(), device)

    def link(self, *images: bytes) -> tuple[int, bytes]:
        files = [os.memfd_create("input") for _ in images]
        for file, image in zip(files, images, strict=True):
            os.write(file, image)
        answer = self.ask(Kind.LINK, b"", files, count=len(files))
        for file in files:
            os.close(file)
        return answer["status"], os.pread(answer.files[0], 1 << 26, 0) if answer.files else b""

    def synchronize(self, device: int = 0) -> tuple[int, str, str]:
        """The status, and all text for stdout and stderr."""
        printed = complaints = b""
        status = 0
        while True:
            answer = self.ask(Kind.SYNCHRONIZE, device=device)
            status = status or answer["status"]
            end = answer["printed_bytes"]
            printed += answer.text[:end]
            complaints += answer.text[end : end + answer["error_bytes"]]
            if not answer["more"]:
                return status, printed.decode(), complaints.decode()


@dataclass(frozen=True)
class Module:
    """A loaded module. `variables` are (address, bytes, kind)."""

    client: Client
    status: int
    number: int
    text: str
    device: int

    @property
    def kernels(self) -> dict[str, int]:
        lines = (line.split() for line in self.text.splitlines())
        return {words[2]: int(words[1]) for words in lines if words[0] == "kernel"}

    @property
    def variables(self) -> dict[str, tuple[int, int, str]]:
        lines = (line.split() for line in self.text.splitlines())
        return {w[1]: (int(w[2]), int(w[3]), w[4]) for w in lines if w[0] == "variable"}

    def launch(
        self,
        kernel: str,
        grid: Triple | int,
        block: Triple | int,
        *arguments: int | np.generic,
        **values: Any,  # noqa: ANN401
    ) -> None:
        """Launches with arguments in the order of parameters; a Python integer is a pointer."""
        space = b""
        for each in arguments:
            data = struct.pack("<Q", each) if isinstance(each, int) else each.tobytes()
            space = space.ljust(-(-len(space) // len(data)) * len(data), b"\0") + data
        symbol = next(name for name in self.kernels if kernel in name)
        self.client.send(
            Kind.LAUNCH,
            space,
            module=self.number,
            kernel=self.kernels[symbol],
            device=self.device,
            grid=(grid, 1, 1) if isinstance(grid, int) else grid,
            block=(block, 1, 1) if isinstance(block, int) else block,
            parameter_bytes=len(space),
            **values,
        )


@contextmanager
def _file(content: bytes) -> Iterator[int]:
    file = os.memfd_create("image")
    try:
        os.write(file, content)
        yield file
    finally:
        os.close(file)


@contextmanager
def connected(path: Path, *, greeted: bool = True) -> Iterator[Client]:
    """A client of a running server."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(str(path))
        client = Client(connection)
        yield client.hello() if greeted else client


@contextmanager
def served(settings: Settings) -> Iterator[Client]:
    """A client of a server of its own."""
    with start_server(settings) as path, connected(path) as client:
        yield client


def records(folder: Path) -> list[Mapping[str, Any]]:
    """The records of a run's sessions."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("session-*.json"))]
