"""The nouns that cross a stage: frozen dataclasses and the closed sets that they use.

Everything that one stage hands to the next, or that the worker process sends over its pipe, is here.
Arrays travel beside these records (in dicts keyed by buffer name), never inside them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol


class Status(StrEnum):
    """How the grading of one submission ended. What is the student's doing and what is ours never mix."""

    PASSED = "passed"
    FAILED = "failed"
    COMPILE_ERROR = "compile_error"
    LAUNCH_ERROR = "launch_error"
    RUNTIME_ERROR = "runtime_error"
    TIMEOUT = "timeout"
    REJECTED = "rejected"
    UNSUPPORTED = "unsupported"
    INCONCLUSIVE = "inconclusive"
    GRADER_ERROR = "grader_error"


class CheckStatus(StrEnum):
    """How one check of the spec ended. `skipped`: a prerequisite failed; `not_measured`: no value, see the reason."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_MEASURED = "not_measured"


class Source(StrEnum):
    """Where a number comes from: a clock on hardware, an exact count, or a model."""

    MEASURED = "measured"
    COUNTED = "counted"
    MODELLED = "modelled"


class Role(StrEnum):
    """What a device buffer is to a kernel plan."""

    INPUT = "input"
    OUTPUT = "output"
    SCRATCH = "scratch"


class FindingKind(StrEnum):
    """What a device found wrong while it ran a kernel."""

    OUT_OF_BOUNDS = "out_of_bounds"
    MISALIGNED = "misaligned"
    BARRIER_DIVERGENCE = "barrier_divergence"
    INSTRUCTION_LIMIT = "instruction_limit"
    WALL_LIMIT = "wall_limit"
    TRAP = "trap"
    INPUT_MODIFIED = "input_modified"


class Dim3(NamedTuple):
    """CUDA's dim3: blocks of a grid or threads of a block."""

    x: int
    y: int = 1
    z: int = 1

    @property
    def volume(self) -> int:
        """Number of elements: x * y * z."""
        return self.x * self.y * self.z

    def __str__(self) -> str:
        return f"({self.x}, {self.y}, {self.z})"


# --- the submission -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Submission:
    """One `.cu` file as read: its shown name, the SHA-256 of its bytes, and its text."""

    name: str
    sha256: str
    text: str

    def line(self, number: int) -> str:
        """The 1-based source line, stripped; empty when there is no such line."""
        lines = self.text.splitlines()
        return lines[number - 1].strip() if 1 <= number <= len(lines) else ""


@dataclass(frozen=True)
class Finding:
    """Something a device found wrong, as precisely as it is known. `offset_bytes` is relative to the buffer's start."""

    kind: FindingKind
    message: str
    kernel: str | None = None
    line: int | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None
    buffer: str | None = None
    offset_bytes: int | None = None
    other_line: int | None = None


@dataclass(frozen=True)
class Failure:
    """A student's mistake that ends the grading: a value, not an exception.

    `message` is one sentence that says what is wrong and where; `detail` may quote a tool at length;
    `advice` says what to try next.
    """

    status: Status
    message: str
    detail: str = ""
    advice: str = ""
    findings: tuple[Finding, ...] = ()


# --- what the compiler made ------------------------------------------------------------------------


@dataclass(frozen=True)
class SassInstruction:
    """One machine instruction as nvdisasm prints it. `predicate` is `@P0`, `@!UP1` or None.

    `line` is the 1-based line of the submission; None for code that comes from a header.
    """

    offset: int
    predicate: str | None
    opcode: str
    operands: str
    line: int | None


@dataclass(frozen=True)
class KernelParameter:
    """One `__global__` parameter: where it lies in the parameter space, and its C++ type where it is known.

    `type` is as the demangler prints it (`float const*`); None for C linkage, whose symbols carry no types.
    """

    offset: int
    size_bytes: int
    type: str | None = None

    @property
    def is_pointer(self) -> bool | None:
        """Whether the parameter points to data (`float*`, `float (*) [4]`); None when its type is not known."""
        return None if self.type is None else re.search(r"(?:\*|\(\*+\)\s*(?:\[\d*\])+)\Z", self.type) is not None


@dataclass(frozen=True)
class Pointer:
    """Eight bytes that a loader fills in: the address of a symbol (a variable, or a function of the system) plus `addend`."""

    offset: int
    symbol: str
    addend: int


@dataclass(frozen=True)
class DeviceVariable:
    """A `__device__` variable, or a literal string that the code points to. Behind `initial` it is zero up to `size_bytes`."""

    name: str
    size_bytes: int
    initial: bytes = b""
    pointers: tuple[Pointer, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """One compiled `__global__` function: resources as ptxas gave them, and its machine code.

    `name` is the source name (`transpose<32, 8>`, `ns::k`), `symbol` the mangled one.
    `static_shared_bytes` leaves out what the system reserves (1 KiB a block on sm_90). `constants` holds the constant
    banks with fixed contents: 2 (literals and jump tables), 3 (`__constant__` variables), 4 (addresses); `pointers` says what
    a loader fills in there.
    """

    symbol: str
    name: str
    parameters: tuple[KernelParameter, ...]
    parameter_base: int
    registers: int
    static_shared_bytes: int
    local_bytes: int
    max_threads_per_block: int | None
    instructions: tuple[SassInstruction, ...]
    constants: dict[int, bytes] = field(default_factory=dict)
    pointers: dict[int, tuple[Pointer, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Binary:
    """A cubin and what was read from it. `compiler` is nvcc's version, `arch` e.g. `sm_90`.

    `variable_bytes` is what its `__device__` variables take on a device.
    """

    arch: str
    compiler: str
    cubin: bytes
    kernels: tuple[Kernel, ...]
    warnings: str = ""
    variable_bytes: int = 0
    variables: tuple[DeviceVariable, ...] = ()


# --- what is launched --------------------------------------------------------------------------------


@dataclass(frozen=True)
class BufferArgument:
    """A kernel argument that is the address of a device buffer."""

    buffer: str


@dataclass(frozen=True)
class ScalarArgument:
    """An integer kernel argument, already checked to fit the parameter's width."""

    value: int
    size_bytes: int


@dataclass(frozen=True)
class Launch:
    """One launch with all expressions evaluated: a kernel by its symbol, and concrete sizes."""

    symbol: str
    grid: Dim3
    block: Dim3
    dynamic_shared_bytes: int
    arguments: tuple[BufferArgument | ScalarArgument, ...]
    line: int | None
    text: str


@dataclass(frozen=True)
class DeviceBuffer:
    """A buffer on the device: `dtype` is NumPy's name, `shape` in elements. Its contents travel beside this record."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: Role


@dataclass(frozen=True)
class RunLimits:
    """What one execution of a plan may use: executed warp instructions (emulated device) and wall time."""

    warp_instructions: int
    wall_seconds: float


SUBMISSION = "submission"
"""The label of the program that is graded: the one that may fail, and whose outputs are checked."""


@dataclass(frozen=True)
class Program:
    """Something that is timed; `label`: SUBMISSION, `naive`, `reference` or a comparison. `buffers`: the exercise's and its own scratch."""

    label: str
    binary: Binary
    launches: tuple[Launch, ...]
    buffers: tuple[DeviceBuffer, ...]


@dataclass(frozen=True)
class TimedStep:
    """One step of a measurement: run this program once on this input set."""

    program: str
    input_set: int


@dataclass(frozen=True)
class TimedLaunch:
    """The outcome of a step: time of the whole plan in milliseconds; `right` whether the outputs equal the verified ones."""

    step: TimedStep
    milliseconds: float
    right: bool


@dataclass(frozen=True)
class ClockState:
    """The GPU while a measurement ran, sampled through NVML; None where NVML does not say. `throttled` names the reasons seen."""

    sm_mhz: tuple[int, int] | None = None
    memory_mhz: tuple[int, int] | None = None
    temperature_c: int | None = None
    throttled: tuple[str, ...] = ()


# --- what a device answers ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Counters:
    """Exact counters with Nsight Compute's meaning (DESIGN 3.3). Sums: adding two records adds every field.

    Nsight Compute itself has the ideal sectors of loads and stores together only: both are in `global_load_sectors_ideal` then.
    """

    instructions_executed: int = 0
    thread_instructions_executed: int = 0
    shared_load_instructions: int = 0
    shared_store_instructions: int = 0
    shared_load_wavefronts: int = 0
    shared_store_wavefronts: int = 0
    shared_wavefronts_ideal: int = 0
    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_sectors_ideal: int = 0
    global_load_bytes: int = 0
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_sectors_ideal: int = 0
    global_store_bytes: int = 0

    def __add__(self, other: Counters) -> Counters:
        return Counters(*(a + b for a, b in zip(self.values(), other.values(), strict=True)))

    def values(self) -> tuple[int, ...]:
        """All fields in declaration order."""
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)

    @property
    def shared_wavefronts(self) -> int:
        """Wavefronts of shared loads and stores together."""
        return self.shared_load_wavefronts + self.shared_store_wavefronts

    @property
    def shared_wavefronts_excessive(self) -> int:
        """Wavefronts beyond the ideal: the address-exact bank conflicts that are graded (DESIGN 3.3)."""
        return self.shared_wavefronts - self.shared_wavefronts_ideal

    @property
    def global_load_efficiency(self) -> float | None:
        """Useful bytes over moved bytes of global loads, 0 to 1; None without loads."""
        return self.global_load_bytes / (32 * self.global_load_sectors) if self.global_load_sectors else None

    @property
    def global_store_efficiency(self) -> float | None:
        """Useful bytes over moved bytes of global stores, 0 to 1; None without stores."""
        return self.global_store_bytes / (32 * self.global_store_sectors) if self.global_store_sectors else None


@dataclass(frozen=True)
class LineCounters:
    """The counters of one source line of the submission; `line` None gathers code from headers."""

    line: int | None
    counters: Counters


@dataclass(frozen=True)
class LaunchResult:
    """What one launch of a plan counted, and the resources it ran with. `occupancy` is theoretical, 0 to 1.

    `printed` is what its `printf` wrote, block after block, as far as it was kept; empty where the device does not collect it.
    """

    kernel: str
    grid: Dim3
    block: Dim3
    registers: int
    static_shared_bytes: int
    dynamic_shared_bytes: int
    local_bytes: int
    occupancy: float
    counters: Counters
    lines: tuple[LineCounters, ...]
    printed: str = ""


@dataclass(frozen=True)
class Execution:
    """The outcome of running a plan once. `failure` is set when it did not run to its end; counters are then partial."""

    launches: tuple[LaunchResult, ...]
    modified_inputs: tuple[str, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True)
class LaunchLimits:
    """What CUDA allows one launch on a device (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability")."""

    max_threads_per_block: int
    max_block: Dim3
    max_grid: Dim3
    max_shared_bytes_per_block: int
    max_registers_per_block: int


@dataclass(frozen=True)
class DeviceInfo:
    """The device that a score was made on. `stands_for` says in words what the figures stand for; `id` is its key in gpus.json.

    `peak_source` says where the two peaks are from.
    """

    kind: str
    id: str
    name: str
    compute_capability: str
    arch: str
    peak_bandwidth_gbps: float
    peak_fp32_tflops: float
    limits: LaunchLimits
    stands_for: str
    peak_source: str = "published by NVIDIA"


# --- judging --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mismatch:
    """Where an output is wrong. `picture` is a small map of the matrix, a string per row of cells (see judging.compare).

    Of a hidden case, what tells its sizes is left out: index and counts are None, and the picture is empty (judging.hidden).
    """

    buffer: str
    index: tuple[int, ...] | None
    expected: float
    got: float
    wrong_elements: int | None
    total_elements: int | None
    worst_error: float
    picture: tuple[str, ...] = ()


@dataclass(frozen=True)
class CaseResult:
    """One correctness case, of the exercise itself or of a `part`. The sizes of hidden cases are kept out of what students are shown."""

    name: str
    hidden: bool
    sizes: dict[str, int]
    passed: bool
    message: str
    worst_error: float | None = None
    mismatch: Mismatch | None = None
    part: str | None = None


@dataclass(frozen=True)
class PartResult:
    """How a part of an exercise went: its cases, and what ended it before the last one.

    `failure` is that of a plan that cannot be launched or did not run to its end; `absent` says why the file leaves the part out.
    """

    part: str
    cases: tuple[CaseResult, ...] = ()
    failure: Failure | None = None
    absent: str | None = None


@dataclass(frozen=True)
class MetricValue:
    """One metric of a score: `value` None comes with a `reason`; `name` is a key of `metrics.METRICS`.

    `interval` is where the true value lies as far as a measurement tells (judging.timing); None for what is counted.
    """

    name: str
    value: float | None
    unit: str
    source: Source | None
    reason: str | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class CheckResult:
    """One check of the spec, judged. `threshold` is words and figure (`>= 0.8`); `hint` says what to try.

    `relative_value` is the other program's value that the threshold is a multiple of, where it is one and the value is known.
    """

    name: str
    title: str
    status: CheckStatus
    points: float
    max_points: float
    metric: str
    value: float | None
    threshold: str
    unit: str
    source: Source | None
    message: str
    hint: str = ""
    headline: str | None = None
    bonus: bool = False
    relative_value: float | None = None


@dataclass(frozen=True)
class Timing:
    """Samples of one timed plan in milliseconds: `interval_ms` is a distribution-free interval of the median."""

    plan: str
    median_ms: float
    interval_ms: tuple[float, float]
    samples_ms: tuple[float, ...]


@dataclass(frozen=True)
class SourceLine:
    """Counters of one source line with the text that a student sees."""

    line: int | None
    text: str
    counters: Counters


@dataclass(frozen=True)
class Resources:
    """What one kernel of the plan uses: registers a thread, bytes a block (shared) and a thread (local)."""

    kernel: str
    registers: int
    shared_bytes: int
    local_bytes: int
    occupancy: float


@dataclass(frozen=True)
class Score:
    """The result of grading one submission: what the score JSON holds (DESIGN 2.3)."""

    exercise: str
    submission_name: str
    submission_sha256: str
    status: Status
    message: str
    score: float
    max_score: float
    judged_points: float
    device: DeviceInfo | None
    checks: tuple[CheckResult, ...]
    metrics: tuple[MetricValue, ...]
    cases: tuple[CaseResult, ...]
    timings: tuple[Timing, ...]
    lines: tuple[SourceLine, ...]
    findings: tuple[Finding, ...]
    resources: tuple[Resources, ...]
    environment: dict[str, str]
    seed: int
    detail: str = ""
    advice: str = ""
    schema_version: int = field(default=1)

    @property
    def exit_code(self) -> int:
        """Exit code of `grade` for this score (DESIGN 2.3): 0 full marks, 1 graded, 3 the grader's or machine's fault."""
        if self.status in (Status.GRADER_ERROR, Status.INCONCLUSIVE):
            return 3
        return 0 if self.status is Status.PASSED else 1


# --- doing things ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Progress:
    """A step of long work: `stage` names it, `done` of `total` steps are finished; total None when unknown."""

    stage: str
    done: int = 0
    total: int | None = None


ShowProgress = Callable[[Progress], None]


@dataclass(frozen=True)
class ToolLimits:
    """What a tool (nvcc, nvdisasm, ...) may use. `output_bytes` bounds each of stdout and stderr, and each written file."""

    wall_seconds: float = 60.0
    memory_bytes: int = 6 << 30
    file_bytes: int = 64 << 20
    output_bytes: int = 4 << 20


@dataclass(frozen=True)
class Completed:
    """A tool that ended. `limit` names the limit that ended it (`time`, `output`), or None."""

    returncode: int
    stdout: str
    stderr: str
    limit: str | None = None


class RunTool(Protocol):
    """Runs a tool in a process group of its own, under limits, with a scrubbed environment."""

    def __call__(
        self, argv: Sequence[str], *, cwd: Path | None = None, limits: ToolLimits = ..., env: dict[str, str] | None = None
    ) -> Completed: ...
