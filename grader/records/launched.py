"""Results of `grade run` and `grade inspect`: kernels without an exercise."""

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
    """The time of a launch with a cold L2 cache, in milliseconds, with its interval; modelled, or
    the median of measurements.

    `bound` is the limiting resource according to the model (`DRAM`, `latency`), and `kind` the kind
    of the launch; both are None where the time was measured. The measured time of a launch of
    several is the time that it adds to the launches before it.
    """

    ms: float
    interval_ms: tuple[float, float]
    bound: str | None
    source: Source
    kind: str | None = None


@dataclass(frozen=True)
class KernelLaunch(Launched):
    """A launch of a kernel: its resources, its counters and, on request, its time.

    `lines` holds the counters of each source line. `counters` is None, and `lines` empty, where
    counting failed (on a GPU only). `printed` is the output of its `printf`, where the device
    separates it by launch.
    """

    counters: Counters | None
    lines: tuple[LineCounters, ...]
    printed: str
    time: LaunchTime | None


@dataclass(frozen=True, eq=False, repr=False)
class KernelRun:
    """The result of a run.

    `outputs` holds each output as an array of its type and shape; it is empty where a finding ended
    the run. `launches` are in the order of execution. `findings` are those of the checked mode.
    `printed` is all output of `printf`. `device` names the device, `notes` the source of counters
    on a GPU and the missing figures. `source_name`, `source` and `sizes` describe the program.
    `accesses` are the worst accesses of source lines on the emulated device. `render` makes the
    HTML for a notebook. `machine` is the work of the machine code, on request.
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
        """A line: the kernels, the outputs, the numbers of launches and findings."""
        kernels = ", ".join(dict.fromkeys(launch.kernel for launch in self.launches))
        outputs = (f"{name} {a.dtype.name}{list(a.shape)}" for name, a in self.outputs.items())
        counts = f"launches: {len(self.launches)}, findings: {len(self.findings)}"
        return f"<KernelRun: {kernels} ({counts}) -> {', '.join(outputs) or 'no outputs'}>"

    def _repr_html_(self) -> str | None:
        """HTML for Jupyter: launches, counters, times, findings, and the source with the cost of
        each line."""
        return None if self.render is None else self.render(self)


@dataclass(frozen=True)
class UnknownInstruction:
    """A machine instruction that the emulated device does not support, with its source line where
    that is known. `avoidable`: some path through the kernel avoids it, and only a launch that
    reaches it ends as unsupported."""

    instruction: str
    line: int | None
    avoidable: bool = False


@dataclass(frozen=True)
class ListedKernel:
    """A compiled kernel of a file. `registers` and `local_bytes` are per thread,
    `static_shared_bytes` per block; `instructions` is the number of machine instructions, and
    `code` the instructions, on request."""

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
    """A file whose kernels cannot be listed, with the reason."""

    file: str
    message: str
    detail: str = ""
    advice: str = ""


@dataclass(frozen=True)
class KernelList:
    """The kernels of several files in their order, and the files that could not be listed."""

    kernels: tuple[ListedKernel, ...]
    errors: tuple[UnlistedFile, ...] = ()
