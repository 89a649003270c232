"""Where the numbers of a score come from."""

from __future__ import annotations

from enum import StrEnum


class Source(StrEnum):
    """A clock on hardware, an exact count, or a model."""

    MEASURED = "measured"
    COUNTED = "counted"
    MODELLED = "modelled"
