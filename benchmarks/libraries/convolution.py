"""Times the reference of the exercise convolution against cuDNN on a GPU.

    python benchmarks/libraries/convolution.py [ROWS COLS]

Prints the milliseconds of both and their ratio. torch.nn.functional.conv2d calls cuDNN, which times
its algorithms first, in float32: the exercise accepts no tf32. The reference copies the weights to
constant memory in each launch. Exit code 1 if the reference is wrong.
"""

from __future__ import annotations

import sys

import torch
from beside_torch import load_reference, pointers, print_comparison

LAUNCH = """
void launch(float* out, const float* in, const float* w, int rows, int cols)
{
    cudaMemcpyToSymbolAsync(weights, w, sizeof(weights), 0, cudaMemcpyDeviceToDevice);
    dim3 grid((cols + TILE_X - 1) / TILE_X, (rows + TILE_Y - 1) / TILE_Y);
    convolution<<<grid, dim3(32, THREADS_Y)>>>(out, in, rows, cols);
}
"""

LARGEST_ERROR = 32 * 2.0**-24 * 49
"""As in the exercise: any order of 49 additions in float32."""


def main() -> int:
    rows, cols = map(int, sys.argv[1:3] or (4096, 4096))
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    launch = load_reference("convolution", LAUNCH).launch
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
