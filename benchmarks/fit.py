"""Fits the timing model's free parameters to measured times, and prints its errors for kernels
outside of the fit.

    python benchmarks/fit.py [--gpu h200] [--only PART] [--free NAME] [--rounds N] [--record]
        [--json FILE]

The fit uses the times of benchmarks/kernels and of tests/data/truth that were measured on the GPU
(see benchmarks/model.py), and never known submissions. Prints the errors by family at the start,
after the fit, and cross-validated: each family with parameters fitted to all other families. Prints
the parameters, and intervals from these errors, the known submissions and the other GPUs: their
width by kind of launch, and the number of times inside if their kernel or their family is
left out of the corrections (grader/emulator/timing/measured.py).

The search descends along one parameter after another. The model computes the effect of each
parameter on each time at a few values around the current value, with the others fixed. Between
these values, and for several changes, the logarithms of effects are assumed to add. The model then
computes the times for the new values, from which the next round starts. The effects of the first
round, with the widest steps, also serve the fits without a family; the errors of a left-out family
are those of the model itself. --free names the free parameters (default: all). --rounds 0 prints
only the errors at the start, as if they were of left-out families, and keeps the distances between
traits (metric.py). Distances that are learned again predict the errors better, but the intervals
became wider at the last attempt.

--record writes the intervals and corrections that gradings use (intervals.json and measured.json in
grader/emulator/timing), and the data from which `python docs/generate.py` makes
docs/reference/model-errors.md. Needs JAX besides (`pip install jax`, metric.py). Exit code 0.
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
    correct_rows,
    describe,
    describe_intervals,
    family_of,
    format_families,
    format_intervals,
    group_of,
    make_row,
    tabulate,
)
from jobs import Job
from kept_work import ModelledRun, make_pool, model_jobs
from model import find_timed, model_all, record, times_of

from grader.devices.gpus import Gpu, read_gpus
from grader.emulator.timing.intervals import write_intervals
from grader.emulator.timing.measured import read_measured, write_measured

Values = dict[str, float]
STEPS = (1.4, 1.15, 1.05)
"""Factor by which a parameter may move, per round. The first is wide, because the fits without a
family must find values that only the other families determine."""
FINE = 33
"""Number of values of a parameter that a descent tries."""
UNMOVED = 5e-4
"""Smaller changes of a time's logarithm count as none."""
PRIOR = 0.002
"""Cost of the logarithm of a parameter's distance from its start, in mean absolute errors: it keeps
parameters that no time determines at their start."""
SETTLED = 1e-5
"""A descent ends when its gain is no larger."""


@dataclass(frozen=True)
class Free:
    """A parameter that may be fitted: a field of Figures, its start, and its plausible range."""

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
    Free("fill_cycles", 0.2, 0.05, 2.0),
    Free("store_line_turn", 1.3, 0.2, 3.0),
    Free("store_sector_turn", 1.14, 0.3, 3.0),
    Free("partial_sector_turn", 1.43, 0.3, 4.0),
    Free("stored_read_turn", 4.0, 1.0, 20.0),
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
    Free("memory_issue", 3.0, 1.0, 6.0),
    Free("barrier_latency", 12.0, 4.0, 60.0),
    Free("jump_cycles", 4.0, 0.0, 12.0),
)
"""Parameters that are equal for all GPUs, and the latency of DRAM."""


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
    try:
        from metric import learn  # before an hour of work
    except ModuleNotFoundError as error:
        parser.error(f"{error}: install it with `pip install jax`")
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
    rest = (gpu for gpu in read_gpus() if gpu != options.gpu and times_of(gpu).exists())
    elsewhere = [row for gpu in rest for row in model_all(find_timed(gpu, options.only), gpu)]
    witnesses = [*crossed, *unseen, *elsewhere]
    measured = learn(witnesses, None if options.rounds else read_measured().metric)
    corrected = correct_rows(witnesses, measured)
    summary = [
        f"families left out: {describe(crossed)}",
        f"fitted: {describe(after)}",
        *([f"known submissions, not fitted: {describe(unseen)}"] if unseen else []),
        f"all, and other GPUs: {describe(witnesses)}",
        f"corrected, kernel left out: {describe(corrected)}",
        *describe_intervals(witnesses, measured),
    ]
    table = format_families(crossed, {"fitted": after, "start": before})
    print("\n".join([*table, *format_intervals(witnesses), *summary]))
    for free in frees:
        print(f"{free.name:24}{free.start:12.5g}{values[free.name]:12.5g}")
    if options.record:
        rows = list(tabulate(crossed, {"fitted": after} if options.rounds else {}))
        found = {"gpu": options.gpu, "fitted": options.rounds > 0, "summary": summary, "rows": rows}
        record("left_out", found)
        write_intervals(calibrate(witnesses))
        write_measured(measured)
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
    """Jobs with their measured times in milliseconds."""

    jobs: tuple[Job, ...]
    measured_ms: tuple[float, ...]

    @property
    def families(self) -> tuple[str, ...]:
        return tuple(map(family_of, self.jobs))

    def pick(self, indices: Sequence[int]) -> Data:
        """A subset by index."""
        return Data(
            tuple(self.jobs[index] for index in indices),
            tuple(self.measured_ms[index] for index in indices),
        )


class ModelClock:
    """Models jobs on a GPU with given values of its parameters."""

    def __init__(self, gpu: Gpu, pool: Executor) -> None:
        self._gpu, self._pool = gpu, pool

    def read(self, timed: Sequence[tuple[Job, float]], values: Values) -> tuple[Data, list[Row]]:
        """The jobs that the model supports, and their rows."""
        found = self._model([job for job, _ in timed], values)
        pairs = list(zip(timed, found, strict=True))
        for (job, _), run in pairs:
            if isinstance(run, str):
                print(f"{job.exercise}/{job.name} {job.label}: not modelled: {run}")
        known = [(job, ms, run) for (job, ms), run in pairs if not isinstance(run, str)]
        rows = [make_row(job, ms, run) for job, ms, run in known]
        return Data(tuple(job for job, _, _ in known), tuple(ms for _, ms, _ in known)), rows

    def rows(self, data: Data, values: Values) -> list[Row]:
        """The rows of jobs that the model supports."""
        return self.read(list(zip(data.jobs, data.measured_ms, strict=True)), values)[1]

    def errors(self, data: Data, values: Values) -> np.ndarray:
        """Logarithms of modelled over measured times."""
        return np.array([row.log_error for row in self.rows(data, values)])

    def _model(self, jobs: Sequence[Job], values: Values) -> list[ModelledRun | str]:
        figures = self._gpu.figures
        assert figures is not None
        changed = {name: _as(getattr(figures, name), value) for name, value in values.items()}
        return list(model_jobs(jobs, self._gpu, replace(figures, **changed), self._pool))


def _as(known: object, value: float) -> float:
    """Converts a value to the type of the known value: whole cycles stay integers."""
    return round(value) if isinstance(known, int) else value


# --- effects of parameters ------------------------------------------------------------------------


@dataclass(frozen=True)
class Effects:
    """Effects of each of the parameters `frees` alone on the errors of all times, around `centre`,
    where the errors are `errors`. `changes[name]` has a row per element of `places[name]`, which
    are logarithms of values in order; `moved[name]`: indices of the times that it affects."""

    frees: Sequence[Free]
    centre: Values
    errors: np.ndarray
    places: Mapping[str, np.ndarray]
    changes: Mapping[str, np.ndarray]
    moved: Mapping[str, np.ndarray]

    def change(self, name: str, place: float) -> np.ndarray:
        """Change of the errors for a value of a parameter; `place` is its logarithm."""
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
    """Models all times with each parameter a step up, a step down, and at its start. `known`: the
    times that a parameter affects, as far as known."""
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
    """Change of the errors of the chosen times for these values; 0 for other times."""
    change = np.zeros(len(errors))
    if len(chosen):
        change[chosen] = clock.errors(data.pick(chosen.tolist()), values) - errors[chosen]
    return change


# --- the search -----------------------------------------------------------------------------------


def search(data: Data, clock: ModelClock, effects: Effects, rounds: int) -> Values:
    """The values with the least cost after `rounds` rounds; the first round uses these effects."""
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
    """The rows of each family, modelled with values fitted to all other families, or with the start
    values if there is only a single family."""
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
    """Weights of times, with sum 1: a family with four times as many times has twice the weight."""
    weights = np.array([families.count(family) ** -0.5 for family in families])
    return np.asarray(weights / weights.sum())


def cost(errors: np.ndarray, values: Values, weights: np.ndarray) -> float:
    """The weighted mean of absolute errors, plus the cost of the distance from the start."""
    away = sum(abs(np.log(values[free.name] / free.start)) for free in FREE)
    return float(weights @ np.abs(errors) + PRIOR * away)


def descend(effects: Effects, weights: np.ndarray, start: Values) -> Values:
    """The values with the least cost from a descent along single parameters, if effects add up."""
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
    """Logarithms of the values of a parameter to try: a grid over the modelled range, and the
    start."""
    known = effects.places[free.name]
    return np.append(np.linspace(known[0], known[-1], FINE), np.log(free.start))


if __name__ == "__main__":
    main()
