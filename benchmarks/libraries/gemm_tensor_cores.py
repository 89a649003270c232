"""Times the reference of the exercise gemm_tensor_cores, and a known submission with `wgmma`,
against cuBLAS (PyTorch) on a GPU.

    python benchmarks/libraries/gemm_tensor_cores.py [M N K]

Halves are multiplied, sums are floats, as in the exercise. Exit code 1 if a program is wrong.
"""

from __future__ import annotations

import sys

import torch
from beside_torch import find_program, load_program, name_of, pointers, print_comparison

PROGRAMS = ("", "passed--warp_groups")
PARAMETERS = "const half* A, const half* B, float* C, int M, int N, int K"
TOLERANCE = {"rtol": 1e-3, "atol": 1e-2}


def main() -> int:
    rows, columns, depth = map(int, sys.argv[1:4] or (2048, 2048, 1024))
    a = torch.randn(rows, depth, device="cuda", dtype=torch.float16)
    b = torch.randn(depth, columns, device="cuda", dtype=torch.float16)
    c = torch.empty(rows, columns, device="cuda")
    exact = a.double() @ b.double()
    right = True
    for program in PROGRAMS:
        launch = load_program(find_program("gemm_tensor_cores", program), PARAMETERS)
        right &= print_comparison(
            name_of("gemm_tensor_cores", program),
            lambda launch=launch: launch(*pointers(a, b, c), rows, columns, depth),
            lambda: torch.mm(a, b, out_dtype=torch.float32),
            "cuBLAS",
            is_right=lambda: torch.allclose(c.double(), exact, **TOLERANCE),
        )
    return not right


if __name__ == "__main__":
    sys.exit(main())
