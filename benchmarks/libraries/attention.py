"""Times the reference of the exercise attention, and a known submission with `wgmma`, against the
fused kernels of PyTorch on a GPU.

    python benchmarks/libraries/attention.py [HEADS N]

Prints a line for each program and backend of scaled_dot_product_attention: FlashAttention and
cuDNN. The faster one is the best library. Exit code 1 if a program is wrong.
"""

from __future__ import annotations

import sys

import torch
from beside_torch import find_program, load_program, name_of, pointers, print_comparison
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

PROGRAMS = ("", "passed--warp_groups_in_stages")
PARAMETERS = "half* out, const half* Q, const half* K, const half* V, int heads, int n"
COLUMNS = 64
TOLERANCE = {"rtol": 0.002, "atol": 0.0015}
"""As in the exercise."""
BACKENDS = {"FlashAttention": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}


def main() -> int:
    heads, n = map(int, sys.argv[1:3] or (64, 512))
    inputs = [
        torch.randn(1, heads, n, COLUMNS, device="cuda", dtype=torch.float16) for _ in range(3)
    ]
    result = torch.empty_like(inputs[0])
    scores = inputs[0].double() @ inputs[1].double().mT / COLUMNS**0.5
    exact = torch.softmax(scores, -1) @ inputs[2].double()
    right = True
    for program in PROGRAMS:
        launch = load_program(find_program("attention", program), PARAMETERS)
        for name, backend in BACKENDS.items():
            with sdpa_kernel(backend):
                right &= print_comparison(
                    name_of("attention", program),
                    lambda launch=launch: launch(*pointers(result, *inputs), heads, n),
                    lambda: scaled_dot_product_attention(*inputs),
                    name,
                    is_right=lambda: torch.allclose(result.double(), exact, **TOLERANCE),
                )
    return not right


if __name__ == "__main__":
    sys.exit(main())
