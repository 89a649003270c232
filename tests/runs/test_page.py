"""The example of the page on launch lines runs, and does what it says."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

import grader

PAGE = Path(__file__).parents[2] / "docs" / "launch-lines.md"
KERNEL = """
template <int N> __global__ void step(float *out, const float *in, int n, int d, float factor) {
    int i = blockIdx.x * N + threadIdx.x;
    if (i < n) out[i] = factor * in[i] + (i >= d ? weights[d % 25] * in[i - d] : 0);
}
template __global__ void step<TILE>(float *, const float *, int, int, float);
"""


def test_the_example_of_the_page() -> None:
    found = re.search(r"```cuda\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    n = 100
    x, w = np.arange(n, dtype=np.float32), np.linspace(0, 1, 25, dtype=np.float32)
    run = grader.run(
        found[1].replace("\n// scratch", KERNEL + "\n// scratch", 1),
        inputs={"x": x, "w": w},
        outputs={"y": ("float32", (n,))},
        sizes={"n": n},
        isolated=False,
    )
    right = x.astype(np.float64)
    for d in (1, 2, 4, 8, 16, 32, 64):
        right = 0.5 * right + np.concatenate([np.zeros(d), w[d % 25] * right[:-d]])
    np.testing.assert_allclose(run.outputs["y"], right, rtol=1e-5)
    assert len(run.launches) == 7
