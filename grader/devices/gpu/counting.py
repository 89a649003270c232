"""Nsight Compute beside the other steps of a grading."""

from __future__ import annotations

from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from grader.devices.base import Arrays
from grader.devices.gpu.ncu import Hold, PlanRun, count_later
from grader.devices.gpu.ncu_metrics import CountedLaunch
from grader.records import NotCounted, Program, RunLimits, RunTool

Counted = tuple[CountedLaunch, ...] | NotCounted


class Counting:
    """Nsight Compute beside other work: it starts at once, because its start takes seconds, and
    uses the GPU after `begin`. Without this call it ends with the block."""

    def __init__(
        self,
        gpu_index: int,
        arch: str,
        limits: RunLimits,
        run: RunTool,
        counters: Collection[str] = (),
    ) -> None:
        self.arch = arch
        self._gpu_index, self._limits, self._run = gpu_index, limits, run
        self._counters = counters
        self._plan: Future[PlanRun] = Future()
        self._hold: Future[Hold] = Future()
        self._thread = ThreadPoolExecutor(1)
        self._counted = self._thread.submit(self._count)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._plan.cancel()
        self._hold.cancel()
        self._thread.shutdown()

    def offer(self, program: Program, inputs: Arrays) -> None:
        """Hands over the program."""
        self._plan.set_result(PlanRun(program, inputs))

    def begin(self, hold: Hold) -> None:
        """Lets the offered program run as soon as the GPU is free."""
        self._hold.set_result(hold)

    def result(self) -> Counted:
        """The counts after `begin`."""
        return self._counted.result()

    def _count(self) -> Counted:
        counted = count_later(
            lambda: [self._plan.result()],
            arch=self.arch,
            counters=self._counters,
            gpu_index=self._gpu_index,
            run=self._run,
            limits=self._limits,
            hold=lambda: self._hold.result()(),
        )
        return counted if isinstance(counted, NotCounted) else counted[0]
