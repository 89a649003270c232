"""Makes the host program of a submission: the file that `grade host` writes, and the expected
values beside it where cpu.c is missing."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from grader.devices.gpus import read_gpus
from grader.errors import UsageError
from grader.explore.host_text import MARKER, HostProgram, format_program
from grader.grading.building import build, launched_kernels, make_program
from grader.grading.mistakes import SubmissionError
from grader.grading.other_exercise import read_kernel_exercise
from grader.grading.tools import find_toolchain
from grader.messages.hidden import describe_mistake
from grader.plumbing.cache import default_cache
from grader.records import SUBMISSION, Failure, Role, Submission
from grader.spec.cpu import find_cpu_file
from grader.spec.draws import draw_scalars, make_inputs
from grader.spec.exercise import Case, Exercise
from grader.spec.oracle import load_oracle
from grader.submission.source_file import read_submission

NATIVE = "native"
"""nvcc's name for the GPU of the machine that it runs on."""
CHECKED_FOR = "h100"
"""The GPU, by its name in `devices/gpus.json`, for the limits and the machine code of every
plan."""
SIZES = "emulated"
"""The benchmark with the program's default sizes: a loop on the processor verifies them in a second
or so."""
SEED = 1


@dataclass(frozen=True)
class Written:
    """The files to write: the program's text, and the bytes of its `.expected` file if it needs
    one."""

    text: str
    expected: bytes | None


def make_host_program(
    folder: Path, submission: Path, target: Path, *, arch: str = NATIVE
) -> Written | Failure:
    """The host program of a submission, for `target`; a Failure where grading would fail before
    anything runs.

    UsageError and SpecError as in `pipeline.grade`.
    """
    exercise = draw_scalars(read_kernel_exercise(folder, "grade host"), SEED)
    source = read_submission(submission)
    if not isinstance(source, Submission):
        return describe_mistake(source)
    info = read_gpus()[CHECKED_FOR].emulated_info
    tools = find_toolchain(prefer_wheel=True, cache=default_cache(os.environ))
    sizes = exercise.benchmark[SIZES]
    try:
        built = build(source, exercise, tools, arch=info.arch)
        plan = make_program(SUBMISSION, built, exercise, sizes=sizes, limits=info.limits)
        launched = launched_kernels(built, sizes)
    except SubmissionError as error:
        return error.failure
    drawn = all(each.function is None for each in exercise.buffers) and not exercise.scalars
    cpu = find_cpu_file(exercise) if drawn else None  # what the oracle fills is read from a file
    program = HostProgram(
        exercise=exercise,
        submission_path=str(submission),
        submission_text=source.text,
        plan=built.plan,
        kernels=launched,
        buffers=plan.buffers,
        macros=built.macros,
        sizes=sizes,
        cpu=cpu.read_text(encoding="utf-8") if cpu is not None else None,
        file=str(target),
        program=target.stem,
        arch=arch,
    )
    return Written(format_program(program), _compute_expected(exercise) if cpu is None else None)


def check_replaceable(target: Path, *, force: bool) -> None:
    """UsageError where the file exists and is not a host program, unless `force`."""
    if force or not target.exists():
        return
    try:
        with target.open(encoding="utf-8", errors="replace") as file:
            ours = file.readline().rstrip("\n") == MARKER
    except OSError as error:
        raise UsageError(
            f"{target} cannot be read: {error.strerror}", "Name another file with -o."
        ) from error
    if not ours:
        raise UsageError(
            f"{target} is there already, and `grade host` did not write it",
            "Name another file, or use --force to replace it.",
        )


def expected_file(target: Path) -> Path:
    """The file beside the program with the inputs and outputs that it cannot compute."""
    return target.with_suffix(".expected")


def next_commands(target: Path, submission: Path, *, arch: str) -> tuple[str, ...]:
    """The next shell commands, in order, for the folder in which `grade host` ran."""
    program = target.with_suffix("")
    run = shlex.quote(str(program) if program.is_absolute() else f"./{program}")
    profile = shlex.quote(submission.stem)
    return (
        (
            f"nvcc -O3 -std=c++17 -lineinfo -arch={arch} -o {shlex.quote(str(program))}"
            f" {shlex.quote(str(target))}"
        ),
        run,
        f"ncu --set full -f -o {profile} {run} --once",
        f"ncu --import {profile}.ncu-rep --page details",
        f"compute-sanitizer {run} --once",
        f"compute-sanitizer --tool racecheck {run} --once",
    )


def _compute_expected(exercise: Exercise) -> bytes:
    """Inputs, then outputs, each kind in the order of the spec, with elements in the machine's byte
    order."""
    case = Case("host program", exercise.benchmark[SIZES], hidden=False)
    inputs = make_inputs(exercise, case, SEED)
    outputs = load_oracle(exercise)(inputs, case.sizes)
    ordered = [inputs[buffer.name] for buffer in exercise.buffers if buffer.role is Role.INPUT]
    ordered += [outputs[buffer.name] for buffer in exercise.buffers if buffer.role is Role.OUTPUT]
    return b"".join(array.tobytes() for array in ordered)
