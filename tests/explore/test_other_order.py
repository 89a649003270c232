"""Results that depend on the order of blocks and warps, which a run with the checks looks for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import grader
from grader.devices.plan_limits import out_of_time
from grader.explore.kernel_job import LIMITS, _is_same
from grader.messages.hidden import describe_mistake
from grader.records import Dim3, FindingKind, KernelRun, Launch

BLOCKS = 64
KERNELS = """
__device__ int turn;
__global__ void keeps_the_last(int* y, float* sum) {
    if (threadIdx.x) return;
    atomicExch(y, blockIdx.x);
    atomicAdd(sum, 1.0f / (1 + blockIdx.x));
}
__global__ void waits_for_earlier_blocks(int* y, float* sum) {
    if (threadIdx.x) return;
    while (atomicAdd(&turn, 0) < blockIdx.x) { }
    atomicAdd(&turn, 1);
    atomicExch(y, blockIdx.x);
}
__global__ void strays_where_late(int* y, float* sum) {
    if (threadIdx.x) return;
    if (atomicExch(&turn, blockIdx.x + 1) > blockIdx.x) y[4] = 1;
}
"""


def run(kernel: str) -> KernelRun:
    return grader.run(
        f"// launch: {kernel}<<<{BLOCKS}, 32>>>(y, sum)\n{KERNELS}",
        outputs={"y": np.zeros(1, np.int32), "sum": np.zeros(1, np.float32)},
        check=True,
    )


def test_a_result_of_the_last_block_depends_on_the_order() -> None:
    """A sum of floats does not: its rounding does."""
    found = run("keeps_the_last")
    (finding,) = found.findings
    assert (finding.kind, finding.kernel) == (FindingKind.ORDER_DEPENDENT, "keeps_the_last")
    assert finding.message == (
        "the result depends on the order in which blocks and warps run: in the opposite one: `y`"
        " holds other values"
    )
    assert found.outputs["y"].tolist() == [BLOCKS - 1]  # those of the first order


def test_blocks_that_wait_for_earlier_ones_are_not_judged_by_the_opposite_order() -> None:
    assert run("waits_for_earlier_blocks").findings == ()


def test_what_goes_wrong_in_the_opposite_order_only_is_told() -> None:
    (finding,) = run("strays_where_late").findings
    assert finding.kind is FindingKind.ORDER_DEPENDENT
    assert "in the opposite one: line " in finding.message
    assert "out of bounds" in finding.message


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("first", "second", "dtype", "same"),
    [
        ([1, 2], [1, 2], "int32", True),
        ([1 << 30, 2], [(1 << 30) + 1, 2], "int32", False),
        ([1000.0, 0.0], [1000.0, 0.3], "float32", True),
        ([1000.0, 0.0], [1000.0, 0.4], "float32", False),
        ([1000.0, 0.0], [1000.0, 0.3], "float64", False),
        ([NAN, INF, 1.0], [NAN, INF, 1.0], "float32", True),
        ([NAN, INF, 1.0], [NAN, -INF, 1.0], "float32", False),
        ([1.0], [NAN], "float32", False),
    ],
)
def test_floating_point_outputs_are_the_same_in_half_of_their_digits(
    first: list[float], second: list[float], dtype: str, *, same: bool
) -> None:
    assert _is_same(np.array(first, dtype), np.array(second, dtype)) is same


@pytest.mark.parametrize("of_exercise", [True, False])
def test_the_time_limit_is_that_of_an_exercise_only_where_there_is_one(of_exercise: bool) -> None:
    launches = [Launch("k", Dim3(1), Dim3(1), 0, (), 2, "k<<<1, 1>>>()")]
    limits = replace(LIMITS, of_exercise=of_exercise)
    whose = "the time limit of this exercise" if of_exercise else "the time limit of a run"
    assert describe_mistake(out_of_time(launches, limits)).message.endswith(
        f": {whose}, 300 s, is over."
    )


def test_a_run_has_no_exercise() -> None:
    assert not LIMITS.of_exercise
