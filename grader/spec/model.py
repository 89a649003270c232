"""An exercise as the stages see it: frozen dataclasses, built and checked by `spec.read`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from grader.records import Role
from grader.spec.expressions import Expression
from grader.spec.plans import Plan


class Initialisation(StrEnum):
    """How an input buffer is filled (NumPy's default_rng): N(0, 1), small integers -8 to 8, or element index."""

    NORMAL = "normal"
    SMALL_INTEGERS = "small_integers"
    INDEX = "index"


@dataclass(frozen=True)
class BufferSpec:
    """A buffer of the exercise's signature. `shape` holds expressions of the sizes; `init` is for inputs only."""

    name: str
    dtype: str
    shape: tuple[Expression, ...]
    role: Role
    init: Initialisation | None = None


@dataclass(frozen=True)
class Case:
    """One correctness case with concrete sizes. `init` overrides the buffers' own initialisation."""

    name: str
    sizes: Mapping[str, int]
    hidden: bool
    init: Initialisation | None = None


@dataclass(frozen=True)
class HiddenCase:
    """A hidden case before the seed is known: per size, the values it may be drawn from (a range or a list)."""

    name: str
    choices: Mapping[str, Sequence[int]]
    init: Initialisation | None = None


@dataclass(frozen=True)
class Tolerance:
    """How outputs compare with the oracle's: exactly where both are 0, else |got - expected| <= absolute + relative * |expected|."""

    absolute: float = 0.0
    relative: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether outputs must be equal."""
        return self.absolute == 0.0 and self.relative == 0.0


@dataclass(frozen=True)
class Threshold:
    """The full-mark threshold of a check and, for partial credit, where credit reaches zero.

    `at_least` or `at_most` is set, never both. Credit is linear between `zero_at` and the threshold.
    """

    at_least: float | None = None
    at_most: float | None = None
    zero_at: float | None = None


@dataclass(frozen=True)
class CheckSpec:
    """One graded check. `requires` names checks that must pass first; `overrides` maps a GPU's name in
    `devices/gpus.json` (`t4`) to its own threshold; `headline` is the label of the line promised by the handout.
    """

    name: str
    title: str
    metric: str
    points: float
    threshold: Threshold
    requires: tuple[str, ...] = ()
    overrides: Mapping[str, Threshold] | None = None
    headline: str | None = None
    bonus: bool = False
    hint: str = ""


@dataclass(frozen=True)
class Limits:
    """Limits of one execution of the plan, and of the compilation."""

    warp_instructions: int
    wall_seconds: float
    compile_seconds: float


@dataclass(frozen=True)
class Exercise:
    """A whole exercise. `benchmark` maps a device kind (`gpu`, `emulated`) to sizes; formulas are of the sizes.

    `baseline_source` is the grader's starter; `reference_source` is None where the hidden reference is not shipped.
    """

    id: str
    title: str
    folder: Path
    size_names: tuple[str, ...]
    buffers: tuple[BufferSpec, ...]
    default_plan: Plan
    baseline_source: Path
    baseline_plan: Plan
    reference_source: Path | None
    public_cases: tuple[Case, ...]
    hidden_cases: tuple[HiddenCase, ...]
    tolerance: Tolerance
    benchmark: Mapping[str, Mapping[str, int]]
    useful_bytes: Expression
    useful_flops: Expression | None
    limits: Limits
    checks: tuple[CheckSpec, ...]

    @property
    def max_score(self) -> float:
        """Points of all checks that are not bonus checks."""
        return sum(check.points for check in self.checks if not check.bonus)
