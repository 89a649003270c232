"""Modelled times as timings: their interval is the model's published error, and a plan's time is
the sum of its launches'."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import add

from grader.records import Execution, Modelled, Timing, Traffic

MODEL_ERROR = 0.04
"""Half the width of a modelled time's interval, as a part of it: the median error against an H100's
clock (benchmarks/model.py)."""


def modelled_launches(execution: Execution) -> tuple[Modelled, ...]:
    """What the model says of each launch; empty where it was not asked, or does not know the
    GPU."""
    found = tuple(launch.modelled for launch in execution.launches if launch.modelled is not None)
    return found if len(found) == len(execution.launches) else ()


def model_timing(plan: str, execution: Execution) -> Timing | None:
    """The timing of a plan that was modelled; it has no samples."""
    launches = modelled_launches(execution)
    if not launches:
        return None
    time_ms = sum(launch.time_ms for launch in launches)
    return Timing(plan, time_ms, (time_ms * (1 - MODEL_ERROR), time_ms * (1 + MODEL_ERROR)), ())


def model_traffic(execution: Execution) -> Traffic:
    """What all launches of a plan move; the model simulates no L2 cache."""
    launches = modelled_launches(execution)
    if not launches:
        return Traffic()
    total = reduce(add, (Traffic(launch.dram_bytes, launch.l1) for launch in launches))
    return replace(total, dram_bytes=round(total.dram_bytes or 0))
