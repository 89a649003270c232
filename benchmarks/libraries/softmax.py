"""Times the reference of the exercise softmax against torch.softmax on a GPU.

    python benchmarks/libraries/softmax.py [ROWS COLS]

Prints the milliseconds of both and their ratio, and the largest error of the reference.
"""

from __future__ import annotations

import sys

import torch
from beside_torch import load_reference, pointers, print_comparison

LAUNCH = """
void launch(float* out, const float* in, int rows, int cols)
{
    if (cols % 4 == 0 && cols <= LONGEST) softmax_kept<<<rows, THREADS>>>(out, in, cols / 4);
    else softmax_any<<<rows, THREADS>>>(out, in, cols);
}
"""


def main() -> None:
    rows, cols = map(int, sys.argv[1:3] or (8192, 4096))
    launch = load_reference("softmax", LAUNCH).launch
    values = 2 * torch.randn(rows, cols, device="cuda") + 100
    result = torch.empty_like(values)
    print_comparison(
        f"softmax {rows} x {cols}",
        lambda: launch(*pointers(result, values), rows, cols),
        lambda: torch.softmax(values, 1),
        "torch.softmax",
        out=result,
        relative=4e-5,  # twice that of the exercise: both results are rounded
        absolute=1e-8,
    )
    error = (result - torch.softmax(values.double(), 1)).abs().max().item()
    print(f"largest error of the reference: {error:.2g}")


if __name__ == "__main__":
    main()
