"""Times the reference of the exercise attention against the fused kernels of PyTorch on a GPU.

    python benchmarks/libraries/attention.py [HEADS N]

Prints a line for each backend of scaled_dot_product_attention: FlashAttention and cuDNN. The faster
one is the best library. Exit code 1 if the reference is wrong.
"""

from __future__ import annotations

import sys

import torch
from beside_torch import load_reference, pointers, print_comparison
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

LAUNCH = """
void launch(half* out, const half* Q, const half* K, const half* V, int heads, int n)
{
    attention<<<dim3((n + ROWS - 1) / ROWS, heads), THREADS>>>(out, Q, K, V, n);
}
"""
COLUMNS = 64
TOLERANCE = {"rtol": 0.002, "atol": 0.0015}
"""As in the exercise."""
BACKENDS = {"FlashAttention": SDPBackend.FLASH_ATTENTION, "cuDNN": SDPBackend.CUDNN_ATTENTION}


def main() -> int:
    heads, n = map(int, sys.argv[1:3] or (64, 512))
    launch = load_reference("attention", LAUNCH).launch
    inputs = [
        torch.randn(1, heads, n, COLUMNS, device="cuda", dtype=torch.float16) for _ in range(3)
    ]
    result = torch.empty_like(inputs[0])
    scores = inputs[0].double() @ inputs[1].double().mT / COLUMNS**0.5
    exact = torch.softmax(scores, -1) @ inputs[2].double()
    right = True
    for name, backend in BACKENDS.items():
        with sdpa_kernel(backend):
            right &= print_comparison(
                f"attention {heads} x {n}",
                lambda: launch(*pointers(result, *inputs), heads, n),
                lambda: scaled_dot_product_attention(*inputs),
                name,
                is_right=lambda: torch.allclose(result.double(), exact, **TOLERANCE),
            )
    return not right


if __name__ == "__main__":
    sys.exit(main())
