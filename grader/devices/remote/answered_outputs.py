"""Checks the arrays in a worker's answer against the program's outputs: a worker is not trusted."""

from __future__ import annotations

import numpy as np

from grader.devices.base import Arrays, places_of
from grader.records import DeviceBuffer, Execution, Program, Role


def find_nonsense(execution: Execution, got: Arrays, program: Program) -> str | None:
    """The fault in the arrays of a run, or of a sample, that ran to its end; None if there is
    none."""
    outputs = [buffer for buffer in program.buffers if buffer.role is Role.OUTPUT]
    if execution.launches and execution.launches[-1].sample is not None:
        return _check_sample(got, outputs)
    wanted = {buffer.name: (np.dtype(buffer.dtype), tuple(buffer.shape)) for buffer in outputs}
    if {name: (array.dtype, array.shape) for name, array in got.items()} != wanted:
        return "outputs of another name, type or shape than the exercise's"
    return None


def _check_sample(got: Arrays, outputs: list[DeviceBuffer]) -> str | None:
    names = [name for each in outputs for name in (each.name, places_of(each.name))]
    if sorted(got) != sorted(names):
        return "a sample of other outputs than the exercise's"
    for each in outputs:
        values, places = got[each.name], got[places_of(each.name)]
        kinds = values.dtype == np.dtype(each.dtype) and places.dtype == np.dtype(np.uint32)
        if not kinds or places.ndim != 1 or values.shape != places.shape:
            return "a sample of another type or shape than the exercise's"
        if places.size and int(places.max()) >= each.size_bytes // values.itemsize:
            return "a sample of elements that the output does not have"
    return None
