"""Costs of moving a grading's data, in CPU seconds: drawing inputs, holding them in a device's
memory, finding written elements, and comparing, at the transpose's timed size.

    python benchmarks/moving.py [--repeat N]

Times each step N times and prints the minimum. The indented lines are the slower alternatives that
the steps replaced. Needs no GPU.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from grader.devices.mapped_arrays import find_file, gather_shared
from grader.emulator import GlobalMemory
from grader.judging.compare import is_equal
from grader.records import POISON_WORD
from grader.spec.draws import draw_array
from grader.spec.exercise import Initialisation

SIDE = 8192
SHAPE = (SIDE, SIDE)
KIND = np.dtype(np.float32)
TILE, TILES = 32, 171  # of a group in a sample


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    inputs = draw()
    got = np.ascontiguousarray(inputs.T)
    steps: list[tuple[str, Callable[[], object]]] = [
        ("draw the inputs into a shared file", draw),
        ("  each element a deviate of its own", draw_each),
        ("hold them, and see that they stay", lambda: hold(inputs, find_file(inputs))),
        ("  as a copy, compared", lambda: hold(inputs, None)),
        (f"{TILES} tiles of an output: fill, write, find", lambda: write_tiles(sparse=True)),
        ("  filled and compared as a whole", lambda: write_tiles(sparse=False)),
        ("compare with a transposed view", lambda: is_equal(inputs.T, got)),
        ("  with a copy of it", lambda: np.array_equal(np.ascontiguousarray(inputs.T), got)),
    ]
    for name, step in steps:
        print(f"{name:48} {min(time_step(step) for _ in range(repeat)):6.3f} s")


def time_step(step: Callable[[], object]) -> float:
    """CPU seconds, user and system together."""
    began = time.process_time()
    step()
    return time.process_time() - began


def draw() -> np.ndarray:
    return draw_array(
        Initialisation.NORMAL, KIND.name, SHAPE, seed=1, names=("x",), gather=gather_shared
    )


def draw_each() -> np.ndarray:
    return np.random.default_rng(1).standard_normal(SHAPE, dtype=np.float32)


def hold(inputs: np.ndarray, file: int | None) -> bool:
    memory = GlobalMemory({"in": inputs.nbytes})
    memory.fill_from("in", inputs, file)
    return any(len(part) for part in memory.changed("in", inputs, KIND))


def write_tiles(*, sparse: bool) -> int:
    memory = GlobalMemory({"out": SIDE * SIDE * KIND.itemsize}, sparse=sparse)
    memory.fill("out", POISON_WORD)
    out = memory.view("out").view(KIND).reshape(SHAPE)
    for row, column in np.random.default_rng(1).integers(SIDE // TILE, size=(TILES, 2)) * TILE:
        out[row : row + TILE, column : column + TILE] = 1
    return sum(len(part) for part in memory.changed("out", POISON_WORD, KIND))


if __name__ == "__main__":
    main()
