"""The reason why Nsight Compute counted nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto


class Uncountable(Enum):
    """Reasons; `messages.counting` has a row for each."""

    FAILED = auto()
    FAILED_PLAN = auto()
    FAILED_REPLAY = auto()
    FILLED_OUTPUTS = auto()
    MISSING_COUNT = auto()
    MISSING_METRIC = auto()
    NOT_INSTALLED = auto()
    NOT_PERMITTED = auto()
    NO_DRIVER = auto()
    NO_LAUNCH = auto()
    NO_OUTPUT = auto()
    OTHER_LAUNCHES = auto()
    OTHER_PROFILER = auto()
    OVER_LIMIT = auto()
    UNKNOWN_GPU = auto()
    UNREADABLE_COUNT = auto()
    UNREADABLE_UNIT = auto()
    UNWRITTEN_REQUEST = auto()


@dataclass(frozen=True)
class NotCounted:
    """Nsight Compute counted nothing; `figures`: the values of the reason's sentence."""

    why: Uncountable
    figures: Mapping[str, int | str | float] = field(default_factory=dict)
