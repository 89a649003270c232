"""Judges the outputs of a run in which only a sample of the blocks wrote their part: every written
element. The device answers with a sample only if it represents all blocks
(`devices.emulated.sample_writes`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from grader.devices.base import places_of
from grader.judging.compare import Arrays, compare, judge_case, judge_inputs
from grader.records import CaseResult, DeviceBuffer, Role
from grader.spec.exercise import Case, Tolerance

ExpectedAt = Callable[[Mapping[str, np.ndarray] | None], Arrays]
"""The expected outputs at these places (indices in the flat buffer, by output), as flat arrays; the
whole outputs for None."""


def judge_sampled(
    case: Case,
    buffers: Sequence[DeviceBuffer],
    expected: ExpectedAt,
    got: Arrays,
    tolerance: Tolerance,
    *,
    modified_inputs: Sequence[str] = (),
) -> CaseResult:
    """Judges the written elements; `devices.base.places_of` describes `got`. If an element is
    wrong, the elements that no block of the sample wrote count as right."""
    names = [buffer.name for buffer in buffers if buffer.role is Role.OUTPUT]
    wanted = expected({name: got[places_of(name)] for name in names})
    found = [compare(wanted[name], got[name], tolerance) for name in names]
    if not any(each.wrong_elements for each in found):
        worst_error = max((each.worst_error for each in found), default=0.0)
        return judge_inputs(case, worst_error, modified_inputs)
    whole = expected(None)
    for name in names:
        # In C's order: a flat copy of a transpose would not be the transpose's own memory.
        have = whole[name].astype(got[name].dtype, order="C")
        have.reshape(-1)[got[places_of(name)]] = got[name]
        got = {**got, name: have}
    return judge_case(case, buffers, whole, got, tolerance, modified_inputs=modified_inputs)
