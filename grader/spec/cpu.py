"""An exercise's optional `cpu.c`: the task as a plain loop in C, for programs that verify by it or
time it.

It is valid C99 and C++, and defines one function, `reference`: the exercise's buffers in the order
of the spec, then its sizes. The type of sums is the macro SUM_TYPE, by default the outputs' type.
"""

from __future__ import annotations

from pathlib import Path

from grader.spec.exercise import BufferSpec, Exercise, Task
from grader.spec.public import CPU_FILE

CPU_FUNCTION = "reference"
SUM_TYPE = "SUM_TYPE"
"""The macro of `cpu.c` for the type of a running sum: `float` in a textbook's loop, `double` where
the loop is to be exact."""
SIZE_TYPE = "int"


def find_cpu_file(exercise: Exercise) -> Path | None:
    """The exercise's `cpu.c`, or None if it brings none."""
    path = exercise.folder / CPU_FILE
    return path if path.is_file() else None


def cpu_parameters(task: Task) -> tuple[BufferSpec | str, ...]:
    """The parameters of `reference` in order: every buffer, then the name of every size, as the
    spec lists them."""
    return (*task.buffers, *task.size_names)
