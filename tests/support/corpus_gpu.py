"""Runs the corpus on a GPU through PyCUDA, and counts it with Nsight Compute."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import pycuda.driver as cuda

from grader.devices.gpu.gpu_device import GpuDevice
from grader.devices.gpu.ncu import PlanRun, count_plans, find_ncu
from grader.messages.counting import describe_not_counted
from grader.records import Binary, NotCounted, Program, Role, RunLimits
from grader.sandbox.process import run_tool
from tests.support.corpus import (
    Case,
    Result,
    counter_names,
    make_arrays,
    make_buffers,
    make_launches,
    run_binary,
)

COUNTED_TOGETHER = 8
"""Cases in one ncu process: if one cannot be counted, none of them is. They are kept together."""
LIMITS = RunLimits(warp_instructions=10**9, wall_seconds=2.0)


def record_cases(
    binaries: Mapping[Case, Binary],
) -> Iterator[tuple[dict[str, str], dict[Case, Result]]]:
    """About the device, and what some more of the cases left on it. A case that fails is told and
    left out."""
    device = GpuDevice(0)
    about = _about(device)
    waiting = list(binaries)
    for start in range(0, len(waiting), COUNTED_TOGETHER):
        cases = waiting[start : start + COUNTED_TOGETHER]
        results: dict[Case, Result] = {}
        for case in cases:
            print(case, file=sys.stderr, flush=True)
            try:
                results[case] = run_binary(case, binaries[case], device)
            except Exception as problem:
                print(f"{case}: {problem}", file=sys.stderr)
        if counted := [case for case in results if case.counted]:
            _count(counted, binaries, device, results)
        yield about, results


def _about(device: GpuDevice) -> dict[str, str]:
    ncu = find_ncu(os.environ)
    version = run_tool([str(ncu), "--version"]).stdout.split()[-3:] if ncu else []
    return {
        "device": device.info.name,
        "driver": str(cuda.get_driver_version()),
        "ncu": " ".join(version),
    }


def _count(
    cases: Sequence[Case],
    binaries: Mapping[Case, Binary],
    device: GpuDevice,
    results: dict[Case, Result],
) -> None:
    plans = [_make_plan(case, binaries[case], device) for case in cases]
    counted = count_plans(plans, gpu_index=0, run=run_tool, limits=LIMITS)
    if isinstance(counted, NotCounted):
        print(f"{cases[0]} to {cases[-1]}: {describe_not_counted(counted)[0]}", file=sys.stderr)
        counted = ((),) * len(cases)
    for case, launches in zip(cases, counted, strict=True):
        results[case] = Result(
            results[case].outputs, tuple(counter_names(launch.counters) for launch in launches)
        )


def _make_plan(case: Case, binary: Binary, device: GpuDevice) -> PlanRun:
    """The case for ncu, which gives inputs their contents and poisons the rest: here all buffers
    have contents."""
    buffers = tuple(replace(buffer, role=Role.INPUT) for buffer in make_buffers(case))
    program = Program(str(case), binary, make_launches(case, binary, device.info), buffers)
    return PlanRun(program, make_arrays(case))
