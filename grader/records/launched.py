"""What is told of kernels that were run or listed without an exercise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from grader.records.accesses import WarpAccess
from grader.records.counters import Counters
from grader.records.outcomes import Finding
from grader.records.runs import Launched, LineCounters
from grader.records.scores import Source
from grader.records.warp_cycles import CodeListing, MachineWork

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class LaunchTime:
    """The time of one launch on a cold L2 cache, in milliseconds, with the interval that it lies
    in; modelled, or the median of measurements.

    `bound` is the resource that the model says it waits for (`DRAM`, `latency`), and `kind` what
    kind of launch it is; None where the time was measured. A launch of several is measured as what
    it adds to those before it.
    """

    ms: float
    interval_ms: tuple[float, float]
    bound: str | None
    source: Source
    kind: str | None = None


@dataclass(frozen=True)
class KernelLaunch(Launched):
    """One launch of a kernel: what it ran with, what it counted and, where that was asked, its
    time.

    `lines` holds the counters of each source line. `counters` is None, and
    `lines` empty, where nobody could count (on a GPU only). `printed` is what its `printf` wrote,
    where the device tells launches apart.
    """

    counters: Counters | None
    lines: tuple[LineCounters, ...]
    printed: str
    time: LaunchTime | None


@dataclass(frozen=True, eq=False, repr=False)
class KernelRun:
    """What a run left.

    `outputs` holds each output as an array of its type and shape; none where a finding ended the
    run. `launches` are in the order in which they ran. `findings` is what the checked mode found.
    `printed` is all that `printf` wrote. `device` says what ran the kernels, and `notes` who
    counted on a GPU, and what could not be had. `source_name`, `source` and `sizes` are what was
    run, and at which sizes. `accesses` are the worst ones of source lines, as the emulated device
    executed them. `render` makes the HTML that a notebook shows. `machine` is what its machine code
    did, where that was asked for.
    """

    outputs: dict[str, np.ndarray]
    launches: tuple[KernelLaunch, ...]
    findings: tuple[Finding, ...]
    printed: str
    device: str
    notes: tuple[str, ...] = ()
    source_name: str = ""
    source: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    render: Callable[[KernelRun], str] | None = None
    machine: MachineWork | None = None
    accesses: tuple[WarpAccess, ...] = ()

    def __repr__(self) -> str:
        """One line: the kernels, how often they were launched, the outputs, how many findings."""
        kernels = ", ".join(dict.fromkeys(launch.kernel for launch in self.launches))
        outputs = (f"{name} {a.dtype.name}{list(a.shape)}" for name, a in self.outputs.items())
        counts = f"launches: {len(self.launches)}, findings: {len(self.findings)}"
        return f"<KernelRun: {kernels} ({counts}) -> {', '.join(outputs) or 'no outputs'}>"

    def _repr_html_(self) -> str | None:
        """What Jupyter shows of it: launches, counters, times, findings, and the source with what
        each line cost."""
        return None if self.render is None else self.render(self)


@dataclass(frozen=True)
class UnknownInstruction:
    """A machine instruction that the emulated device does not know, with its source line where
    that is known. `avoidable`: some way through the kernel goes past it, and only a launch that
    reaches it ends as unsupported."""

    instruction: str
    line: int | None
    avoidable: bool = False


@dataclass(frozen=True)
class ListedKernel:
    """One compiled kernel of a file. `registers` and `local_bytes` are of a thread,
    `static_shared_bytes` of a block; `instructions` is the number of its machine instructions,
    and `code` they themselves, where they were asked for."""

    file: str
    kernel: str
    registers: int
    static_shared_bytes: int
    local_bytes: int
    instructions: int
    unsupported: tuple[UnknownInstruction, ...]
    code: CodeListing | None = None


@dataclass(frozen=True)
class UnlistedFile:
    """A file whose kernels cannot be listed, and why."""

    file: str
    message: str
    detail: str = ""
    advice: str = ""


@dataclass(frozen=True)
class KernelList:
    """The kernels of several files in their order, and the files that could not be listed."""

    kernels: tuple[ListedKernel, ...]
    errors: tuple[UnlistedFile, ...] = ()
