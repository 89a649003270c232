"""Whether a run depends on the order of blocks and warps: once more in the opposite one.

Some races show in one order only, and a result may depend on the order without any. A grading knows
what is right; here the outputs of the two orders are compared with each other.
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
"""The opposite order gets so many times the warp instructions of the first one: where blocks wait
for earlier ones, it never ends."""
PUBLIC = Case("run", {}, hidden=False)
"""Nothing of a run of one's own is secret."""


def find_order(
    device: Device,
    program: Program,
    arrays: Arrays,
    first: tuple[Execution, Arrays],
    *,
    limits: RunLimits,
    show: ShowProgress,
) -> tuple[Finding, ...]:
    """What the opposite order brings to light of a program that ran well in the `first` one;
    nothing where it does not end."""
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
    """The same for two findings of one mistake, whoever came first."""
    lines = sorted(line or 0 for line in (finding.line, finding.other_line))
    return finding.kind, finding.kernel, *lines


def _is_same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two outputs hold the same; of floating-point numbers half of the digits, since a sum
    in another order is rounded otherwise."""
    if not np.issubdtype(first.dtype, np.floating):
        return np.array_equal(first, second)
    finite = np.isfinite(first)
    largest = float(np.max(np.abs(first), where=finite, initial=0.0))
    slack = float(np.sqrt(np.finfo(first.dtype).eps)) * largest
    return np.allclose(first, second, rtol=0.0, atol=slack, equal_nan=True)
