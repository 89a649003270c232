"""Programs of launch lines on a GPU, or on the emulated driver, leave what they leave on the emulated device, bit for bit, and
the launches count the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import grader
from tests.runs.test_host_programs import SCAN, WEIGHTS
from tests.runs.test_launch_language import LINE, NUMBERS
from tests.support.corpus import counter_names

N = 1000
X = np.arange(64, dtype=np.float32) % 17
PROGRAMS: dict[str, tuple[str, dict[str, Any]]] = {
    "scan": (
        SCAN.replace("block_size", "128"),
        {
            "inputs": {"x": np.arange(N, dtype=np.float32)},
            "outputs": {"y": ("float32", (N,))},
            "sizes": {"n": N},
        },
    ),
    "constant memory": (
        f"{WEIGHTS}// scratch: float v[9]\n"
        "// launch: cudaMemcpyToSymbol(weights, w + 3, 12, 8); cudaMemcpyToSymbol(scale, w, 4);\n"
        "// launch: for (int i = 0; i < 3; i++) { convolve<<<1, 64>>>(out, x, 64);\n"
        "// launch: cudaMemcpyFromSymbol(v, weights); cudaMemset(v, 0, 4 * (i + 3));\n"
        "// launch: cudaMemcpyToSymbol(weights, v); }\n",
        {
            "inputs": {"x": X, "w": np.arange(1, 10, dtype=np.float32)},
            "outputs": {"out": ("float32", (64,))},
        },
    ),
    "structures": (
        f"{NUMBERS}// launch: k<<<1, 63, 0, stream>>>(&out[1], {{1, alpha * 2, x}}, -1, {{}})\n"
        "// launch: c<<<1, 1>>>(out, Params{3, 2.0f, x}, 1.0f / 4)\n",
        {
            "inputs": {"x": LINE},
            "outputs": {"out": np.zeros(64, dtype=np.float32)},
            "scalars": {"alpha": 3.0},
        },
    ),
}


@pytest.mark.usefixtures("cuda_driver")
@pytest.mark.parametrize(
    "name",
    [
        "constant memory",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("scan", "structures")),
    ],
)
def test_a_program_does_the_same_on_a_gpu(name: str) -> None:
    source, given = PROGRAMS[name]
    emulated = grader.run(source, **given, isolated=False)
    for _ in range(2):  # nothing of the first run is left for the second one
        measured = grader.run(source, **given, device="gpu", isolated=False)
        for output, array in emulated.outputs.items():
            np.testing.assert_array_equal(measured.outputs[output], array)
    assert [launch.grid for launch in measured.launches] == [
        launch.grid for launch in emulated.launches
    ]
    assert [counter_names(launch.counters) for launch in measured.launches] == [
        counter_names(launch.counters) for launch in emulated.launches
    ]
