"""Sentences for invalid launch lines: one row for each obstacle, with its figures, and without
figures where the sizes are secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grader.messages.phrases import outline, outline_status
from grader.messages.syntax import describe_problem
from grader.records import Failure, Obstacle, PlanMistake

OTHER_EXERCISE = "other_exercise"
"""The key of the cause (messages.causes) of a file that is written for another exercise."""


def describe_plan_mistake(mistake: PlanMistake, *, hidden: bool) -> Failure:
    """The failure of a mistake in a launch plan; `hidden`: its kind and its place only."""
    return _outline(mistake) if hidden else _describe(mistake)


def name_obstacle(obstacle: Obstacle) -> str:
    """The obstacle without figures."""
    return _OBSTACLES[obstacle].hidden


def advise_on_obstacle(obstacle: Obstacle) -> str:
    """The next step, without figures."""
    return _OBSTACLES[obstacle].hidden_advice or _OBSTACLES[obstacle].advice


def show_obstacle(obstacle: Obstacle) -> str:
    """A launch line, or several, that has the obstacle."""
    return _OBSTACLES[obstacle].example


def describe_other_exercise(
    failure: Failure, exercise: str, others: Sequence[str], file: str
) -> Failure:
    """The failure of a file that is written for one of `others`, with its message as the detail."""
    names = " or ".join(others)
    return replace(
        failure,
        message=f"{file} is written for the exercise {names}, not for {exercise}",
        detail="\n".join(part for part in (failure.message, failure.detail) if part),
        advice=f"Grade it with its exercise: grade {others[0]} {file}",
        cause=OTHER_EXERCISE,
    )


def describe_misplaced(other: str, file: str) -> str:
    """The next step for a file that is written for the exercise `other`."""
    return f"the file is written for the exercise {other}: grade {other} {file}"


def _describe(mistake: PlanMistake) -> Failure:
    line, message, advice = mistake.line, mistake.message, ""
    if mistake.problem is not None:
        message, advice = describe_problem(mistake.problem, mistake.figures)
    if isinstance(mistake.problem, Obstacle):
        row = _OBSTACLES[mistake.problem]
        message = row.words.format_map(mistake.figures) or message
        advice = row.advice.format_map(mistake.figures)
    where = "the exercise's default launch line" if line is None else f"line {line}"
    message = f"{where}, column {mistake.column}: {message}"
    return Failure(mistake.status, message, mistake.quoted, advice or mistake.advice, line=line)


def _outline(mistake: PlanMistake) -> Failure:
    column = None if mistake.line is None else mistake.column
    if not isinstance(mistake.problem, Obstacle):
        return outline_status(mistake.status, mistake.line, column)
    row = _OBSTACLES[mistake.problem]
    message = outline(row.hidden, mistake.line, column)
    return Failure(mistake.status, message, advice=row.hidden_advice or row.advice)


@dataclass(frozen=True)
class _Row:
    """The sentences on an obstacle: `words` with its figures, `hidden` without. Where `words` and
    `advice` are empty, those of `describe_problem` and of the mistake stay. `example`: launch lines
    with the obstacle."""

    words: str
    hidden: str
    advice: str
    hidden_advice: str = ""
    example: str = ""


_OBSTACLES: Mapping[Obstacle, _Row] = {
    Obstacle.DIVISION_BY_ZERO: _Row(
        "",
        "division by zero",
        "",
        "Give the divisor a value at every size.",
        example="// launch: k<<<n / (n / 256), 256>>>(out, n)    for n = 100",
    ),
    Obstacle.BEYOND_64_BITS: _Row(
        "",
        "the value is too large for an integer type",
        "",
        "Multiply fewer sizes with each other.",
        example="// launch: k<<<1, 32>>>(out, n * n * n)    for n = 10,000,000",
    ),
    Obstacle.NO_INSTANCE: _Row(
        "there is no instance {instance}; the file has {shown}",
        "there is no instance of the kernel with these template arguments",
        "Add the explicit instantiation `template __global__ void {instance}(...);` to the file, or"
        " launch an existing instance.",
        "Give template arguments that do not depend on the sizes, or add the missing"
        " instantiations.",
        example="template <int N> __global__ void k(float *out) { }\n"
        "// launch: k<32><<<1, 32>>>(out)    no k<32> is instantiated",
    ),
    Obstacle.ARGUMENT_TOO_WIDE: _Row(
        "argument {number} is {value}, which does not fit the parameter's {size_bytes} bytes"
        " ({type})",
        "an argument does not fit the kernel's parameter",
        "Use a wider parameter, such as long long.",
        example="__global__ void k(float *out, int bytes)\n"
        "// launch: k<<<1, 32>>>(out, 4 * n)    for n = 1,000,000,000",
    ),
    Obstacle.EXTENT_TOO_SMALL: _Row(
        "the {what}'s {axis} is {value}: {text} must be at least 1 at every size",
        "the grid and the block must be at least one thread wide at every size",
        "Divide with ceil_div(a, b), which rounds up.",
        example="// launch: k<<<n / 256, 256>>>(out, n)    for n = 100: a grid of 0 blocks",
    ),
    Obstacle.EXTENT_TOO_LARGE: _Row(
        "the {what}'s {axis} is {value}: at most {most} can be launched",
        "the grid or the block is larger than the device allows",
        "Let each thread do more, or spread the {what} over x, y and z.",
        "Let each thread do more, or spread it over x, y and z.",
        example="// launch: k<<<dim3(1, rows), 32>>>(out)    for rows = 100,000; y <= 65,535",
    ),
    Obstacle.TOO_MANY_THREADS: _Row(
        "the block {block} has {threads} threads; at most {most} can be launched",
        "the block has more threads than can be launched",
        "Use a smaller block, and let each thread compute several elements.",
        example="// launch: k<<<grid, dim3(64, 32)>>>(out)    2,048 threads; at most 1,024",
    ),
    Obstacle.BEYOND_LAUNCH_BOUNDS: _Row(
        "the block {block} has {threads} threads; {kernel} has __launch_bounds__({most})",
        "the block has more threads than the kernel's __launch_bounds__",
        "Use a smaller block, or raise the kernel's __launch_bounds__.",
        example="__global__ void __launch_bounds__(128) k(float *out)\n"
        "// launch: k<<<1, 256>>>(out)",
    ),
    Obstacle.NEGATIVE_SHARED_MEMORY: _Row(
        "the dynamic shared memory is {dynamic} bytes",
        "the dynamic shared memory is negative",
        "Give 0 or more bytes.",
        "Give no bytes, or more.",
        example="// launch: k<<<1, 32, 4 * (n - 32)>>>(out)    for n = 1",
    ),
    Obstacle.TOO_MUCH_SHARED_MEMORY: _Row(
        "{kernel} needs {total} bytes of shared memory a block ({static} static and {dynamic}"
        " dynamic); the device has {most}",
        "a block needs more shared memory than the device has",
        "Use smaller tiles, or fewer of them.",
        example="// launch: k<<<1, 32, 300000>>>(out)",
    ),
    Obstacle.TOO_MANY_REGISTERS: _Row(
        "{kernel} uses {registers} registers a thread, {needed} for the {threads} threads of a"
        " block; the device has {most}",
        "a block needs more registers than the device has",
        "Use a smaller block, or write __launch_bounds__({threads}) before the kernel's name: the"
        " compiler then uses fewer.",
        "Use a smaller block, or write __launch_bounds__ before the kernel's name.",
        example="// launch: k<<<1, 1024>>>(out)    with 96 registers in each thread",
    ),
    Obstacle.EMPTY_SCRATCH: _Row(
        "the number of elements {text} is {value}",
        "a scratch buffer has no elements",
        "Declare at least one element.",
        example="// scratch: float partial[n / 256]    for n = 100",
    ),
    Obstacle.TOO_MUCH_SCRATCH: _Row(
        "the scratch buffer {name} takes {size_bytes} bytes; all together may take 4 GiB",
        "the scratch buffers take more bytes than they may",
        "Declare as many elements as the kernels use.",
        example="// scratch: double all[n * n]    for n = 32,768: 8 GiB",
    ),
    Obstacle.OUTSIDE_BUFFER: _Row(
        "{what} from byte {offset} on, which lies outside of its {size_bytes} bytes",
        "an address lies outside of its buffer",
        "Offsets count elements from the start of the buffer.",
        example="// launch: k<<<1, 32>>>(out + n)    out has n elements",
    ),
    Obstacle.OUTSIDE_COPY: _Row(
        "{size_bytes} bytes from byte {offset} on do not lie in {name}, which has {all_bytes}",
        "a copy or memset goes outside of its buffer",
        "Sizes and offsets of copies are bytes: multiply by sizeof(the element).",
        example="// launch: cudaMemset(out, 0, 8 * n)    out has 4 * n bytes",
    ),
    Obstacle.OVERLAPPING_COPY: _Row(
        "the two places of {size_bytes} bytes in {name} overlap",
        "the two places of a copy overlap",
        "Copy by way of a scratch buffer.",
        example="// launch: cudaMemcpy(out + 1, out, 4 * n - 4, cudaMemcpyDeviceToDevice)",
    ),
    Obstacle.UNEQUAL_SWAP: _Row(
        "{left} has {left_bytes} bytes and {right} has {right_bytes}: only equal buffers can be"
        " swapped",
        "two buffers that are swapped are not equally large",
        "Swap buffers of the same size.",
        example="// scratch: float half[n / 2]\n// launch: std::swap(half, out)",
    ),
    Obstacle.BEYOND_VARIABLE: _Row(
        "{value} does not fit the variable {name} ({type})",
        "a value does not fit its variable",
        "Declare the variable as long long.",
        example="// launch: int i = n * n    for n = 100,000",
    ),
    Obstacle.TOO_MANY_STEPS: _Row(
        "the launch lines have taken {most} steps without an end",
        "the launch lines do not end",
        "Look at the conditions of the loops: do the values that they compare change?",
        example="// launch: for (int i = 0; i < n; i = i) k<<<1, 1>>>(out, i)",
    ),
    Obstacle.TOO_MANY_LAUNCHES: _Row(
        "this is launch {most} + 1: at most {most} can be made",
        "the launch lines make too many launches",
        "Let each launch do more, or leave loops over repetitions out.",
        example="// launch: for (int i = 0; i < n; ++i) k<<<1, 1>>>(out)    for n = 10,000,000",
    ),
    Obstacle.TOO_MANY_BYTES: _Row(
        "copies and memsets have moved {moved} bytes; at most {most} can be",
        "the launch lines copy and set too many bytes",
        "Copy less often.",
        example="// launch: while (true) cudaMemset(out, 0, 4 * n)",
    ),
    Obstacle.NO_LAUNCH: _Row(
        "no kernel is launched at these sizes",
        "no kernel is launched at some sizes",
        "Look at the conditions: at least one launch must be made at every size.",
        example="// launch: if (n > 256) k<<<n / 256, 256>>>(out)    for n = 100",
    ),
}
