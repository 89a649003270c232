"""The reasons why a time is impossible, and why a measurement is unusable."""

from __future__ import annotations

from collections.abc import Sequence

from grader.records import Disturbed, Failure
from grader.statuses import Status


def reject_time(time_ms: float, floor_ms: float, limit: str) -> Failure:
    """The failure of a submission whose time is below the physical floor; `limit` is the hardware
    limit of that floor."""
    return Failure(
        Status.REJECTED,
        f"Faster than {limit}: {time_ms:.4g} ms, where the task cannot take less than"
        f" {floor_ms:.4g} ms.",
        advice=(
            "No kernel that does all of the work is so fast: compute every element in every launch,"
            " and keep nothing for the next one."
        ),
    )


def describe_disturbed(disturbed: Disturbed) -> Failure:
    """The failure of a submission whose times could not be measured."""
    return Failure(
        disturbed.status,
        f"The times are unusable: {disturbed.measurements} measurements were disturbed; in the last"
        f" one {disturbed.how}.",
        advice=(
            "This is not the submission's doing: let nothing else run on the GPU, see that it is"
            " cooled, and grade again."
        ),
    )


def name_memory_limit(bandwidth_gbps: float) -> str:
    """The floor of the memory."""
    return f"the memory allows ({bandwidth_gbps:,.0f} GB/s)"


def name_arithmetic_limit(tflops: float) -> str:
    """The floor of the arithmetic units."""
    return f"the arithmetic units allow ({tflops:g} TFLOP/s)"


def describe_throttling(reasons: Sequence[str]) -> str:
    """NVML's names of the causes that slowed the GPU down, as a clause."""
    return f"the GPU was slowed down ({', '.join(reason.replace('_', ' ') for reason in reasons)})"


def describe_clock(low_mhz: int, high_mhz: int) -> str:
    """A clause for a clock that moved too far."""
    return f"the GPU's clock moved between {low_mhz:,} and {high_mhz:,} MHz"


def describe_spread(spread: float) -> str:
    """A clause for baseline times that are spread too far; `spread` is a fraction of the median."""
    return (
        f"the times of the grader's own kernel are spread by {100 * spread:.0f} %, so something"
        " else uses the GPU"
    )


def reject_program_time(time_ms: float, floor_ms: float) -> Failure:
    """The failure of a program that is faster than its copies over the link."""
    return Failure(
        Status.REJECTED,
        f"Faster than the GPU's link: {time_ms:.4g} ms, where the copies of the task cannot take"
        f" less than {floor_ms:.4g} ms.",
        advice="Copy all of the task's data in the measured run.",
    )
