"""Launch lines as students write them, run as a whole: what they compute is what a host program
with the same lines would."""

from __future__ import annotations

import numpy as np
import pytest

import grader

LINE = np.arange(64, dtype=np.float32)


def run(source: str, **given: object) -> np.ndarray:
    """The output `out` of 64 floats, of a source that may read `x`."""
    given = {"inputs": {"x": LINE}, "outputs": {"out": ("float32", (64,))}} | given
    return grader.run(source, isolated=False, **given).outputs["out"]  # type: ignore[arg-type]


CONSTANTS = """
#include <cstdint>
#define SPAN (COUNT * sizeof(Pair) / 8)
namespace shapes {
enum class Mode { COPY, TWICE = 5 };
template <int N> struct Tile { static constexpr int half = N / 2; };
}
struct Pair { float first, second; };
constexpr int COUNT = 64;
const int LAST = COUNT - 1;
enum { FOUR = 4 };
using real = float;
using shapes::Mode;

template <class T, int N, Mode MODE>
__global__ void k(T *out, const T *x, int last) {
    int i = blockIdx.x * N + threadIdx.x;
    if (i <= last) out[i] = MODE == Mode::TWICE ? 2 * x[i] : x[i];
}
template __global__ void k<real, shapes::Tile<32>::half, Mode::TWICE>(real *, const real *, int);
"""


@pytest.mark.parametrize(
    "launch",
    [
        "k<real, 16, shapes::Mode::TWICE><<<COUNT / 16, 16>>>(out, x, LAST)",
        "k<real, shapes::Tile<32>::half, Mode::TWICE><<<FOUR, SPAN / FOUR>>>(out, x, LAST)",
        "k<float, COUNT / 4, Mode::TWICE>"
        "<<<sizeof(Pair) / 2, shapes::Tile<32>::half>>>(out, x, COUNT - 1)",
    ],
)
def test_constants_of_every_kind_are_known(launch: str) -> None:
    source = f"{CONSTANTS}// launch: {launch}\n"
    np.testing.assert_array_equal(run(source), 2 * LINE)


@pytest.mark.parametrize(
    ("launch", "column", "message"),
    [
        ("k<real, 16, Mode::TWICE><<<blocks, 16>>>(out, x, LAST)", 39, "'blocks' is no constant"),
        ("k<real, 16, Mode::TWICES><<<4, 16>>>(out, x, LAST)", 12, "there is no instance"),
        ("k<real, 16, Mode::TWICE><<<4, sizeof(Pear)>>>(out, x, LAST)", 42, "'sizeof(Pear)' is"),
        ("k<real, 16, Mode::TWICE><<<COUNTS, 16>>>(out, x, LAST)", 39, "did you mean 'COUNT'"),
    ],
)
def test_what_is_no_constant_has_its_place(launch: str, column: int, message: str) -> None:
    source = f"{CONSTANTS}int blocks = 4;\n// launch: {launch}\n"
    with pytest.raises(grader.SubmissionError) as caught:
        run(source)
    assert message in caught.value.message
    assert f"column {column}:" in caught.value.message


NUMBERS = """
struct Params { int first; float scale; const float *from; };
__global__ void k(float *out, Params params, double shift, float4 weights) {
    int i = threadIdx.x;
    out[i] = params.scale * params.from[i + params.first] + (float)shift + weights.z;
}
extern "C" __global__ void c(float *out, Params params, float plus) {
    out[threadIdx.x] = params.from[threadIdx.x] * params.scale + plus;
}
"""


@pytest.mark.parametrize(
    ("launch", "factor", "plus"),
    [
        ("k<<<1, 64>>>(out, {0, 1.5f, x}, 2.5, make_float4(0, 0, n, 0))", 1.5, 66.5),
        ("k<<<1, 63, 0, stream>>>(&out[1], {1, alpha * 2, x}, -1, {})", 6.0, -1.0),
        ("k<<<1, 63>>>(out + 1, Params{-1, 3, x + 2}, n >> 5, float4{0.5})", 3.0, 2.0),
        ("c<<<1, 63>>>(out + 1, Params{0, 1 ? 2.0f : 1, x + 1}, 1.0f / 4)", 2.0, 0.25),
    ],
)
def test_numbers_addresses_and_structures(launch: str, factor: float, plus: float) -> None:
    first = 0 if "out, " in launch else 1
    outputs = {"out": np.zeros(64, dtype=np.float32)}
    source = f"{NUMBERS}// launch: {launch}\n"
    out = run(source, outputs=outputs, scalars={"alpha": 3.0}, sizes={"n": 64})
    wanted = np.float32(factor) * LINE + np.float32(plus)
    np.testing.assert_array_equal(out[first:], wanted[first:])


def test_an_offset_beyond_the_buffer_is_refused_and_a_read_beyond_it_found() -> None:
    with pytest.raises(grader.SubmissionError, match="lies outside of its 256 bytes"):
        run(f"{NUMBERS}// launch: c<<<1, 1>>>(out + 65, Params{{0, 1, x}}, 0)\n")
    with pytest.raises(grader.SubmissionError) as caught:
        run(f"{NUMBERS}// launch: c<<<1, 64>>>(out + 1, Params{{0, 1, x}}, 0)\n")
    assert caught.value.status == "runtime_error"
