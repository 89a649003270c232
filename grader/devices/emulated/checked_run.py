"""The checked mode of the emulated device: the findings of a run.

A read of unwritten memory is a mistake only if the result depends on it: it is a finding if the
outputs change when the memory holds another poison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from grader.devices.emulated.finding_facts import read_finding
from grader.emulator import GlobalMemory, Hazard
from grader.records import POISON_WORD, DeviceBuffer, FindingKind, Kernel, Observation, Role

SHARED_POISON, OTHER_SHARED_POISON = 0xFF, 0x00
"""Bytes that shared memory holds at the start of a block."""
OTHER_POISON = POISON_WORD ^ 0xFFFFFFFF
"""The poison of unwritten buffers in the second run."""


@dataclass
class Checking:
    """A run in the checked mode: the initial bytes of shared memory, and the findings so far."""

    shared_poison: int = SHARED_POISON
    hazards: list[tuple[Kernel, Hazard]] = field(default_factory=list)


def same_outputs(
    first: GlobalMemory, second: GlobalMemory, buffers: Sequence[DeviceBuffer]
) -> bool:
    """Whether two runs gave equal outputs in the bytes that the first run wrote."""
    for buffer in buffers:
        if buffer.role is not Role.OUTPUT:
            continue
        written = first.was_written(buffer.name) != 0
        if not np.array_equal(first.view(buffer.name)[written], second.view(buffer.name)[written]):
            return False
    return True


def gather_findings(
    checking: Checking, memory: GlobalMemory, buffers: Sequence[DeviceBuffer], *, certain_only: bool
) -> tuple[Observation, ...]:
    """The findings of a run, one for each kind, kernel and pair of lines; of several races the race
    that needs the wider barrier."""
    found: dict[tuple[object, ...], Observation] = {}
    for kernel, hazard in sorted(checking.hazards, key=lambda pair: pair[1].in_warp):
        if certain_only and not hazard.certain:
            continue
        finding = read_finding(hazard, kernel, memory, buffers)
        lines = sorted(line or 0 for line in (finding.line, finding.other_line))
        found.setdefault((finding.kind, finding.kernel, *lines), finding)
    racing = {
        (finding.kernel, line)
        for finding in found.values()
        if finding.kind is FindingKind.RACE
        for line in _lines(finding)
    }
    return tuple(finding for finding in found.values() if not _is_explained(finding, racing))


def _is_explained(finding: Observation, racing: set[tuple[str | None, int | None]]) -> bool:
    """Whether a race explains a read of unwritten memory: another thread writes it later."""
    return (
        finding.kind is FindingKind.UNINITIALIZED_READ and (finding.kernel, finding.line) in racing
    )


def _lines(finding: Observation) -> tuple[int | None, int | None]:
    return finding.line, finding.other_line
