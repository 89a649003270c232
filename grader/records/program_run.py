"""A run of a CUDA program: its exit code and output, kernels, findings and timeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from grader.records.launched import LaunchTime
from grader.records.outcomes import Failure, Finding
from grader.records.programs import HostMistake, LaunchGroup, ProgramLaunch
from grader.records.timeline import TimelineEntry


@dataclass(frozen=True)
class ProgramKernel(LaunchGroup):
    """All launches of a kernel with the same sizes. `time` is the sum of their modelled times; None
    where it is not modelled."""

    time: LaunchTime | None = None


@dataclass(frozen=True, repr=False)
class ProgramRun:
    """The result of a program.

    `exit_code` is the program's own, 128 + n for signal n. `stdout` and `stderr` are None where
    they were not captured. `launches` name their kernel by its index. `failures` are errors of
    kernels that ended launches. `compiler` is nvcc's output, `notes` explain missing figures.
    `streams` is the number of streams with operations. `render` makes the HTML for a notebook.
    """

    exit_code: int
    device: str
    kernels: tuple[ProgramKernel, ...] = ()
    launches: tuple[ProgramLaunch, ...] = ()
    findings: tuple[Finding, ...] = ()
    failures: tuple[Failure, ...] = ()
    host_findings: tuple[HostMistake, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()
    stdout: str | None = None
    stderr: str | None = None
    compiler: str = ""
    notes: tuple[str, ...] = ()
    checked: bool = False
    modelled: bool = True
    streams: int = 0
    counted: bool = True
    render: Callable[[ProgramRun], str] | None = None

    def __repr__(self) -> str:
        """A line: the exit code, and the numbers of kernels, launches and findings."""
        launches = sum(kernel.launches for kernel in self.kernels)
        found = len(self.findings) + len(self.failures) + len(self.host_findings)
        counts = f"kernels: {len(self.kernels)}, launches: {launches}, findings: {found}"
        return f"<ProgramRun: exit code {self.exit_code} ({counts})>"

    def _repr_html_(self) -> str | None:
        """HTML for Jupyter: kernels, findings, timeline, and the source with the cost of each
        line."""
        return None if self.render is None else self.render(self)
