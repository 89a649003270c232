"""Nsight Compute against the emulated device: exact counters equal to the last digit, and every options
in which ncu gives none."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.gpu.ncu import PlanRun, count_plans, count_with_ncu
from grader.devices.gpu.ncu_metrics import CountedLaunch
from grader.doctor import Machine, examine
from grader.grading.building import Built, build, make_program
from grader.grading.tools import Toolchain, find_toolchain
from grader.messages.counting import describe_not_counted
from grader.messages.hidden import describe_mistake
from grader.records import (
    Counters,
    DeviceBuffer,
    NotCounted,
    Program,
    Role,
    RunLimits,
    Status,
    Submission,
)
from grader.report.machine_parts import Condition
from grader.sandbox.process import run_tool
from grader.spec.draws import make_inputs
from grader.spec.exercise import Case
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission
from tests.support.corpus import with_ideal_sectors_together
from tests.support.device_plans import atomics_arrays, make_atomics, make_ready
from tests.support.known import KNOWN
from tests.support.truth import make_plan, read_records

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
SIZES = {
    "transpose": [{"rows": 1024, "cols": 768}, {"rows": 333, "cols": 517}, {"rows": 1, "cols": 45}]
}
"""Of the exercises whose submissions are counted here: the matrix products of `truth` stand for
their exercises."""
EXERCISES = {name: read_exercise(ROOT / "exercises" / name) for name in SIZES}
SOURCES = [
    (name, path)
    for name in SIZES
    for path in (
        ROOT / "starter" / f"{name}.cu",
        ROOT / "solutions" / f"{name}.cu",
        *(each.file for each in KNOWN if each.runs_right and each.file.parent.name == name),
    )
]
RECORDS = read_records("counted")
NAMES = [
    *(f"truth/{record}" for record in RECORDS),
    *(
        f"{exercise}/{path.parent.name}/{path.stem}-{'x'.join(map(str, sizes.values()))}"
        for exercise, path in SOURCES
        for sizes in SIZES[exercise]
    ),
    "atomics",
]
ARCH = "sm_90"
LIMITS = RunLimits(warp_instructions=10**10, wall_seconds=5.0)


@pytest.fixture(scope="module")
def plans(cache: Path) -> dict[str, PlanRun]:
    """Every plan by its name: the truth's, and each source at each size."""
    tools, info = find_toolchain(prefer_wheel=False, cache=cache), EmulatedDevice("h100").info
    made = [make_plan(record, info) for record in RECORDS]
    with ThreadPoolExecutor() as pool:
        built = list(pool.map(lambda source: compile_source(*source, tools), SOURCES))
    for (name, _), one in zip(SOURCES, built, strict=True):
        for sizes in SIZES[name]:
            program = make_program(
                "submission", one, EXERCISES[name], sizes=sizes, limits=info.limits
            )
            assert isinstance(program, Program), program
            made.append(
                (program, make_inputs(EXERCISES[name], Case("counters", sizes, hidden=False), 5))
            )
    made.append((make_atomics(info).as_program(), atomics_arrays()))
    return {
        name: PlanRun(program, arrays) for name, (program, arrays) in zip(NAMES, made, strict=True)
    }


@pytest.fixture(scope="module")
def counted(plans: dict[str, PlanRun]) -> dict[str, tuple[CountedLaunch, ...]]:
    """What one ncu process counted of all plans."""
    answer = count_plans(list(plans.values()), gpu_index=0, run=run_tool, limits=LIMITS)
    assert isinstance(answer, tuple), answer
    return dict(zip(plans, answer, strict=True))


def compile_source(exercise: str, path: Path, tools: Toolchain) -> Built:
    source = read_submission(path)
    assert isinstance(source, Submission), source
    return build(source, EXERCISES[exercise], tools, arch=ARCH)


def emulate(plan: PlanRun) -> list[Counters]:
    """The emulated device's counters, with the ideal sectors summed as ncu has them; skips what it
    does not know."""
    device = EmulatedDevice("h100")
    execution, _ = device.run(plan.program, plan.arrays, limits=LIMITS)
    if execution.failure is not None and execution.failure.status is Status.UNSUPPORTED:
        pytest.skip(describe_mistake(execution.failure).message)
    assert execution.failure is None, execution.failure
    return [with_ideal_sectors_together(launch.counters) for launch in execution.launches]


_COPIES = (
    "LDGSTS into rows of 33 words: ncu loses some wavefronts, and not as many each time: 48,982,"
    " 48,984 and 48,998 of 49,152"
)
_PATHS = "paths of a `switch` meet elsewhere: 9 to 13 warp instructions more on the hardware"
EXPLAINED = {
    "transpose/transpose/passed--asynchronous_copy-1024x768": _COPIES,
    "transpose/transpose/passed--asynchronous_copy-333x517": _COPIES,
    "transpose/transpose/failed--switch_with_fall_through-333x517": _PATHS,
    "transpose/transpose/failed--switch_with_fall_through-1x45": _PATHS,
}
"""Plans whose counters differ, and why; tests/emulator/test_corpus.py has more of both kinds."""


def _parameter(name: str) -> object:
    why = EXPLAINED.get(name)
    return pytest.param(name, marks=pytest.mark.xfail(reason=why, strict=True) if why else ())


@pytest.mark.parametrize("name", [_parameter(name) for name in NAMES])
def test_ncu_counts_what_the_emulated_device_counts(
    name: str, plans: dict[str, PlanRun], counted: dict[str, tuple[CountedLaunch, ...]]
) -> None:
    assert [launch.counters for launch in counted[name]] == emulate(plans[name])


def test_counting_again_gives_the_same(
    plans: dict[str, PlanRun], counted: dict[str, tuple[CountedLaunch, ...]]
) -> None:
    name = next(name for name in NAMES if "copy_to_scratch" in name)
    plan = plans[name]
    answer = count_with_ncu(
        plan.program,
        plan.arrays,
        gpu_index=0,
        run=run_tool,
        limits=LIMITS,
    )
    assert isinstance(answer, tuple), answer
    assert [launch.counters for launch in answer] == [launch.counters for launch in counted[name]]
    assert len(answer) == 2


def count_text(text: str, *, gpu_index: int = 0) -> tuple[CountedLaunch, ...] | NotCounted:
    buffers = (DeviceBuffer("data", "float32", (256,), Role.INPUT),)
    ready = make_ready(text, buffers, {}, EmulatedDevice("h100").info)
    arrays = {"data": np.zeros(256, dtype=np.float32)}
    return count_with_ncu(
        ready.as_program(),
        arrays,
        gpu_index=gpu_index,
        run=run_tool,
        limits=LIMITS,
    )


HARMLESS = (
    "// launch: k<<<1, 256>>>(data)\n__global__ void k(float* data) { data[threadIdx.x] +="
    " 1.0f; }\n"
)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "volatile float* seen = data; while (seen[0] != 1.0f) {}",
            "limit of time|Failed to profile",
        ),  # who gives up first, we or ncu
        ("data[1ll << 40] = 1.0f;", "a launch failed"),
        ("__trap();", "a launch failed"),
    ],
)
def test_a_kernel_that_goes_wrong_is_a_reason_and_the_next_one_is_counted(
    body: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.devices.gpu.ncu.START_SECONDS", 10.0)
    answer = count_text(
        f"// launch: k<<<1, 32>>>(data)\n__global__ void k(float* data) {{ {body} }}\n"
    )
    assert isinstance(answer, NotCounted)
    assert re.search(reason, describe_not_counted(answer)[0])
    assert isinstance(count_text(HARMLESS), tuple)


def test_a_flood_of_printf_is_in_nobodys_way() -> None:
    flood = (
        "#include <cstdio>\n// launch: k<<<64, 128>>>(data)\n__global__ void k(float*) {"
        ' printf("==ERROR== ERR_NVGPUCTRPERM\\n"); }\n'
    )
    assert isinstance(count_text(flood), tuple)


def test_a_gpu_that_is_not_there_is_a_reason() -> None:
    answer = count_text(HARMLESS, gpu_index=64)
    assert isinstance(answer, NotCounted)
    assert "there is no GPU 64" in describe_not_counted(answer)[0]


def test_doctor_and_ncu_agree_on_the_permission(tmp_path: Path) -> None:
    (permission,) = (
        part
        for part in examine(Machine(os.environ, run_tool, tmp_path))
        if part.name == "GPU counters"
    )
    answer = count_text(HARMLESS)
    assert (permission.condition is Condition.FOUND) is isinstance(answer, tuple)
    assert isinstance(answer, tuple) or "ERR_NVGPUCTRPERM" in describe_not_counted(answer)[0]
