"""Says why a time cannot be, and why a measurement says nothing."""

from __future__ import annotations

from collections.abc import Sequence

from grader.records import Disturbed, Failure
from grader.statuses import Status


def reject_time(time_ms: float, floor_ms: float, limit: str) -> Failure:
    """The failure of a submission whose time is below the physical floor; `limit` is what sets
    it."""
    return Failure(
        Status.REJECTED,
        f"Faster than {limit}: {time_ms:.4g} ms, where the task cannot take less than"
        f" {floor_ms:.4g} ms.",
        advice=(
            "Nothing that does all of the work is that fast: compute every element in every launch,"
            " and keep nothing for the next one."
        ),
    )


def tell_disturbed(disturbed: Disturbed) -> Failure:
    """The failure of a submission whose times nobody could measure."""
    return Failure(
        disturbed.status,
        f"The times say nothing: {disturbed.measurements} measurements were disturbed; in the last"
        f" one {disturbed.how}.",
        advice=(
            "This is not the submission's doing: let nothing else run on the GPU, see that it is"
            " cooled, and grade again."
        ),
    )


def name_memory_limit(bandwidth_gbps: float) -> str:
    """The floor that the memory sets."""
    return f"the memory allows ({bandwidth_gbps:,.0f} GB/s)"


def name_arithmetic_limit(tflops: float) -> str:
    """The floor that the arithmetic units set."""
    return f"the arithmetic units allow ({tflops:g} TFLOP/s)"


def describe_throttling(reasons: Sequence[str]) -> str:
    """NVML's names of what slowed the GPU down, as a clause."""
    return f"the GPU was slowed down ({', '.join(reason.replace('_', ' ') for reason in reasons)})"


def describe_clock(low_mhz: int, high_mhz: int) -> str:
    """That the clock moved too far, as a clause."""
    return f"the GPU's clock moved between {low_mhz:,} and {high_mhz:,} MHz"


def describe_spread(spread: float) -> str:
    """That the baseline's times are spread too far, as a clause; `spread` is a part of the
    median."""
    return (
        f"the times of the grader's own kernel are spread by {100 * spread:.0f} %, so something"
        " else uses the GPU"
    )
