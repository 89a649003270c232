"""Results of a CUDA program: its kernels and launches, the findings in kernels and in host code,
and its timeline. A process of the program that used CUDA has a SessionRecord."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from grader.records.bounds import LineNumber, Named
from grader.records.counters import Counters
from grader.records.outcomes import Failure, Finding
from grader.records.runs import Launched, LineCounters, Modelled, Unmodelled
from grader.records.timeline import TimelineEntry


@dataclass(frozen=True)
class LaunchGroup(Launched):
    """All launches of a kernel with the same sizes. Counters are sums over these launches.

    `source` is the path of the file of its `lines`, empty where it is unknown. `modelled` is the
    time of the first launch; None where it is not modelled, and `unmodelled` is the reason.
    `instructions` are warp instructions; `waited`: see LaunchResult.
    """

    symbol: str
    source: str
    launches: int
    counters: Counters
    lines: tuple[LineCounters, ...]
    instructions: int
    modelled: Modelled | None = None
    unmodelled: Unmodelled | None = None
    waited: bool = False


@dataclass(frozen=True)
class ProgramLaunch:
    """A launch: the index of its group, and its own figures. `site` is the return address of the
    call in the program, 0 if unknown. Only the first launches have `counters`. `ms` is modelled, or
    measured on the wall clock; None where it is unknown."""

    group: int
    device: int
    stream: int
    site: int
    instructions: int
    counters: Counters | None = None
    ms: float | None = None


@dataclass(frozen=True)
class Frame:
    """A return address on the host's stack: the path of the program or library, and the offset in
    it."""

    object: str
    offset: int


@dataclass(frozen=True)
class HostFinding:
    """A mistake in host code. `facts` depend on the kind; `frames` begin at the innermost.
    `other_frames`: of another call that takes part."""

    kind: str
    address: int
    bytes: int
    facts: dict[str, str] = field(default_factory=dict)
    frames: tuple[Frame, ...] = ()
    other_frames: tuple[Frame, ...] = ()


@dataclass(frozen=True)
class SessionRecord:
    """A process that used CUDA. `failures` are the errors that ended launches. `objects` are names
    that the program gave. `problem` is the reason why the session ended early, empty where it did
    not. `streams` is the number of streams with operations."""

    process: int
    device: str
    groups: tuple[LaunchGroup, ...] = ()
    launches: tuple[ProgramLaunch, ...] = ()
    findings: tuple[Finding, ...] = ()
    failures: tuple[Failure, ...] = ()
    host_findings: tuple[HostFinding, ...] = ()
    timeline: tuple[TimelineEntry, ...] = ()
    objects: dict[str, str] = field(default_factory=dict)
    printed_bytes: int = 0
    problem: str = ""
    streams: int = 0


@dataclass(frozen=True)
class HostPlace:
    """A place on the host's stack."""

    file: str
    line: LineNumber | None = None
    """null where the object has no debug information, like function."""
    function: str | None = None


@dataclass(frozen=True)
class HostMistake:
    """A mistake in host code."""

    kind: Named
    message: str
    advice: str
    place: HostPlace | None = None
    """The innermost place in the program's own code; null where it is unknown."""
    stack: tuple[HostPlace, ...] = ()
    """The innermost place first. In a score, only places in the program's own code; empty for a
    hidden run."""
    count: Annotated[int, ("minimum", 1)] = 1
    """Findings of this kind at this place."""
