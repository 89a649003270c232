"""The grade that follows from a score: one rule for every export.

Pending points are neither earned nor lost: a submission that has some has no final grade, unless
the instructor decides. Excluded checks are out of the total, and a grade is scaled to the full
points of the exercise. Points of bonus checks come on top, unscaled.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class PendingRule(StrEnum):
    """The instructor's decision about pending points: they count as lost, or the points of the
    judged checks are scaled to the full points."""

    LOST = "lost"
    SCALED = "scaled"


@dataclass(frozen=True)
class Marks:
    """The points of a score: `earned` by the checks that count and by `bonus` checks. `total` is
    the points of all checks that are not excluded, `full` those of the exercise."""

    earned: float
    bonus: float
    judged: float
    total: float
    full: float

    @property
    def pending(self) -> float:
        """Points that this device could not judge."""
        return round(self.total - self.judged, 2)

    def factor(self, rule: PendingRule | None) -> float | None:
        """The factor from points to a grade; None while there is no final grade."""
        if self.pending and rule is None:
            return None
        base = self.judged if rule is PendingRule.SCALED else self.total
        return self.full / base if base else None

    def grade(self, rule: PendingRule | None = None) -> float | None:
        """Points out of `full`; None while there is no final grade."""
        factor = self.factor(rule)
        return None if factor is None else round(self.earned * factor + self.bonus, 2)
