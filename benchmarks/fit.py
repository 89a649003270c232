"""Fits the timing model's free parameters to measured times, and says how far off it is on kernels
that it was not fitted to.

    python benchmarks/fit.py [--gpu h200] [--only PART] [--free NAME] [--rounds N] [--record]
        [--json FILE]

Fitted are the times of benchmarks/kernels and of tests/data/truth that were measured on the GPU
(see benchmarks/model.py); known submissions are never fitted. Prints the errors by family at the
start, after the fit, and cross-validated: those of a family from parameters that were fitted to all
other families. Prints the parameters, and intervals made of the cross-validated errors and those
of known submissions: how wide they are by what kind of launch, and how many times of families left
out lie inside.

The search is a descent along one parameter after another. What each parameter does to each time is
modelled at a few values around the present ones, with the others as they are; in between, and where
several change, effects are taken to add up as logarithms. What was found is then modelled itself,
and the next round starts there. The first round's effects, in the widest steps around the start,
serve each family's own fit, without that family; its errors are those of the model itself. --free
names what may move, all parameters if it is not given. --rounds 0 tells the errors of the start
alone, as those of families left out.

--record writes the intervals that gradings use (grader/emulator/timing/intervals.json), and what
`python docs/generate.py` makes docs/reference/model-errors.md of. Exit code 0.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from math import isfinite
from pathlib import Path

import numpy as np
from error_table import (
    SUBMISSIONS,
    Row,
    calibrate,
    choose_level,
    describe,
    describe_coverage,
    family_of,
    format_families,
    format_intervals,
    group_of,
    make_row,
    tabulate,
)
from jobs import Job
from kept_work import ModelledRun, make_pool, model_jobs
from model import find_timed, record

from grader.devices.gpus import Gpu, read_gpus
from grader.emulator.timing.intervals import write_intervals

Values = dict[str, float]
STEPS = (1.4, 1.15, 1.05)
"""By which factor a parameter may move, round after round. The first is wide, for the fits without
a family: they are to find what the others alone say."""
FINE = 33
"""Values of a parameter that a descent tries."""
UNMOVED = 5e-4
"""A smaller change of a time's logarithm is none."""
PRIOR = 0.002
"""What the logarithm of a parameter's distance from its start costs, in mean absolute errors: what
no time tells stays where it is."""
SETTLED = 1e-5
"""A descent ends where it gains no more than this."""


@dataclass(frozen=True)
class Free:
    """A parameter that may be fitted: a field of Figures, where it starts, and between what it
    makes sense."""

    name: str
    start: float
    low: float
    high: float


FREE = (
    Free("launch_us", 2.7, 1.5, 4.0),
    Free("next_launch_us", 1.5, 0.5, 4.0),
    Free("block_launch", 250.0, 50.0, 800.0),
    Free("dram_latency", 680.0, 450.0, 1100.0),
    Free("dram_spread", 130.0, 40.0, 300.0),
    Free("dram_queue", 135.0, 20.0, 600.0),
    Free("dram_part", 0.945, 0.85, 0.98),
    Free("turn_part", 0.12, 0.0, 0.4),
    Free("fill_cycles", 0.35, 0.05, 2.0),
    Free("store_line_turn", 1.3, 0.2, 3.0),
    Free("store_sector_turn", 1.14, 0.3, 3.0),
    Free("partial_sector_turn", 1.43, 0.3, 4.0),
    Free("stored_read_turn", 4.0, 1.0, 20.0),
    Free("lsu_queue", 40.0, 5.0, 400.0),
    Free("store_queue", 1500.0, 100.0, 10000.0),
    Free("atomic_turn", 1.46, 0.5, 4.0),
    Free("atomic_wait", 267.0, 50.0, 1000.0),
    Free("atomic_window", 50.0, 5.0, 500.0),
    Free("atomic_chain", 3.5, 1.0, 10.0),
    Free("atomic_swap", 500.0, 200.0, 1000.0),
    Free("read_row_ns", 4.6, 2.5, 10.0),
    Free("write_row_ns", 6.0, 2.5, 16.0),
    Free("held_part", 0.6, 0.3, 1.0),
    Free("shared_part", 0.5, 0.2, 1.0),
    Free("dispatch_cycles", 1.2, 0.8, 2.0),
    Free("memory_issue", 2.0, 1.0, 6.0),
    Free("barrier_latency", 12.0, 4.0, 60.0),
    Free("jump_cycles", 4.0, 0.0, 12.0),
)
"""Parameters of all GPUs, and the latency of DRAM."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gpu", default="h200", choices=sorted(read_gpus()))
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    names = [free.name for free in FREE]
    parser.add_argument("--free", action="append", default=[], choices=names, metavar="NAME")
    parser.add_argument("--rounds", type=int, default=len(STEPS), metavar="N")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    timed = find_timed(options.gpu, options.only)
    if not timed:
        parser.error(f"no time of such a program was measured on {options.gpu}")
    with make_pool() as pool:
        clock = ModelClock(read_gpus()[options.gpu], pool)
        frees = [free for free in FREE if not options.free or free.name in options.free]
        fitted = [(job, ms) for job, ms in timed if group_of(job) != SUBMISSIONS]
        others = [(job, ms) for job, ms in timed if group_of(job) == SUBMISSIONS]
        start = start_values()
        data, before = clock.read(fitted, start)
        values, after, crossed = start, before, before
        if options.rounds:
            effects = find_effects(data, clock, frees, start, STEPS[0], {})
            crossed = cross_validate(data, clock, effects)
            values = search(data, clock, effects, options.rounds)
            after = clock.rows(data, values)
        unseen = clock.read(others, values)[1] if others else []
    witnesses = [*crossed, *unseen]
    summary = [
        f"families left out: {describe(crossed)}",
        f"fitted: {describe(after)}",
        *([f"known submissions, not fitted: {describe(unseen)}"] if unseen else []),
        describe_coverage(witnesses),
    ]
    table = format_families(crossed, {"fitted": after, "start": before})
    print("\n".join([*table, *format_intervals(witnesses), *summary]))
    for free in frees:
        print(f"{free.name:24}{free.start:12.5g}{values[free.name]:12.5g}")
    if options.record:
        rows = list(tabulate(crossed, {"fitted": after} if options.rounds else {}))
        found = {"gpu": options.gpu, "fitted": options.rounds > 0, "summary": summary, "rows": rows}
        record("left_out", found)
        write_intervals(calibrate(witnesses, choose_level(witnesses)))
    if options.json is not None:
        document = {
            "gpu": options.gpu,
            "values": values,
            "left_out": [asdict(row) for row in crossed],
            "fitted": [asdict(row) for row in after],
            "start": [asdict(row) for row in before],
            "submissions": [asdict(row) for row in unseen],
        }
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def start_values() -> Values:
    return {free.name: free.start for free in FREE}


# --- times ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """Jobs with their measured milliseconds."""

    jobs: tuple[Job, ...]
    measured_ms: tuple[float, ...]

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(map(family_of, self.jobs))

    def pick(self, indices: Sequence[int]) -> Data:
        """Some of them."""
        return Data(
            tuple(self.jobs[index] for index in indices),
            tuple(self.measured_ms[index] for index in indices),
        )


class ModelClock:
    """Says what the model says of jobs on a GPU, whatever the values of its parameters are."""

    def __init__(self, gpu: Gpu, pool: Executor) -> None:
        self._gpu, self._pool = gpu, pool

    def read(self, timed: Sequence[tuple[Job, float]], values: Values) -> tuple[Data, list[Row]]:
        """Those of the jobs that the model knows a time of, and their rows."""
        found = self._model([job for job, _ in timed], values)
        pairs = list(zip(timed, found, strict=True))
        for (job, _), run in pairs:
            if isinstance(run, str):
                print(f"{job.exercise}/{job.name} {job.label}: not modelled: {run}")
        known = [(job, ms, run) for (job, ms), run in pairs if not isinstance(run, str)]
        rows = [make_row(job, ms, run) for job, ms, run in known]
        return Data(tuple(job for job, _, _ in known), tuple(ms for _, ms, _ in known)), rows

    def rows(self, data: Data, values: Values) -> list[Row]:
        """The rows of jobs that the model knows times of."""
        return self.read(list(zip(data.jobs, data.measured_ms, strict=True)), values)[1]

    def errors(self, data: Data, values: Values) -> np.ndarray:
        """The logarithms of modelled over measured times."""
        return np.array([row.log_error for row in self.rows(data, values)])

    def _model(self, jobs: Sequence[Job], values: Values) -> list[ModelledRun | str]:
        figures = self._gpu.figures
        assert figures is not None
        changed = {name: _as(getattr(figures, name), value) for name, value in values.items()}
        return list(model_jobs(jobs, self._gpu, replace(figures, **changed), self._pool))


def _as(known: object, value: float) -> float:
    """A value of the type of the one that is known: whole cycles stay whole."""
    return round(value) if isinstance(known, int) else value


# --- what parameters do ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Effects:
    """What the parameters `frees` do, each alone, to the errors of all times, around the `centre`,
    where these are `errors`: `changes[name]` has a row for each of `places[name]`, which are
    logarithms of values, in order; `moved[name]` are the times that it moves at all."""

    frees: Sequence[Free]
    centre: Values
    errors: np.ndarray
    places: Mapping[str, np.ndarray]
    changes: Mapping[str, np.ndarray]
    moved: Mapping[str, np.ndarray]

    def change(self, name: str, place: float) -> np.ndarray:
        """What a value of a parameter adds to the errors, given by its logarithm."""
        places, changes = self.places[name], self.changes[name]
        right = int(np.clip(np.searchsorted(places, place), 1, len(places) - 1))
        left = right - 1
        part = (place - places[left]) / (places[right] - places[left])
        return np.asarray((1 - part) * changes[left] + part * changes[right])


def find_effects(
    data: Data,
    clock: ModelClock,
    frees: Sequence[Free],
    centre: Values,
    step: float,
    known: Mapping[str, np.ndarray],
) -> Effects:
    """Model all times with each parameter a step up and down, and where it starts. `known` tells
    which times a parameter moves, as far as that is known."""
    errors = clock.errors(data, centre)
    places, changes, moved = {}, {}, {}
    for free in frees:
        present = centre[free.name]
        tried = {max(free.low, present / step), min(free.high, present * step)} - {present}
        chosen = known.get(free.name, np.arange(len(errors)))
        rows = {present: np.zeros(len(errors))}
        for value in sorted(tried):
            rows[value] = _change(data, clock, errors, {**centre, free.name: value}, chosen)
        moves = np.abs(list(rows.values())).max(axis=0) > UNMOVED
        moved[free.name] = np.flatnonzero(moves)
        if free.start not in rows:
            values = {**centre, free.name: free.start}
            rows[free.start] = _change(data, clock, errors, values, moved[free.name])
        places[free.name] = np.log(sorted(rows))
        changes[free.name] = np.array([rows[value] for value in sorted(rows)])
        print(f"{free.name} moves {len(moved[free.name])} of {len(errors)} times", flush=True)
    return Effects(frees, dict(centre), errors, places, changes, moved)


def _change(
    data: Data, clock: ModelClock, errors: np.ndarray, values: Values, chosen: np.ndarray
) -> np.ndarray:
    """What these values add to the errors of the chosen times; the others' stay."""
    change = np.zeros(len(errors))
    if len(chosen):
        change[chosen] = clock.errors(data.pick(chosen.tolist()), values) - errors[chosen]
    return change


# --- the search -----------------------------------------------------------------------------------


def search(data: Data, clock: ModelClock, effects: Effects, rounds: int) -> Values:
    """The values with the least cost that some rounds find, the first of them with these
    effects."""
    weights = weigh(data.families)
    for number in range(rounds):
        found = descend(effects, weights, effects.centre)
        errors = clock.errors(data, found)
        before = cost(effects.errors, effects.centre, weights)
        after = cost(errors, found, weights)
        print(f"round {number + 1}: cost {before:.4f} -> {after:.4f}", flush=True)
        if after >= before:
            return effects.centre
        if number + 1 == rounds:
            return found
        step = STEPS[min(number + 1, len(STEPS) - 1)]
        effects = find_effects(data, clock, effects.frees, found, step, effects.moved)
    return effects.centre


def cross_validate(data: Data, clock: ModelClock, effects: Effects) -> list[Row]:
    """The rows of each family, modelled with values that were fitted to all others; a single family
    with those of the start."""
    families = data.families
    rows: list[Row] = []
    if len(set(families)) < 2:
        return clock.rows(data, start_values())
    for family in sorted(set(families)):
        left_out = [index for index, each in enumerate(families) if each == family]
        weights = weigh(families)
        weights[left_out] = 0.0
        values = descend(effects, weights / weights.sum(), start_values())
        rows += clock.rows(data.pick(left_out), values)
    return rows


def weigh(families: Sequence[str]) -> np.ndarray:
    """Weights of times, 1 together: a family with four times as many has twice the weight."""
    weights = np.array([families.count(family) ** -0.5 for family in families])
    return np.asarray(weights / weights.sum())


def cost(errors: np.ndarray, values: Values, weights: np.ndarray) -> float:
    """The weighed mean of absolute errors, and what it costs to leave the start."""
    away = sum(abs(np.log(values[free.name] / free.start)) for free in FREE)
    return float(weights @ np.abs(errors) + PRIOR * away)


def descend(effects: Effects, weights: np.ndarray, start: Values) -> Values:
    """The values with the least cost that a descent along single parameters finds, if effects add
    up."""
    values = dict(start)
    frees = effects.frees
    parts = {free.name: effects.change(free.name, np.log(values[free.name])) for free in frees}
    errors = effects.errors + sum(parts.values())
    best, last = cost(errors, values, weights), float("inf")
    while isfinite(best) and last - best > SETTLED:
        last = best
        for free in frees:
            rest = errors - parts[free.name]
            for place in _places(effects, free):
                part = effects.change(free.name, place)
                tried = {**values, free.name: float(np.exp(place))}
                found = cost(rest + part, tried, weights)
                if found < best:
                    best, values = found, tried
                    parts[free.name], errors = part, rest + part
    return values


def _places(effects: Effects, free: Free) -> np.ndarray:
    """Values of a parameter to try, as logarithms: some over all that was modelled, and the
    start."""
    known = effects.places[free.name]
    return np.append(np.linspace(known[0], known[-1], FINE), np.log(free.start))


if __name__ == "__main__":
    main()
