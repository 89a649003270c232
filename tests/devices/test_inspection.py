"""The graded run: what a sample of the blocks wrote, which plans have none, both orders, and some
blocks in the checked mode."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from grader.devices.base import Arrays, places_of
from grader.devices.emulated import inspection, run_backwards
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.emulated.sampling import TOO_LONG, TOO_UNEVEN, Stage
from grader.emulator import lazy_pages
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
    sample, (coverage,) = last(execution).sample, execution.coverage
    assert sample is not None
    assert (sample.blocks, sample.spread, sample.stored_error) == (BLOCKS, 684, 0.0)
    assert (coverage.window, coverage.spread, coverage.repeated) == (
        64 * sample.window,
        64 * 684,
        0,
    )
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
def test_a_sample_may_write_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large output only the pages that were written are looked at."""
    monkeypatch.setattr(lazy_pages, "LARGE_BYTES", 4 * lazy_pages.PAGE_BYTES)
    execution, outputs = run(ready("if (n < 0) y[i] = x[i];"))
    (coverage,) = execution.coverage
    assert (coverage.window, coverage.spread, len(outputs["y"])) == (0, 0, 0)


@pytest.mark.usefixtures("sampled")
def test_blocks_that_write_the_same_elements_are_seen() -> None:
    (coverage,) = run(ready("y[(b / 2) * 64 + threadIdx.x] = x[(b / 2) * 64 + threadIdx.x];"))[
        0
    ].coverage
    assert coverage.repeated > 0


@pytest.mark.usefixtures("sampled")
def test_the_error_of_a_sample_follows_from_what_its_blocks_store() -> None:
    execution, _ = run(ready("if (b & 1) y[i] = x[i];"))
    sample = last(execution).sample
    assert sample is not None
    left_out = 1 - 684 / (BLOCKS - sample.window)
    assert sample.stored_error == pytest.approx(BLOCKS * 128 * (left_out / 684) ** 0.5, rel=0.02)


@pytest.mark.usefixtures("sampled")
@pytest.mark.parametrize(
    "body", ["atomicAdd(&y[i], x[i]);", "y[i] = x[i]; if (n < 0) atomicOr((int*)y, 1);"]
)
def test_blocks_that_may_meet_in_atomics_run_whole(body: str) -> None:
    execution, outputs = run(ready(body))
    assert execution.ran_whole
    assert written(outputs).all()


@pytest.mark.usefixtures("sampled")
def test_an_earlier_launch_runs_whole() -> None:
    plan = (
        f"// scratch: float t[n]\n// launch: k<<<{BLOCKS}, {THREADS}>>>(t, x, n)\n// launch:"
        f" k<<<{BLOCKS}, {THREADS}>>>(y, t, n)\n"
    )
    execution, outputs = run(ready("y[i] = x[i] + 1;", launch=plan))
    first, second = execution.launches
    assert (first.sample, second.sample is not None) == (None, True)
    assert np.array_equal(outputs["y"], X[places(outputs)] + 1 + 1)


@pytest.mark.usefixtures("sampled")
def test_what_an_earlier_launch_left_in_an_output_is_not_taken_for_the_sample_s() -> None:
    plan = f"// launch: zero<<<{BLOCKS}, {THREADS}>>>(y)\n" + LAUNCH
    zero = "__global__ void zero(float* y) { y[blockIdx.x * 64 + threadIdx.x] = 0; }\n"
    source = plan + zero + HEAD + "y[i] += x[i]; }\n"
    execution, outputs = run(make_ready(source, BUFFERS, {"n": N}, INFO))
    here = places(outputs)
    assert len(here) == execution.coverage[0].window + execution.coverage[0].spread
    assert np.array_equal(outputs["y"], X[here])


def test_what_cannot_be_sampled_and_is_too_long_has_no_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.devices.emulated.sampling.MOST_WHOLE_INSTRUCTIONS", 10_000)
    execution, _ = run(ready("atomicAdd(&y[i], x[i]);"))
    assert (last(execution).finished, last(execution).unmodelled, last(execution).modelled) == (
        False,
        TOO_LONG,
        None,
    )


def test_a_block_that_never_ends_is_not_excused_by_an_atomic(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("grader.devices.emulated.sampling.MOST_WHOLE_INSTRUCTIONS", 100_000)
    execution, _ = run(ready("atomicAdd(&y[i], x[i]); for (volatile float z = 0;; z = z * z) ;"))
    assert execution.failure is not None


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
        assert long.unmodelled == TOO_UNEVEN
    else:
        assert long.modelled.time_ms > plain.time_ms + 100_000 * 4 / 1.98e6 / 2


def test_blocks_of_two_kinds_are_mixed_by_their_share() -> None:
    """Every second block does 400 times the work: a warp of such a block takes as long as where all
    do, for it waits for its own sums."""
    work = "int m = {}; " + SPIN.format("m") + " y[i] = a;"
    light, heavy, mixed = (
        last(run(ready(work.format(m)))[0]).modelled
        for m in (
            f"{kind} ? 400 * (n / n) : n / n" for kind in ("b >> 20", "b >> 20 == 0", "b & 1")
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
        monkeypatch.setattr(run_backwards, "COPIED_BYTES", 0)


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
    assert np.array_equal(outputs["y"], X)


def test_a_race_at_large_sizes_only_is_found_in_some_blocks() -> None:
    tile = (
        "__shared__ float s[64]; s[threadIdx.x] = x[i]; if (n < 100000) __syncthreads(); y[i] ="
        " s[63 - threadIdx.x];"
    )
    (finding,) = run(ready(tile))[0].findings
    assert finding.kind is FindingKind.RACE
    assert run(ready(tile.replace("if (n < 100000) ", "")))[0].findings == ()
