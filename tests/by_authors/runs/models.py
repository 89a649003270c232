"""Simulations, statistics, and finance."""

from __future__ import annotations

import math

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
        contended=True,  # sums of 64 bits in shared memory are loops of compare-and-swap
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


def n_body(random: Random) -> Case:
    n, steps, dt = 150, 3, 0.01
    bodies = np.concatenate([random.normal(0, 1, (n, 3)), random.uniform(0.1, 1, (n, 1))], axis=1)
    bodies, speeds = bodies.astype("f4"), (0.1 * random.normal(0, 1, (n, 4))).astype("f4")
    at, v = bodies.astype("f8"), speeds.astype("f8")
    for _ in range(steps):
        apart = at[None, :, :3] - at[:, None, :3]
        inverse = ((apart**2).sum(axis=2) + 1e-3) ** -1.5
        v[:, :3] += dt * np.einsum("ijd,ij->id", apart, inverse * at[None, :, 3])
        at[:, :3] += dt * v[:, :3]
    return Case(
        {"bodies": bodies, "speeds": speeds},
        {"bodies": at.astype("f4"), "speeds": v.astype("f4")},
        sizes={"n": n, "steps": steps},
        rtol=1e-3,
        atol=1e-3,
    )


def black_scholes(random: Random) -> Case:
    n, rate, volatility = 900, 0.02, 0.3
    spots, strikes, years = (
        random.uniform(*ends, n).astype(np.float32) for ends in ((5, 30), (1, 100), (0.25, 10))
    )
    s, x, t = (array.astype("f8") for array in (spots, strikes, years))
    d1 = (np.log(s / x) + (rate + volatility**2 / 2) * t) / (volatility * np.sqrt(t))
    d2 = d1 - volatility * np.sqrt(t)
    low, high = ([(1 + math.erf(d / math.sqrt(2))) / 2 for d in each] for each in (d1, d2))
    calls = s * low - x * np.exp(-rate * t) * high
    puts = calls - s + x * np.exp(-rate * t)
    return Case(
        {"calls": like(spots), "puts": like(spots)},
        {"calls": calls.astype("f4"), "puts": puts.astype("f4")},
        {"spots": spots, "strikes": strikes, "years": years},
        {"n": n},
        atol=1e-3,
    )


CASES: tuple[Make, ...] = (
    kmeans_step,
    monte_carlo_pi,
    n_body,
    black_scholes,
)
