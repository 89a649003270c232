"""Finds dependence of a run on the order of blocks and warps: it runs once more in the opposite
order.

Some races show in one order only, and a result may depend on the order without a race. A grading
knows the right result; here the outputs of the two orders are compared with each other.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from grader.devices.base import Arrays, Device
from grader.messages.hidden import tell, tell_findings
from grader.messages.observations import tell_order
from grader.messages.outputs import describe_other_values
from grader.records import (
    CheckedMode,
    Execution,
    Finding,
    FindingKind,
    Program,
    RunLimits,
    ShowProgress,
    Status,
)
from grader.spec.exercise import Case

FACTOR, LEAST_INSTRUCTIONS = 4, 1_000_000
"""The opposite order may execute FACTOR times the warp instructions of the first, plus
LEAST_INSTRUCTIONS: where blocks wait for earlier blocks, it never ends."""
PUBLIC = Case("run", {}, hidden=False)
"""A run without an exercise has no secrets."""


def find_order(
    device: Device,
    program: Program,
    arrays: Arrays,
    first: tuple[Execution, Arrays],
    *,
    limits: RunLimits,
    show: ShowProgress,
) -> tuple[Finding, ...]:
    """The findings of the opposite order for a program that ran without an error in the `first`
    order; none where it does not end."""
    execution, outputs = first
    spent = sum(launch.counters.instructions_executed for launch in execution.launches)
    most = min(limits.warp_instructions, FACTOR * spent + LEAST_INSTRUCTIONS)
    again, others = device.run(
        program,
        arrays,
        limits=replace(limits, warp_instructions=most),
        mode=CheckedMode(backwards=True),
        progress=show,
    )
    kernel = execution.launches[0].kernel if len(execution.launches) == 1 else None
    if again.failure is not None:
        if again.failure.status is Status.TIMEOUT:
            return ()
        return (tell_order(kernel, tell(again.failure).message, judged=False),)
    known = {_key(finding) for finding in tell_findings(execution.findings, PUBLIC)}
    seen = tell_findings(again.findings, PUBLIC)
    found = tuple(finding for finding in seen if _key(finding) not in known)
    differing = [name for name, array in outputs.items() if not _is_same(array, others[name])]
    races = any(each.kind is FindingKind.RACE for each in (*execution.findings, *again.findings))
    if not differing or races:  # a race explains the order
        return found
    return (*found, tell_order(kernel, describe_other_values(differing), judged=False))


def _key(finding: Finding) -> tuple[object, ...]:
    """Equal for two findings of one mistake, whatever the order of their threads."""
    lines = sorted(line or 0 for line in (finding.line, finding.other_line))
    return finding.kind, finding.kernel, *lines


def _is_same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two outputs are equal; floating-point numbers in half of their digits, since a sum in
    another order is rounded differently."""
    if not np.issubdtype(first.dtype, np.floating):
        return np.array_equal(first, second)
    finite = np.isfinite(first)
    largest = float(np.max(np.abs(first), where=finite, initial=0.0))
    slack = float(np.sqrt(np.finfo(first.dtype).eps)) * largest
    return np.allclose(first, second, rtol=0.0, atol=slack, equal_nan=True)
