"""Sums, scans, sorts and searches."""

from __future__ import annotations

import numpy as np

from tests.by_authors.runs.cases import Case, Make, Random, like, uniform


def reduce_in_two_launches(random: Random) -> Case:
    x = uniform(random, 20_011)
    total = np.array([x.sum(dtype=np.float64)], np.float32)
    return Case({"total": like(total)}, {"total": total}, {"x": x}, {"n": x.size}, atol=1e-2)


def dot_product(random: Random) -> Case:
    a, b = uniform(random, 30_001), uniform(random, 30_001)
    right = np.array([np.dot(a.astype("f8"), b)], np.float32)
    return Case(
        {"result": np.zeros(1, np.float32)},
        {"result": right},
        {"a": a, "b": b},
        {"n": a.size},
        atol=1e-2,
    )


def scan_of_blocks(random: Random) -> Case:
    x = random.integers(-9, 10, 5_000, dtype=np.int32)
    right = (np.cumsum(x) - x).astype(np.int32)
    return Case({"y": like(x)}, {"y": right}, {"x": x}, {"n": x.size})


def histogram(random: Random) -> Case:
    text = random.binomial(255, 0.4, 40_000).astype(np.uint8)
    counts = np.bincount(text, minlength=256).astype(np.uint32)
    held = np.full(256, 3, np.uint32)
    return Case({"counts": held}, {"counts": counts + 3}, {"text": text}, {"n": text.size})


def compaction(random: Random) -> Case:
    x, limit = uniform(random, 3_333), np.float32(0.25)
    kept = x[x > limit]
    y = np.zeros_like(x)
    y[: kept.size] = kept
    return Case(
        {"y": np.zeros_like(x), "kept": ("int32", 1)},
        {"y": y, "kept": np.array([kept.size], np.int32)},
        {"x": x},
        {"n": x.size},
        {"limit": limit},
    )


def string_search(random: Random) -> Case:
    text = random.choice(np.frombuffer(b"abc", np.int8), 2_000)
    pattern = np.frombuffer(b"abcab", np.int8)
    text[700:705] = pattern
    windows = np.lib.stride_tricks.sliding_window_view(text, pattern.size)
    found = np.zeros(text.size, bool)
    found[: len(windows)] = (windows == pattern).all(axis=1)
    return Case(
        {"found": like(found), "matches": np.zeros(1, np.int32)},
        {"found": found, "matches": np.array([found.sum()], np.int32)},
        {"text": text, "pattern": pattern},
        {"n": text.size, "length": pattern.size},
    )


def scan_by_doubling(random: Random) -> Case:
    x = random.integers(-9, 10, 1_000, dtype=np.int32)
    return Case({"result": like(x)}, {"result": np.cumsum(x, dtype="i4")}, {"x": x}, {"n": x.size})


def radix_sort(random: Random) -> Case:
    x = random.integers(0, 1 << 16, 1_500, dtype=np.uint32)
    return Case({"y": like(x)}, {"y": np.sort(x)}, {"x": x}, {"n": x.size})


def bitonic_sort(random: Random) -> Case:
    keys = uniform(random, 1024)
    return Case({"keys": keys}, {"keys": np.sort(keys)}, sizes={"n": keys.size})


def odd_even_sort(random: Random) -> Case:
    keys = random.integers(-99, 100, 63, dtype=np.int16)
    return Case({"keys": keys}, {"keys": np.sort(keys)}, sizes={"n": keys.size})


CASES: tuple[Make, ...] = (
    reduce_in_two_launches,
    dot_product,
    scan_of_blocks,
    histogram,
    compaction,
    string_search,
    scan_by_doubling,
    radix_sort,
    bitonic_sort,
    odd_even_sort,
)
