"""Simulations, statistics, and finance."""

from __future__ import annotations

import numpy as np

from tests.by_authors.runs.cases import Case, Make, Random, like

MASK = (1 << 64) - 1


def kmeans_step(random: Random) -> Case:
    centres = random.uniform(-10, 10, (8, 2)).astype(np.float32)
    points = (centres[random.integers(0, 8, 2_000)] + random.normal(0, 1, (2_000, 2))).astype("f4")
    labels = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1).astype(np.int32)
    moved = np.array([points[labels == k].mean(axis=0) for k in range(8)], np.float32)
    return Case(
        {"labels": like(labels), "moved": like(moved)},
        {"labels": labels, "moved": moved},
        {"points": points, "centres": centres},
        {"n": 2_000},
        atol=1e-3,
    )


def monte_carlo_pi(random: Random) -> Case:
    threads, draws, seed = 256, 100, int(random.integers(1, 1 << 30))
    hits = 0
    for thread in range(threads):
        state = ((seed + thread) * 2862933555777941757 + 3037000493) & MASK
        for _ in range(draws):
            point = []
            for _ in range(2):
                state = (6364136223846793005 * state + 1442695040888963407) & MASK
                point.append(np.float32(state >> 40) / np.float32(16777216))
            x, y = point
            hits += bool(x * x + y * y <= 1)
    return Case(
        {"hits": np.zeros(1, np.uint32)},
        {"hits": np.array([hits], np.uint32)},
        sizes={"threads": threads, "seed": seed, "draws": draws},
    )


CASES: tuple[Make, ...] = (kmeans_step, monte_carlo_pi)
