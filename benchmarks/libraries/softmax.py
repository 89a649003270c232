"""Times the reference of the exercise softmax against torch.softmax on a GPU.

    python benchmarks/libraries/softmax.py [ROWS COLS]

Prints the milliseconds of both and their ratio. Exit code 1 if the reference is wrong.
"""

from __future__ import annotations

import sys

import torch
from beside_torch import find_program, load_program, pointers, print_comparison

PARAMETERS = "float* out, const float* in, int rows, int cols"


LARGEST_ERROR = 2e-5
"""Relative to the result, as in the exercise."""


def main() -> int:
    rows, cols = map(int, sys.argv[1:3] or (8192, 4096))
    launch = load_program(find_program("softmax"), PARAMETERS)
    values = 2 * torch.randn(rows, cols, device="cuda") + 100
    result = torch.empty_like(values)
    exact = torch.softmax(values.double(), 1)
    right = print_comparison(
        f"softmax {rows} x {cols}",
        lambda: launch(*pointers(result, values), rows, cols),
        lambda: torch.softmax(values, 1),
        "torch.softmax",
        is_right=lambda: torch.allclose(result.double(), exact, rtol=LARGEST_ERROR, atol=1e-8),
    )
    return not right


if __name__ == "__main__":
    sys.exit(main())
