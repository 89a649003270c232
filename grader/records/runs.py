"""Results of a run: counters of launches and of source lines, traffic, modelled times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto
from typing import Annotated

from grader.records.accesses import WarpAccess
from grader.records.bounds import LATER, Amount, Count
from grader.records.counters import Counters
from grader.records.facts import Observation, Stop
from grader.records.requests import SUBMISSION, Dim3
from grader.records.warp_cycles import WarpCycles


@dataclass(frozen=True)
class Uncounted:
    """Data that no counter includes, in Nsight Compute and in the emulated device: bytes that bulk
    copies load from global memory and store there, and accesses to shared memory of other
    blocks."""

    loaded_bytes: int = 0
    stored_bytes: int = 0
    remote_accesses: int = 0

    def __add__(self, other: Uncounted) -> Uncounted:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Uncounted(*(a + b for a, b in pairs))


@dataclass(frozen=True)
class LineCounters:
    """The counters of a source line of the submission; `line` None gathers code from headers."""

    line: int | None
    counters: Counters


@dataclass(frozen=True)
class Bound:
    """A resource of a GPU and the part of it that a launch uses."""

    resource: str
    used: Amount
    """The part of it that the launch uses, 0 to 1."""
    advice: str
    """A change that makes a launch faster which this resource limits."""


@dataclass(frozen=True)
class Lookups:
    """Requests to a cache, in sectors of 32 bytes, and the hits among them."""

    hits: Amount
    sectors: Amount

    def __add__(self, other: Lookups) -> Lookups:
        return Lookups(self.hits + other.hits, self.sectors + other.sectors)

    @property
    def hit_rate(self) -> float | None:
        """Hits over requested sectors, 0 to 1; None without requests."""
        return self.hits / self.sectors if self.sectors else None


@dataclass(frozen=True)
class Traffic:
    """Traffic of a launch, or of a plan, beyond the load/store units: for information, since it
    varies from run to run on a GPU.

    `dram_bytes` are moved between L2 and DRAM; `l1` counts global loads, `l2` all requests. None:
    unknown. A sum is known where all its terms are known.
    """

    dram_bytes: float | None = None
    l1: Lookups | None = None
    l2: Lookups | None = None

    def __add__(self, other: Traffic) -> Traffic:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Traffic(*(None if None in (a, b) else a + b for a, b in pairs))


@dataclass(frozen=True)
class Modelled:
    """The modelled time of a launch, with a cold L2. Where fewer than all blocks were executed,
    the counters of the launch are those of this sample, scaled."""

    time_ms: Amount
    dram_bytes: Amount
    """Moved between L2 and DRAM."""
    bounds: tuple[Bound, ...]
    """The limiting resource and the two next resources."""
    blocks_run: Count
    """Blocks that were executed for it."""
    blocks: Count
    """Blocks of the launch."""
    l1: Annotated[Lookups | None, LATER] = None
    """Sectors that global loads request from the simulated L1 cache, and the hits among them."""
    kind: Annotated[str | None, LATER] = None
    """The kind of launch that the accuracy of the time depends on (docs/timing-model.md)."""
    interval_ms: Annotated[tuple[float, float] | None, LATER] = None
    """It contains the true time in nine of ten cases."""
    l2: Annotated[Lookups | None, LATER] = None
    """Sectors that are requested from the modelled L2 cache, and the hits among them."""


@dataclass(frozen=True)
class Sample:
    """The sample of a launch with `blocks` blocks: `window` consecutive blocks of one SM, and
    `spread` blocks drawn at random."""

    blocks: int
    window: int
    spread: int


@dataclass(frozen=True)
class Launched:
    """A launch of a kernel with its resources: registers and local bytes per thread, shared bytes
    per block. `occupancy` is theoretical, 0 to 1."""

    kernel: str
    grid: Dim3
    block: Dim3
    registers: int
    static_shared_bytes: int
    dynamic_shared_bytes: int
    local_bytes: int
    occupancy: float


class Unmodelled(StrEnum):
    """Why a launch has no modelled time: the traced blocks do not represent the others; its threads
    wait for each other in loops."""

    UNEVEN_BLOCKS = "uneven_blocks"
    WAITS = "waits"


@dataclass(frozen=True)
class LaunchResult(Launched):
    """The counters and resources of a launch of a plan.

    `printed` is the kept output of `printf`, block after block; empty where the device does not
    collect it. `modelled` is None in a run without modelled times; `unmodelled` is the reason why a
    time is missing in a run with them. Where only a `sample` of the blocks ran, the counters are
    scaled to all blocks. `waited`: threads wait for each other in loops, here or on a GPU; the
    number of their iterations depends on time, and so do the counters. `executed` (warps per
    machine instruction) and `cycles` exist on request (`Detail`). Only the emulated device has
    `uncounted`.
    """

    counters: Counters
    lines: tuple[LineCounters, ...]
    printed: str = ""
    modelled: Modelled | None = None
    unmodelled: Unmodelled | None = None
    sample: Sample | None = None
    waited: bool = False
    executed: tuple[int, ...] = ()
    cycles: WarpCycles | None = None
    uncounted: Uncounted = Uncounted()


@dataclass(frozen=True)
class Execution:
    """The outcome of running a plan once. `failure` is the reason why it stopped early; the
    counters are partial then. `culprit` is the label of the program that failed, where several were
    run.

    `printed` is the output of `printf` where the device cannot separate it by launch; `findings`
    are those of the checked mode in a plan that ran to its end. `accesses` are the worst accesses
    of source lines, where the device keeps their addresses. `same_backwards`: whether the outputs
    are the same with blocks and warps in the opposite order; None where that was not tried, or
    ended in `backwards_failure`. `transfers_ms`: the modelled time of copies and fills between the
    launches.
    """

    launches: tuple[LaunchResult, ...]
    modified_inputs: tuple[str, ...] = ()
    failure: Stop | None = None
    printed: str = ""
    findings: tuple[Observation, ...] = ()
    same_backwards: bool | None = None
    backwards_failure: Stop | None = None
    culprit: str = SUBMISSION
    transfers_ms: float = 0.0
    accesses: tuple[WarpAccess, ...] = ()

    @property
    def ran_whole(self) -> bool:
        """Whether all blocks of all launches ran."""
        return self.failure is None and all(launch.sample is None for launch in self.launches)


class Uncountable(Enum):
    """The reason why Nsight Compute counted nothing; `messages.counting` has a row for each."""

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
