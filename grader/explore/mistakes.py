"""Pictures of causes for `grade explain`: small kernels of `gallery/`, executed on the emulated
device. A kernel of `gallery/mistakes.cu` makes the mistake that its name says, and the page shows
the grader's report on it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from grader.devices.base import Arrays
from grader.devices.choose import DEFAULT_GPU
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.explore.exhibits import (
    GALLERIES,
    KERNEL,
    compile_gallery,
    read_gallery_file,
    run_gallery,
)
from grader.judging.compare import judge_case
from grader.messages.cause_row import CauseRow
from grader.messages.causes import cause_of_mistake
from grader.messages.explanations import Explanation, find_explanation
from grader.messages.findings import describe_finding
from grader.messages.hidden import describe_findings, describe_mistake
from grader.records import (
    CheckedMode,
    DeviceBuffer,
    Execution,
    Program,
    Role,
    RunLimits,
)
from grader.report.explanation_page import Picture, Specimen
from grader.report.wrong_case import describe_mismatch, draw_mismatch
from grader.spec.exercise import Case, Tolerance

MISTAKES = "mistakes"
SIZE = 24
LIMITS = RunLimits(warp_instructions=10**5, wall_seconds=60.0)
BUFFERS = (
    DeviceBuffer("in", "float32", (SIZE, SIZE), Role.INPUT),
    DeviceBuffer("flag", "int32", (1,), Role.INPUT),
    DeviceBuffer("out", "float32", (SIZE, SIZE), Role.OUTPUT),
)
_CASE = Case("small", {"n": SIZE}, hidden=False)


def explain_cause(name: str, *, cache: Path) -> tuple[Explanation, Picture]:
    """The page of a cause, and its picture. UsageError for an unknown name."""
    page = find_explanation(name)
    (picture,) = draw_causes([page.row], cache=cache)
    return page, picture


def draw_causes(rows: Sequence[CauseRow], *, cache: Path, gpu: str = DEFAULT_GPU) -> list[Picture]:
    """The pictures of causes. Each file of `gallery/` is compiled once, in the folder `cache`."""
    names = [name for row in rows if row.gallery == MISTAKES for name in row.kernels]
    specimens = run_mistakes(names, cache=cache, gpu=gpu) if names else {}
    return [
        Picture(specimens=tuple(specimens[name] for name in row.kernels))
        if row.gallery == MISTAKES
        else _draw_gallery(row, gpu, cache)
        for row in rows
    ]


def _draw_gallery(row: CauseRow, gpu: str, cache: Path) -> Picture:
    galleries = [run_gallery(row.gallery, name, gpu=gpu, cache=cache) for name in row.kernels]
    memory = GALLERIES[row.gallery][0] if row.gallery else None
    return Picture(memory, tuple(exhibit for each in galleries for exhibit in each.exhibits))


def run_mistakes(
    names: Sequence[str], *, cache: Path, gpu: str = DEFAULT_GPU
) -> dict[str, Specimen]:
    """The kernels of `gallery/mistakes.cu` with these names, each with the report on it."""
    device = EmulatedDevice(gpu, threads=1)
    binary, launches = compile_gallery(MISTAKES, device, cache, buffers=BUFFERS)
    symbols = {kernel.name: kernel.symbol for kernel in binary.kernels}
    found = {}
    for name in names:
        launch = next(each for each in launches if each.symbol == symbols[name])
        program = Program(name, binary, (launch,), BUFFERS)
        execution, outputs = device.run(program, _inputs(), limits=LIMITS, mode=CheckedMode())
        found[name] = _describe(name, execution, outputs)
    return found


def _inputs() -> Arrays:
    values = np.arange(1, SIZE * SIZE + 1, dtype=np.float32).reshape(SIZE, SIZE)
    return {"in": values, "flag": np.zeros(1, np.int32)}


def _describe(name: str, execution: Execution, outputs: Arrays) -> Specimen:
    text = read_gallery_file(MISTAKES)
    kernel = next(each for each in KERNEL.finditer(text) if each["name"] == name)
    first = text.count("\n", 0, kernel.start("code")) + 1
    code = tuple(enumerate(kernel["code"].split("\n"), first))
    if execution.failure is not None:
        failure = describe_mistake(execution.failure)
        return Specimen(kernel["title"], code, cause_of_mistake(failure), (failure.message,))
    if findings := describe_findings(execution.findings, _CASE):
        message = (describe_finding(findings[0]),)
        return Specimen(kernel["title"], code, findings[0].kind.value, message)
    case = judge_case(
        _CASE,
        BUFFERS,
        {"out": _inputs()["in"].T},
        outputs,
        Tolerance(),
        modified_inputs=execution.modified_inputs,
    )
    lines = [case.message, *(describe_mismatch(case.mismatch) if case.mismatch else ())]
    drawn = draw_mismatch(case.mismatch) if case.mismatch else ()
    return Specimen(kernel["title"], code, case.cause or "", tuple(lines), drawn)
