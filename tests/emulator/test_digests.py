"""Digests of rows of bytes: the sums of NH's definition, and changes that they detect."""

from __future__ import annotations

import os

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import Digests
from grader.emulator.layouts.execution import DIGEST_BLOCK_BYTES
from grader.emulator.run import digests

SIZES = (1, 16, DIGEST_BLOCK_BYTES - 1, DIGEST_BLOCK_BYTES, 2 * DIGEST_BLOCK_BYTES + 4)
WORD = 1 << 64


def row(size: int) -> np.ndarray:
    return np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)


def sums_of(data: bytes, key: bytes) -> list[tuple[int, int]]:
    """NH by definition: per block, the sum of products of pairs of words, with a key word added to
    each."""
    keys = np.frombuffer(key, dtype="<u8").tolist()
    sums = []
    for at in range(0, len(data), DIGEST_BLOCK_BYTES):
        block = data[at : at + DIGEST_BLOCK_BYTES].ljust(DIGEST_BLOCK_BYTES, b"\0")
        words = np.frombuffer(block, dtype="<u8").tolist()
        added = [(word + part) % WORD for word, part in zip(words, keys, strict=True)]
        products = (a * b for a, b in zip(added[::2], added[1::2], strict=True))
        total = sum(products) % WORD**2
        sums.append((total % WORD, total // WORD))
    return sums


@pytest.mark.parametrize("size", SIZES)
def test_a_digest_equals_its_definition(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    key = os.urandom(DIGEST_BLOCK_BYTES)
    monkeypatch.setattr(digests, "_draw_key", lambda: key)
    data = row(size)
    told = Digests(emulator_runtime()).of(data)
    assert list(map(tuple, told.tolist())) == sums_of(data.tobytes(), key)


@pytest.mark.parametrize("size", SIZES)
def test_every_byte_has_a_part_in_it(size: int) -> None:
    data, digest = row(size), Digests(emulator_runtime())
    before = digest.of(data)
    for place in {0, size // 2, size - 1}:
        data[place] ^= 1
        assert not np.array_equal(digest.of(data), before)
        data[place] ^= 1
    assert np.array_equal(digest.of(data), before)


def test_another_key_is_drawn_for_each() -> None:
    data = row(DIGEST_BLOCK_BYTES)
    first, second = (Digests(emulator_runtime()).of(data) for _ in range(2))
    assert not np.array_equal(first, second)


def test_a_row_that_starts_anywhere_has_the_digest_of_its_copy() -> None:
    data, digest = row(DIGEST_BLOCK_BYTES + 9), Digests(emulator_runtime())
    assert np.array_equal(digest.of(data[5:]), digest.of(data[5:].copy()))
