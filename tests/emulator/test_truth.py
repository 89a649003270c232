"""The emulator against an H100: outputs bit for bit, counters to the last digit, on every kernel
and size with recorded counters."""

from __future__ import annotations

import pytest

from grader.records import Counters, LaunchResult
from tests.support.truth import Recorded, kernel_names, read_records, run_record

TRANSPOSES_TIMED_AT = 4096
"""A size that was only timed, and is small enough to emulate in every test run."""

RAGGED = 500
"""Rows of the products with counters at a size that is no multiple of a power of two."""


def counters_of(launch: LaunchResult) -> dict[str, float | int]:
    """The counters that tests/data/truth/README.md calls exact, with the names and the rounding of
    h100.json."""
    c = launch.counters
    return {
        "inst_executed": c.instructions_executed,
        "thread_inst_executed": c.thread_instructions_executed,
        "shared_load_instructions": c.shared_load_instructions,
        "shared_store_instructions": c.shared_store_instructions,
        "shared_wavefronts": c.shared_wavefronts,
        "shared_wavefronts_ideal": c.shared_wavefronts_ideal,
        "shared_wavefronts_excessive": c.shared_wavefronts_excessive,
        "shared_load_wavefronts_exact": c.shared_load_wavefronts,
        "shared_store_wavefronts_exact": c.shared_store_wavefronts,
        "shared_atomic_wavefronts_exact": c.shared_atomic_wavefronts,
        "global_load_requests": c.global_load_requests,
        "global_load_sectors": c.global_load_sectors,
        "global_store_requests": c.global_store_requests,
        "global_store_sectors": c.global_store_sectors,
        "global_load_efficiency_pct": percentage(c.global_load_efficiency),
        "global_store_efficiency_pct": percentage(c.global_store_efficiency),
        "global_sectors_excessive": c.global_sectors_excessive,
    }


def percentage(fraction: float | None) -> float:
    return round(100 * (fraction or 0), 2)


def records_of_all_kernels() -> list[object]:
    """All recorded counters; of kernels that also have a ragged size, the expensive record is
    marked slow."""
    counted = read_records("counted")
    ragged = {recorded.kernel for recorded in counted if recorded.sizes.get("M") == RAGGED}
    dear = [
        recorded
        for recorded in counted
        if recorded.kernel in ragged and recorded.sizes["M"] != RAGGED
    ]
    return [
        pytest.param(each, id=str(each), marks=[pytest.mark.slow] if each in dear else [])
        for each in counted
    ]


@pytest.mark.parametrize("recorded", records_of_all_kernels())
def test_output_and_exact_counters_equal_the_hardware(recorded: Recorded) -> None:
    launch, sha256 = run_record(recorded)
    got = counters_of(launch)
    assert recorded.launch is not None
    assert got == {name: recorded.launch["counters"][name] for name in got}
    assert sha256 == recorded.sha256
    resources = (
        list(launch.grid),
        list(launch.block),
        launch.registers,
        launch.static_shared_bytes,
        launch.local_bytes,
    )
    assert resources == tuple(
        recorded.launch[name] for name in ("grid", "block", "regs", "static_shared", "local")
    )
    assert sum((line.counters for line in launch.lines), Counters()) == launch.counters


@pytest.mark.parametrize(
    "recorded",
    [
        recorded
        for recorded in read_records("timed")
        if recorded.sizes.get("rows") == TRANSPOSES_TIMED_AT
    ],
    ids=str,
)
def test_output_equals_the_hardware_at_a_size_that_was_timed(recorded: Recorded) -> None:
    _, sha256 = run_record(recorded)
    assert sha256 == recorded.sha256


def test_every_kernel_was_counted() -> None:
    assert len(kernel_names()) == 13
    assert {recorded.kernel for recorded in read_records("counted")} == set(kernel_names())
