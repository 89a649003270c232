"""Messages that no client of this project sends: each ends its own session with a record, and never
the server."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from random import Random

import numpy as np
import pytest

from grader.cuda.channel import BadMessage, parse
from grader.cuda.server import Settings, start_server
from grader.cuda.wire import HEADER, MAX_MESSAGE_BYTES, MESSAGES, Kind
from grader.emulator import TEXTURE
from grader.emulator.run.memory import WINDOW
from tests.cuda.wire_client import FIRST, Client, connected, records, served

FAR = WINDOW << 32


def _distant_texture() -> np.ndarray:
    """A texture whose texels lie outside of the window."""
    texture = np.ones((), TEXTURE)
    texture["first"], texture["extents"] = 1 << 63, 9
    return texture


def is_ended(client: Client) -> bool:
    try:
        client.ask(Kind.SYNCHRONIZE)
    except (ConnectionError, OSError):
        return True
    return False


BAD: dict[str, tuple[Kind, dict[str, object], bytes]] = {
    "another device": (Kind.ALLOCATE, {"address": FAR | FIRST, "bytes": 64, "device": 7}, b""),
    "another space": (Kind.ALLOCATE, {"address": FAR | FIRST, "bytes": 64, "space": 9}, b""),
    "memory of the session": (Kind.ALLOCATE, {"address": FAR | 1 << 20, "bytes": 64}, b""),
    "no memory": (Kind.ALLOCATE, {"address": FAR | FIRST, "bytes": 0}, b""),
    "beyond the window": (Kind.ALLOCATE, {"address": FAR | FIRST, "bytes": 1 << 62}, b""),
    "outside of the window": (Kind.ALLOCATE, {"address": 4096, "bytes": 64}, b""),
    "not allocated": (Kind.FREE, {"address": FAR | FIRST + 512}, b""),
    "a variable is freed": (Kind.FREE, {"address": FAR | 1 << 20}, b""),
    "no module": (Kind.LAUNCH, {"module": 3}, b""),
    "no module to unload": (Kind.UNLOAD, {"module": 3}, b""),
    "a texture outside": (
        Kind.TEXTURE,
        {"handle": 1, "texture": _distant_texture()},
        b"",
    ),
    "a texture's handle": (Kind.TEXTURE, {"handle": 1 << 40}, b""),
    "a direction": (Kind.COPY, {"direction": 77}, b""),
    "an object": (Kind.SYNCHRONIZE, {"sort": 77}, b""),
    "a named object": (Kind.NAME_OBJECT, {"sort": 77}, b"name"),
    "no image": (Kind.LOAD, {}, b""),
    "a second greeting": (Kind.HELLO, {"process": 1, "version": 1}, b""),
    "links of nothing": (Kind.LINK, {"count": 1 << 31}, b""),
    "a peer": (Kind.PEER, {"device": 0, "peer": 9}, b""),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> object:
    with start_server(Settings(threads=1)) as path:
        yield path


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_field_ends_the_session(path: Path, name: str) -> None:
    kind, values, rest = BAD[name]
    with connected(path) as client:
        client.send(kind, rest, **values)
        assert is_ended(client)
    with connected(path) as client:
        assert not is_ended(client)


def test_the_record_names_the_bad_message(tmp_path: Path) -> None:
    with served(Settings(folder=tmp_path)) as client:
        client.send(Kind.FREE, address=FAR | FIRST)
        assert is_ended(client)
    assert f"no allocation at {FIRST:#x}" in records(tmp_path)[0]["problem"]


def test_overlapping_allocations_end_the_session(path: Path) -> None:
    with connected(path) as client:
        address = client.allocate(4096)
        client.send(Kind.ALLOCATE, address=address + 512, bytes=64)
        assert is_ended(client)


def test_the_window_keeps_its_size(path: Path) -> None:
    with connected(path) as client:
        assert client.welcome is not None
        for size in (0, 8 << 30):
            with pytest.raises(PermissionError):
                os.ftruncate(client.welcome.files[0], size)


def test_images_are_files_of_bounded_size(path: Path) -> None:
    reader, writer = os.pipe()
    huge = os.memfd_create("huge")
    os.ftruncate(huge, 1 << 40)
    for file in (reader, huge):
        with connected(path) as client:
            client.send(Kind.LOAD, files=(file,), device=0)
            assert is_ended(client)
    for file in (reader, writer, huge):
        os.close(file)


@pytest.mark.parametrize(
    "image",
    [
        b"\x7fELF" + bytes(100),
        b"\x50\xed\x55\xba" + b"\xff" * 200,
        struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 60) + b"\2" + bytes(400),
        b".version 8.0" + b"\xff" * 1000,
        b"x",
    ],
)
def test_a_damaged_image_is_refused(path: Path, image: bytes) -> None:
    with connected(path) as client:
        assert client.load(image).status in (200, 209, 218)
        assert not is_ended(client)


def test_mutated_cubins_are_refused_or_run(path: Path) -> None:
    from tests.cuda.test_session import SIMPLE, compile_program

    rng = Random(1)
    folder = Path(str(path)).parent
    image = compile_program(folder, "-arch=sm_90", text=SIMPLE, kind="cubin")
    for _ in range(20):
        damaged = bytearray(image)
        for _ in range(rng.choice((1, 4, 64))):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        with connected(path) as client:
            try:
                module = client.load(bytes(damaged))
            except (ConnectionError, OSError):
                continue
            assert module.status >= 0
    with connected(path) as client:
        assert client.load(image).status == 0


def make_random(rng: Random) -> bytes:
    """A message with random fields, mostly of the right size."""
    kind = rng.choice(list(Kind)) if rng.random() < 0.9 else rng.randrange(1 << 32)
    size = MESSAGES[kind].itemsize if kind in MESSAGES else rng.randrange(100)
    numbers = (0, 1, 2, 3, 7, 255, 1 << 20, FIRST, FAR | FIRST, (1 << 63) - 1, (1 << 64) - 1)
    words = [struct.pack("<Q", rng.choice(numbers)) for _ in range(size // 8 + 1)]
    body = b"".join(words)[:size] + rng.randbytes(rng.choice((0, 0, 8, 64)))
    if rng.random() < 0.2:
        body = body[: rng.randrange(len(body) + 1)]
    length = len(body) if rng.random() < 0.9 else rng.randrange(1 << 32)
    return struct.pack("<IIQ", kind, length, rng.randrange(1 << 64)) + body


def test_random_messages_do_not_end_the_server(path: Path) -> None:
    rng = Random(34)
    for _ in range(60):
        with connected(path, greeted=rng.random() < 0.8) as client:
            client.connection.settimeout(0.2)
            for _ in range(20):
                try:
                    client.send_raw(make_random(rng))
                except OSError:
                    break
    with connected(path) as client:
        assert not is_ended(client)


def test_parsing_raises_only_for_bad_messages() -> None:
    rng = Random(5)
    for _ in range(20_000):
        data = make_random(rng) if rng.random() < 0.7 else rng.randbytes(rng.randrange(80))
        try:
            message = parse(data)
        except BadMessage:
            continue
        assert len(data) >= HEADER.itemsize + MESSAGES[message.kind].itemsize


def test_a_message_that_is_too_long_ends_the_session(path: Path) -> None:
    with connected(path) as client:
        client.connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        body = bytes(MAX_MESSAGE_BYTES)
        client.send_raw(struct.pack("<IIQ", Kind.HOST_FINDING, len(body), 0) + body)
        assert is_ended(client)


def test_many_connections_share_the_server(path: Path) -> None:
    idle = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(20)]
    for each in idle:
        each.connect(str(path))
    with connected(path) as client:
        assert not is_ended(client)
    for each in idle:
        each.close()
