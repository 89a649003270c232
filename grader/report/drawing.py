"""Tools for all SVG pictures: logarithmic axes with their ticks, short numbers, and elements."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis from `low` to `high` over `length` pixels."""

    low: float
    high: float
    length: float

    def place(self, value: float) -> float:
        """Pixels from the start of the axis."""
        return self.length * math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """Powers of ten on the axis, at most a few; with 2 and 5 times them where there are fewer
        than three."""
        decades = range(math.floor(math.log10(self.low)) - 1, math.ceil(math.log10(self.high)) + 1)
        coarse, fine = (
            [
                tick
                for decade in decades
                for digit in digits
                if self.low <= (tick := digit * 10.0**decade) <= self.high
            ]
            for digits in ((1,), (1, 2, 5))
        )
        return coarse[:: 1 + len(coarse) // 8] if len(coarse) >= 3 else fine


def format_short(value: float, *, digits: int = 3) -> str:
    """`2048`, `0.05`, `1.5M`, `1e-5`, with this many significant digits."""
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{value / factor:.{digits}g}{letter}"
    if value >= 10000:
        return f"{value / 1000:.{digits}g}k"
    return f"{value:.{max(digits, 4) if value >= 1000 else digits}g}"


def draw_text(attributes: Mapping[str, str], text: str) -> str:
    """A text element; the text is escaped."""
    listed = " ".join(f'{name}="{value}"' for name, value in attributes.items())
    return f"<text {listed}>{escape(text, _QUOTES)}</text>"


_QUOTES = {'"': "&#34;", "'": "&#39;"}
