"""A device with a clock that is a small model: times drift and scatter, the GPU may throttle, and
only launches move the clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from grader.devices.base import Arrays
from grader.records import (
    COUNTING,
    SUBMISSION,
    ClockState,
    DeviceInfo,
    Execution,
    Mode,
    Program,
    Progress,
    RunLimits,
    ShowProgress,
    TimedLaunch,
    TimedStep,
)

STEADY = ClockState(sm_mhz=(1965, 1980), memory_mhz=(2619, 2619), temperature_c=41)
OVERHEAD_SECONDS = 0.0005
"""What a launch takes beside itself: poison, flush, digest."""


class FakeClock:
    """Takes `times_ms` for a launch of each program, times `drift` of the launch's number,
    scattered by `noise`.

    `clocks` are what successive calls of `time` tell, the last one for ever; `wrong` are the
    numbers of the submission's launches (from 0 on) whose outputs are wrong.
    """

    def __init__(
        self,
        times_ms: Mapping[str, float],
        *,
        noise: float = 0.01,
        drift: Callable[[int], float] = lambda _: 1.0,
        clocks: Sequence[ClockState] = (STEADY,),
        wrong: frozenset[int] = frozenset(),
        seed: int = 1,
    ) -> None:
        self.times_ms = times_ms
        self.noise = noise
        self.drift = drift
        self.clocks = list(clocks)
        self.wrong = wrong
        self.rng = Random(seed)
        self.seconds = 0.0
        self.calls: list[list[TimedStep]] = []
        self.launches = 0
        self.carried_out = 0

    @property
    def steps(self) -> list[TimedStep]:
        return [step for call in self.calls for step in call]

    def clock(self) -> float:
        return self.seconds

    def time(
        self, steps: Sequence[TimedStep], *, progress: ShowProgress | None = None
    ) -> tuple[tuple[TimedLaunch, ...], ClockState]:
        self.calls.append(list(steps))
        taken = tuple(self._launch(step) for step in steps)
        if progress is not None:
            progress(Progress("launching", len(steps), len(steps)))
        return taken, self.clocks.pop(0) if len(self.clocks) > 1 else self.clocks[0]

    def _launch(self, step: TimedStep) -> TimedLaunch:
        milliseconds = (
            self.times_ms[step.program]
            * self.drift(self.carried_out)
            * (1 + self.noise * self.rng.expovariate(1.0))
        )
        self.seconds += milliseconds / 1000 + OVERHEAD_SECONDS
        right = step.program != SUBMISSION or self.launches not in self.wrong
        self.launches += step.program == SUBMISSION
        self.carried_out += 1
        return TimedLaunch(step, milliseconds, right)

    # What a device with a clock has to do beside: nothing here.

    @property
    def uuid(self) -> str | None:
        return None

    @property
    def info(self) -> DeviceInfo:
        raise NotImplementedError

    def run(
        self,
        program: Program,
        arrays: Arrays,
        *,
        limits: RunLimits,
        mode: Mode = COUNTING,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        raise NotImplementedError

    def prepare(
        self, programs: Sequence[Program], input_sets: Sequence[Arrays], *, limits: RunLimits
    ) -> tuple[Execution, list[Arrays]]:
        raise NotImplementedError

    def copy_bandwidth(self) -> float:
        return 2960.0
