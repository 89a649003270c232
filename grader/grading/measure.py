"""Times programs on a GPU in rounds, until every check can be decided.

A round launches each program once, in random order, so that a drift of the clocks affects all
programs equally. This module decides the inputs of each launch and the number of rounds; the device
only carries out the launches.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from grader.devices.base import TimingDevice
from grader.judging.timing import CHECKPOINTS, find_disturbance, make_timing, merge_clocks
from grader.records import (
    SUBMISSION,
    ClockState,
    Disturbed,
    Progress,
    ShowProgress,
    TimedLaunch,
    TimedStep,
    Timing,
    show_nothing,
)

WARM_UP_SECONDS, MAX_WARM_UP_SECONDS = 0.25, 2.0
"""The clocks of an idle GPU need up to 0.2 s of work to become steady. The maximum is for a GPU at
its power limit, whose clocks never become steady; `find_disturbance` judges it."""
STEADY_CHANGE = 0.02
"""Largest change of a steady SM clock between two requests, as a fraction of the clock."""
MAX_SECONDS = 8.0
"""Limit of the timing of a submission: rounds that would exceed it are not started."""
FIRST_SECONDS, FEWEST_ROUNDS = 1.0, 20
"""Where the first CHECKPOINTS rounds take longer than this time, a test comes before them, after
these rounds at least: the times of slow programs hardly scatter. The last test is left out, so
that the number of tests stays. Its rounds would not fit into MAX_SECONDS."""
MIN_ROUNDS = 3
"""For programs so slow that the first CHECKPOINTS rounds do not fit into MAX_SECONDS."""
ATTEMPTS = 3
"""Measurements of a submission while each is disturbed."""
CALL_SECONDS = 5.0
"""Approximate limit of one request to the device, whose wall limit is for a whole request."""

FindOpen = Callable[[Sequence[Timing]], Collection[str]]


@dataclass(frozen=True)
class Measurement:
    """The timings of all programs, and the GPU's clocks during the timing.

    `wrong`: a launch of the submission with wrong outputs. `disturbed`: set if every attempt was
    disturbed.
    """

    timings: tuple[Timing, ...]
    clocks: ClockState
    attempts: int = 1
    wrong: TimedLaunch | None = None
    disturbed: Disturbed | None = None


@dataclass
class Stopwatch:
    """Runs rounds of programs and collects their times in ms.

    Launches cycle through the input sets, so that two consecutive launches have different inputs.
    """

    device: TimingDevice
    input_sets: int
    rng: Random
    show: ShowProgress = show_nothing
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

    def run(self, programs: Sequence[str], rounds: int, *, at_once: int) -> None:
        """Runs more rounds of these programs, `at_once` rounds per request. Stops after a launch
        with wrong outputs."""
        for start in range(0, rounds, at_once):
            if self.wrong is None:
                self._run(programs, min(at_once, rounds - start))

    def _run(self, programs: Sequence[str], rounds: int) -> None:
        steps = [step for _ in range(rounds) for step in self._plan_round(programs)]
        launches, clocks = self.device.time(steps, progress=self.show)
        self.clocks.append(clocks)
        self.wrong = next(
            (
                launch
                for launch in launches
                if launch.step.program == SUBMISSION and not launch.right
            ),
            None,
        )
        for launch in launches:
            self.samples_ms.setdefault(launch.step.program, []).append(launch.milliseconds)

    def _plan_round(self, programs: Sequence[str]) -> list[TimedStep]:
        first = self.launched
        self.launched += len(programs)
        order = self.rng.sample(programs, len(programs))
        return [
            TimedStep(program, (first + index) % self.input_sets)
            for index, program in enumerate(order)
        ]


def measure(
    device: TimingDevice,
    programs: Sequence[str],
    *,
    input_sets: int,
    find_open: FindOpen,
    rng: Random,
    show: ShowProgress = show_nothing,
    clock: Callable[[], float] = time.monotonic,
) -> Measurement:
    """Times the programs that the device holds (`prepare`), including the submission. A disturbed
    measurement is repeated.

    `find_open` returns the programs that need more samples to decide a check; `clock` gives
    seconds.
    """
    start = partial(Stopwatch, device, input_sets, rng)
    for attempt in range(1, ATTEMPTS + 1):
        found = replace(_measure_once(start, programs, find_open, clock, show), attempts=attempt)
        how = None if found.wrong else find_disturbance(found.timings, found.clocks)
        if how is None:
            return found
        found = replace(found, disturbed=Disturbed(attempt, how))
    return found


def _measure_once(
    start: Callable[..., Stopwatch],
    programs: Sequence[str],
    find_open: FindOpen,
    clock: Callable[[], float],
    show: ShowProgress,
) -> Measurement:
    show(Progress("warming up the GPU"))

    def show_step(step: Progress) -> None:
        show(Progress("timing", step.done, step.total))

    warm = start()
    round_seconds = _warm_up(warm, programs, clock)
    show(Progress("timing"))
    watch = start(show_step, wrong=warm.wrong)
    began = clock()
    for checkpoint in _choose_tests(round_seconds):
        fitting = int((MAX_SECONDS - (clock() - began)) / round_seconds)
        if watch.rounds and fitting < checkpoint - watch.rounds:
            break
        rounds = max(MIN_ROUNDS, min(checkpoint - watch.rounds, fitting))
        watch.run(programs, rounds, at_once=max(1, int(CALL_SECONDS / round_seconds)))
        if watch.wrong is not None:
            return Measurement((), merge_clocks(watch.clocks), wrong=watch.wrong)
        needed = find_open(watch.timings)
        if not needed:
            break
        # A program that leaves does not return: sample n belongs to round n.
        programs = [program for program in programs if program in needed]
        round_seconds = (clock() - began) / watch.rounds
    return Measurement(watch.timings, merge_clocks(watch.clocks))


def _choose_tests(round_seconds: float) -> tuple[int, ...]:
    """The numbers of rounds after which the checks are tested."""
    fitting = int(FIRST_SECONDS / round_seconds)
    if fitting >= CHECKPOINTS[0]:
        return CHECKPOINTS
    return max(FEWEST_ROUNDS, fitting), *CHECKPOINTS[:-1]


def _warm_up(watch: Stopwatch, programs: Sequence[str], clock: Callable[[], float]) -> float:
    """Runs rounds until the clocks are steady. Returns the seconds of a round, including the work
    around the launches."""
    began, rounds = clock(), 1
    watch.run(programs, rounds, at_once=rounds)
    while _is_cold(watch.clocks, passed := clock() - began) and watch.wrong is None:
        rounds = min(2 * rounds, 64, max(1, int(WARM_UP_SECONDS * watch.rounds / passed)))
        watch.run(programs, rounds, at_once=rounds)
    return passed / watch.rounds


def _is_cold(clocks: Sequence[ClockState], passed: float) -> bool:
    """Whether the SM clock may still rise. A GPU without a readable clock counts as warm after the
    minimum time."""
    if passed < WARM_UP_SECONDS:
        return True
    latest = merge_clocks(clocks[-2:]).sm_mhz
    if latest is None or passed >= MAX_WARM_UP_SECONDS:
        return False
    low, high = latest
    return high - low > STEADY_CHANGE * high
