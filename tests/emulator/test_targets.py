"""The corpus on the other emulated GPUs: compiled for each of their architectures, its outputs
equal those on the H100.

A sample of features whose instructions differ most; all of it with --all-targets.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.devices.gpus import read_gpus
from tests.support.corpus import Case, compile_cases, find_cases, find_differences, run_case

SAMPLE = {
    "t4": (
        "assert_that_holds",
        "copy_async_4_8_16",
        "device_variables",
        "generic_addresses",
        "half_from_float",
        "tiles_of_a_block",
    ),
    "a100": (
        "constant_pointers",
        "copy_async_zero_fill",
        "groups_of_warps",
        "match_any_and_all",
        "named_barriers",
    ),
    "rtx3090": ("histogram_shared",),
    "rtx4090": ("votes",),
    "b200": (
        "atomic_shared_f64",
        "constant_pointers",
        "copy_async_cooperative",
        "groups_of_warps",
        "int_mul_wide",
        "reduce_sync",
        "wide_vectors",
    ),
    "rtx5090": (
        "assert_that_holds",
        "atomic_shared_s64",
        "barrier_objects_by_lanes",
        "bulk_copies",
        "clocks",
        "double_library",
        "int_bytes",
        "int_carry_chain",
        "int_saturate",
        "student_calls",
        "uniform_values",
        "wide_vectors",
    ),
}
NEEDS_80 = {
    "bf162_arithmetic",
    "bf162_clamped",
    "bf162_halves",
    "bf16_fma",
    "copy_async_ignore_source",
    "copy_async_zero_fill",
    "float_min_max_nan",
    "reduce_sync",
}
"""Kernels that do not compile below sm_80: fused bfloat16 arithmetic, `cp.async`, minima that
return NaN, `__reduce_add_sync`."""
COMPILED_OTHERWISE = {
    "float_hyperbolic": "CUDA 13.0, of which the H100's machine code is, has another expm1f",
    "special_registers": "what the PTX ISA does not promise",
    "header_thrust_device": "for sm_100 and later, nvcc contracts other products and sums",
    "student_local_arrays": "for sm_100 and later, nvcc contracts other products and sums",
}
"""Kernels whose machine code computes something else, with the reason."""
NEEDS_90 = {
    "atomic_128",
    "atomic_float_vectors",
    "atomic_half_vectors",
    "elect",
    "shared_sizes",
    "small_formats",
}
"""Kernels that do not compile below sm_90."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        every = metafunc.config.getoption("--all-targets")
        found = [
            case
            for gpu, names in SAMPLE.items()
            for case in find_cases(() if every else names, gpu=gpu)
        ]
        metafunc.parametrize(
            "case", [case for case in found if case.level == 3 and compiles(case)], ids=str
        )


def compiles(case: Case) -> bool:
    """Whether the architecture has the kernel's features, and nvcc compiles it to the same
    computation."""
    arch = read_gpus()[case.gpu].arch
    older = int(arch.removeprefix("sm_")) < 90
    missing = (NEEDS_90 if older else set()) | (NEEDS_80 if arch == "sm_75" else set())
    return case.path.stem not in missing | set(COMPILED_OTHERWISE)


def on_an_h100(case: Case) -> Case:
    return replace(case, gpu="h100")


@pytest.fixture(scope="module", autouse=True)
def compiled(request: pytest.FixtureRequest) -> None:
    """Compiles all kernels of the run, on all processors: nvcc takes most of the time."""
    items = (
        item
        for item in request.session.items
        if item.path == request.path and "case" in item.fixturenames
    )
    cases = [item.callspec.params["case"] for item in items]
    compile_cases(dict.fromkeys([*cases, *map(on_an_h100, cases)]))


def test_outputs_equal_those_on_an_h100(case: Case) -> None:
    differences = find_differences(
        replace(case, counted=False), run_case(case), run_case(on_an_h100(case))
    )
    assert not differences, "\n".join(differences)


def test_every_architecture_has_a_sample() -> None:
    gpus = read_gpus()
    assert {gpus[name].arch for name in SAMPLE} == {gpu.arch for gpu in gpus.values()} - {"sm_90"}
