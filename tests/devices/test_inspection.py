"""The graded run: what a sample of the blocks wrote, which plans have none, both orders, and some
blocks in the checked mode."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pytest

from grader.devices.base import Arrays, places_of
from grader.devices.emulated import inspection
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.emulated.sampling import Stage
from grader.emulator.run import lazy_pages
from grader.judging.compare import poison
from grader.records import (
    POISON_WORD,
    Act,
    CountingMode,
    DeviceBuffer,
    Execution,
    Faulted,
    FindingKind,
    LaunchResult,
    Mode,
    ModelledMode,
    Role,
    RunLimits,
    Unmodelled,
)
from tests.support.device_plans import Ready, make_ready

BLOCKS, THREADS = 2048, 64
N = BLOCKS * THREADS
BUFFERS = (
    DeviceBuffer("y", "float32", (N,), Role.OUTPUT),
    DeviceBuffer("x", "float32", (N,), Role.INPUT),
)
INFO = EmulatedDevice().info
INSPECTED = ModelledMode(3, inspect=True)
LIMITS = RunLimits(10**10, 60.0)
LAUNCH = f"// launch: k<<<{BLOCKS}, {THREADS}>>>(y, x, n)\n"
HEAD = (
    "__global__ void k(float* y, const float* x, int n) { int b = blockIdx.x, i = b * 64 +"
    " threadIdx.x; "
)
X = np.random.default_rng(1).standard_normal(N, dtype=np.float32)


def ready(body: str, *, before: str = "", launch: str = LAUNCH) -> Ready:
    return make_ready(before + launch + HEAD + body + " }\n", BUFFERS, {"n": N}, INFO)


def run(
    program: Ready,
    *,
    mode: Mode = INSPECTED,
    limits: RunLimits = LIMITS,
    threads: int | None = None,
) -> tuple[Execution, Arrays]:
    device = EmulatedDevice(threads=threads)
    return device.run(program.as_program(), {"x": X}, limits=limits, mode=mode)


@pytest.fixture
def sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    """No launch is short enough to run whole."""
    monkeypatch.setattr(inspection, "Stage", partial(Stage, whole_instructions=0))


def last(execution: Execution) -> LaunchResult:
    assert execution.failure is None, execution.failure
    return execution.launches[-1]


def written(outputs: Arrays) -> np.ndarray:
    return outputs["y"].view(np.uint32) != poison((1,), np.float32).view(np.uint32)[0]


def places(outputs: Arrays) -> np.ndarray:
    """What a sample wrote, each element once."""
    found = outputs[places_of("y")]
    assert (found.dtype, len(np.unique(found))) == (np.uint32, len(found))
    return found


@pytest.mark.usefixtures("sampled")
def test_of_a_sample_only_what_its_blocks_wrote_comes_back() -> None:
    execution, outputs = run(ready("y[i] = 2 * x[i];"))
    sample = last(execution).sample
    assert sample is not None
    assert (sample.blocks, sample.spread) == (BLOCKS, 684)
    here = places(outputs)
    assert len(here) == 64 * (sample.window + sample.spread)
    assert np.array_equal(outputs["y"], 2 * X[here])
    assert last(execution).counters.global_store_sectors == N // 8


@pytest.mark.usefixtures("sampled")
def test_the_seed_draws_the_sample() -> None:
    program = ready("y[i] = x[i];")
    first, again, other = (
        places(run(program, mode=ModelledMode(seed, inspect=False))[1]) for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    "body",
    [
        "if (n < 0) y[i] = x[i];",
        "if (b % 50) y[i] = x[i];",
        "y[(b / 2) * 64 + threadIdx.x] = x[(b / 2) * 64 + threadIdx.x];",
        "y[i] = x[i]; y[(i + 64) % n] = x[(i + 64) % n];",
        "int w = b & ~1; if (b & 1) for (int j = 0; j < 128; j += 64)"
        " y[w * 64 + j + threadIdx.x] = x[w * 64 + j + threadIdx.x];",
        "if (b % 5 > 1) for (int j = 0; j < (b % 16 ? 1 : 64); j++) ((volatile float*)y)[i] = x[i];",
        "if (threadIdx.x < 63) y[i] = x[i];",
    ],
    ids=["nothing", "49 of 50", "shared", "neighbour", "pairs", "noisy", "63 of 64"],
)
def test_a_launch_whose_blocks_do_not_write_their_exact_share_runs_whole(
    body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a large output only the pages that were written are looked at."""
    monkeypatch.setattr(lazy_pages, "LARGE_BYTES", 4 * lazy_pages.PAGE_BYTES)
    execution, outputs = run(ready(body))
    assert execution.ran_whole
    assert outputs["y"].shape == (N,)


@pytest.mark.usefixtures("sampled")
def test_half_of_a_sample_runs_in_the_opposite_order() -> None:
    """Warp 1 sees what warp 0 left in shared memory, or warp 0 what warp 1 left."""
    body = (
        "__shared__ volatile float s[2]; int w = threadIdx.x / 32; float a = s[1 - w]; s[w] = 1;"
        " y[i] = a == 1 ? 7 + w : x[i];"
    )
    execution, outputs = run(ready(body))
    assert not execution.ran_whole
    seen = [int(np.count_nonzero(outputs["y"] == value)) // 32 for value in (7, 8)]
    sample = last(execution).sample
    assert sample is not None
    assert seen == [684 // 2, sample.window + 684 // 2]


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    "body", ["atomicAdd(&y[i], x[i]);", "y[i] = x[i]; if (n < 0) atomicOr((int*)y, 1);"]
)
def test_blocks_that_may_meet_in_atomics_run_whole(body: str) -> None:
    execution, outputs = run(ready(body))
    assert execution.ran_whole
    assert written(outputs).all()


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize("first", ["k<<<2048, 64>>>(t, x, n)", "zero<<<2048, 64>>>(y)"])
def test_of_several_launches_all_blocks_run_in_both_orders(first: str) -> None:
    """A race in an earlier launch is none of the last one's blocks."""
    zero = "__global__ void zero(float* y) { y[blockIdx.x * 64 + threadIdx.x] = 0; }\n"
    plan = f"// scratch: float t[n]\n// launch: {first}\n{LAUNCH}"
    source = plan + zero + HEAD + "y[i] = x[i]; if (threadIdx.x == 0) y[0] = b; }\n"
    execution, outputs = run(make_ready(source, BUFFERS, {"n": N}, INFO))
    assert execution.ran_whole
    assert np.array_equal(outputs["y"][1:], X[1:])
    assert execution.same_backwards is False


@pytest.mark.parametrize("atomic", ["", "atomicAdd(&y[i], x[i]);"])
def test_a_run_ends_when_its_processor_time_is_over(atomic: str) -> None:
    body = f"{atomic} for (volatile float z = 0;; z = z * z) ;"
    limits = RunLimits(10**15, 60.0, processor_seconds=0.3)
    started = time.process_time()
    execution, _ = run(ready(body), limits=limits)
    assert isinstance(execution.failure, Faulted)
    assert execution.failure.observation.act is Act.TOO_LONG
    assert execution.failure.observation.of_processor
    assert execution.failure.observation.loop_lines is not None
    assert time.process_time() - started < 5


def test_a_wait_that_nobody_ends_is_not_excused_by_an_atomic() -> None:
    execution, _ = run(ready("atomicAdd(&y[i], x[i]); while (y[0] != 12345.0f) __threadfence();"))
    assert isinstance(execution.failure, Faulted)
    assert execution.failure.observation.act is Act.ENDLESS_WAIT


SPIN = "float a = x[i]; for (int j = 0; j < {}; j++) a = a * 1.5f + 1.0f;"


def test_the_time_of_one_long_block_is_in_the_launch_s() -> None:
    plain = last(run(ready("y[i] = x[i];"))[0]).modelled
    long = last(
        run(ready(f"int m = b == 7 ? 100000 : 0; {SPIN.format('m')} y[i] = m ? a : x[i];"))[0]
    )
    assert plain is not None
    if long.modelled is None:
        assert long.unmodelled is Unmodelled.UNEVEN_BLOCKS
    else:
        assert long.modelled.time_ms > plain.time_ms + 100_000 * 4 / 1.98e6 / 2


def test_blocks_of_two_kinds_are_mixed_by_their_share() -> None:
    """Every second block does 1000 times the work: a warp of such a block takes as long as where all
    do, for it waits for its own sums."""
    work = "int m = {}; " + SPIN.format("m") + " y[i] = a;"
    light, heavy, mixed = (
        last(run(ready(work.format(m)))[0]).modelled
        for m in (
            f"{kind} ? 1000 * (n / n) : n / n" for kind in ("b >> 20", "b >> 20 == 0", "b & 1")
        )
    )
    assert light is not None and heavy is not None and mixed is not None  # noqa: PT018
    assert 1.1 * light.time_ms < mixed.time_ms < 1.02 * heavy.time_ms


def test_the_opposite_order_is_run_too() -> None:
    assert run(ready("y[i] = x[i];"))[0].same_backwards is True
    depends, _ = run(ready("y[i] = x[i]; __threadfence(); if (threadIdx.x == 0) y[0] = b;"))
    assert depends.same_backwards is False


@pytest.fixture(params=["copied", "digested"])
def both_ways_to_compare(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Outputs of all sizes are kept as copies, or told by digests."""
    if request.param == "digested":
        monkeypatch.setattr(inspection, "COPIED_BYTES", 0)


EITHER_MODE = pytest.mark.parametrize("mode", [INSPECTED, CountingMode(inspect_seed=3)])
SCRATCH = "// scratch: float t[n]\n"
PER_BLOCK, WITH_SCRATCH = f"__device__ int d[{BLOCKS}];\n", LAUNCH.replace("y, x", "y, t, x")


@EITHER_MODE
@pytest.mark.usefixtures("both_ways_to_compare")
def test_the_opposite_order_finds_the_memory_as_it_was(mode: Mode) -> None:
    """An output, a scratch buffer and a variable each say that nobody has written to them yet."""
    head = HEAD.replace("float* y,", "float* y, float* t,")
    source = (
        f"{SCRATCH}{WITH_SCRATCH}{PER_BLOCK}{head} int fresh = (__float_as_int(y[i]) =="
        f" {POISON_WORD}) + 2 * (__float_as_int(t[i]) == {POISON_WORD}) + 4 * (d[b] == 0);"
        " t[i] = 0; y[i] = fresh; __syncthreads(); d[b] = 1; }\n"
    )
    execution, outputs = run(make_ready(source, BUFFERS, {"n": N}, INFO), mode=mode)
    assert execution.same_backwards is True
    assert (outputs["y"] == 7).all()


@EITHER_MODE
@pytest.mark.usefixtures("both_ways_to_compare")
def test_of_two_orders_the_first_one_s_outputs_are_answered(mode: Mode) -> None:
    """In the opposite order the inputs change, too, and blocks are numbered by turns."""
    body = (
        "if (threadIdx.x == 32) d[b] = 1; if (threadIdx.x == 0) { if (d[b]) ((float*)x)[i] = 7;"
        " y[i] = x[i] + turn++; } else y[i] = x[i];"
    )
    program = ready(body, before=f"{PER_BLOCK}__device__ int turn;\n")
    alone_mode = ModelledMode(3) if mode is INSPECTED else CountingMode()
    _, alone = run(program, mode=alone_mode, threads=1)
    execution, outputs = run(program, mode=mode, threads=1)
    assert (execution.failure, execution.modified_inputs) == (None, ())
    assert execution.same_backwards is False
    assert len(np.unique(alone["y"] - X)) > BLOCKS / 2
    assert np.array_equal(outputs["y"], alone["y"])


@EITHER_MODE
@pytest.mark.usefixtures("both_ways_to_compare")
def test_an_opposite_order_that_does_not_end_leaves_the_first_one_s_outputs(mode: Mode) -> None:
    wait = (
        "volatile int* flag = d; if (threadIdx.x == 0) flag[b] = 1; if (threadIdx.x == 32)"
        " while (!flag[b]); y[i] = x[i];"
    )
    limits = RunLimits(10**6, 60.0)
    execution, outputs = run(ready(wait, before=PER_BLOCK), mode=mode, limits=limits)
    assert (execution.failure, execution.same_backwards) == (None, None)
    assert execution.backwards_failure is not None
    assert np.array_equal(outputs["y"], X)


def test_a_race_at_large_sizes_only_is_found_in_some_blocks() -> None:
    tile = (
        "__shared__ float s[64]; s[threadIdx.x] = x[i]; if (n < 100000) __syncthreads(); y[i] ="
        " s[63 - threadIdx.x];"
    )
    (finding,) = run(ready(tile))[0].findings
    assert finding.kind is FindingKind.RACE
    assert run(ready(tile.replace("if (n < 100000) ", "")))[0].findings == ()


SCATTER = """
// scratch: int place[n]
// launch: cudaMemset(place, 0, 4 * n)
// launch: find<<<2048, 64>>>(place)
// launch: k<<<2048, 64>>>(y, place, x, n)
__global__ void find(int* place) { int i = blockIdx.x * 64 + threadIdx.x; place[i] = i ^ 64; }
__global__ void k(float* y, const int* place, const float* x, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    y[place[i] % LIMIT] = x[i];
}
"""


def test_missing_values_of_an_earlier_launch_are_no_race() -> None:
    """Blocks of the second launch store to place 0 where the first launch ran in part."""
    assert run(make_ready(SCATTER.replace("LIMIT", "n"), BUFFERS, {"n": N}, INFO))[0].findings == ()
    (finding,) = run(make_ready(SCATTER.replace("LIMIT", "64"), BUFFERS, {"n": N}, INFO))[
        0
    ].findings
    assert (finding.kind, finding.kernel) == (FindingKind.RACE, "k")
