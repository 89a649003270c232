"""Runs without an exercise whose kernels take tensor maps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import grader
from grader.cli import main
from grader.errors import UsageError

SOURCE = """#include <cuda.h>
// launch: corner<<<1, 32>>>(y, x)
__global__ void corner(float* y, const __grid_constant__ CUtensorMap x) {
    __shared__ alignas(128) float s[64];
    __shared__ unsigned long long object;
    const unsigned at = __cvta_generic_to_shared(&object);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(at) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile"
                     ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"((unsigned)__cvta_generic_to_shared(s)), "l"(&x), "r"(4), "r"(2), "r"(at)
                     : "memory");
    }
    __syncwarp();
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;"
                 " @!p bra again; }" ::"r"(at) : "memory");
    y[threadIdx.x] = s[threadIdx.x];
    y[32 + threadIdx.x] = s[32 + threadIdx.x];
}
"""
X = np.arange(160, dtype=np.float32).reshape(10, 16)
OUTPUTS = {"y": ("float32", (8, 8))}


def test_a_kernel_takes_a_map_of_an_input() -> None:
    maps = {"x": {"box": (8, 8)}}
    run = grader.run(SOURCE, inputs={"x": X}, outputs=OUTPUTS, tensor_maps=maps, check=True)
    assert np.array_equal(run.outputs["y"], X[2:10, 4:12])
    assert run.findings == ()


def test_the_command_takes_one_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, saved = tmp_path / "corner.cu", tmp_path / "y.npy"
    file.write_text(SOURCE)
    words = ["run", str(file), "--input", "x=index:10,16", "--output", "y=float32:8,8"]
    words += ["--save", f"y={saved}", "--no-isolation", "--json", "-"]
    assert main([*words, "--tensor-map", "x=8,8:fill=nan"]) == 0
    assert np.array_equal(np.load(saved), X[2:10, 4:12])
    capsys.readouterr()
    assert main([*words, "--tensor-map", "x=8,8:fill=one"]) == 2
    assert '.fill: must be one of zero, nan, got "one"' in capsys.readouterr().err


def test_a_buffer_without_a_map_is_told_what_it_needs() -> None:
    with pytest.raises(grader.SubmissionError) as failed:
        grader.run(SOURCE, inputs={"x": X}, outputs=OUTPUTS)
    assert "no pointer" in failed.value.message
    assert "tensor_map" in (failed.value.advice or "")


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ({"z": {"box": (8, 8)}}, "tensor_maps: there is no input or output 'z'"),
        ({"x": 8}, "tensor_maps['x'] is no mapping, but int"),
        (
            {"x": {"box": (8, 8), "swizle": 32}},
            "tensor_maps['x'].swizle: there is no field 'swizle'",
        ),
        ({"x": {}}, "tensor_maps['x'].box: this field is missing"),
        ({"x": {"box": (8, 0)}}, "tensor_maps['x'].box[1]: must be at least 1, got 0"),
        (
            {"x": {"box": (8, 8), "fill": 1}},
            "tensor_maps['x'].fill: must be one of zero, nan, got 1",
        ),
        ({"x": {"box": (8,)}}, "tensor_maps['x']: box and steps need a number for each of the 2"),
    ],
)
def test_the_wrong_field_is_named(maps: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        grader.run(SOURCE, inputs={"x": X}, outputs=OUTPUTS, tensor_maps=maps)  # type: ignore[arg-type]
    assert message in str(refused.value)


def test_rows_that_no_map_can_have_are_told() -> None:
    with pytest.raises(UsageError, match="rows have 60 bytes"):
        grader.run(
            SOURCE, inputs={"x": X[:, :15]}, outputs=OUTPUTS, tensor_maps={"x": {"box": (8, 8)}}
        )
