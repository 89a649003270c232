"""Grades student CUDA submissions on a GPU or an emulated GPU, and runs any kernels there.

The public API, which loads on first use:

    grade(exercise, submission, device="auto")     a Score
    run(source, inputs=..., outputs=..., ...)      a KernelRun: outputs, counters, times, findings
    inspect(files, device="emulated:h100")         a KernelList: kernels and their resources
    SubmissionError                                raised if the source fails
    GraderError, UsageError                        raised if the grader or the call fails

The other names are records in these results. All names in `__all__`, with their arguments and
fields, follow semantic versioning (docs/python.md).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.errors import GraderError as GraderError
    from grader.errors import UsageError as UsageError
    from grader.explore.kernel_list import inspect as inspect
    from grader.explore.kernel_run import run as run
    from grader.grading.grade import grade as grade
    from grader.grading.mistakes import SubmissionError as SubmissionError
    from grader.records import Counters as Counters
    from grader.records import Detail as Detail
    from grader.records import Finding as Finding
    from grader.records import KernelLaunch as KernelLaunch
    from grader.records import KernelList as KernelList
    from grader.records import KernelRun as KernelRun
    from grader.records import LaunchTime as LaunchTime
    from grader.records import LineCounters as LineCounters
    from grader.records import MachineWork as MachineWork
    from grader.records import Score as Score
    from grader.records import WarpAccess as WarpAccess

__version__ = "0.1.0"
_HOMES = {
    "Counters": "grader.records",
    "Detail": "grader.records",
    "Finding": "grader.records",
    "GraderError": "grader.errors",
    "KernelLaunch": "grader.records",
    "KernelList": "grader.records",
    "KernelRun": "grader.records",
    "LaunchTime": "grader.records",
    "LineCounters": "grader.records",
    "MachineWork": "grader.records",
    "Score": "grader.records",
    "SubmissionError": "grader.grading.mistakes",
    "UsageError": "grader.errors",
    "WarpAccess": "grader.records",
    "grade": "grader.grading.grade",
    "inspect": "grader.explore.kernel_list",
    "run": "grader.explore.kernel_run",
}
__all__ = [
    "Counters",
    "Detail",
    "Finding",
    "GraderError",
    "KernelLaunch",
    "KernelList",
    "KernelRun",
    "LaunchTime",
    "LineCounters",
    "MachineWork",
    "Score",
    "SubmissionError",
    "UsageError",
    "WarpAccess",
    "grade",
    "inspect",
    "run",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'grader' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
