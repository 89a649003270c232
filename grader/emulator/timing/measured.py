"""Corrections of modelled times by measured times of similar launches, and their intervals.

The model's errors are similar for similar launches: it is 3 % too fast for one padded transpose and
for the next. measured.json has a row for each launch that was timed on a GPU: its traits, and its
measured time over its modelled time. A correction is the prediction of a Gaussian process: the mean
of the errors of the nearest rows, weighted by their distances from the launch and from each other.
The process also predicts the uncertainty, which is the width of the interval. Far from all rows the
correction is 1, and the kind of the launch determines the width (intervals.py).

`python benchmarks/fit.py --record` writes measured.json.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import exp, inf, log, sqrt
from pathlib import Path

import numpy as np

from grader.emulator.timing.intervals import (
    NINE_OF_TEN,
    UNKNOWN,
    Interval,
    interval_of,
    read_intervals,
    width_of,
)
from grader.emulator.timing.kinds import Facts, LaunchKind

MEASURED = Path(__file__).parent / "measured.json"
NEAREST = 128
"""Rows that predict an error. All rows together would change the time by 0.2 % (median)."""
SAME = 0.03
"""The distance within which launches share errors that their traits do not explain."""
FAR_RATE = 0.3
"""Distances of the covariance's far part are this fraction of those of its near part."""
_SCALE = 1000


@dataclass(frozen=True)
class Correction:
    """The time on a GPU over the modelled time: most likely `factor`, in nine of ten cases between
    `low` and `high`."""

    factor: float
    low: float
    high: float

    def of(self, ms: float, least: float = 0.0) -> tuple[float, tuple[float, float]]:
        """A corrected time of at least `least` ms, which `ms` contains, and its interval."""
        time = max(ms * self.factor, least)
        return time, (ms * self.low, max(time, ms * self.high))


@dataclass(frozen=True)
class Metric:
    """How alike the errors of two launches are. `scales`: distance per unit of each trait. The
    covariance of two errors is the lesser variance of their kinds, times the sum of two Matérn
    functions of the distance, of order 1/2 and 3/2; `near`: the share of the first, which ends at
    smaller distances. With the lesser variance, a small error of one kind is not enlarged for a
    neighbour of a kind whose errors are large. `noise`: standard deviation of the logarithm of a
    time between runs, and between GPUs of the same type. `widths`: half the width of an interval in
    predicted standard deviations, by kind of launch; that of UNKNOWN for all other kinds."""

    scales: np.ndarray
    near: float
    noise: float
    widths: Mapping[str, float] = field(default_factory=lambda: {UNKNOWN: NINE_OF_TEN})

    def width_of(self, kind: str) -> float:
        """Half the width of the interval of a kind of launch in predicted standard deviations."""
        return self.widths.get(kind, self.widths[UNKNOWN])

    def covariance(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The covariance of each launch of `left` with each of `right`, from their scaled traits
        (rows)."""
        distances = np.sqrt(np.maximum(0.0, squared_distances(left, right)))
        return covary(distances, self.near, np.exp)


@dataclass(frozen=True)
class Measured:
    """Launches with measured times, a row each. `traits`: their scaled traits; `errors`: the
    logarithms of measured over modelled times; `doubts`: standard deviations of the part of
    these errors that has other causes than the traits, and that only the same launch shares;
    `kernels`: names; `kinds`: kinds of launches. `intervals`: by kind of launch."""

    traits: np.ndarray
    errors: np.ndarray
    doubts: np.ndarray
    kernels: Sequence[str]
    kinds: Sequence[str]
    intervals: Mapping[str, Interval]
    metric: Metric

    def correct(self, kind: str, traits: np.ndarray) -> Correction:
        """The correction of a launch with these traits. A kind without a row has no correction, and
        the widest interval."""
        if kind not in self.kinds:
            return uncorrected(interval_of(kind, self.intervals))
        centre, spread = self.estimate(kind, traits)
        half = spread * self.metric.width_of(kind)
        return Correction(exp(centre), exp(centre - half), exp(centre + half))

    def estimate(
        self, kind: str, traits: np.ndarray, without: Collection[str] = ()
    ) -> tuple[float, float]:
        """The most likely error of a launch and its standard deviation, from the kernels that are
        not in `without`."""
        place = traits * self.metric.scales
        distances = squared_distances(self.traits, place[None])[:, 0]
        if without:
            distances[[kernel in without for kernel in self.kernels]] = inf
        near = np.argsort(distances, kind="stable")[:NEAREST]
        near = near[np.isfinite(distances[near])]
        widths = np.array([width_of(self.kinds[row], self.intervals) for row in near])
        own, noise = width_of(kind, self.intervals), self.metric.noise**2
        traits, doubts = self.traits[near], self.doubts[near]
        same = nearly_same(traits, place[None])[:, 0]
        here = doubts[same > 0.5]
        doubt = float(here.min()) if here.size else 0.0
        known = np.minimum.outer(widths, widths) ** 2 * self.metric.covariance(traits, traits)
        known += np.outer(doubts, doubts) * nearly_same(traits, traits)
        known += noise * np.eye(len(near))
        alike = self.metric.covariance(traits, place[None])[:, 0]
        shared = np.minimum(own, widths) ** 2 * alike + doubt * doubts * same
        weights = np.linalg.solve(known, shared)
        centre = float(weights @ self.errors[near])
        return centre, sqrt(own**2 + doubt**2 + noise - float(weights @ shared))


def describe(facts: Facts) -> np.ndarray:
    """The traits of a launch, by which launches are compared: numbers of the order of 1.
    `Metric.scales` has their weights."""
    habits = facts.habits
    return np.array(
        [
            *(facts.launching, min(1.0, facts.atomics), facts.unfilled),
            *(2 * min(1.5, facts.rows), min(1.0, log(max(1.0, facts.unevenness)))),
            *(facts.from_dram, log(facts.warps) / 6, log(facts.warps_per_block) / 6),
            *(facts.stores, facts.load_store, facts.l2, facts.dram, facts.instructions),
            *(facts.sleeps, facts.fences, facts.calls, facts.code, facts.l1_hits, facts.floor),
            min(2.0, log(max(1.0, facts.waves))) / 4,
            *(min(1.0, 20 * each) for each in (habits.swaps, habits.lookups, habits.strong)),
            log(max(1.0, facts.dram_share)),
            *(habits.local, habits.split_stores, habits.prefetches, float(habits.clusters)),
            *(min(1.0, 5 * part) for part in (habits.shared, habits.special, habits.copies)),
            *(min(1.0, 10 * part) for part in (habits.barriers, habits.matrices)),
            log(max(1.0, habits.wavefronts)) / 4,
            *(log(max(1.0, each)) / 4 for each in (habits.load_sectors, habits.store_sectors)),
            *(float(habits.products), float(habits.objects)),
            float(habits.grid or facts.in_turns),
        ]
    )


def covary(
    distances: np.ndarray, near: float, exp: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """The covariance of errors at these distances (Metric). `exp`: NumPy's; benchmarks/metric.py
    calls it with JAX's arrays and its function."""
    far = FAR_RATE * distances
    found: np.ndarray = near * exp(-distances) + (1 - near) * (1 + far) * exp(-far)
    return found


def nearly_same(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The correlation of the errors that have other causes than the traits, of each launch of
    `left` with each of `right`: 1 for the same launch, almost 0 beyond twice the distance SAME."""
    return np.asarray(np.exp(-squared_distances(left, right) / SAME**2))


def squared_distances(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The squared distance of each row of `left` from each row of `right`."""
    squares = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None]
    return np.asarray(squares - 2 * left @ right.T)


def correct(kind: LaunchKind, facts: Facts, *, measured: bool) -> Correction:
    """The correction of the modelled time of a launch. `measured`: whether measured.json has times
    of this GPU."""
    known = read_measured()
    if measured:
        return known.correct(kind.value, describe(facts))
    return uncorrected(interval_of(kind.value, known.intervals).elsewhere)


def uncorrected(interval: Interval) -> Correction:
    """The modelled time itself, with this interval."""
    return Correction(1.0, interval.low, interval.high)


@functools.cache
def read_measured() -> Measured:
    """The launches of measured.json."""
    document = json.loads(MEASURED.read_text(encoding="utf-8"))
    names, kinds, errors, doubts, traits = zip(*document.pop("launches"), strict=True)
    metric = Metric(np.array(document.pop("scales")), **document)
    return Measured(
        np.array(traits) / _SCALE * metric.scales,
        np.array(errors),
        np.array(doubts),
        names,
        kinds,
        read_intervals(),
        metric,
    )


def write_measured(measured: Measured) -> None:
    """Replaces measured.json, except for the intervals of kinds."""
    metric = measured.metric
    traits = np.rint(measured.traits / metric.scales * _SCALE).astype(int).tolist()
    columns = (measured.kernels, measured.kinds, measured.errors, measured.doubts, traits)
    rows = [
        json.dumps([name, kind, round(float(error), 4), round(float(doubt), 3), row])
        for name, kind, error, doubt, row in sorted(zip(*columns, strict=True))
    ]
    values = {"scales": metric.scales.tolist(), "near": metric.near, "noise": metric.noise}
    head = json.dumps({**values, "widths": dict(metric.widths)})[1:-1]
    lines = ",\n  ".join(rows)
    MEASURED.write_text(f'{{{head},\n "launches": [\n  {lines}\n ]\n}}\n', encoding="utf-8")
