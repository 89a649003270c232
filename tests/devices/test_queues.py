"""Blocks that take work from a queue: who gets it, and the time of the block that gets most."""

from __future__ import annotations

import numpy as np
import pytest

from grader.devices.base import Arrays
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.records import POISON_WORD, DeviceBuffer, Execution, ModelledMode, Role, RunLimits
from tests.support.device_plans import make_ready

BLOCKS, TICKETS = 64, 640
OUT = DeviceBuffer("out", "int32", (BLOCKS * 64 + 64,), Role.OUTPUT)
LAUNCH = f"// launch: k<<<{BLOCKS}, 64>>>(out)\n"
HEAD = "__device__ unsigned next, left = 640;\n__global__ void k(volatile int* out) {\n"
WORK = "float a = threadIdx.x; for (int j = 0; j < {}; j++) a = a * 1.5f + 1.0f;"
LAST = f"out + {BLOCKS * 64}"
DRAWN_BY = {
    "addition": "mine = atomicAdd(&next, 1u);",
    "wrapping": "mine = atomicInc(&next, 1u << 30);",
    "counting_down": "mine = 640 - atomicSub(&left, 1u);",
    "swapping": "do mine = *(volatile unsigned*)&next; while (atomicCAS(&next, mine, mine + 1) != mine);",
    "output": f"mine = atomicAdd((unsigned*)({LAST}), 1u) - {POISON_WORD}u;",
    "fenced": "__threadfence(); mine = atomicAdd(&next, 1u); __threadfence();",
}
"""Ways of taking the next ticket."""


def run(body: str, blocks: str = LAUNCH, head: str = HEAD) -> tuple[Execution, Arrays]:
    device = EmulatedDevice("h100", threads=2)
    program = make_ready(blocks + head + body + "}\n", (OUT,), {}, device.info).as_program()
    return device.run(program, {}, limits=RunLimits(10**9, 60.0), mode=ModelledMode(3))


def time_of(body: str, blocks: str = LAUNCH, head: str = HEAD) -> float:
    """Milliseconds of the launch."""
    modelled = run(body, blocks, head)[0].launches[-1].modelled
    assert modelled is not None
    return modelled.time_ms


def take_all(draw: str, work: str, *, tickets: int = TICKETS) -> str:
    """The body of a kernel whose blocks take tickets until there are none, and count theirs."""
    return (
        "__shared__ unsigned ticket; int count = 0; for (;;) { __syncthreads(); if (threadIdx.x =="
        f" 0) {{ unsigned mine; {draw} ticket = mine; }} __syncthreads();"
        f" if (ticket >= {tickets}) break;"
        f" {{ {work} if (a == 0.5f) out[1] = 1; }} ++count; }}"
        " out[blockIdx.x * 64 + threadIdx.x] = count;"
    )


@pytest.mark.parametrize("draw", DRAWN_BY.values(), ids=DRAWN_BY)
def test_blocks_that_draw_equal_work_get_equal_shares(draw: str) -> None:
    _, outputs = run(take_all(draw, WORK.format(1000)))
    shares = outputs["out"][: BLOCKS * 64 : 64]
    assert shares.sum() == TICKETS
    assert (shares.min(), shares.max()) == (9, 11) or (shares == 10).all()


def test_warps_that_draw_for_themselves_get_equal_shares() -> None:
    body = (
        "int count = 0; for (;;) { unsigned t = 0; if (threadIdx.x % 32 == 0) t = atomicAdd(&next,"
        f" 1u); t = __shfl_sync(~0u, t, 0); if (t >= 2 * {TICKETS}) break; {WORK.format(1000)} if"
        " (a == 0.5f) out[1] = 1; ++count; } out[blockIdx.x * 64 + threadIdx.x] = count;"
    )
    shares = run(body)[1]["out"][: BLOCKS * 64 : 32]
    assert shares.sum() == 2 * TICKETS
    assert 9 <= shares.min() <= shares.max() <= 11


def test_a_block_with_much_work_draws_less() -> None:
    work = "int m = blockIdx.x == 5 ? 4000 : 1000; " + WORK.format("m")
    shares = run(take_all(DRAWN_BY["addition"], work))[1]["out"][: BLOCKS * 64 : 64]
    others = np.delete(shares, 5)
    assert shares[5] < 0.4 * others.mean()


def test_the_shares_are_the_same_each_time() -> None:
    body = take_all(DRAWN_BY["addition"], "int m = 100 * (ticket % 7); " + WORK.format("m"))
    first, second = (run(body)[1]["out"] for _ in range(2))
    assert np.array_equal(first, second)


LONG = 200_000
LEAST_MS = 0.97 * LONG * 4 / 1.98e6
"""A warp waits four cycles for each of its sums. The correction by similar kernels, which comes after
all lower bounds, may take some percent of a time."""
SERIAL = WORK.format(LONG) + " if (a == 0.5f) out[1] = 1;"
ONE_WORKS = {
    "first_ticket": f"if (threadIdx.x == 0 && atomicAdd(&next, 1u) == 0) {{ {SERIAL} }}",
    "wrapping_ticket": f"if (threadIdx.x == 0 && atomicInc(&next, 99u) == 40) {{ {SERIAL} }}",
    "swapped_flag": f"if (threadIdx.x == 0 && atomicCAS(&next, 0u, 1u) == 0) {{ {SERIAL} }}",
    "exchanged_flag": f"if (threadIdx.x == 0 && atomicExch(&next, 1u) == 0) {{ {SERIAL} }}",
    "flag_in_the_output": (
        f"if (threadIdx.x == 0 && atomicExch((int*)({LAST}), 1) != 1) {{ {SERIAL} }}"
    ),
    "last_block": (
        f"__threadfence(); if (threadIdx.x == 0 && atomicInc(&next, 63u) == 63) {{ {SERIAL} }}"
    ),
    "reduction_and_load": (
        "if (threadIdx.x == 0) { atomicAdd(&next, 1u); __threadfence(); if (*(volatile unsigned*)"
        f"&next == 64) {{ {SERIAL} }} }}"
    ),
    "fence_before": f"__threadfence(); if (blockIdx.x == 7 && threadIdx.x == 0) {{ {SERIAL} }}",
    "fence_behind": f"if (blockIdx.x == 7 && threadIdx.x == 0) {{ {SERIAL} }} __threadfence();",
    "volatile_load": f"if (out[{BLOCKS * 64}] != 1 && blockIdx.x == 7) {{ {SERIAL} }}",
}
"""Ways in which a single thread does everything."""


@pytest.mark.usefixtures("simulated_times")
@pytest.mark.parametrize("body", ONE_WORKS.values(), ids=ONE_WORKS)
def test_the_time_of_the_only_block_that_works_is_the_launch_s(body: str) -> None:
    assert LEAST_MS < time_of(body) < 1.5 * LEAST_MS


def test_eight_large_tickets_take_as_long_as_one_of_them() -> None:
    work = WORK.format(LONG)
    few = time_of(take_all(DRAWN_BY["addition"], work, tickets=8))
    assert LEAST_MS < few < 1.5 * LEAST_MS


def test_a_decoy_does_not_hide_the_longest_block() -> None:
    """Two blocks are long; the shorter one has been so for longer."""
    body = (
        f"int m = blockIdx.x == 1 ? {LONG // 4} : blockIdx.x == 2 ? {LONG} : 1;"
        f" {WORK.format('m')} __threadfence(); if (a == 0.5f) out[1] = 1;"
    )
    assert LEAST_MS < time_of(body) < 1.5 * LEAST_MS


def test_loads_that_wait_for_each_other_are_long_though_they_are_few() -> None:
    """Fewer instructions than others execute, and each waits for the one before."""
    body = (
        "int at = 0; float a = threadIdx.x; if (blockIdx.x == 7) { for (int j = 0; j < 400; j++)"
        " at = out[at & 63]; } else { for (int j = 0; j < 4000; j++) a = a * 1.5f + 1.0f; }"
        " if (at == 5 || a == 0.5f) out[1] = 1; __threadfence();"
    )
    assert time_of(body) > 400 * 200 / 1.98e6


def test_blocks_that_end_at_once_leave_their_place_to_others() -> None:
    def works(part: int) -> float:
        leaves = f"if ((blockIdx.x + blockIdx.x / 32) % 2 >= {part}) return; "
        fills = "__shared__ volatile int tile[12000]; tile[threadIdx.x] = 1; "
        body = leaves + fills + WORK.format(80000) + " if (a == 0.5f) out[1] = tile[0];"
        return time_of(body, "// launch: k<<<1024, 64>>>(out)\n")

    assert works(1) == pytest.approx(0.5 * works(2), rel=0.1)
