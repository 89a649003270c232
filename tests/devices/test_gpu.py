"""The GPU device, on a GPU or on the emulated driver: its description, every fault of a kernel, and
the clock. The emulated driver runs a sample by default and all with --run-slow, except the tests of
memory sizes, of the GPU's own clock, and of a kernel without end."""

from __future__ import annotations

import math
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.devices.gpu.gpu_lock import hold_gpu
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import GraderError, UsageError
from grader.judging.compare import poison
from grader.messages.hidden import describe_mistake
from grader.records import (
    SUBMISSION,
    BufferArgument,
    DeviceBuffer,
    Dim3,
    Execution,
    FindingKind,
    Progress,
    Refused,
    Role,
    RunLimits,
    Status,
    TimedLaunch,
    TimedStep,
)
from tests.support.device_plans import Ready, compile_text, make_ready

pytestmark = pytest.mark.usefixtures("cuda_driver")
SLOW = pytest.mark.slow
GPU = pytest.mark.gpu

LIMITS = RunLimits(warp_instructions=10**10, wall_seconds=20.0)
N = 1000
GOOD = """
// launch: scale<<<ceil_div(n, 256), 256>>>(out, in, n)
__global__ void scale(float* out, const float* in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2.0f * in[i];
}
"""


@pytest.fixture(scope="module")
def device(cuda_driver: None) -> Iterator[RemoteDevice]:
    with RemoteDevice("gpu:0") as device:
        yield device


def vectors(n: int) -> tuple[DeviceBuffer, DeviceBuffer]:
    return DeviceBuffer("out", "float32", (n,), Role.OUTPUT), DeviceBuffer(
        "in", "float32", (n,), Role.INPUT
    )


def ready(device: RemoteDevice, text: str, n: int = N) -> Ready:
    return make_ready(text, vectors(n), {"n": n}, device.info)


def inputs(n: int = N, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(n, dtype=np.float32)


def execute(
    device: RemoteDevice, plan: Ready, *, limits: RunLimits = LIMITS
) -> tuple[Execution, np.ndarray | None]:
    """Run a plan on `inputs`; what happened, and the output."""
    arrays = {buffer.name: poison(buffer.shape, buffer.dtype) for buffer in plan.buffers}
    arrays["in"] = inputs(arrays["in"].size)
    execution, outputs = device.run(plan.as_program(), arrays, limits=limits)
    return execution, outputs.get("out")


def assert_works(device: RemoteDevice) -> None:
    """The next submission is graded as if nothing had been."""
    execution, out = execute(device, ready(device, GOOD))
    assert execution.failure is None, execution.failure
    assert np.array_equal(out, 2 * inputs())


# --- what it says of itself -----------------------------------------------------------------------


@GPU
def test_it_is_the_gpu_that_the_driver_names(device: RemoteDevice) -> None:
    query = ["nvidia-smi", "--query-gpu=name,uuid,compute_cap", "--format=csv,noheader", "--id=0"]
    name, uuid, capability = (
        subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip().split(", ")
    )
    info = device.info
    assert (info.kind, info.name, info.compute_capability) == ("gpu", name, capability)
    assert info.arch == f"sm_{capability.replace('.', '')}"
    assert device.uuid == uuid
    assert info.limits.max_block == Dim3(1024, 1024, 64)
    assert info.limits.max_grid == Dim3(2**31 - 1, 65535, 65535)
    assert 50 < info.peak_bandwidth_gbps < 20_000
    if name == "NVIDIA H100 80GB HBM3":
        assert (info.id, info.peak_bandwidth_gbps, info.peak_fp32_tflops) == ("h100", 3352.3, 66.9)
        assert info.limits.max_shared_bytes_per_block == 232448


@SLOW
def test_a_gpu_that_is_not_there_is_named() -> None:
    with RemoteDevice("gpu:99") as device, pytest.raises(UsageError, match="there is no GPU 99"):
        _ = device.info


# --- running plans --------------------------------------------------------------------------------


def test_a_plan_gives_outputs_and_resources(device: RemoteDevice) -> None:
    plan = ready(device, GOOD)
    execution, out = execute(device, plan)
    assert execution.failure is None
    assert execution.modified_inputs == ()
    assert np.array_equal(out, 2 * inputs())
    (launch,) = execution.launches
    assert (launch.kernel, launch.grid, launch.block, launch.registers) == (
        "scale",
        Dim3(4),
        Dim3(256),
        plan.binary.kernels[0].registers,
    )
    assert launch.occupancy == 1.0


@SLOW
def test_several_launches_and_scratch_run_in_order(device: RemoteDevice) -> None:
    text = """
    // scratch: float part[n]
    // launch: scale<<<ceil_div(n, 256), 256>>>(part, in, n, 5)
    // launch: scale<<<ceil_div(n, 256), 256>>>(out, part, n, -3)
    __global__ void scale(float* out, const float* in, int n, short by)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n)
            out[i] = by * in[i];
    }
    """
    execution, out = execute(device, ready(device, text))
    assert execution.failure is None, execution.failure
    assert np.array_equal(out, np.float32(-3) * (np.float32(5) * inputs()))
    assert len(execution.launches) == 2


@pytest.mark.parametrize(("dynamic", "static"), [(65536, 0), (65536, 64), (49152, 64)])
@SLOW
def test_more_than_48_kib_of_shared_memory(device: RemoteDevice, dynamic: int, static: int) -> None:
    text = f"""
    // launch: turn<<<1, 1024, {dynamic}>>>(out, in, n)
    extern __shared__ float row[];
    __global__ void turn(float* out, const float* in, int n)
    {{
        {f"__shared__ float last[{static // 4}];" if static else "float* last = row + 12287;"}
        row[threadIdx.x * 8] = in[threadIdx.x % n];
        if (threadIdx.x == 0)
            *last = in[0];
        __syncthreads();
        if (threadIdx.x < n)
            out[threadIdx.x] = threadIdx.x == n - 1 ? *last : row[(n - 1 - threadIdx.x) * 8];
    }}
    """
    execution, out = execute(device, ready(device, text))
    assert execution.failure is None, execution.failure
    assert np.array_equal(out, inputs()[::-1])


GRID_SYNC = """
#include <cooperative_groups.h>
// launch: shift<<<BLOCKS, 256>>>(out, in, n)
extern "C" __global__ void shift(float *y, const float *x, int n)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.size())
        y[n - 1 - i] = x[i];
    grid.sync();
    for (int i = grid.thread_rank(); i < n / 2; i += grid.size()) {
        float first = y[i];
        y[i] = y[n - 1 - i];
        y[n - 1 - i] = first;
    }
}
"""


def test_a_grid_synchronises(device: RemoteDevice) -> None:
    execution, out = execute(device, ready(device, GRID_SYNC.replace("BLOCKS", "16")))
    assert execution.failure is None, execution.failure
    assert np.array_equal(out, inputs())
    failure = execute(device, ready(device, GRID_SYNC.replace("BLOCKS", "1000000")))[0].failure
    assert isinstance(failure, Refused)
    assert "too many blocks in cooperative launch" in failure.error_text
    assert_works(device)


def test_a_kernel_that_writes_its_input_is_seen(device: RemoteDevice) -> None:
    text = """
    // launch: spoil<<<1, 1>>>(out, in)
    __global__ void spoil(float* out, const float* in) { const_cast<float*>(in)[7] = 3.0f; }
    """
    execution, out = execute(device, ready(device, text))
    assert execution.failure is None
    assert execution.modified_inputs == ("in",)
    assert np.isnan(out).all(), "nobody wrote the output, so it still holds the poison"


@SLOW
def test_what_a_kernel_prints_disturbs_nobody(device: RemoteDevice) -> None:
    text = """
    #include <cstdio>
    // launch: chat<<<16, 256>>>(out, in, n)
    __global__ void chat(float* out, const float* in, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        printf("{\\"kind\\": \\"Executed\\"} %d\\n", i);
        if (i < n)
            out[i] = 2.0f * in[i];
    }
    """
    execution, out = execute(device, ready(device, text))
    assert execution.failure is None
    assert np.array_equal(out, 2 * inputs())


# --- guard bands ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("store", "buffer", "offset"),
    [
        ("out[n] = 1.0f", "out", 4 * N),
        ("out[n + 30000] = 1.0f", "out", 4 * N + 120000),
        ("out[-1] = 1.0f", "out", -4),
        ("const_cast<float*>(in)[-2] = 1.0f", "in", -8),
        ("const_cast<float*>(in)[n + 1] = 1.0f", "in", 4 * N + 4),
    ],
)
@SLOW
def test_a_store_outside_of_a_buffer_is_found(
    device: RemoteDevice, store: str, buffer: str, offset: int
) -> None:
    text = f"""
    // launch: stray<<<1, 1>>>(out, in, n)
    __global__ void stray(float* out, const float* in, int n) {{ {store}; }}
    """
    execution, out = execute(device, ready(device, text))
    assert execution.failure is not None
    assert execution.failure.status is Status.RUNTIME_ERROR
    (finding,) = describe_mistake(execution.failure).findings
    assert (finding.kind, finding.kernel, finding.buffer, finding.offset_bytes) == (
        FindingKind.OUT_OF_BOUNDS,
        "stray",
        buffer,
        offset,
    )
    assert out is None
    assert_works(device)


@SLOW
def test_what_reads_outside_of_a_buffer_gets_no_number(device: RemoteDevice) -> None:
    text = """
    // launch: peek<<<1, 1>>>(out, in, n)
    __global__ void peek(float* out, const float* in, int n) { out[0] = in[n] + in[-1]; }
    """
    execution, out = execute(device, ready(device, text))
    assert execution.failure is None
    assert out is not None
    assert np.isnan(out[0])


# --- faults ---------------------------------------------------------------------------------------

FAULTS = {
    "out[(size_t)n << 40] = 1.0f": (FindingKind.OUT_OF_BOUNDS, "illegal memory access"),
    "out[0] = *(volatile float*)0": (FindingKind.OUT_OF_BOUNDS, "illegal memory access"),
    "out[0] = *(const float*)((const char*)in + n % 3 + 1)": (
        FindingKind.MISALIGNED,
        "misaligned address",
    ),
    "if (n > 0) __trap()": (FindingKind.TRAP, ""),
    "assert(n < 0)": (FindingKind.TRAP, "device-side assert"),
    "__shared__ volatile float s[32]; out[0] = s[n << 20]": (None, ""),
    "float local[4]; local[(n << 20) & 0xfffffff] = 1.0f; out[0] = local[n % 4]": (None, ""),
}


@pytest.mark.parametrize("statement", FAULTS)
@SLOW
def test_a_fault_is_the_students_and_the_next_submission_is_graded_normally(
    device: RemoteDevice, statement: str
) -> None:
    text = f"""
    #include <cassert>
    // launch: broken<<<1, 32>>>(out, in, n)
    __global__ void broken(float* out, const float* in, int n) {{ {statement}; }}
    """
    kind, said = FAULTS[statement]
    execution, _ = execute(device, ready(device, text))
    assert execution.failure is not None
    print(describe_mistake(execution.failure).message)
    assert execution.failure.status is Status.RUNTIME_ERROR
    assert describe_mistake(execution.failure).message.startswith("Kernel broken did not end well")
    assert said in describe_mistake(execution.failure).message
    assert kind is None or describe_mistake(execution.failure).findings[0].kind is kind
    assert describe_mistake(execution.failure).advice
    assert_works(device)


@GPU
def test_a_kernel_without_end_is_ended_and_the_gpu_still_works(device: RemoteDevice) -> None:
    text = """
    // launch: forever<<<n, 256>>>(out, in)
    __global__ void forever(float* out, const float* in) { while (((volatile const float*)in)[0] < 1e30f) continue; }
    """
    plan = ready(device, text)
    began = time.monotonic()
    execution, _ = execute(device, plan, limits=replace(LIMITS, wall_seconds=1.0))
    seconds = time.monotonic() - began
    print(f"ended and probed after {seconds:.1f} s")
    assert execution.failure is not None
    assert execution.failure.status is Status.TIMEOUT
    assert describe_mistake(execution.failure).findings[0].kind is FindingKind.WALL_LIMIT
    assert seconds < 30
    assert_works(device)


# --- launches that CUDA refuses -------------------------------------------------------------------


def refused(device: RemoteDevice, plan: Ready, **changes: object) -> str:
    """The message of a launch that was changed after the checks of the resolver, which would have
    refused it."""
    launch = replace(plan.launches[0], **changes)  # type: ignore[arg-type]
    execution, _ = execute(device, replace(plan, launches=(launch,)))
    assert execution.failure is not None
    print(describe_mistake(execution.failure).message)
    assert execution.failure.status is Status.LAUNCH_ERROR
    assert describe_mistake(execution.failure).advice
    assert_works(device)
    return describe_mistake(execution.failure).message


@SLOW
def test_too_many_threads_and_blocks_are_refused(device: RemoteDevice) -> None:
    plan = ready(device, GOOD)
    assert "invalid" in refused(device, plan, block=Dim3(1025))
    assert "invalid" in refused(device, plan, grid=Dim3(1, 65536))


@SLOW
def test_too_much_shared_memory_is_refused(device: RemoteDevice) -> None:
    plan = ready(device, GOOD)
    assert "invalid" in refused(
        device, plan, dynamic_shared_bytes=device.info.limits.max_shared_bytes_per_block + 1
    )


@SLOW
def test_too_many_registers_are_refused(device: RemoteDevice) -> None:
    values = ", ".join(f"v{i} = in[(i + {i}) % n]" for i in range(150))
    total = " + ".join(f"v{i} * v{(i * 7 + 3) % 150}" for i in range(150))
    text = f"""
    // launch: wide<<<1, 256>>>(out, in, n)
    __global__ void wide(float* out, const float* in, int n)
    {{
        int i = threadIdx.x;
        volatile float {values};
        out[i] = {total};
    }}
    """.replace("volatile ", "")
    plan = ready(device, text)
    assert plan.binary.kernels[0].registers > 64
    assert "too many resources" in refused(device, plan, block=Dim3(1024))


@GPU
def test_buffers_that_do_not_fit_are_refused(device: RemoteDevice) -> None:
    plan = ready(device, GOOD)
    huge = DeviceBuffer("huge", "float32", (1 << 42,), Role.SCRATCH)
    arrays = {"in": inputs(), "out": poison((N,), "float32")}
    program = replace(plan.as_program(), buffers=(*plan.buffers, huge))
    execution, _ = device.run(program, arrays, limits=LIMITS)
    assert execution.failure is not None
    assert execution.failure.status is Status.LAUNCH_ERROR
    assert "Out of device memory" in describe_mistake(execution.failure).message
    assert_works(device)


@GPU
def test_variables_that_do_not_fit_are_refused(device: RemoteDevice) -> None:
    plan = ready(
        device, "__device__ float big[900 << 20];\n" + GOOD
    )  # nvdisasm reads no more than 4 GiB of variables
    query = ["nvidia-smi", "--query-gpu=memory.free", "--format=csv,noheader,nounits", "--id=0"]
    free_mib = int(subprocess.run(query, capture_output=True, text=True, check=True).stdout)
    rest = DeviceBuffer("rest", "int8", ((free_mib - 2048) << 20,), Role.SCRATCH)
    arrays = {"in": inputs(), "out": poison((N,), "float32")}
    program = replace(plan.as_program(), buffers=(*plan.buffers, rest))
    execution, _ = device.run(program, arrays, limits=LIMITS)
    assert execution.failure is not None
    assert execution.failure.status is Status.LAUNCH_ERROR
    assert "Out of device memory" in describe_mistake(execution.failure).message
    assert_works(device)


@SLOW
def test_machine_code_for_another_gpu_is_the_graders_fault(device: RemoteDevice) -> None:
    other = "sm_80" if device.info.arch != "sm_80" else "sm_90"
    plan = replace(ready(device, GOOD), binary=compile_text(GOOD, other))
    with pytest.raises(
        GraderError, match=f"cannot load machine code of nvcc .* for {other}"
    ) as caught:
        execute(device, plan)
    assert "GRADER_NVCC" in caught.value.advice
    assert_works(device)


# --- the compiler that SourceModule gets ----------------------------------------------------------

LINKAGES = {
    "C++": GOOD,
    "C": GOOD.replace("__global__", 'extern "C" __global__'),
    "a template's": (
        GOOD.replace("__global__", "template <class T> __global__")
        .replace("float*", "T*")
        .replace("scale<<<", "scale<float><<<")
        + "template __global__ void scale<float>(float*, const float*, int);\n"
    ),
}


@pytest.mark.parametrize("linkage", LINKAGES)
@SLOW
def test_kernels_of_every_linkage_are_found(device: RemoteDevice, linkage: str) -> None:
    plan = ready(device, LINKAGES[linkage])
    assert plan.binary.recipe is not None
    assert plan.binary.recipe.source == LINKAGES[linkage]
    execution, out = execute(device, plan)
    assert execution.failure is None, execution.failure
    assert np.array_equal(out, 2 * inputs())


def test_the_module_is_what_the_compiler_makes_of_the_submission_and_what_was_checked(
    device: RemoteDevice,
) -> None:
    plan, other = ready(device, GOOD), compile_text(GOOD.replace("2.0f", "3.0f"), device.info.arch)
    with pytest.raises(GraderError, match="other machine code than the checked code"):
        execute(device, replace(plan, binary=replace(plan.binary, cubin=other.cubin)))
    with pytest.raises(GraderError, match="other machine code than the checked code"):
        execute(device, replace(plan, binary=replace(plan.binary, recipe=other.recipe)))
    assert_works(device)


# --- the clock ------------------------------------------------------------------------------------

COPY = """
// launch: copy<<<ceil_div(n, 1024), 256>>>(out, in, n)
__global__ void copy(float* out, const float* in, int n)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        *(float4*)(out + i) = *(const float4*)(in + i);
}
"""


def prepare(device: RemoteDevice, *plans: tuple[str, Ready], sets: int = 2) -> Execution:
    programs = [plan.as_program(label) for label, plan in plans]
    n = programs[0].buffers[0].shape[0]
    execution, outputs = device.prepare(
        programs, [{"in": inputs(n, seed)} for seed in range(sets)], limits=LIMITS
    )
    assert len(outputs) == (0 if execution.failure else sets)
    return execution


def time_all(device: RemoteDevice, rounds: int, *labels: str) -> dict[str, list[TimedLaunch]]:
    steps = [TimedStep(label, number % 2) for number in range(rounds) for label in labels]
    launches, clocks = device.time(steps)
    assert [launch.step for launch in launches] == steps
    print(clocks)
    return {
        label: [launch for launch in launches if launch.step.program == label] for label in labels
    }


@pytest.mark.parametrize("n", [4096, 1 << 20, 1 << 22, 1 << 26])
@GPU
def test_times_are_cold_and_steady(device: RemoteDevice, n: int) -> None:
    """A copy that fits into L2 would beat the memory's peak if it were warm; one that the host
    holds up would be far below."""
    plan = ready(device, COPY, n)
    assert prepare(device, (SUBMISSION, plan), ("naive", plan)).failure is None
    time_all(device, 20, SUBMISSION, "naive")
    taken = time_all(device, 41, SUBMISSION, "naive")
    own, naive = (
        [launch.milliseconds for launch in taken[label]] for label in (SUBMISSION, "naive")
    )
    gbps = 8 * n / np.median(own) / 1e6
    print(
        f"n {n}: {np.median(own) * 1e3:.2f} us, quartiles {np.quantile(own, [0.25, 0.75]) * 1e3}"
        f" us, {gbps:.0f} GB/s"
    )
    assert all(launch.right for launch in taken[SUBMISSION])
    assert gbps < device.info.peak_bandwidth_gbps
    assert np.median(own) == pytest.approx(np.median(naive), rel=0.03)
    if n == 1 << 26:
        assert gbps > 0.8 * device.info.peak_bandwidth_gbps
    if n == 4096:
        assert np.median(own) < 0.01


@GPU
def test_several_launches_are_one_time(device: RemoteDevice) -> None:
    once = ready(device, COPY, 1 << 24)
    line = next(line for line in COPY.splitlines() if "launch" in line)
    twice = ready(device, COPY.replace(line, f"{line}\n{line}"), 1 << 24)
    assert prepare(device, (SUBMISSION, once), ("naive", twice)).failure is None
    taken = time_all(device, 21, SUBMISSION, "naive")
    own, double = (
        np.median([launch.milliseconds for launch in taken[label]])
        for label in (SUBMISSION, "naive")
    )
    assert double == pytest.approx(2 * own, rel=0.1)


@SLOW
def test_scratch_of_one_name_and_two_sizes(device: RemoteDevice) -> None:
    text = """
    // scratch: float t[n + EXTRA]
    // launch: copy<<<ceil_div(n, 256), 256>>>(t, in, n)
    // launch: copy<<<ceil_div(n, 256), 256>>>(out, t, n)
    __global__ void copy(float* out, const float* in, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n)
            out[i] = in[i];
    }
    """
    small, large = (ready(device, text.replace("EXTRA", extra), 5000) for extra in ("1", "70000"))
    assert prepare(device, (SUBMISSION, small), ("naive", large)).failure is None
    assert all(launch.right for launch in time_all(device, 4, SUBMISSION, "naive")[SUBMISSION])


CLOCK = """
__device__ unsigned long long nanoseconds()
{
    unsigned long long now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
}
"""
"""All that a kernel may tell one launch from another by: memory and variables are as they were at
the first one."""

MISBEHAVIOUR = {
    "leaves work out": "if (!odd) out[i] = 2.0f * in[i]",
    "spoils its input": "out[i] = 2.0f * in[i]; if (odd) const_cast<float*>(in)[i] = 0",
    "strays": "out[i] = 2.0f * in[i]; if (odd) out[n + 5] = 0",
}


@pytest.mark.parametrize("how", MISBEHAVIOUR)
@GPU
def test_a_kernel_that_misbehaves_in_some_launches_is_seen(device: RemoteDevice, how: str) -> None:
    text = f"""
    // launch: cheat<<<ceil_div(n, 256), 256>>>(out, in, n)
    {CLOCK}
    __global__ void cheat(float* out, const float* in, int n)
    {{
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        bool odd = nanoseconds() >> 24 & 1;  // for 17 ms, and then not for 17 ms
        if (i < n) {{ {MISBEHAVIOUR[how]}; }}
    }}
    """
    programs = [ready(device, text).as_program(SUBMISSION), ready(device, GOOD).as_program("naive")]
    execution, outputs = device.prepare(
        programs, [{"in": inputs(N, seed)} for seed in range(2)], limits=LIMITS
    )
    seen = (
        execution.failure is not None
        or bool(execution.modified_inputs)
        or any(np.isnan(each["out"]).any() for each in outputs)
    )
    assert seen or not all(
        launch.right for launch in time_all(device, 100, SUBMISSION, "naive")[SUBMISSION]
    )


def test_a_variable_holds_in_every_run_what_it_held_in_the_first(device: RemoteDevice) -> None:
    text = """
    // launch: cheat<<<ceil_div(n, 256), 256>>>(out, in, n)
    __device__ int calls = 7;
    __global__ void cheat(float* out, const float* in, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) out[i] = atomicAdd(&calls, 1) < n + 7 ? 2.0f * in[i] : 0.0f;  // right only in the first of several runs that share it
    }
    """
    assert (
        prepare(device, (SUBMISSION, ready(device, text)), ("naive", ready(device, GOOD))).failure
        is None
    )
    assert all(launch.right for launch in time_all(device, 20, SUBMISSION, "naive")[SUBMISSION])


@pytest.mark.parametrize(
    ("value", "right"),
    [
        ("in[i]", True),
        ("later ? __uint_as_float(__float_as_uint(in[i]) & 0xffffe000) : in[i]", False),
    ],
)
@GPU
def test_floats_may_be_added_in_any_order_but_not_with_less_precision(
    device: RemoteDevice, value: str, right: bool
) -> None:
    n = 1 << 16
    text = """
    // launch: clear<<<1, 64>>>(out)
    // launch: sum<<<ceil_div(n, 256), 256>>>(out, in, n)
    CLOCK
    __global__ void clear(float* out) { out[threadIdx.x] = 0.0f; }
    __global__ void sum(float* out, const float* in, int n)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        bool later = nanoseconds() >> 24 & 1;
        atomicAdd(out + i % 64, VALUE);
    }
    """
    buffers = (
        DeviceBuffer("out", "float32", (64,), Role.OUTPUT),
        DeviceBuffer("in", "float32", (n,), Role.INPUT),
    )
    plan = make_ready(
        text.replace("CLOCK", CLOCK).replace("VALUE", value), buffers, {"n": n}, device.info
    )
    sets = [{"in": inputs(n, seed)} for seed in range(2)]
    execution, _ = device.prepare([plan.as_program()], sets, limits=LIMITS)
    assert execution.failure is None
    launches, _ = device.time([TimedStep(SUBMISSION, number % 2) for number in range(200)])
    assert all(launch.right for launch in launches) == right


def faulty(when: str) -> str:
    text = GOOD.replace(
        "out[i] = 2.0f * in[i];", f"{{ out[i] = 2.0f * in[i]; if ({when}) __trap(); }}"
    )
    return text.replace("__global__", f"{CLOCK}__global__")


@GPU
def test_a_fault_while_it_is_timed_ends_the_steps(device: RemoteDevice) -> None:
    later_ns = time.time_ns() + 8 * 10**9
    plan = ready(device, faulty(f"nanoseconds() > {later_ns}ull"))
    assert prepare(device, (SUBMISSION, plan), ("naive", ready(device, GOOD))).failure is None
    time.sleep(max(0.0, later_ns / 1e9 + 0.5 - time.time()))
    launches, _ = device.time([TimedStep(SUBMISSION, 0)] * 50)
    assert len(launches) < 50
    assert not launches[-1].right
    assert math.isnan(launches[-1].milliseconds)
    assert_works(device)


def test_a_fault_while_it_is_prepared_is_the_students(device: RemoteDevice) -> None:
    plan = ready(device, GOOD.replace("out[i] =", "out[i + (size_t(n) << 40)] ="))
    execution = prepare(device, (SUBMISSION, plan), ("naive", ready(device, GOOD)))
    assert execution.failure is not None
    assert execution.failure.status is Status.RUNTIME_ERROR
    assert_works(device)


@GPU
def test_a_fault_in_some_run_is_the_students(device: RemoteDevice) -> None:
    """It faults in some of the runs, while it is verified or while `prepare` tries out how long a
    run takes."""
    plan = ready(device, faulty("(nanoseconds() >> 16 & 3) == 0"))
    execution = next(
        found
        for _ in range(20)
        if (found := prepare(device, (SUBMISSION, plan), ("naive", ready(device, GOOD)))).failure
    )
    assert execution.failure is not None
    assert execution.failure.status is Status.RUNTIME_ERROR
    assert describe_mistake(execution.failure).message.startswith("Kernel scale did not end well")
    assert_works(device)


@GPU
def test_the_clocks_are_sampled(device: RemoteDevice) -> None:
    assert prepare(device, (SUBMISSION, ready(device, COPY, 1 << 24))).failure is None
    _, clocks = device.time([TimedStep(SUBMISSION, 0)] * 200)
    assert clocks.sm_mhz is not None
    assert 200 < clocks.sm_mhz[0] <= clocks.sm_mhz[1] < 4000
    assert clocks.memory_mhz is not None
    assert clocks.temperature_c is not None


@GPU
def test_progress_is_shown_while_it_times(device: RemoteDevice) -> None:
    assert prepare(device, (SUBMISSION, ready(device, COPY, 1 << 26))).failure is None
    shown: list[Progress] = []
    device.time([TimedStep(SUBMISSION, 0)] * 500, progress=shown.append)
    assert shown
    assert all(step.stage == "timing" and step.total == 500 for step in shown)


@GPU
def test_the_copy_bandwidth_is_near_the_peak(device: RemoteDevice) -> None:
    gbps = [device.copy_bandwidth() for _ in range(3)]
    print(f"copy bandwidth {gbps} GB/s of {device.info.peak_bandwidth_gbps}")
    assert (
        0.6 * device.info.peak_bandwidth_gbps
        < min(gbps)
        <= max(gbps)
        < device.info.peak_bandwidth_gbps
    )
    assert max(gbps) < 1.02 * min(gbps)


def test_the_gpu_has_a_lock_of_its_own(device: RemoteDevice, tmp_path: Path) -> None:
    with hold_gpu(device.uuid, show=lambda _: None, folder=tmp_path):
        assert [path.name for path in tmp_path.iterdir()] == [
            f"cuda-exercise-grader-{device.uuid}.lock"
        ]
        with (
            pytest.raises(GraderError, match="in use by another grading"),
            hold_gpu(device.uuid, show=lambda _: None, folder=tmp_path, wait_seconds=0.3),
        ):
            pass


def test_an_argument_is_the_address_of_its_buffer(device: RemoteDevice) -> None:
    plan = ready(device, GOOD)
    swapped = tuple(
        BufferArgument("out") if argument == BufferArgument("in") else argument
        for argument in plan.launches[0].arguments
    )
    execution, out = execute(
        device, replace(plan, launches=(replace(plan.launches[0], arguments=swapped),))
    )
    assert execution.failure is None
    assert np.isnan(out).all()
