"""Texture and surface objects: an H200's reads of chosen texels, and kernels on the emulated
device. `data/texture_reads_h200.json` has words in hexadecimal digits: texels, coordinates (those
of x first), and results."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.gpus import read_gpus
from grader.records import (
    Addressing,
    Binary,
    BufferArgument,
    CountingMode,
    DeviceBuffer,
    Dim3,
    Execution,
    Faulted,
    Launch,
    Mode,
    ModelledMode,
    NotEmulated,
    Program,
    Role,
    RunLimits,
    ScalarArgument,
    Submission,
    Texture,
)
from tests.support.compiling import compile_source

LIMITS = RunLimits(warp_instructions=10**7, wall_seconds=60.0)
READS = json.loads(
    (Path(__file__).parents[1] / "data" / "texture_reads_h200.json").read_text(encoding="utf-8")
)
FIGURES = read_gpus()["h100"].figures
assert FIGURES is not None
LAUNCH_MS, CLOCK_MHZ = FIGURES.launch_us / 1e3, FIGURES.clock_mhz
ARCHES = {"h100": "sm_90", "a100": "sm_80", "t4": "sm_75", "b200": "sm_100", "rtx5090": "sm_120"}

SOURCE = """
#define READ(name, ...) extern "C" __global__ void name(cudaTextureObject_t t, const float *x,    \\
    const float *y, const float *z, float *out, int n) {                                          \\
    int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = __VA_ARGS__; }
READ(read_1, tex1D<float>(t, x[i]))
READ(read_2, tex2D<float>(t, x[i], y[i]))
READ(read_3, tex3D<float>(t, x[i], y[i], z[i]))
"""


@functools.cache
def compile_text(text: str, gpu: str = "h100") -> Binary:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return compile_source(Submission("textures.cu", digest, text), arch=ARCHES[gpu])


@functools.cache
def open_device(gpu: str) -> EmulatedDevice:
    return EmulatedDevice(gpu, threads=1)


def words(text: str) -> np.ndarray:
    digits = len(text.split()[0]) // 2
    return np.array([int(word, 16) for word in text.split()], dtype=f"<u{digits}")


def run(
    text: str,
    buffers: dict[str, tuple[np.ndarray, Texture | None]],
    *,
    output: str = "out",
    kernel: int | str = 0,
    threads: int = 32,
    gpu: str = "h100",
    scalars: Sequence[int] = (),
    mode: Mode | None = None,
) -> tuple[Execution, np.ndarray | None]:
    """Launches a kernel with buffers in the order of its parameters, then numbers."""
    binary = compile_text(text, gpu)
    symbols = [each.symbol for each in binary.kernels]
    symbol = symbols[kernel] if isinstance(kernel, int) else kernel
    arguments = (
        *(BufferArgument(name, texture is not None) for name, (_, texture) in buffers.items()),
        *(ScalarArgument(number, 4) for number in scalars),
    )
    launch = Launch(symbol, Dim3(1), Dim3(threads), 0, arguments, 1, "")
    made = tuple(
        DeviceBuffer(
            name,
            array.dtype.name,
            array.shape,
            Role.OUTPUT if name == output else Role.INPUT,
            bound,
        )
        for name, (array, bound) in buffers.items()
    )
    arrays = {name: array for name, (array, _) in buffers.items()}
    program = Program("test", binary, (launch,), made)
    execution, got = open_device(gpu).run(
        program, arrays, limits=LIMITS, mode=mode or CountingMode()
    )
    return execution, got.get(output)


@pytest.mark.parametrize("row", READS, ids=[str(number) for number in range(len(READS))])
def test_reads_agree_with_an_h200(row: dict[str, Any]) -> None:
    axes = len(row["shape"])
    texels = words(row["texels"]).view(row["dtype"]).reshape(row["shape"])
    texture = Texture(
        linear=row["linear"],
        addressing=Addressing(row.get("addressing", "clamp")),
        normalized=row.get("normalized", False),
        fractions=row.get("fractions", False),
    )
    at = [words(each).view(np.float32) for each in row["at"]]
    at += [at[0]] * (3 - axes)
    count = len(at[0])
    named = {name: (each, None) for name, each in zip("xyz", at, strict=True)}
    buffers = {"t": (texels, texture), **named, "out": (np.zeros(count, np.float32), None)}
    execution, got = run(SOURCE, buffers, kernel=f"read_{axes}", threads=64, scalars=(count,))
    assert execution.failure is None
    assert got is not None
    assert got.view(np.uint32).tolist() == words(row["read"]).tolist()


VECTORS = """
extern "C" __global__ void vectors(cudaTextureObject_t t, cudaTextureObject_t u, float4 *out) {
    int i = threadIdx.x;
    uchar4 v = tex2D<uchar4>(u, i % 4 + 0.5f, i / 4 + 0.5f);
    float4 w = tex2D<float4>(t, i % 4 + 0.5f, i / 4 + 0.5f);
    out[i] = make_float4(w.x + v.x, w.y + v.y, w.z + v.z, w.w + v.w);
}
"""


@pytest.mark.parametrize("gpu", ARCHES)
def test_elements_of_four_channels(gpu: str) -> None:
    floats = np.arange(32, dtype=np.float32).reshape(2, 4, 4) / 32
    octets = (np.arange(32, dtype=np.uint8) * 7).reshape(2, 4, 4)
    bound = Texture(channels=4)
    buffers = {
        "t": (floats, bound),
        "u": (octets, bound),
        "out": (np.zeros((8, 4), np.float32), None),
    }
    _, got = run(VECTORS, buffers, threads=8, gpu=gpu)
    assert got is not None
    assert np.array_equal(got, (floats + octets).reshape(8, 4))


LAYERS = """
extern "C" __global__ void layers(cudaTextureObject_t t, float *out) {
    int i = threadIdx.x;
    out[i] = tex2DLayered<float>(t, i % 4 + 0.5f, 1.5f, i / 4);
}
"""


@pytest.mark.parametrize("gpu", ARCHES)
def test_a_layer_beyond_the_last_is_the_last(gpu: str) -> None:
    texels = np.arange(3 * 2 * 4, dtype=np.float32).reshape(3, 2, 4)
    buffers = {
        "t": (texels, Texture(layered=True)),
        "out": (np.zeros(16, np.float32), None),
    }
    _, got = run(LAYERS, buffers, threads=16, gpu=gpu)
    assert got is not None
    assert np.array_equal(got.reshape(4, 4), texels[[0, 1, 2, 2], 1])


CUBES = """
extern "C" __global__ void cubes(cudaTextureObject_t t, const float *at, float *out) {
    const float *d = at + 3 * threadIdx.x;
    out[threadIdx.x] = texCubemap<float>(t, d[0], d[1], d[2]);
}
extern "C" __global__ void layers_of_cubes(cudaTextureObject_t t, const float *at, float *out) {
    const float *d = at + 3 * threadIdx.x;
    out[threadIdx.x] = texCubemapLayered<float>(t, d[0], d[1], d[2], 1) - 6 * 16;
}
"""
DIRECTIONS = {  # the table of the programming guide: face, s / m, t / m
    (1.0, 0.2, 0.7): (0, -0.7, -0.2),
    (-1.0, 0.2, 0.7): (1, 0.7, -0.2),
    (0.2, 1.0, 0.7): (2, 0.2, 0.7),
    (0.2, -1.0, 0.7): (3, 0.2, -0.7),
    (0.2, 0.7, 1.0): (4, 0.2, -0.7),
    (0.2, 0.7, -1.0): (5, -0.2, -0.7),
}


@pytest.mark.parametrize("gpu", ARCHES)
@pytest.mark.parametrize("kernel", [0, 1])
def test_a_cube_map_reads_the_face_of_a_direction(gpu: str, kernel: int) -> None:
    texels = np.arange(12 * 4 * 4, dtype=np.float32).reshape(12, 4, 4)
    buffers = {
        "t": (texels, Texture(layered=True, normalized=True)),
        "at": (np.array(list(DIRECTIONS), np.float32), None),
        "out": (np.zeros(6, np.float32), None),
    }
    _, got = run(CUBES, buffers, kernel=kernel, threads=6, gpu=gpu)
    expected = [texels[face, int(2 * t + 2), int(2 * s + 2)] for face, s, t in DIRECTIONS.values()]
    assert got is not None
    assert got.tolist() == expected


GATHERS = """
extern "C" __global__ void gathers(cudaTextureObject_t t, const float *y, float4 *out) {
    out[threadIdx.x] = tex2Dgather<float4>(t, 1.0f, y[threadIdx.x], 0);
}
"""


@pytest.mark.parametrize("gpu", ARCHES)
def test_a_gather_goes_around_counter_clockwise(gpu: str) -> None:
    texels = np.arange(16, dtype=np.float32).reshape(4, 4)
    buffers = {
        "t": (texels, Texture()),
        "y": (np.array([1, 2], np.float32), None),
        "out": (np.zeros((2, 4), np.float32), None),
    }
    _, got = run(GATHERS, buffers, threads=2, gpu=gpu)
    assert got is not None
    assert got.tolist() == [[4, 5, 1, 0], [8, 9, 5, 4]]


FETCHES = """
extern "C" __global__ void fetches(cudaTextureObject_t t, int *out) {
    out[threadIdx.x] = tex1Dfetch<int>(t, int(threadIdx.x) - 2);
}
"""


@pytest.mark.parametrize("gpu", ARCHES)
def test_a_fetch_beside_the_memory_is_zero(gpu: str) -> None:
    buffers = {
        "t": (np.arange(1, 5, dtype=np.int32), Texture(fetched=True)),
        "out": (np.full(8, 9, np.int32), None),
    }
    _, got = run(FETCHES, buffers, threads=8, gpu=gpu)
    assert got is not None
    assert got.tolist() == [0, 0, 1, 2, 3, 4, 0, 0]


def test_a_fetch_of_an_array_ends_the_launch() -> None:
    buffers = {
        "t": (np.arange(1, 5, dtype=np.int32), Texture()),
        "out": (np.full(8, 9, np.int32), None),
    }
    execution, _ = run(FETCHES, buffers, threads=8)
    assert isinstance(execution.failure, NotEmulated)


SURFACES = """
extern "C" __global__ void surfaces(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    int x = int(threadIdx.x) - 2;
    int v = surf2Dread<int>(from, 4 * x, 0, cudaBoundaryModeClamp);
    int w = surf2Dread<int>(from, 4 * x, 1, cudaBoundaryModeZero);
    surf2Dwrite(v, to, 4 * x, 0, cudaBoundaryModeZero);
    surf2Dwrite(w, to, 4 * x, 1, cudaBoundaryModeZero);
    if (x >= 0 && x < 4)
        surf2Dwrite(make_short2(x, 7), to, 4 * x, 2);
}
"""


@pytest.mark.parametrize("gpu", ARCHES)
def test_surfaces_beside_their_edges(gpu: str) -> None:
    bound = Texture(surface=True)
    buffers = {
        "from": (np.arange(12, dtype=np.int32).reshape(3, 4), bound),
        "to": (np.zeros((3, 4), np.int32), bound),
    }
    execution, got = run(SURFACES, buffers, output="to", threads=8, gpu=gpu)
    assert execution.failure is None
    assert got is not None
    assert got.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [7 << 16 | x for x in range(4)]]
    counters = execution.launches[0].counters
    assert counters.global_load_requests == counters.global_store_requests == 0


BESIDE = """
extern "C" __global__ void beside(cudaSurfaceObject_t to) {
    surf2Dwrite(1.0f, to, 4 * int(threadIdx.x), 1);
}
"""


def test_a_surface_traps_beside_its_edges() -> None:
    buffers = {"to": (np.zeros((3, 4), np.float32), Texture(surface=True))}
    execution, _ = run(BESIDE, buffers, output="to", threads=8)
    assert isinstance(execution.failure, Faulted)
    assert execution.failure.observation.by.thread == Dim3(4, 0, 0)


REPEATED = """
template <class Texel> __device__ void add(cudaTextureObject_t t, float *out) {
    float sum = 0;
#pragma unroll 8
    for (int k = 0; k < 256; k++)
        sum += tex2D<Texel>(t, threadIdx.x % 32 + 0.5f + k * 1e-3f, threadIdx.x / 32 % 8 + 0.5f).x;
    out[threadIdx.x] = sum;
}
extern "C" __global__ void narrow(cudaTextureObject_t t, float *out) { add<float1>(t, out); }
extern "C" __global__ void wide(cudaTextureObject_t t, float *out) { add<float4>(t, out); }
"""


@pytest.mark.parametrize(
    ("kernel", "channels", "linear", "cycles"),
    [
        ("narrow", 1, False, 8.5),
        ("narrow", 1, True, 9.4),
        ("wide", 4, False, 16.4),
        ("wide", 4, True, 33.8),
    ],
)
def test_a_texture_unit_reads_as_fast_as_an_h200s(
    kernel: str, channels: int, linear: bool, cycles: float
) -> None:
    """Cycles for a read of a warp, of 32 warps (benchmarks/textures.py and the manual's table)."""
    texels = np.ones((8, 32, channels)[: 2 + (channels > 1)], np.float32)
    buffers = {
        "t": (texels, Texture(channels=channels, linear=linear)),
        "out": (np.zeros(1024, np.float32), None),
    }
    execution, _ = run(REPEATED, buffers, kernel=kernel, threads=1024, mode=ModelledMode(0))
    modelled = execution.launches[0].modelled
    assert modelled is not None
    assert modelled.kind == "textures"
    taken = (modelled.time_ms - LAUNCH_MS) * 1e3 * CLOCK_MHZ / (32 * 256)
    assert taken == pytest.approx(cycles, rel=0.2)


CHASE = """
extern "C" __global__ void chase(cudaSurfaceObject_t s, int *out) {
    int x = 0;
#pragma unroll 1
    for (int k = 0; k < 256; k++)
        x = 4 * surf2Dread<int>(s, x, 0);
    out[threadIdx.x] = x;
}
"""


@pytest.mark.parametrize("warps", [1, 8])
def test_reads_of_surfaces_take_as_long_as_on_an_h200(warps: int) -> None:
    """105 cycles for a turn in which each read waits for the one before."""
    buffers = {
        "s": (np.zeros((8, 32), np.int32), Texture(surface=True)),
        "out": (np.zeros(1024, np.int32), None),
    }
    execution, _ = run(CHASE, buffers, threads=32 * warps, mode=ModelledMode(0))
    modelled = execution.launches[0].modelled
    assert modelled is not None
    taken = (modelled.time_ms - LAUNCH_MS) * 1e3 * CLOCK_MHZ / 256
    assert taken == pytest.approx(105, rel=0.1)


def test_stores_to_surfaces_have_a_modelled_time() -> None:
    buffers = {"to": (np.zeros((3, 4), np.float32), Texture(surface=True))}
    execution, _ = run(BESIDE, buffers, output="to", threads=4, mode=ModelledMode(0))
    modelled = execution.launches[0].modelled
    assert modelled is not None
    assert modelled.kind == "textures"
