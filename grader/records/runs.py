"""What a run left: exact counters, of launches and of source lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from grader.records.accesses import WarpAccess
from grader.records.bounds import LATER, Amount, Count
from grader.records.counters import Counters
from grader.records.facts import Observation, Stop
from grader.records.requests import SUBMISSION, Dim3
from grader.records.warp_cycles import WarpCycles


@dataclass(frozen=True)
class Uncounted:
    """What moves data past the counters, of Nsight Compute and of the emulated device: bytes that
    bulk copies load from global memory and store there, and accesses to shared memory of other
    blocks."""

    loaded_bytes: int = 0
    stored_bytes: int = 0
    remote_accesses: int = 0

    def __add__(self, other: Uncounted) -> Uncounted:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return Uncounted(*(a + b for a, b in pairs))


@dataclass(frozen=True)
class LineCounters:
    """The counters of one source line of the submission; `line` None gathers code from headers."""

    line: int | None
    counters: Counters


@dataclass(frozen=True)
class Bound:
    """One resource of a GPU and the part of it that a launch uses."""

    resource: str
    used: Amount
    """The part of it that the launch uses, 0 to 1."""
    advice: str
    """A change that makes a launch faster which this resource limits."""


@dataclass(frozen=True)
class Lookups:
    """Sectors of 32 bytes that a cache was asked for, and those of them that it held."""

    hits: Amount
    sectors: Amount

    def __add__(self, other: Lookups) -> Lookups:
        return Lookups(self.hits + other.hits, self.sectors + other.sectors)

    @property
    def hit_rate(self) -> float | None:
        """The part of the sectors that the cache held, 0 to 1; None where it was asked for none."""
        return self.hits / self.sectors if self.sectors else None


@dataclass(frozen=True)
class Traffic:
    """What a launch, or a plan, moved behind the load/store units: for information, since it varies
    from run to run on a GPU.

    `dram_bytes` between L2 and DRAM; `l1` for global loads, `l2` for whatever reached it. None: not
    known. A sum knows what all know.
    """

    dram_bytes: float | None = None
    l1: Lookups | None = None
    l2: Lookups | None = None

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(
            (
                None
                if self.dram_bytes is None or other.dram_bytes is None
                else self.dram_bytes + other.dram_bytes
            ),
            None if self.l1 is None or other.l1 is None else self.l1 + other.l1,
            None if self.l2 is None or other.l2 is None else self.l2 + other.l2,
        )


@dataclass(frozen=True)
class Modelled:
    """The modelled time of one launch, with a cold L2. Where fewer than all blocks were executed,
    the counters of the launch are those of this sample, scaled."""

    time_ms: Amount
    dram_bytes: Amount
    """Moved between L2 and DRAM."""
    bounds: tuple[Bound, ...]
    """The limiting resource and the two next ones."""
    blocks_run: Count
    """Blocks that were executed for it."""
    blocks: Count
    """Blocks of the launch."""
    l1: Annotated[Lookups | None, LATER] = None
    """Sectors that global loads request of the simulated L1 cache, and those of them that it
    holds."""
    kind: Annotated[str | None, LATER] = None
    """What dominates the launch, as far as the accuracy of its time depends on it
    (docs/timing-model.md)."""
    interval_ms: Annotated[tuple[float, float] | None, LATER] = None
    """It contains the true time in nine of ten cases."""


@dataclass(frozen=True)
class Sample:
    """The blocks of a launch that stand for all `blocks`: `window` blocks that one SM runs one
    after another, and `spread` blocks drawn at random."""

    blocks: int
    window: int
    spread: int


@dataclass(frozen=True)
class Launched:
    """A launch of a kernel, and the resources it ran with: registers and local bytes of a thread,
    shared bytes of a block. `occupancy` is theoretical, 0 to 1."""

    kernel: str
    grid: Dim3
    block: Dim3
    registers: int
    static_shared_bytes: int
    dynamic_shared_bytes: int
    local_bytes: int
    occupancy: float


@dataclass(frozen=True)
class LaunchResult(Launched):
    """What one launch of a plan counted, and the resources it ran with.

    `printed` is what its `printf` wrote, block after block, as far as it was kept; empty where the
    device does not collect it. `modelled` is there where the run was to be modelled
    (`GradedRun.model_time`), else `unmodelled` may say why not. Where only a `sample` of the blocks
    ran, the counters are made up for the others. `waited`: threads waited in loops for each other;
    how often they looked is a matter of time, and the counters with it. `executed` (by machine
    instruction, in warps) and `cycles` are there where they were asked for (`Detail`). Only the
    emulated device knows `uncounted`.
    """

    counters: Counters
    lines: tuple[LineCounters, ...]
    printed: str = ""
    modelled: Modelled | None = None
    unmodelled: str = ""
    sample: Sample | None = None
    waited: bool = False
    executed: tuple[int, ...] = ()
    cycles: WarpCycles | None = None
    uncounted: Uncounted = Uncounted()


@dataclass(frozen=True)
class Execution:
    """The outcome of running a plan once. `failure` is set when it did not run to its end; counters
    are then partial. `culprit` is the label of the program that failed, where several were run.

    `printed` is what its `printf` wrote where that cannot be told apart by launch; `findings` are
    what the checked mode saw in a plan that did run to its end. `accesses` are the worst ones of
    source lines, where the device keeps their addresses. `same_backwards`: whether blocks and warps
    in the opposite order left the same outputs; None where that was not tried, or ended in
    `backwards_failure`. `transfers_ms`: what copies and fills between the launches take, where
    times are modelled.
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
