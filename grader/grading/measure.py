"""Times programs side by side on a device with a clock, in rounds, until every check can be decided.

A round launches each program once, in random order, so that drift of the clocks meets all alike. Which program runs on which
inputs, how many rounds there are and what to make of them is decided here; the device only carries the steps out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from random import Random

from grader.devices.base import TimingDevice
from grader.judging.timing import LOOKS, NAIVE, RATIO_METRICS, SUBMISSION, find_disturbance, make_timing, merge_clocks
from grader.records import ClockState, Failure, Progress, ShowProgress, Status, TimedLaunch, TimedStep, Timing

WARM_UP_SECONDS = 0.25
"""Clocks of an idle GPU take up to 0.2 s of work to rise to where they stay."""
MAX_SECONDS = 8.0
"""No look is begun that would make the timing of a submission take longer."""
MIN_ROUNDS = 3
"""Of programs so slow that not even the first look fits into MAX_SECONDS."""
ATTEMPTS = 3
"""A disturbed measurement is repeated twice before it is given up."""
SHORT_MS = 0.1
"""Below this a single launch is too short for the clock: a sample is then the mean of a batch, each launch of it with a cold cache."""
MAX_BATCH = 8

FindOpen = Callable[[Sequence[Timing]], Collection[str]]


@dataclass(frozen=True)
class Measurement:
    """The timings of all programs and the GPU's state meanwhile; or a launch of the submission whose outputs were wrong."""

    timings: tuple[Timing, ...]
    clocks: ClockState
    attempts: int = 1
    wrong: TimedLaunch | None = None


@dataclass
class Stopwatch:
    """Carries out rounds of programs, `batch` launches of each in a row, and keeps what they gave.

    Launches go through the input sets in turn, so that no two consecutive ones work on the same inputs.
    """

    device: TimingDevice
    input_sets: int
    rng: Random
    show: ShowProgress | None = None
    batch: int = 1
    samples_ms: dict[str, list[float]] = field(default_factory=dict)
    clocks: list[ClockState] = field(default_factory=list)
    wrong: TimedLaunch | None = None
    launched: int = 0

    @property
    def timings(self) -> tuple[Timing, ...]:
        return tuple(make_timing(program, samples) for program, samples in self.samples_ms.items())

    @property
    def rounds(self) -> int:
        return max(map(len, self.samples_ms.values()), default=0)

    def run(self, programs: Sequence[str], rounds: int) -> None:
        """Carry out that many rounds more, of these programs."""
        if rounds <= 0:
            return
        steps = [step for _ in range(rounds) for step in self._plan_round(programs)]
        launches, clocks = self.device.time(steps, progress=self.show)
        self.clocks.append(clocks)
        self.wrong = self.wrong or next((launch for launch in launches if launch.step.program == SUBMISSION and not launch.right), None)
        for start in range(0, len(launches), self.batch):
            batch = launches[start : start + self.batch]
            times = self.samples_ms.setdefault(batch[0].step.program, [])
            times.append(sum(launch.milliseconds for launch in batch) / len(batch))

    def _plan_round(self, programs: Sequence[str]) -> list[TimedStep]:
        order = self.rng.sample(programs, len(programs))
        steps = [program for program in order for _ in range(self.batch)]
        self.launched += len(steps)
        first = self.launched - len(steps)
        return [TimedStep(program, (first + index) % self.input_sets) for index, program in enumerate(steps)]


def measure(
    device: TimingDevice,
    programs: Sequence[str],
    *,
    input_sets: int,
    find_open: FindOpen,
    rng: Random,
    show: ShowProgress | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Measurement | Failure:
    """Time the programs that the device holds (`prepare`), the submission among them.

    `find_open` names the metrics that the timings so far leave undecided; `clock` gives seconds. A disturbed measurement
    is made again; the Failure is that of one that never was undisturbed.
    """
    disturbance: str | None = None
    for attempt in range(1, ATTEMPTS + 1):
        found = _measure_once(device, programs, input_sets, find_open, rng, show, clock)
        if found.wrong is not None:
            return found
        disturbance = find_disturbance(found.timings, found.clocks)
        if disturbance is None:
            return Measurement(found.timings, found.clocks, attempt)
    return Failure(
        Status.INCONCLUSIVE,
        f"The times say nothing: in each of {ATTEMPTS} measurements {disturbance}.",
        advice="This is not the submission's doing: let nothing else run on the GPU, see that it is cooled, and grade again.",
    )


def _measure_once(
    device: TimingDevice,
    programs: Sequence[str],
    input_sets: int,
    find_open: FindOpen,
    rng: Random,
    show: ShowProgress | None,
    clock: Callable[[], float],
) -> Measurement:
    if show is not None:
        show(Progress("warming up the GPU"))
    warm = Stopwatch(device, input_sets, rng)
    round_seconds = _warm_up(warm, programs, clock)
    if warm.wrong is not None:
        return Measurement((), ClockState(), wrong=warm.wrong)
    watch = Stopwatch(device, input_sets, rng, show, batch=_choose_batch(warm))
    began = clock()
    for look in LOOKS:
        left = MAX_SECONDS - (clock() - began)
        fitting = int(left / (round_seconds * watch.batch))
        if watch.rounds and fitting < look - watch.rounds:
            break
        watch.run(programs, max(MIN_ROUNDS, min(look - watch.rounds, fitting)))
        still_open = find_open(watch.timings)
        if watch.wrong is not None or not still_open:
            break
        programs = _still_needed(still_open)
        round_seconds = (clock() - began) / (watch.rounds * watch.batch)
    return Measurement(watch.timings, merge_clocks(watch.clocks), wrong=watch.wrong)


def _warm_up(watch: Stopwatch, programs: Sequence[str], clock: Callable[[], float]) -> float:
    """Run rounds until the clocks have risen; returns what a round takes in seconds, everything around the launches included."""
    began, rounds = clock(), 1
    watch.run(programs, rounds)
    while (passed := clock() - began) < WARM_UP_SECONDS and watch.wrong is None:
        rounds = min(2 * rounds, 64)
        watch.run(programs, rounds)
    return passed / watch.rounds


def _choose_batch(warm: Stopwatch) -> int:
    """How many launches make a sample."""
    shortest_ms = min(timing.median_ms for timing in warm.timings)
    return max(1, min(MAX_BATCH, math.ceil(SHORT_MS / shortest_ms)))


def _still_needed(still_open: Collection[str]) -> tuple[str, ...]:
    """The programs that later rounds need: the reference decides nothing, the baseline only ratios."""
    return (SUBMISSION, NAIVE) if RATIO_METRICS & set(still_open) else (SUBMISSION,)
