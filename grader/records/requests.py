"""Requests to a device: launches on buffers, within limits; and the result of a timed launch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, NamedTuple

from grader.records.code import Binary


class Role(StrEnum):
    """The use of a device buffer in a plan."""

    INPUT = "input"
    OUTPUT = "output"
    SCRATCH = "scratch"


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


@dataclass(frozen=True)
class BufferArgument:
    """A kernel argument that is an address in a device buffer; `as_object`: it is the buffer's
    texture object, surface object or tensor map instead."""

    buffer: str
    as_object: bool = False
    offset_bytes: int = 0


@dataclass(frozen=True)
class ScalarArgument:
    """An integer kernel argument, already checked to fit the parameter's width, or the bits of a
    floating-point argument."""

    value: int
    size_bytes: int


@dataclass(frozen=True)
class StructArgument:
    """A structure by value: its parts with their byte offsets; the bytes between them are zero."""

    parts: tuple[tuple[int, BufferArgument | ScalarArgument], ...]


@dataclass(frozen=True)
class Launch:
    """A launch with all expressions evaluated: a kernel by its symbol, and concrete sizes."""

    symbol: str
    grid: Dim3
    block: Dim3
    dynamic_shared_bytes: int
    arguments: tuple[BufferArgument | ScalarArgument | StructArgument, ...]
    line: int | None
    text: str


@dataclass(frozen=True)
class MemoryPlace:
    """A place in a device buffer or, `in_variable`, in the `__device__` or `__constant__` variable
    with the symbol `name`."""

    name: str
    offset_bytes: int
    in_variable: bool = False


@dataclass(frozen=True)
class Copy:
    """A copy within the device; the places do not overlap. `line` and `text` as of a Launch."""

    target: MemoryPlace
    source: MemoryPlace
    size_bytes: int
    line: int | None
    text: str


@dataclass(frozen=True)
class Fill:
    """Bytes of device memory set to the same value, 0 to 255."""

    target: MemoryPlace
    byte: int
    size_bytes: int
    line: int | None
    text: str


Step = Launch | Copy | Fill
"""An operation of a program on the device."""


MOST_AXES = 5


class Addressing(StrEnum):
    """The value of a texture beyond its edges: the nearest texel, zero, or the texel of a repeated
    or mirrored picture (CUDA C++ Programming Guide, "Texture Object API")."""

    CLAMP = "clamp"
    BORDER = "border"
    WRAP = "wrap"
    MIRROR = "mirror"


@dataclass(frozen=True)
class Texture:
    """A texture object, or a surface object (`surface`), of a buffer. Where there are several
    `channels`, they are the last extent of the buffer's shape; where it is `layered`, the first
    extent is the number of layers.

    `linear`: it blends neighbours. `normalized`: coordinates of 0 to 1 cover the whole picture.
    `fractions`: integers of 8 or 16 bits are read as 0 to 1 (signed integers as -1 to 1).
    `fetched`: it lies in linear memory, for `tex1Dfetch`.
    """

    channels: int = 1
    layered: bool = False
    linear: bool = False
    addressing: Addressing = Addressing.CLAMP
    normalized: bool = False
    fractions: bool = False
    fetched: bool = False
    surface: bool = False

    def extents(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Texels along each axis, the fastest first, of a buffer of this shape; the layers, if it
        has any, last."""
        return tuple(reversed(shape[:-1] if self.channels > 1 else shape))


@dataclass(frozen=True)
class TensorMap:
    """A tensor map (CUtensorMap) of a buffer: a copy names a box by its corner (CUDA Driver API,
    `cuTensorMapEncodeTiled`).

    `box` and `steps` have a number for each extent of the buffer's shape, in its order: the
    elements that a box spans, and the distance between two copied elements. `swizzle_bytes`: within
    this number of bytes, chunks of 16 bytes change places; 0 for none. `element`: the type of the
    elements, where NumPy has no such type. `fills_with_nan`: elements outside of the tensor are
    NaN, else zero.
    """

    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle_bytes: int = 0
    element: str | None = None
    fills_with_nan: bool = False


@dataclass(frozen=True)
class DeviceBuffer:
    """A buffer on the device: `dtype` is NumPy's name, `shape` is in elements. Its contents travel
    beside this record. `texture` and `tensor_map` bind it, where it is bound."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: Role
    texture: Texture | None = None
    tensor_map: TensorMap | None = None

    @property
    def size_bytes(self) -> int:
        """Bytes of its contents."""
        import numpy as np  # loads on use: the command line starts without it

        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


POISON_WORD = 0x7FC0DEAD
"""The 4-byte pattern that outputs and scratch hold before a launch: a quiet NaN with a payload that
no kernel makes."""


@dataclass(frozen=True)
class RunLimits:
    """Limits of an execution of a plan: wall time on a GPU; on the emulated device executed warp
    instructions and processor time, so that a loaded machine gives the same verdict.

    `of_exercise`: the exercise sets them, else the caller of the run.
    """

    warp_instructions: int
    wall_seconds: float
    processor_seconds: float = 60.0
    of_exercise: bool = True


@dataclass(frozen=True)
class Detail:
    """Results of a run beyond the sums of its launches and source lines: `instructions`, the number
    of executions of each machine instruction; `cycles`, the stall breakdown of modelled cycles; and
    the largest number of `spans` of these that are kept with their times."""

    instructions: bool = False
    cycles: bool = False
    spans: int = 0


PLAIN = Detail()


@dataclass(frozen=True)
class CountingMode:
    """Run all blocks, and count.

    `backwards`: blocks and warps run in the opposite order, to find outputs that depend on it.
    `inspect_seed`: run in the opposite order too, and run some blocks, drawn by the seed, in the
    checked mode.
    """

    backwards: bool = False
    inspect_seed: int | None = None
    detail: Detail = PLAIN

    @property
    def runs(self) -> int:
        """How often the program runs: forwards, backwards, and a part of it in the checked mode."""
        return 1 if self.inspect_seed is None else 3


@dataclass(frozen=True)
class CheckedMode:
    """Run all blocks, and report findings: races, reads of unwritten memory, and more.
    `backwards`: see CountingMode."""

    backwards: bool = False
    detail: Detail = PLAIN
    runs: ClassVar[int] = 1


@dataclass(frozen=True)
class ModelledMode:
    """Run, count and model the time. For a long launch, a sample of the blocks may run, drawn by
    `seed`. `inspect`: as `CountingMode.inspect_seed`."""

    seed: int
    inspect: bool = False
    detail: Detail = PLAIN

    @property
    def runs(self) -> int:
        """How often the program runs: forwards, backwards, and a part of it in the checked mode."""
        return 3 if self.inspect else 1


Mode = CountingMode | CheckedMode | ModelledMode
"""How a device runs a program."""
COUNTING = CountingMode()


SUBMISSION = "submission"
"""The label of the graded program: its outputs are checked, and its faults are the student's."""


@dataclass(frozen=True)
class Program:
    """Machine code, its steps in order, and their buffers (the exercise's, and its own scratch).
    `label`: SUBMISSION, `naive`, `reference` or a comparison."""

    label: str
    binary: Binary
    steps: tuple[Step, ...]
    buffers: tuple[DeviceBuffer, ...]

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches among the steps."""
        return tuple(step for step in self.steps if isinstance(step, Launch))

    @property
    def keeps_something(self) -> bool:
        """Whether a run may change the variables of its binary."""
        copies = (step.target for step in self.steps if isinstance(step, Copy))
        return bool(self.binary.variable_bytes) or any(each.in_variable for each in copies)

    def up_to_launch(self, count: int) -> tuple[Step, ...]:
        """The steps up to and including the launch with this number, from 1."""
        places = [place for place, step in enumerate(self.steps, 1) if isinstance(step, Launch)]
        return self.steps[: places[count - 1]]


@dataclass(frozen=True)
class TimedStep:
    """A step of a measurement: run this program once on this input set."""

    program: str
    input_set: int


@dataclass(frozen=True)
class TimedLaunch:
    """The outcome of a step: the time of the whole plan; `right`: the outputs equal the verified
    outputs."""

    step: TimedStep
    milliseconds: float
    right: bool


@dataclass(frozen=True)
class ClockState:
    """The GPU during a measurement, sampled through NVML; None where NVML has no value.
    `throttled` names the reasons that occurred."""

    sm_mhz: tuple[int, int] | None = None
    memory_mhz: tuple[int, int] | None = None
    temperature_c: int | None = None
    throttled: tuple[str, ...] = ()
