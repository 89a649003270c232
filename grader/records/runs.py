"""What a run left: exact counters, of launches and of source lines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from grader.records.accesses import WarpAccess
from grader.records.facts import Observation, Stop
from grader.records.requests import SUBMISSION, Dim3
from grader.records.warp_cycles import WarpCycles


@dataclass(frozen=True)
class GlobalAccesses:
    """Sums over accesses to global memory in one direction. `sectors` are of 32 bytes, `bytes` what
    the threads asked for. Nsight Compute adds the bytes that generic accesses had from shared and
    local memory: no ideal sectors hold those. `sectors_ideal` is 0 where it is not known."""

    requests: int
    sectors: int
    sectors_ideal: int
    bytes: int

    @property
    def efficiency(self) -> float | None:
        """Useful bytes over moved bytes, 0 to 1; None where nothing moved."""
        return self.useful_bytes / (32 * self.sectors) if self.sectors else None

    @property
    def useful_bytes(self) -> int:
        """Bytes of the sectors that the threads asked for."""
        return min(self.bytes, 32 * (self.sectors_ideal or self.sectors), 32 * self.sectors)

    @property
    def wasted_bytes(self) -> int:
        """Bytes of the sectors that nobody asked for."""
        return 32 * self.sectors - self.useful_bytes


@dataclass(frozen=True)
class Counters:
    """Exact counters with Nsight Compute's meaning (docs/devices.md). Sums: adding two records adds
    every field.

    Atomics are counted apart from loads and stores. `global_atomic_*` are of all of them; of these,
    `global_fetch_*` are of those that return what was there (ATOMG, ATOM; the others are
    reductions: REDG, RED). Lanes that meet at an address share its bytes and sector.

    Nsight Compute itself has the ideal sectors of all global accesses together only: they are in
    `global_load_sectors_ideal` then.
    """

    instructions_executed: int = 0
    thread_instructions_executed: int = 0
    shared_load_instructions: int = 0
    shared_store_instructions: int = 0
    shared_atomic_instructions: int = 0
    shared_load_wavefronts: int = 0
    shared_store_wavefronts: int = 0
    shared_atomic_wavefronts: int = 0
    shared_wavefronts_ideal: int = 0
    global_load_requests: int = 0
    global_load_sectors: int = 0
    global_load_sectors_ideal: int = 0
    global_load_bytes: int = 0
    global_store_requests: int = 0
    global_store_sectors: int = 0
    global_store_sectors_ideal: int = 0
    global_store_bytes: int = 0
    global_atomic_requests: int = 0
    global_atomic_sectors: int = 0
    global_atomic_sectors_ideal: int = 0
    global_atomic_bytes: int = 0
    global_fetch_requests: int = 0
    global_fetch_sectors: int = 0
    global_fetch_sectors_ideal: int = 0
    global_fetch_bytes: int = 0

    def __add__(self, other: Counters) -> Counters:
        return Counters(*(a + b for a, b in zip(self.values(), other.values(), strict=True)))

    def values(self) -> tuple[int, ...]:
        """All fields in declaration order."""
        return tuple(getattr(self, name) for name in self.__dataclass_fields__)

    @property
    def shared_wavefronts(self) -> int:
        """Wavefronts of shared loads, stores and atomics together."""
        return (
            self.shared_load_wavefronts
            + self.shared_store_wavefronts
            + self.shared_atomic_wavefronts
        )

    @property
    def shared_wavefronts_excessive(self) -> int:
        """Wavefronts beyond the ideal: the address-exact bank conflicts that are graded (see
        docs/devices.md)."""
        return self.shared_wavefronts - self.shared_wavefronts_ideal

    @property
    def shared_bank_conflicts(self) -> int:
        """The same, by the name of the metric."""
        return self.shared_wavefronts_excessive

    @property
    def global_reads(self) -> GlobalAccesses:
        """What moves data from global memory to a multiprocessor: loads, and atomics that return
        what was there."""
        return GlobalAccesses(
            self.global_load_requests + self.global_fetch_requests,
            self.global_load_sectors + self.global_fetch_sectors,
            self.global_load_sectors_ideal + self.global_fetch_sectors_ideal,
            self.global_load_bytes + self.global_fetch_bytes,
        )

    @property
    def global_writes(self) -> GlobalAccesses:
        """What moves data from a multiprocessor to global memory: stores and all atomics."""
        return GlobalAccesses(
            self.global_store_requests + self.global_atomic_requests,
            self.global_store_sectors + self.global_atomic_sectors,
            self.global_store_sectors_ideal + self.global_atomic_sectors_ideal,
            self.global_store_bytes + self.global_atomic_bytes,
        )

    @property
    def global_sectors(self) -> int:
        """Sectors of loads, stores and atomics together."""
        return self.global_load_sectors + self.global_store_sectors + self.global_atomic_sectors

    @property
    def global_sectors_excessive(self) -> int:
        """Sectors beyond the ideal number:
        `derived__memory_l2_theoretical_sectors_global_excessive` of Nsight Compute."""
        ideal = (
            self.global_load_sectors_ideal
            + self.global_store_sectors_ideal
            + self.global_atomic_sectors_ideal
        )
        return self.global_sectors - ideal

    @property
    def global_load_efficiency(self) -> float | None:
        """Useful bytes over moved bytes of global reads, 0 to 1; None without any."""
        return self.global_reads.efficiency

    @property
    def global_store_efficiency(self) -> float | None:
        """Useful bytes over moved bytes of global writes, 0 to 1; None without any."""
        return self.global_writes.efficiency


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
    """One resource of a GPU and the part of it that a launch uses, 0 to 1; `advice` says what would
    make a launch faster that it binds."""

    resource: str
    used: float
    advice: str


@dataclass(frozen=True)
class Lookups:
    """Sectors of 32 bytes that a cache was asked for, and those of them that it held."""

    hits: float
    sectors: float

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
    """What the timing model says of one launch: time (cold L2), bytes moved between L2 and DRAM,
    and the three resources that it uses most, the one that binds it first.

    `blocks_run` of `blocks` were executed for it; the counters of such a launch are those of its
    sample, scaled. `l1`: global loads in the simulated L1 cache. `interval_ms` holds the true time
    in nine of ten cases, according to the `kind` of the launch (emulator.timing.kinds); both are
    None in scores of earlier versions.
    """

    time_ms: float
    dram_bytes: float
    bounds: tuple[Bound, ...]
    blocks_run: int
    blocks: int
    l1: Lookups | None = None
    kind: str | None = None
    interval_ms: tuple[float, float] | None = None


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


class Unmodelled(StrEnum):
    """Why a launch has no modelled time: it reads textures or surfaces; the traced blocks do not
    represent the others; its threads wait for each other in loops."""

    TEXTURES = "textures"
    UNEVEN_BLOCKS = "uneven_blocks"
    WAITS = "waits"


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
    unmodelled: Unmodelled | None = None
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
