"""Pictures, stencils and convolutions."""

from __future__ import annotations

import numpy as np

from tests.by_authors.runs.cases import Case, Make, Random, like, uniform


def transposed_convolution(random: Random) -> Case:
    x, w = uniform(random, 3, 7, 9), uniform(random, 3, 2, 4, 4)
    whole = np.zeros((2, 2 * 7 + 2, 2 * 9 + 2))
    for row in range(7):
        for col in range(9):
            patch = np.einsum("i,iokl->okl", x[:, row, col], w)
            whole[:, 2 * row : 2 * row + 4, 2 * col : 2 * col + 4] += patch
    y = whole[:, 1:-1, 1:-1].astype(np.float32)
    return Case(
        {"y": like(y)},
        {"y": y},
        {"x": x, "w": w},
        {"in_channels": 3, "out_channels": 2, "height": 7, "width": 9},
        atol=1e-5,
    )


def sobel(random: Random) -> Case:
    image = random.integers(0, 256, (45, 37), dtype=np.uint8)
    around = np.pad(image.astype(np.int32), 1, mode="edge")
    smooth = around[:-2] + 2 * around[1:-1] + around[2:]
    gx = smooth[:, 2:] - smooth[:, :-2]
    smooth = around[:, :-2] + 2 * around[:, 1:-1] + around[:, 2:]
    gy = smooth[2:] - smooth[:-2]
    size = np.sqrt((gx * gx + gy * gy).astype(np.float32))
    edges = np.minimum(255, np.rint(size)).astype(np.uint8)
    sizes = {"width": 37, "height": 45}
    return Case({"edges": like(edges)}, {"edges": edges}, {"image": image}, sizes)


def convolution(random: Random) -> Case:
    x, w = uniform(random, 50, 35), uniform(random, 7, 7)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, 3), (7, 7))
    y = np.einsum("rcij,ij->rc", windows, w)
    return Case({"y": like(x)}, {"y": y}, {"x": x, "w": w}, {"rows": 50, "cols": 35}, atol=1e-5)


def jacobi(random: Random) -> Case:
    n, steps = 34, 10
    start = uniform(random, n, n, dtype="float64")
    u, before = start.copy(), start
    for _ in range(steps):
        before, u = u, u.copy()
        around = before[1:-1, :-2] + before[1:-1, 2:] + before[:-2, 1:-1] + before[2:, 1:-1]
        u[1:-1, 1:-1] = 0.25 * around
    change = np.abs(u - before).max().reshape(1)
    return Case(
        {"u": start, "change": ("uint64", 1)},
        {"u": u, "change": change.view(np.uint64)},
        sizes={"n": n, "steps": steps},
    )


def heat(random: Random) -> Case:
    rows, cols, steps = 40, 37, 5
    start = uniform(random, rows, cols)
    t = start.copy()
    for _ in range(steps):
        here, around = t[1:-1, 1:-1], t[1:-1, :-2] + t[1:-1, 2:] + t[:-2, 1:-1] + t[2:, 1:-1]
        t = t.copy()
        t[1:-1, 1:-1] += np.float32(0.2) * (around - 4 * here)
    sizes = {"rows": rows, "cols": cols, "steps": steps}
    return Case({"end": like(t)}, {"end": t}, {"start": start}, sizes, atol=1e-5)


def mandelbrot(random: Random) -> Case:
    del random
    width, height, limit = 66, 50, 60
    cx = -2.0 + np.arange(width) * 0.046875
    cy = -1.25 + np.arange(height)[:, None] * 0.046875
    x = y = np.zeros((height, width))
    counts, near = np.zeros((height, width), np.int32), np.ones((height, width), bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(limit):
            near = near & (x * x + y * y <= 4)
            counts += near
            x, y = x * x - y * y + cx, 2 * x * y + cy
    sizes = {"width": width, "height": height, "limit": limit}
    return Case({"counts": like(counts)}, {"counts": counts}, sizes=sizes)


def game_of_life(random: Random) -> Case:
    board = random.integers(0, 2, (37, 50), dtype=np.uint8)
    last = board
    for _ in range(6):
        turns = ((i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        alive = sum(np.roll(last, turn, axis=(0, 1)) for turn in turns)
        last = ((alive == 3) | ((alive == 2) & (last == 1))).astype(np.uint8)
    sizes = {"rows": 37, "cols": 50, "days": 6}
    return Case({"last": like(last)}, {"last": last}, {"board": board}, sizes)


CASES: tuple[Make, ...] = (
    transposed_convolution,
    sobel,
    convolution,
    jacobi,
    heat,
    mandelbrot,
    game_of_life,
)
