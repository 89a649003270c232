"""The nouns that cross a stage: frozen dataclasses and the closed sets that they use.

Everything that one stage hands to the next, or that the worker process sends over its pipe, is here.
Arrays travel beside these records (in dicts keyed by buffer name), never inside them.
"""

from grader.records.batch import BatchEntry, BatchExercise, BatchProgress, BatchSummary
from grader.records.code import Binary, DeviceVariable, Kernel, KernelParameter, Pointer, Recipe, SassInstruction, SharedArray, Submission
from grader.records.devices import DeviceInfo, LaunchLimits
from grader.records.outcomes import CheckStatus, Failure, Finding, FindingKind, Printed, Status
from grader.records.plans import (
    POISON_WORD,
    SUBMISSION,
    BufferArgument,
    ClockState,
    DeviceBuffer,
    Dim3,
    Launch,
    Program,
    Rehearsal,
    Role,
    RunLimits,
    ScalarArgument,
    TimedLaunch,
    TimedStep,
)
from grader.records.runs import Bound, Counters, Execution, LaunchResult, LineCounters, Modelled
from grader.records.scores import CaseResult, CheckResult, MetricValue, Mismatch, PartResult, Resources, Score, Source, SourceLine, Timing
from grader.records.similar import ComparedFile, Comparison, Lines, SharedPassage, SimilarPair
from grader.records.tools import Completed, Progress, RunTool, ShowProgress, ToolLimits

__all__ = [
    "POISON_WORD",
    "SUBMISSION",
    "BatchEntry",
    "BatchExercise",
    "BatchProgress",
    "BatchSummary",
    "Binary",
    "Bound",
    "BufferArgument",
    "CaseResult",
    "CheckResult",
    "CheckStatus",
    "ClockState",
    "ComparedFile",
    "Comparison",
    "Completed",
    "Counters",
    "DeviceBuffer",
    "DeviceInfo",
    "DeviceVariable",
    "Dim3",
    "Execution",
    "Failure",
    "Finding",
    "FindingKind",
    "Kernel",
    "KernelParameter",
    "Launch",
    "LaunchLimits",
    "LaunchResult",
    "LineCounters",
    "Lines",
    "MetricValue",
    "Mismatch",
    "Modelled",
    "PartResult",
    "Pointer",
    "Printed",
    "Program",
    "Progress",
    "Recipe",
    "Rehearsal",
    "Resources",
    "Role",
    "RunLimits",
    "RunTool",
    "SassInstruction",
    "ScalarArgument",
    "Score",
    "SharedArray",
    "SharedPassage",
    "ShowProgress",
    "SimilarPair",
    "Source",
    "SourceLine",
    "Status",
    "Submission",
    "TimedLaunch",
    "TimedStep",
    "Timing",
    "ToolLimits",
]
