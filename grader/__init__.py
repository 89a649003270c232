"""Grades student CUDA submissions on a GPU or an emulated GPU, and runs any kernels there.

The public API, which loads on first use:

    grade(exercise, submission, device="auto")     a Score
    run(source, inputs=..., outputs=..., ...)      a KernelRun: outputs, counters, times, findings
    exec_program(sources, args=..., ...)           a ProgramRun: exit code, kernels, timeline
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
    from grader.cuda.notebook import Shell
    from grader.cuda.program import exec_program as exec_program
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
    from grader.records.program_run import ProgramKernel as ProgramKernel
    from grader.records.program_run import ProgramRun as ProgramRun
    from grader.records.programs import HostMistake as HostMistake
    from grader.records.programs import HostPlace as HostPlace
    from grader.records.programs import ProgramLaunch as ProgramLaunch
    from grader.records.timeline import TimelineEntry as TimelineEntry

__version__ = "0.1.0"
_HOMES = {
    "GraderError": "grader.errors",
    "HostMistake": "grader.records.programs",
    "HostPlace": "grader.records.programs",
    "ProgramKernel": "grader.records.program_run",
    "ProgramRun": "grader.records.program_run",
    "SubmissionError": "grader.grading.mistakes",
    "TimelineEntry": "grader.records.timeline",
    "UsageError": "grader.errors",
    "exec_program": "grader.cuda.program",
    "grade": "grader.grading.grade",
    "inspect": "grader.explore.kernel_list",
    "run": "grader.explore.kernel_run",
}
"""The modules of the names that are not in `grader.records`."""
__all__ = [
    "Counters",
    "Detail",
    "Finding",
    "GraderError",
    "HostMistake",
    "HostPlace",
    "KernelLaunch",
    "KernelList",
    "KernelRun",
    "LaunchTime",
    "LineCounters",
    "MachineWork",
    "ProgramKernel",
    "ProgramLaunch",
    "ProgramRun",
    "Score",
    "SubmissionError",
    "TimelineEntry",
    "UsageError",
    "WarpAccess",
    "exec_program",
    "grade",
    "inspect",
    "run",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'grader' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "grader.records")), name)


def load_ipython_extension(shell: Shell) -> None:
    """`%load_ext grader` in a notebook: adds the cell magic `%%cuda`."""
    from grader.cuda.notebook import register

    register(shell)
