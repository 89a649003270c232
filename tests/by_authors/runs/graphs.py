"""Graphs, and a transform whose launches follow one."""

from __future__ import annotations

import numpy as np

from tests.by_authors.runs.cases import Case, Make, Random, like


def bfs_levels(random: Random) -> Case:
    vertices, source = 400, 7
    ends = random.integers(0, vertices, (2, 700), dtype=np.int32)
    ends = ends[:, np.argsort(ends[0], kind="stable")]
    offsets = np.searchsorted(ends[0], np.arange(vertices + 1)).astype(np.int32)
    levels = np.full(vertices, -1, np.int32)
    levels[source], level = 0, 0
    while (frontier := levels == level).any():
        reached = np.unique(ends[1][frontier[ends[0]]])
        levels[reached[levels[reached] < 0]] = level + 1
        level += 1
    return Case(
        {"levels": like(levels)},
        {"levels": levels},
        {"offsets": offsets, "edges": ends[1].copy()},
        {"vertices": vertices, "source": source, "depth": level},
    )


def floyd_warshall(random: Random) -> Case:
    n = 35
    start = random.integers(1, 100, (n, n), dtype=np.int32)
    start[random.random((n, n)) < 0.8] = 1 << 20
    np.fill_diagonal(start, 0)
    distance = start.copy()
    for k in range(n):
        distance = np.minimum(distance, distance[:, k : k + 1] + distance[k])
    return Case({"distance": start}, {"distance": distance}, sizes={"n": n})


def union_find(random: Random) -> Case:
    vertices, count = 500, 350
    ends = random.integers(0, vertices, (2, count), dtype=np.int32)
    labels = np.arange(vertices, dtype=np.int32)
    for _ in range(vertices):
        least = np.minimum(labels[ends[0]], labels[ends[1]])
        before = labels.copy()
        np.minimum.at(labels, ends[0], least)
        np.minimum.at(labels, ends[1], least)
        if np.array_equal(before, labels):
            break
    return Case(
        {"parent": like(labels)},
        {"parent": labels},
        {"from": ends[0].copy(), "to": ends[1].copy()},
        {"vertices": vertices, "count": count},
        contended=True,
    )


def fft_stages(random: Random) -> Case:
    bits = 9
    x = random.normal(0, 1, (1 << bits, 2)).astype(np.float32)
    y = np.fft.fft(x[:, 0] + 1j * x[:, 1])
    right = np.stack([y.real, y.imag], axis=1).astype(np.float32)
    return Case({"y": like(x)}, {"y": right}, {"x": x}, {"bits": bits}, rtol=1e-4, atol=1e-3)


CASES: tuple[Make, ...] = (
    bfs_levels,
    floyd_warshall,
    union_find,
    fft_stages,
)
