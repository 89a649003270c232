"""An exercise as the stages see it: frozen dataclasses, built and checked by `spec.reader`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from grader.cpp.expressions import Expression
from grader.records import DeviceInfo, Role, TensorMap, Texture, WhatIfMode
from grader.spec.statements import Plan
from grader.spec.whole_program import WholeProgram


class Initialisation(StrEnum):
    """How an input buffer is filled (NumPy's default_rng); the schema explains each."""

    NORMAL = "normal"
    UNIFORM = "uniform"
    POSITIVE = "positive"
    SMALL_INTEGERS = "small_integers"
    INTEGERS = "integers"
    INDEX = "index"
    PERMUTATION = "permutation"
    SORTED = "sorted"
    SPARSE = "sparse"
    CONSTANT = "constant"


@dataclass(frozen=True)
class InputFunction:
    """A function of the oracle's module at `path` that fills an input: `name(rng, shape,
    sizes)`."""

    path: Path
    name: str


@dataclass(frozen=True)
class BufferSpec:
    """A buffer of a task's signature. `shape` holds expressions of the sizes.

    `init` or `function` fills an input; an output of a part that has either is in-out: it holds
    that data before the launch. `texture`: its binding to a texture or surface object;
    `tensor_map`: likewise.
    """

    name: str
    dtype: str
    shape: tuple[Expression, ...]
    role: Role
    init: Initialisation | None = None
    texture: Texture | None = None
    function: InputFunction | None = None
    tensor_map: TensorMap | None = None


@dataclass(frozen=True)
class ScalarSpec:
    """A number that launch lines may use. If it is drawn, from `low` to `high`, `value` is `low`
    until `draws.draw_scalars` replaces it."""

    name: str
    dtype: str
    value: float
    low: float | None = None
    high: float | None = None

    @property
    def plain(self) -> int | float:
        """The value as a Python number; it takes the width of a kernel's parameter."""
        return self.value if self.dtype.startswith("float") else int(self.value)


@dataclass(frozen=True)
class Case:
    """A correctness case with concrete sizes. `init` overrides the buffers' own initialisation, but
    not their functions."""

    name: str
    sizes: Mapping[str, int]
    hidden: bool
    init: Initialisation | None = None


@dataclass(frozen=True)
class HiddenCase:
    """A hidden case before the seed is known: per size, the values it may be drawn from (a range or
    a list)."""

    name: str
    choices: Mapping[str, Sequence[int]]
    init: Initialisation | None = None


@dataclass(frozen=True)
class Tolerance:
    """How outputs compare with the oracle's: exactly where both are 0, else |got - expected| <=
    absolute + relative * |expected|."""

    absolute: float = 0.0
    relative: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether outputs must be equal."""
        return self.absolute == 0.0 and self.relative == 0.0


@dataclass(frozen=True)
class Float32Sum:
    """A tolerance for outputs that are float32 sums of `terms` products of two inputs;
    `tolerance.tolerance_at` derives the bound."""

    terms: Expression


class Units(StrEnum):
    """The units whose peak an exercise's arithmetic is compared with: units for floats, or tensor
    cores that multiply halves and sum in float."""

    FP32 = "fp32"
    TENSOR_CORES = "tensor_cores"


class Atomics(StrEnum):
    """Atomic operations that a task forbids: those on global memory, or those on shared memory
    too."""

    GLOBAL = "global"
    ALL = "all"


@dataclass(frozen=True)
class Forbidden:
    """Features that a submission may not use for a task; None or empty: nothing of that kind is
    forbidden.

    `scratch_bytes_above` is a formula of the sizes; `headers` are names of headers or of their
    folders, as in `#include`.
    """

    scratch_bytes_above: Expression | None = None
    device_variable_bytes_above: int | None = None
    atomics: Atomics | None = None
    headers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Task:
    """A plan's task: its buffers, its default plan, the correctness cases, the tolerance against
    the oracle's outputs, and the forbidden features. `hidden_left_out`: this is a students' copy
    without hidden cases."""

    title: str
    size_names: tuple[str, ...]
    buffers: tuple[BufferSpec, ...]
    default_plan: Plan
    public_cases: tuple[Case, ...]
    hidden_cases: tuple[HiddenCase, ...]
    tolerance: Tolerance | Float32Sum
    forbid: Forbidden = field(default=Forbidden(), kw_only=True)
    scalars: tuple[ScalarSpec, ...] = field(default=(), kw_only=True)
    hidden_left_out: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class Part(Task):
    """A further task for the same file, judged for correctness only. The oracle's function for it
    is `expected_<name>`."""

    name: str


class ComparedWith(StrEnum):
    """The program whose value of a metric a threshold is a multiple of."""

    BASELINE = "baseline"
    REFERENCE = "reference"


@dataclass(frozen=True)
class Threshold:
    """The full-mark threshold of a check and, for partial credit, where credit reaches zero.

    `at_least` or `at_most` is set, never both. Credit is linear between `zero_at` and the
    threshold. With `relative_to` the figures are multiples of the same metric's value of that
    program, on the same device at the same sizes.
    """

    at_least: float | None = None
    at_most: float | None = None
    zero_at: float | None = None
    relative_to: ComparedWith | None = None

    @property
    def full_mark(self) -> float:
        """The figure from which on a value earns all points."""
        full = self.at_least if self.at_least is not None else self.at_most
        assert full is not None  # spec.reader lets no other threshold through
        return full

    def scaled(self, factor: float) -> Threshold:
        """The threshold whose figures are `factor` times as large, relative to nothing."""
        at_least, at_most, zero_at = (
            None if figure is None else factor * figure
            for figure in (self.at_least, self.at_most, self.zero_at)
        )
        return Threshold(at_least, at_most, zero_at)


@dataclass(frozen=True)
class ConditionalHint:
    """A hint for submissions whose value of `metric` is at least or at most a figure: a rung of the
    exercise's ladder."""

    metric: str
    hint: str
    at_least: float | None = None
    at_most: float | None = None

    def fits(self, values: Mapping[str, float | None]) -> bool:
        """Whether these values of the metrics fulfil the condition; not if the value is unknown."""
        value = values.get(self.metric)
        return (
            value is not None
            and (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
        )


@dataclass(frozen=True)
class CheckSpec:
    """A graded check. `requires` names checks that must pass first; `overrides` maps a GPU's name
    in `devices/gpus.json` (`t4`) to its own threshold; `headline` is its label in the handout and
    the report; `part` names the part whose correctness it judges, None for the exercise itself.
    `excluded_on`: kinds of device on which it does not count; `kernel`: the kernel of a program
    whose launches it judges, None for all."""

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
    hints: tuple[ConditionalHint, ...] = ()
    part: str | None = None
    kernel: str | None = None
    excluded_on: tuple[str, ...] = ()

    def hint_for(self, values: Mapping[str, float | None]) -> str:
        """The first of `hints` that fits these values of the metrics, else `hint`."""
        return next((each.hint for each in self.hints if each.fits(values)), self.hint)

    def threshold_on(self, device: DeviceInfo | None) -> Threshold:
        """The threshold on this device: its GPU's own, else its kind's, if the spec gives one."""
        own = self.overrides or {}
        if device is None:
            return self.threshold
        return own.get(device.id) or own.get(device.kind) or self.threshold


@dataclass(frozen=True)
class Limits:
    """Limits of one execution of the plan, in wall time on a GPU and in processor time on the
    emulated device, and of the compilation. `warp_instructions` bounds mutants of a reference."""

    wall_seconds: float
    compile_seconds: float
    processor_seconds: float = 20.0
    warp_instructions: int = 10**15


@dataclass(frozen=True)
class PredictionQuestion:
    """A question whose answer the student predicts: the value of `metric`. For points, a range is
    at most `widest` times its larger end wide."""

    metric: str
    question: str
    widest: float = 0.2


@dataclass(frozen=True)
class Exercise(Task):
    """A whole exercise. `benchmark` maps a device kind (`gpu`, `emulated`) to sizes; formulas are
    of the sizes.

    `baseline_source` is the grader's starter, which `baseline_plan` and the further plans of
    `comparisons` launch; `reference_source` is None if the hidden reference is not shipped.
    `program`: it grades whole programs; the fields of kernels (buffers, plans, benchmark, formulas)
    are empty then. `questions`: for predictions.
    """

    id: str
    folder: Path
    baseline_source: Path
    baseline_plan: Plan
    reference_source: Path | None
    benchmark: Mapping[str, Mapping[str, int]]
    useful_bytes: Expression
    useful_flops: Expression | None
    limits: Limits
    checks: tuple[CheckSpec, ...]
    comparisons: Mapping[str, Plan] = field(default_factory=dict)
    parts: tuple[Part, ...] = ()
    units: Units = Units.FP32
    what_if: WhatIfMode = WhatIfMode.OFF
    program: WholeProgram | None = None
    questions: tuple[PredictionQuestion, ...] = ()

    def peak_tflops(self, device: DeviceInfo) -> float | None:
        """The device's peak of the exercise's arithmetic units; None if unknown."""
        if self.units is Units.TENSOR_CORES:
            return device.peak_tensor_tflops
        return device.peak_fp32_tflops

    @property
    def max_score(self) -> float:
        """Points of all checks that are not bonus checks."""
        return sum(check.points for check in self.checks if not check.bonus)
