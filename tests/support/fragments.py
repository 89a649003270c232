"""The corpus's kernels on tensor cores, and the matrices that their eight warps hold in registers."""

from __future__ import annotations

import numpy as np

from tests.support.corpus import Result, find_cases, make_arrays, run_case

WARPS = 8


def run_file(name: str, gpu: str = "h100") -> tuple[dict[str, np.ndarray], Result]:
    """The arrays before the run of a kernel file at -O3, and its result."""
    case = next(case for case in find_cases([name], gpu=gpu) if case.level == 3)
    return make_arrays(case), run_case(case)


def spread(words: np.ndarray, height: int, k: int, *, element_bits: int) -> np.ndarray:
    """The matrices (WARPS, height, k) of which lanes hold rows, in codes."""
    together, blocks = max(1, 32 // element_bits), height // 8
    registers = blocks * k // (4 * together)
    parts = words.view(f"u{element_bits // 8}").reshape(WARPS, registers, 32, together)
    matrices = np.zeros((WARPS, height, k), dtype=parts.dtype)
    for n in range(registers):
        for lane in range(32):
            first = (lane % 4 + 4 * (n // blocks)) * together
            row = lane // 4 + 8 * (n % blocks)
            matrices[:, row, first : first + together] = parts[:, n, lane]
    return matrices


def gather(words: np.ndarray, *, halves: bool = False) -> np.ndarray:
    """The matrices (WARPS, 8 or 16, 8) of C or D: halves as codes, others as they are."""
    if halves:
        return spread(words, 16, 8, element_bits=16).astype(np.uint32)
    registers = words.reshape(WARPS, -1, 2, 8, 4)
    return registers.transpose(0, 1, 3, 4, 2).reshape(WARPS, -1, 8)
