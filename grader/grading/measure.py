"""Times programs side by side on a device with a clock, in rounds, until every check can be
decided.

A round launches each program once, in random order, so that drift of the clocks meets all alike.
Which program runs on which inputs, how many rounds there are and what to make of them is decided
here; the device only carries the steps out.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random

from grader.devices.base import TimingDevice
from grader.judging.timing import LOOKS, find_disturbance, make_timing, merge_clocks
from grader.records import (
    SUBMISSION,
    ClockState,
    Disturbed,
    Progress,
    ShowProgress,
    TimedLaunch,
    TimedStep,
    Timing,
)

WARM_UP_SECONDS, MAX_WARM_UP_SECONDS = 0.25, 2.0
"""Clocks of an idle GPU take up to 0.2 s of work to rise to where they stay; they are waited for,
but not for ever: a GPU at its power limit never settles, and `find_disturbance` judges what it does
then."""
STEADY_CHANGE = 0.02
"""Largest change of a steady SM clock from one request to the next, as a part of it."""
MAX_SECONDS = 8.0
"""No look is begun that would make the timing of a submission take longer."""
MIN_ROUNDS = 3
"""Of programs so slow that not even the first look fits into MAX_SECONDS."""
ATTEMPTS = 3
"""A disturbed measurement is repeated twice before it is given up."""
CALL_SECONDS = 5.0
"""About as long as one request to the device may take: its wall limit is for a whole request."""

FindOpen = Callable[[Sequence[Timing]], Collection[str]]


@dataclass(frozen=True)
class Measurement:
    """The timings of all programs and the GPU's state meanwhile.

    `wrong` is a launch of the submission whose outputs were wrong; `disturbed` is set where the
    measurement stayed so.
    """

    timings: tuple[Timing, ...]
    clocks: ClockState
    attempts: int = 1
    wrong: TimedLaunch | None = None
    disturbed: Disturbed | None = None


@dataclass
class Stopwatch:
    """Carries out rounds of programs and keeps what they gave.

    Launches go through the input sets in turn, so that no two consecutive ones work on the same
    inputs.
    """

    device: TimingDevice
    input_sets: int
    rng: Random
    show: ShowProgress | None = None
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
        """Carry out that many rounds more, of these programs, `at_once` of them in a request; none
        after a wrong launch."""
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
    show: ShowProgress | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Measurement:
    """Time the programs that the device holds (`prepare`), the submission among them; a disturbed
    measurement is made again.

    `find_open` names the programs of which more samples may decide what the timings so far leave
    open; `clock` gives seconds.
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
    show: ShowProgress | None,
) -> Measurement:
    if show is not None:
        show(Progress("warming up the GPU"))
    warm = start()
    round_seconds = _warm_up(warm, programs, clock)
    if show is not None:
        show(Progress("timing"))
    watch = start(_rename(show, "timing"), wrong=warm.wrong)
    began = clock()
    for look in LOOKS:
        fitting = int((MAX_SECONDS - (clock() - began)) / round_seconds)
        if watch.rounds and fitting < look - watch.rounds:
            break
        rounds = max(MIN_ROUNDS, min(look - watch.rounds, fitting))
        watch.run(programs, rounds, at_once=max(1, int(CALL_SECONDS / round_seconds)))
        if watch.wrong is not None:
            return Measurement((), merge_clocks(watch.clocks), wrong=watch.wrong)
        needed = find_open(watch.timings)
        if not needed:
            break
        programs = [
            program for program in programs if program in needed
        ]  # none comes back: the n-th sample is of round n
        round_seconds = (clock() - began) / watch.rounds
    return Measurement(watch.timings, merge_clocks(watch.clocks))


def _warm_up(watch: Stopwatch, programs: Sequence[str], clock: Callable[[], float]) -> float:
    """Run rounds until the clocks stand still; returns what a round takes in seconds, everything
    around the launches included."""
    began, rounds = clock(), 1
    watch.run(programs, rounds, at_once=rounds)
    while _is_cold(watch.clocks, passed := clock() - began) and watch.wrong is None:
        rounds = min(2 * rounds, 64, max(1, int(WARM_UP_SECONDS * watch.rounds / passed)))
        watch.run(programs, rounds, at_once=rounds)
    return passed / watch.rounds


def _is_cold(clocks: Sequence[ClockState], passed: float) -> bool:
    """Whether the SM clock may still rise. A GPU that does not tell its clock is trusted after the
    least time."""
    if passed < WARM_UP_SECONDS:
        return True
    latest = merge_clocks(clocks[-2:]).sm_mhz
    if latest is None or passed >= MAX_WARM_UP_SECONDS:
        return False
    low, high = latest
    return high - low > STEADY_CHANGE * high


def _rename(show: ShowProgress | None, stage: str) -> ShowProgress | None:
    """Shows a device's own steps under the name of the stage that a student knows."""
    if show is None:
        return None
    tell = show
    return lambda step: tell(Progress(stage, step.done, step.total))
