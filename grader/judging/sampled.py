"""Judges outputs of which only a sample of the blocks wrote their part: each element that was
written, and what that says of the rest.

What the blocks of the spread wrote, carried over to all blocks, must make up the whole output
within the error of the sample; no element may be written by two of them. A share of dishonest
blocks then goes unseen as rarely as the size of the spread says (SPREAD_BLOCKS of
`devices.emulated.sampling`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from grader.devices.base import places_of
from grader.judging.compare import Arrays, compare, judge_case, judge_inputs
from grader.records import CaseResult, Coverage, DeviceBuffer, Execution, Role, Sample
from grader.spec.exercise import Case, Tolerance
from grader.words.outputs import WRITES_A_PART, WRITES_AGAIN, WRITES_MORE, describe_missing

DEVIATIONS = 4.8
"""Standard errors that an estimate may be off: more happens once in a million times."""
SLACK = 0.02
"""Part of an output by which an estimate may be off besides: blocks at an edge, of which a sample
may hold none."""


ExpectedAt = Callable[[Mapping[str, np.ndarray] | None], Arrays]
"""What is expected of the outputs: at these places of each (indices in the flat buffer), as flat
rows; or all of it, for None."""


def judge_sampled(
    case: Case,
    buffers: Sequence[DeviceBuffer],
    expected: ExpectedAt,
    got: Arrays,
    tolerance: Tolerance,
    execution: Execution,
) -> CaseResult | str:
    """Judge a run whose last launch is a sample, by what it wrote: `got` as
    `devices.base.places_of` says.

    Why nothing can be said, where that is so.
    """
    sample = execution.launches[-1].sample
    assert sample is not None
    result = _judge_written(case, buffers, expected, got, tolerance, execution.modified_inputs)
    if not result.passed:
        return result
    sizes = {buffer.name: buffer for buffer in buffers if buffer.role is Role.OUTPUT}
    for coverage in execution.coverage:
        elements = int(np.prod(sizes[coverage.buffer].shape, dtype=np.int64))
        missing = _find_missing(
            coverage, sample, elements, np.dtype(sizes[coverage.buffer].dtype).itemsize
        )
        if isinstance(missing, str):
            return missing
        if missing and len(execution.launches) > 1:
            return WRITES_A_PART
        if missing:
            return replace(
                result, passed=False, message=describe_missing(coverage, sample, missing)
            )
    return result


def _judge_written(
    case: Case,
    buffers: Sequence[DeviceBuffer],
    expected: ExpectedAt,
    got: Arrays,
    tolerance: Tolerance,
    modified_inputs: Sequence[str],
) -> CaseResult:
    """Judge the elements that were written; the others are taken to be right."""
    names = [buffer.name for buffer in buffers if buffer.role is Role.OUTPUT]
    wanted = expected({name: got[places_of(name)] for name in names})
    found = [compare(wanted[name], got[name], tolerance) for name in names]
    if not any(each.wrong_elements for each in found):
        worst_error = max((each.worst_error for each in found), default=0.0)
        return judge_inputs(case, worst_error, modified_inputs)
    whole = expected(None)
    for name in names:
        # In C's order: what is put into a flat copy of a transpose would be lost.
        have = whole[name].astype(got[name].dtype, order="C")
        have.reshape(-1)[got[places_of(name)]] = got[name]
        got = {**got, name: have}
    return judge_case(case, buffers, whole, got, tolerance, modified_inputs=modified_inputs)


def _find_missing(
    coverage: Coverage, sample: Sample, elements: int, element_bytes: int
) -> float | str:
    """The part of an output that no block writes, 0 where that may be none; or why it cannot be
    told."""
    if coverage.repeated:
        return WRITES_AGAIN
    carried = coverage.spread * (sample.blocks - sample.window) / max(1, sample.spread)
    allowed = SLACK * elements + DEVIATIONS * sample.stored_error / element_bytes
    written = coverage.window + carried
    if written > elements + allowed:
        return WRITES_MORE
    return 0.0 if written >= elements - allowed else 1.0 - written / elements


def unseen_share(blocks: int, spread: int, *, chance: float = 1e-6) -> float:
    """The largest share of `blocks` of another kind of which a random sample of `spread` holds none
    with at least this chance."""
    missed, share = 1.0, 0
    while missed >= chance and share < blocks - spread:
        missed *= (blocks - spread - share) / (blocks - share)
        share += 1
    return share / blocks
