"""Launches that are run for their modelled time: samples of blocks against all of them, and what a
device says of them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from grader.devices.emulated import inspection
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.emulated.machine_code import kernel_code
from grader.devices.emulated.plan_run import LaunchRun, Plan, Ready
from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.emulated.sampling import SampleWrites, Stage, run_for_time
from grader.devices.parameter_space import pack_parameters
from grader.emulator import GlobalMemory, LaunchSettings, translate
from grader.grading.building import build, make_program
from grader.grading.tools import find_toolchain
from grader.records import ModelledMode, Program, Role, Submission
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission
from tests.support.truth import LIMITS, Recorded, make_plan, read_records

ROOT = Path(__file__).resolve().parents[2]
SMALL = {"rows": 512, "cols": 1024}
SEED, MOST_SPREAD = 5, 48
TIMED = ModelledMode(SEED)


def run(name: str, sizes: dict[str, int], whole_instructions: int) -> LaunchRun:
    """A truth kernel, run for its time."""
    device = EmulatedDevice("h100")
    program, arrays = make_plan(Recorded(name, sizes, "", None), device.info)
    (kernel,), (launch,) = program.binary.kernels, program.launches
    memory = GlobalMemory({buffer.name: arrays[buffer.name].nbytes for buffer in program.buffers})
    addresses = {region: memory.regions[region].address for region in memory.regions}
    settings = LaunchSettings(
        tuple(launch.grid), tuple(launch.block), pack_parameters(kernel, launch, addresses)
    )
    figures = device.gpu.figures
    assert figures is not None
    groups = SampleWrites(memory, Plan(program, arrays, LIMITS))
    stage = Stage(
        figures,
        2,
        kernel.static_shared_bytes,
        SEED,
        groups,
        MOST_SPREAD,
        whole_instructions=whole_instructions,
    )
    native = translate(kernel_code(kernel), emulator_runtime())
    return run_for_time(Ready(native, kernel, launch, memory, settings), stage).model()


@pytest.mark.parametrize("name", ["gemm_naive_col", "gemm_tiled"])
def test_the_l1_holds_what_it_holds_on_an_h100(name: str) -> None:
    """Nsight Compute's rate has stores in too, which are few here."""
    sizes = {"M": 500, "N": 300, "K": 411}
    (truth,) = (
        record.launch
        for record in read_records("counted")
        if (record.kernel, record.sizes) == (name, sizes)
    )
    ran = run(name, sizes, 10**9)
    assert truth is not None
    assert ran.modelled is not None
    assert ran.modelled.l1 is not None
    assert ran.modelled.l1.hit_rate == pytest.approx(
        truth["counters"]["l1_hit_pct"] / 100, abs=0.03
    )


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("transpose_padded", SMALL),
        ("gemm_naive_col", {"M": 384, "N": 256, "K": 128}),
        ("gemm_tiled", {"M": 384, "N": 512, "K": 128}),
        ("gemm_registers_coalesced", {"M": 384, "N": 512, "K": 128}),
    ],
)
def test_a_sample_of_the_blocks_says_what_all_of_them_say(name: str, sizes: dict[str, int]) -> None:
    full, sampled = run(name, sizes, 10**9), run(name, sizes, 0)
    assert full.modelled is not None
    assert sampled.modelled is not None
    assert sampled.modelled.blocks_run < full.modelled.blocks_run == full.modelled.blocks
    assert sampled.modelled.time_ms == pytest.approx(full.modelled.time_ms, rel=0.01)
    assert sampled.sample is not None
    for own, other in zip(full.outcome.counts, sampled.outcome.counts, strict=True):
        assert (other.executed, other.passes, other.bytes) == pytest.approx(
            (own.executed, own.passes, own.bytes), rel=0.01
        )


@pytest.mark.parametrize(
    ("name", "extents"),
    [
        ("transpose", (2048, 1024)),
        ("gemm_coalesced", (512, 512, 64)),
        ("gemm_tiled", (512, 512, 64)),
        ("gemm_register_blocked", (4096, 4096, 16)),
    ],
)
def test_a_sample_of_a_reference_s_blocks_says_what_all_say(
    name: str, extents: tuple[int, ...], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = read_exercise(ROOT / "exercises" / name)
    source = read_submission(ROOT / "solutions" / f"{name}.cu")
    assert isinstance(source, Submission)
    built = build(source, exercise, find_toolchain(prefer_wheel=True, cache=cache), arch="sm_90")
    device, sizes = EmulatedDevice("h100"), dict(zip(exercise.size_names, extents, strict=True))
    program = make_program("submission", built, exercise, sizes=sizes, limits=device.info.limits)
    assert isinstance(program, Program)
    rng = np.random.default_rng(SEED)
    arrays = {
        buffer.name: rng.standard_normal(buffer.shape).astype(buffer.dtype)
        for buffer in program.buffers
        if buffer.role is Role.INPUT
    }
    times = []
    for whole in (10**9, 0):
        monkeypatch.setattr(inspection, "Stage", partial(Stage, whole_instructions=whole))
        execution, _ = device.run(program, arrays, limits=LIMITS, mode=TIMED)
        found = [launch.modelled for launch in execution.launches]
        times.append(
            (
                sum(each.blocks_run for each in found if each),
                sum(each.time_ms for each in found if each),
            )
        )
    (every, full), (some, sampled) = times
    assert some < every
    assert sampled == pytest.approx(full, rel=0.01)


def test_a_device_models_only_what_it_is_asked_to() -> None:
    device = EmulatedDevice("h100")
    program, arrays = make_plan(Recorded("transpose_padded", SMALL, "", None), device.info)
    plain, outputs = device.run(program, arrays, limits=LIMITS)
    timed, same = device.run(program, arrays, limits=LIMITS, mode=TIMED)
    assert plain.launches[0].modelled is None
    assert timed.launches[0].modelled is not None
    assert np.array_equal(outputs["out"], same["out"])
    assert timed.launches[0].counters == plain.launches[0].counters


@pytest.mark.parametrize(
    ("name", "size", "bound"),
    [
        ("transpose_padded", 4096, "DRAM bandwidth"),
        ("transpose_conflict", 4096, "load/store unit"),
        ("transpose_naive", 4096, "L2 stores"),
        ("transpose_padded_1024", 4096, "latency"),
        ("gemm_registers_coalesced", 1024, "load/store unit"),
        ("gemm_naive_row", 1024, "load/store unit"),
    ],
)
def test_the_time_is_near_what_an_h100s_clock_said(name: str, size: int, bound: str) -> None:
    import json

    from tests.support.truth import TRUTH

    recorded = next(
        each
        for each in read_records("timed")
        if each.kernel == name and set(each.sizes.values()) == {size}
    )
    family = name.partition("_")[0]
    entry = json.loads((TRUTH / "h100.json").read_text())["kernels"][f"{family}/{name}"]
    measured = next(each["ms"]["median"] for each in entry["timed"] if each["size"][0] == size)
    device = EmulatedDevice("h100")
    program, arrays = make_plan(recorded, device.info)
    execution, _ = device.run(program, arrays, limits=LIMITS, mode=TIMED)
    modelled = execution.launches[0].modelled
    assert modelled is not None
    assert modelled.time_ms == pytest.approx(measured, rel=0.15)
    assert modelled.bounds[0].resource == bound
