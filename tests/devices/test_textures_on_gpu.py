"""Texture objects on a GPU or on the emulated driver, bound through the driver: the bits that the
emulated device reads of the same texels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import grader
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import GraderError
from grader.judging.compare import poison
from grader.records import Addressing, DeviceBuffer, Role, RunLimits, Status, Texture
from tests.support.device_plans import make_ready

AUTHORS = Path(__file__).parents[1] / "by_authors"
LIMITS = RunLimits(warp_instructions=10**8, wall_seconds=20.0)
READS = 4096
SLOW = pytest.mark.slow


@dataclass(frozen=True)
class Bound:
    """A texture over so many texels, and what is read of it at x, y and z."""

    read: str
    dtype: str
    shape: tuple[int, ...]
    texture: Texture


BOUND = {
    "point": Bound("tex2D<float>(t, x, y)", "float32", (13, 17), Texture()),
    "linear": Bound("tex2D<float>(t, x, y)", "float32", (13, 17), Texture(linear=True)),
    "line": Bound("tex1D<float>(t, x)", "float32", (29,), Texture(linear=True)),
    "volume": Bound("tex3D<float>(t, x, y, z)", "float32", (5, 7, 9), Texture()),
    "border": Bound(
        "tex2D<float>(t, x, y)",
        "float32",
        (13, 17),
        Texture(linear=True, addressing=Addressing.BORDER),
    ),
    "wrap": Bound(
        "tex2D<float>(t, x / 16, y / 16)",
        "float32",
        (16, 16),
        Texture(linear=True, normalized=True, addressing=Addressing.WRAP),
    ),
    "mirror": Bound(
        "tex2D<float>(t, x / 16, y / 16)",
        "float32",
        (16, 16),
        Texture(normalized=True, addressing=Addressing.MIRROR),
    ),
    "fractions": Bound(
        "tex2D<float4>(t, x, y).z",
        "uint8",
        (13, 17, 4),
        Texture(channels=4, fractions=True, linear=True),
    ),
    "layers": Bound(
        "tex2DLayered<float2>(t, x, y, int(z)).y",
        "float32",
        (3, 7, 11, 2),
        Texture(channels=2, layered=True),
    ),
    "linear_memory": Bound(
        "tex1Dfetch<float>(t, int(fabsf(x * y)))", "float32", (512,), Texture(fetched=True)
    ),
    "gather": Bound("tex2Dgather<float4>(t, x, y, 0).w", "float32", (13, 17), Texture()),
}


def read_texels(bound: Bound, on: str) -> np.ndarray:
    """What a device reads of a texture at drawn places, some beside its edges."""
    text = f"""
// launch: reads<<<{READS // 256}, 256>>>(out, t, at)
__global__ void reads(float* out, cudaTextureObject_t t, const float* at)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = at[i], y = at[i + {READS}], z = at[i + {2 * READS}];
    out[i] = {bound.read};
}}
"""
    buffers = (
        DeviceBuffer("out", "float32", (READS,), Role.OUTPUT),
        DeviceBuffer("t", bound.dtype, bound.shape, Role.INPUT, bound.texture),
        DeviceBuffer("at", "float32", (3, READS), Role.INPUT),
    )
    random = np.random.default_rng(19)
    arrays = {
        "out": poison((READS,), "float32"),
        "t": (
            random.integers(0, 256, bound.shape).astype(bound.dtype)
            if bound.dtype == "uint8"
            else random.standard_normal(bound.shape, dtype=np.float32)
        ),
        "at": random.uniform(-3, 21, (3, READS)).astype(np.float32),
    }
    with RemoteDevice(on) as device:
        program = make_ready(text, buffers, {}, device.info).as_program()
        execution, outputs = device.run(program, arrays, limits=LIMITS)
    assert execution.failure is None, execution.failure
    return outputs["out"]


@pytest.mark.usefixtures("cuda_driver")
@pytest.mark.parametrize(
    "name",
    ["fractions", *(pytest.param(name, marks=SLOW) for name in BOUND if name != "fractions")],
)
def test_a_gpu_reads_what_the_emulated_device_reads(name: str) -> None:
    on_gpu, emulated = (read_texels(BOUND[name], on) for on in ("gpu:0", "emulated:h100"))
    assert len(np.unique(on_gpu)) > 1
    assert on_gpu.view(np.uint32).tolist() == emulated.view(np.uint32).tolist()


@SLOW
@pytest.mark.usefixtures("cuda_driver")
def test_a_surface_is_refused_in_words() -> None:
    surface = Bound("0 * x", "float32", (8, 8), Texture(surface=True))
    with pytest.raises(GraderError, match="t is a surface, which is not bound on a GPU"):
        read_texels(surface, "gpu:0")


@pytest.mark.gpu
def test_an_exercise_with_a_texture_is_graded() -> None:
    exercise = AUTHORS / "exercises" / "half_size"
    solution = grader.grade(exercise, AUTHORS / "solutions" / "half_size.cu", device="gpu:0")
    assert solution.status is Status.PASSED
    assert solution.score == solution.max_score
    assert solution.device.kind == "gpu"
    starter = grader.grade(exercise, AUTHORS / "starter" / "half_size.cu", device="gpu:0")
    assert starter.status is Status.FAILED
