"""Grades student CUDA submissions on a GPU or on an emulated one, and runs any kernels there.

The public API, which loads on first use:

    grade(exercise, submission, device="auto")     a Score
    run(source, inputs=..., outputs=..., ...)      a KernelRun: outputs, counters, times, findings
    inspect(files, device="emulated:h100")         a KernelList: what the compiler made of files
    SubmissionError                                what a source ends in that fails
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.explore.kernel_list import inspect as inspect
    from grader.explore.kernel_run import run as run
    from grader.grading.grade import grade as grade
    from grader.grading.mistakes import SubmissionError as SubmissionError
    from grader.records import KernelList as KernelList
    from grader.records import KernelRun as KernelRun
    from grader.records import Score as Score

__version__ = "0.1.0"
__all__ = ["KernelList", "KernelRun", "Score", "SubmissionError", "grade", "inspect", "run"]

_HOMES = {
    "KernelList": "grader.records",
    "KernelRun": "grader.records",
    "Score": "grader.records",
    "SubmissionError": "grader.grading.mistakes",
    "grade": "grader.grading.grade",
    "inspect": "grader.explore.kernel_list",
    "run": "grader.explore.kernel_run",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'grader' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
