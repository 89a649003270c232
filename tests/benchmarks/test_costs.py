"""Instructions that hold up warps, as the issue of their costs names them: modelled times of small
kernels against those that an H200 took (tests/data/times_h200.json)."""

from __future__ import annotations

from functools import cache

import pytest
from _pytest.mark import ParameterSet
from jobs import ROOT, Job, find_jobs
from kept_work import find_works, make_program, model_works, trace
from times import Row, read_rows

from grader.devices.gpus import Gpu, read_gpus
from grader.emulator.timing.kinds import LaunchKind

CLOSELY, LOOSELY = 0.1, 0.25


@cache
def jobs() -> tuple[Job, ...]:
    return tuple(find_jobs([], kernels_only=True))


@cache
def measured() -> dict[tuple[str, str], Row]:
    rows = read_rows(ROOT / "tests" / "data" / "times_h200.json")
    return {(row.name, row.run): row for row in rows if row.run is not None}


def find_job(name: str, sizes: str) -> Job:
    (job,) = (
        job
        for job in jobs()
        if job.name == name and " ".join(map(str, job.sizes.values())) == sizes
    )
    return job


def gpu() -> Gpu:
    return read_gpus()["h200"]


def slow(*values: object) -> ParameterSet:
    """A kernel of many instructions, which take seconds to compile."""
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("name", "sizes", "kind", "error"),
    [
        ("costs/sleeps", "200 500 132 32", LaunchKind.SLEEPS, CLOSELY),
        ("costs/sleeps", "20 10000 132 256", LaunchKind.SLEEPS, CLOSELY),
        ("costs/sleeps_of_lanes", "20 1 8000 100", LaunchKind.SLEEPS, LOOSELY),
        ("careless/transpose_sleeping", "2048", LaunchKind.SLEEPS, CLOSELY),
        ("costs/fences_gpu", "100 0 132 256", LaunchKind.FENCES, CLOSELY),
        ("costs/fences_gpu", "100 1 132 256", LaunchKind.FENCES, CLOSELY),
        ("costs/fences_system", "100 1 132 256", LaunchKind.FENCES, CLOSELY),
        ("costs/fences_and_l1", "100 1 1 32", LaunchKind.FENCES, LOOSELY),
        ("careless/product_fenced", "1024 3", LaunchKind.FENCES, LOOSELY),
        ("careless/transpose_fenced_system", "2048", LaunchKind.FENCES, LOOSELY),
        ("costs/prints_empty", "20 1 132 32", LaunchKind.CALLS, CLOSELY),
        ("careless/transpose_printing", "1024", LaunchKind.CALLS, CLOSELY),
        ("costs/heap", "4 1 64 132 32", LaunchKind.CALLS, LOOSELY),
        slow("costs/straight_lines", "40 0 32", LaunchKind.FETCHES, CLOSELY),
        slow("careless/product_unrolled_16", "1024", LaunchKind.FETCHES, LOOSELY),
        slow("careless/product_without_l1_columns", "512 1", None, LOOSELY),
        ("careless/transpose_prefetching", "1024", LaunchKind.PREFETCHES, LOOSELY),
        ("resident/constant_lookups", "4194304 32", LaunchKind.LOOKUPS, CLOSELY),
        ("costs/matches", "100 8 32 132 32", None, CLOSELY),
        ("costs/matches", "100 32 32 132 1024", None, CLOSELY),
        ("costs/matches", "100 8 64 132 32", None, CLOSELY),
        ("costs/matches", "100 8 64 132 1024", None, CLOSELY),
    ],
)
def test_a_modelled_time_is_close_to_the_measured_one(
    name: str, sizes: str, kind: LaunchKind | None, error: float
) -> None:
    job, figures = find_job(name, sizes), gpu().figures
    assert figures is not None
    found = model_works(find_works(trace(*make_program(job, gpu()), gpu()), gpu()), figures)
    row = measured()[job.name, job.label]
    assert row.source == job.source
    assert found.time_ms == pytest.approx(row.ms, rel=error)
    assert kind is None or found.kind == kind
