"""Corrections of modelled times by measured times of similar launches, and their intervals.

The model's errors are similar for similar launches: it is 3 % too fast for one padded transpose and
for the next. measured.json has a row for each launch that was timed on a GPU: its traits, and its
measured time over its modelled time. A correction is the mean of the nearest kernels, weighted by
their distance. The scatter of these errors determines the width of the interval. Where few measured
kernels are near, the kind of the launch determines it (intervals.py), and the correction is close
to 1.

`python benchmarks/fit.py --record` writes measured.json.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from pathlib import Path

import numpy as np

from grader.emulator.timing.intervals import Interval, read_intervals, width_of
from grader.emulator.timing.kinds import Facts, LaunchKind

MEASURED = Path(__file__).parent / "measured.json"
NEIGHBOURS = 8
"""Number of kernels that make a correction; each counts with its nearest launch."""
NEAR = 0.25
"""Distance at which a kernel's weight is 1/e."""
DOUBT = 0.3
"""Weight of the model without a correction, and of the scatter of the launch's kind."""
NOISE = 0.012
"""Standard deviation of the logarithm of a time between runs and GPUs of the same type."""
MOST, LEAST_CLIP = 0.7, 0.03
"""Weight of the kernels that determine how far errors may be, and errors that are never clipped."""
SUPPORTED = 1.0
"""Sum of weights from which on the scatter of the near kernels is trusted."""
_SCALE = 100


@dataclass(frozen=True)
class Correction:
    """The time on a GPU over the modelled time: most likely `factor`, in nine of ten cases between
    `low` and `high`. `support`: sum of the weights of the near kernels."""

    factor: float
    low: float
    high: float
    support: float

    def of(self, ms: float) -> tuple[float, tuple[float, float]]:
        """A corrected time, and its interval."""
        return ms * self.factor, (ms * self.low, ms * self.high)


@dataclass(frozen=True)
class Measured:
    """Launches with measured times: `traits` has a row of numbers per launch, `errors` the
    logarithms of measured over modelled times, `kernels` the names of kernels. `intervals`: by
    kind of launch. `widths`: half the width of an interval in standard deviations, with little
    support and with support."""

    traits: np.ndarray
    errors: np.ndarray
    kernels: Sequence[str]
    intervals: Mapping[str, Interval]
    widths: tuple[float, float]

    def correct(self, kind: str, traits: np.ndarray) -> Correction:
        """The correction of a launch with these traits."""
        centre, spread, support = self.estimate(kind, traits)
        half = spread * self.widths[support > SUPPORTED]
        return Correction(exp(centre), exp(centre - half), exp(centre + half), support)

    def estimate(
        self, kind: str, traits: np.ndarray, without: str = ""
    ) -> tuple[float, float, float]:
        """The most likely error of a launch, its standard deviation, and the support, from kernels
        other than `without`."""
        distances = np.sqrt(((self.traits - traits) ** 2).sum(axis=1))
        nearest: dict[str, int] = {}
        for index in np.argsort(distances, kind="stable").tolist():
            if self.kernels[index] != without:
                nearest.setdefault(self.kernels[index], index)
            if len(nearest) == NEIGHBOURS:
                break
        near = list(nearest.values())
        weights = np.exp(-((distances[near] / NEAR) ** 2))
        errors = _clip(self.errors[near], weights)
        support = float(weights.sum())
        centre = float(weights @ errors) / (support + DOUBT)
        scatter = float(weights @ (errors - centre) ** 2)
        scatter += DOUBT * width_of(kind, self.intervals) ** 2
        return centre, sqrt(scatter / (support + DOUBT) + NOISE**2), support


def _clip(errors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Errors at most twice as far from their weighted median as MOST of them are. A kernel that did
    other work when it was timed must not move its neighbours."""
    middle = _quantile(errors, weights, 0.5)
    most = max(LEAST_CLIP, 2 * _quantile(np.abs(errors - middle), weights, MOST))
    return np.asarray(np.clip(errors, middle - most, middle + most))


def _quantile(values: np.ndarray, weights: np.ndarray, part: float) -> float:
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(reached, reached[-1] * part)])


def describe(facts: Facts) -> np.ndarray:
    """The traits of a launch, by which launches are compared: numbers of the order of 1. The scales
    are chosen by hand; errors of left-out kernels hardly depend on single traits."""
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
            *(habits.local, habits.split_stores, habits.prefetches, float(habits.untimed)),
            *(min(1.0, 5 * part) for part in (habits.shared, habits.special, habits.copies)),
            *(min(1.0, 10 * part) for part in (habits.barriers, habits.matrices)),
            log(max(1.0, habits.wavefronts)) / 4,
            *(log(max(1.0, each)) / 4 for each in (habits.load_sectors, habits.store_sectors)),
            *(float(habits.products), float(habits.objects)),
        ]
    )


def correct(kind: LaunchKind, facts: Facts) -> Correction:
    """The correction of the modelled time of a launch."""
    return read_measured().correct(kind.value, describe(facts))


@functools.cache
def read_measured() -> Measured:
    """The launches of measured.json."""
    document = json.loads(MEASURED.read_text(encoding="utf-8"))
    names, errors, traits = zip(*document["launches"], strict=True)
    return Measured(
        np.array(traits) / _SCALE,
        np.array(errors),
        names,
        read_intervals(),
        tuple(document["widths"]),
    )


def write_measured(
    launches: Sequence[tuple[str, float, np.ndarray]], widths: tuple[float, float]
) -> None:
    """Replaces measured.json. `launches`: kernel, logarithm of measured over modelled time, and
    traits of each launch."""
    rows = [
        json.dumps([name, round(error, 4), np.rint(traits * _SCALE).astype(int).tolist()])
        for name, error, traits in launches
    ]
    lines = ",\n  ".join(rows)
    MEASURED.write_text(
        f'{{\n "widths": {json.dumps(widths)},\n "launches": [\n  {lines}\n ]\n}}\n',
        encoding="utf-8",
    )
