"""Times the reference of the exercise convolution against cuDNN on a GPU.

    python benchmarks/libraries/convolution.py [ROWS COLS]

Prints the milliseconds of both and their ratio. torch.nn.functional.conv2d calls cuDNN, which times
its algorithms first, in float32: the exercise accepts no tf32. The reference copies the weights to
constant memory in each launch. Exit code 1 if the reference is wrong.
"""

from __future__ import annotations

import sys

import torch
from beside_torch import find_program, launch_lines, load_program, pointers, print_comparison

PARAMETERS = "float* out, const float* in, const float* w, int rows, int cols"
COPY = "cudaMemcpyToSymbolAsync(weights, w, sizeof(weights), 0, cudaMemcpyDeviceToDevice)"
"""Instead of the first launch line, which waits."""

LARGEST_ERROR = 32 * 2.0**-24 * 49
"""As in the exercise: any order of 49 additions in float32."""


def main() -> int:
    rows, cols = map(int, sys.argv[1:3] or (4096, 4096))
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    program = find_program("convolution")
    launch = load_program(program, PARAMETERS, [COPY, *launch_lines(program)[1:]])
    image = torch.randn(1, 1, rows, cols, device="cuda")
    weights = torch.randn(1, 1, 7, 7, device="cuda")
    result = torch.empty_like(image)
    exact = torch.nn.functional.conv2d(image.double(), weights.double(), padding=3)
    right = print_comparison(
        f"convolution {rows} x {cols}",
        lambda: launch(*pointers(result, image, weights), rows, cols),
        lambda: torch.nn.functional.conv2d(image, weights, padding=3),
        "cuDNN",
        is_right=lambda: torch.allclose(result.double(), exact, rtol=0, atol=LARGEST_ERROR),
    )
    return not right


if __name__ == "__main__":
    sys.exit(main())
