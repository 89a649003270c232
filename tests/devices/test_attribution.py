"""Counters belong to lines of the submission: through templates, inlined functions, macros,
headers, and code apart from kernels."""

from __future__ import annotations

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.judging.score import _source_lines
from grader.records import Counters, DeviceBuffer, Execution, Role, RunLimits, Submission
from tests.support.device_plans import make_ready

N = 256
BUFFERS = (
    DeviceBuffer("out", "int64", (N,), Role.OUTPUT),
    DeviceBuffer("in", "int64", (N,), Role.INPUT),
)
TEXT = """// launch: first<2><<<2, 64>>>(out, in)
// launch: second<<<1, 32>>>(out, in)
#include <cooperative_groups.h>
typedef long long i64;
#define STORE(at, value) \\
    out[at] = (value)
template <int STEP> __device__ i64 gather(const i64* in, int i) {
    return in[i * STEP];
}
__device__ i64 conflicted(i64* tile, int i) {
    return tile[i * 16 % 512];
}
template <int STEP> __global__ void first(i64* out, const i64* in) {
    __shared__ i64 tile[512];
    int i = threadIdx.x;
    tile[i] = gather<STEP>(in, i);
    cooperative_groups::this_thread_block().sync();
    i64 read = conflicted(tile, i);
    STORE(i, read + 3);
    STORE(i + 64, read + 1);
}
template __global__ void first<2>(i64*, const i64*);
__global__ void second(i64* out, const i64* in) {
    out[threadIdx.x + 128] = gather<1>(in, threadIdx.x);
    out[threadIdx.x + 160] = in[threadIdx.x] / in[1];
    out[threadIdx.x + 192] = in[threadIdx.x] / in[2];
}
"""


@pytest.fixture(scope="module")
def execution() -> Execution:
    device = EmulatedDevice()
    ready = make_ready(TEXT, BUFFERS, {}, device.info)
    inputs = {"in": np.arange(N, dtype=np.int64) << 33, "out": np.zeros(N, dtype=np.int64)}
    execution, outputs = device.run(ready.as_program(), inputs, limits=RunLimits(10**6, 60.0))
    assert execution.failure is None
    tile = np.zeros(512, dtype=np.int64)
    tile[:64] = inputs["in"][: 2 * 64 : 2]
    i = np.arange(64)
    inside = i * 16 % 512 < 64  # beyond, the kernel reads what nobody wrote
    np.testing.assert_array_equal(outputs["out"][:64][inside], (tile[i * 16 % 512] + 3)[inside])
    np.testing.assert_array_equal(outputs["out"][64:128][inside], (tile[i * 16 % 512] + 1)[inside])
    return execution


@pytest.fixture(scope="module")
def lines(execution: Execution) -> dict[int | None, Counters]:
    return {
        line.line: line.counters
        for line in _source_lines(execution, Submission("test.cu", "", TEXT))
    }


def test_every_counter_has_a_line_of_code(
    execution: Execution, lines: dict[int | None, Counters]
) -> None:
    assert sum(lines.values(), Counters()) == sum(
        (launch.counters for launch in execution.launches), Counters()
    )
    code = [
        number
        for number, line in enumerate(TEXT.splitlines(), 1)
        if line.startswith(("template", "__global__", "    ", "}"))
    ]
    assert set(lines) <= set(code)


def test_an_inlined_template_counts_at_its_own_line_for_all_kernels(
    lines: dict[int | None, Counters],
) -> None:
    assert lines[8].global_load_requests == 2 * 2 + 1
    assert lines[8].global_load_sectors == 2 * 2 * 16 + 8


def test_an_inlined_function_has_the_conflicts_of_its_callers(
    lines: dict[int | None, Counters],
) -> None:
    assert lines[11].shared_wavefronts_excessive > 0
    assert (
        sum(counters.shared_wavefronts_excessive for counters in lines.values())
        == lines[11].shared_wavefronts_excessive
    )


def test_a_macro_counts_where_it_is_used(lines: dict[int | None, Counters]) -> None:
    assert lines[19].global_store_requests == lines[20].global_store_requests == 4
    assert 6 not in lines


def test_a_division_counts_where_it_divides(lines: dict[int | None, Counters]) -> None:
    """Its function stands apart and is shared: neither line may have it all."""
    assert 0.8 < lines[25].instructions_executed / lines[26].instructions_executed < 1.25
    assert lines[25].instructions_executed > 50


def test_a_header_counts_at_the_line_that_calls_it(lines: dict[int | None, Counters]) -> None:
    assert lines[17].instructions_executed >= 4
