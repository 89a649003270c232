"""The search for parameters, on a model that is a formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from error_table import Row, make_row
from fit import (
    FREE,
    STEPS,
    Data,
    Effects,
    ModelClock,
    cross_validate,
    find_effects,
    search,
    start_values,
)
from jobs import Job
from kept_work import ModelledRun

POWERS: Mapping[str, Mapping[str, float]] = {
    "copies": {"dram_part": -1.0},
    "launches": {"launch_us": 1.0},
    "atomics": {"atomic_turn": -1.0, "launch_us": 0.2},
}
"""By family, the power with which a parameter is in a time."""
TRUE = {**start_values(), "dram_part": 0.9, "launch_us": 2.9, "atomic_turn": 1.75}


class Formula(ModelClock):
    """Times are products of powers of parameters."""

    def __init__(self) -> None:
        self.asked = 0

    def _model(self, jobs: Sequence[Job], values: dict[str, float]) -> list[ModelledRun | str]:
        self.asked += len(jobs)
        return [
            ModelledRun(self.time(job, values), "few warps that wait", (), "latency", {})
            for job in jobs
        ]

    @staticmethod
    def time(job: Job, values: Mapping[str, float]) -> float:
        assert job.run is not None
        time = 1.0
        for name, power in POWERS[job.run.family].items():
            time *= values[name] ** power
        return time


def make_data(noise: Sequence[float] = (0.02, -0.02, 0.0, 0.0)) -> Data:
    runs: list[Any] = [
        SimpleNamespace(family=family, text=f"--size n={number}")
        for family in POWERS
        for number in range(len(noise))
    ]
    jobs = tuple(Job("kernels", f"{run.family}/k", Path("k.cu"), {}, run) for run in runs)
    times = [Formula.time(job, TRUE) for job in jobs]
    return Data(
        jobs, tuple(time * exp(noise[index % len(noise)]) for index, time in enumerate(times))
    )


def mean_error(rows: Sequence[Row], family: str) -> float:
    errors = [abs(row.log_error) for row in rows if row.family == family]
    return sum(errors) / len(errors)


def look(data: Data, clock: ModelClock, known: Mapping[str, Any] | None = None) -> Effects:
    """What the parameters do around the start."""
    return find_effects(data, clock, FREE, start_values(), STEPS[0], known or {})


def test_the_search_finds_what_the_times_say_and_leaves_the_rest() -> None:
    data, clock = make_data(), Formula()
    effects = look(data, clock)
    values = search(data, clock, effects, 3)
    assert values["dram_part"] == pytest.approx(TRUE["dram_part"], rel=0.03)
    assert values["launch_us"] == pytest.approx(TRUE["launch_us"], rel=0.03)
    assert values["atomic_turn"] == pytest.approx(TRUE["atomic_turn"], rel=0.03)
    others = [free for free in FREE if free.name not in ("dram_part", "launch_us", "atomic_turn")]
    assert all(values[free.name] == free.start for free in others)
    assert (len(effects.moved["launch_us"]), len(effects.moved["dram_queue"])) == (8, 0)


def test_what_is_not_free_stays() -> None:
    data, clock = make_data(), Formula()
    frees = [free for free in FREE if free.name == "dram_part"]
    effects = find_effects(data, clock, frees, start_values(), STEPS[0], {})
    values = search(data, clock, effects, 2)
    assert {name for name, value in values.items() if value != start_values()[name]} == {
        "dram_part"
    }


def test_a_time_that_a_parameter_does_not_move_is_not_modelled_again() -> None:
    clock, data = Formula(), make_data()
    effects = look(data, clock)
    first, clock.asked = clock.asked, 0
    look(data, clock, effects.moved)
    assert first == 12 * (1 + 2 * len(FREE))
    assert clock.asked == 12 + 2 * (4 + 8 + 4)


def test_a_family_left_out_has_no_say() -> None:
    """Nothing but atomics tells their rate: without them it is where it started."""
    clock, data = Formula(), make_data()
    effects = look(data, clock)
    fitted = clock.rows(data, search(data, clock, effects, 3))
    crossed = cross_validate(data, clock, effects)
    assert [row.name for row in sorted(crossed, key=lambda row: row.name)] == sorted(
        row.name for row in fitted
    )
    start = start_values()
    missed = abs(Formula.time(data.jobs[8], {**TRUE, "atomic_turn": start["atomic_turn"]}))
    run = ModelledRun(missed, "few warps that wait", (), "latency", {})
    wrong = make_row(data.jobs[8], Formula.time(data.jobs[8], TRUE), run).log_error
    assert mean_error(fitted, "atomics") < 0.02
    assert mean_error(crossed, "atomics") == pytest.approx(abs(wrong), abs=0.02)
