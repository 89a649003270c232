"""The exercise's plain loop in C on one core, and NumPy, both timed on this computer. `cpu.c` is
trusted like oracle.py: it is compiled with g++ and called in this process."""

from __future__ import annotations

import ctypes
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import numpy as np

from grader.authoring.sweep.points import Sizes, sweep_case, timed_row
from grader.devices.base import Arrays
from grader.errors import SpecError, SpecProblem
from grader.judging.compare import judge_case
from grader.plumbing.cache import cache_key
from grader.records import Role
from grader.report.sweep import C_LOOP, NUMPY, SweepRow
from grader.sandbox.process import run_tool
from grader.spec.cpu import CPU_FUNCTION, cpu_parameters, find_cpu_file
from grader.spec.draws import buffer_shape, device_buffers, make_inputs
from grader.spec.exercise import Exercise
from grader.spec.oracle import Operation, load_oracle
from grader.spec.tolerance import tolerance_at

CPU_SECONDS, CPU_REPEATS = 1.0, 5
"""An operation is repeated until either limit is reached."""
MOST_SECONDS = 10.0
"""A C loop that would take longer, by the time of a smaller size, is not run."""
SURE_STEP = 8
"""A size with up to this multiple of a measured size's work is predicted: over a wider range, the
caches change the speed."""
QUICK_WORK = 1 << 24
"""Operations, or bytes, that take every processor much less than a second."""
C_OPTIONS = ("-x", "c", "-O2", "-fPIC", "-shared")


def time_numpy(exercise: Exercise, operation: Operation, inputs: Arrays, sizes: Sizes) -> SweepRow:
    """NumPy's row."""
    return _time(exercise, NUMPY, lambda: operation(inputs, sizes), sizes)


@dataclass
class LoopTimer:
    """Times an exercise's loop in C. `known`: milliseconds of the sizes that ran, by work."""

    exercise: Exercise
    loop: Operation
    seed: int
    known: dict[int, float] = field(default_factory=dict)

    def time(self, sizes: Sizes) -> SweepRow:
        """The loop's row; without a time where it would take longer than MOST_SECONDS."""
        expected_ms = self._foretell(sizes)
        if expected_ms > 1000 * MOST_SECONDS:
            about = f"about {expected_ms / 1000:,.0f} s, going by a smaller size"
            note = f"more than {MOST_SECONDS:.0f} s, so it was not run: {about}"
            return SweepRow(C_LOOP, None, note=note)
        inputs = make_inputs(self.exercise, sweep_case(sizes), self.seed)
        if not self.known:
            check_loop(self.exercise, self.loop, inputs, sizes)
        row = _time(self.exercise, C_LOOP, lambda: self.loop(inputs, sizes), sizes)
        assert row.time_ms is not None
        self.known[_work(self.exercise, sizes)] = row.time_ms
        return row

    def _foretell(self, sizes: Sizes) -> float:
        """Milliseconds, in proportion to the largest smaller size that ran; 0 for sizes that are
        quick on every processor."""
        work = _work(self.exercise, sizes)
        if work <= QUICK_WORK:
            return 0.0
        if not any(work <= SURE_STEP * each for each in self.known):
            half = {name: max(1, size // 2) for name, size in sizes.items()}
            if self.time(half).time_ms is None:
                return self._foretell(half) * work / _work(self.exercise, half)
        nearest = max((each for each in self.known if each <= work), default=min(self.known))
        return self.known[nearest] * work / nearest


def load_loop(exercise: Exercise, cache: Path) -> Operation | None:
    """The exercise's `cpu.c` as a function like its oracle, compiled in the cache's folder; None
    without the file. SpecError if it does not compile, or has no function `reference`."""
    path = find_cpu_file(exercise)
    if path is None:
        return None
    function = _find_function(path, _compile(path, cache))
    outputs = [buffer for buffer in exercise.buffers if buffer.role is Role.OUTPUT]

    def loop(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
        made = {
            buffer.name: (
                inputs[buffer.name].copy()
                if buffer.name in inputs
                else np.empty(buffer_shape(buffer, sizes), np.dtype(buffer.dtype))
            )
            for buffer in outputs
        }
        arrays = {**inputs, **made}
        arguments = (
            ctypes.c_int(sizes[each])
            if isinstance(each, str)
            else ctypes.c_void_p(arrays[each.name].ctypes.data)
            for each in cpu_parameters(exercise)
        )
        function(*arguments)
        return made

    return loop


def check_loop(exercise: Exercise, loop: Operation, inputs: Arrays, sizes: Sizes) -> None:
    """Raise SpecError where the loop and the oracle differ."""
    case, got = sweep_case(sizes), loop(inputs, sizes)
    expected = load_oracle(exercise)(inputs, sizes)
    buffers, tolerance = device_buffers(exercise, sizes), tolerance_at(exercise, case)
    result = judge_case(case, buffers, expected, got, tolerance)
    if not result.passed:
        message = f"{CPU_FUNCTION} differs from the oracle: {result.message}"
        raise _loop_error(find_cpu_file(exercise), message)


def _compile(path: Path, cache: Path) -> Path:
    """The shared library of a C file; its name contains a hash of all its inputs."""
    library = cache / f"cpu-{cache_key(path.read_text(encoding='utf-8'), *C_OPTIONS)}.so"
    if library.is_file():
        return library
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        made = Path(folder) / "cpu.so"
        done = run_tool(["g++", *C_OPTIONS, "-o", str(made), str(path.resolve())])
        if done.returncode != 0:
            raise _loop_error(path, f"g++ does not compile it:\n{done.stderr}".rstrip())
        made.replace(library)
    return library


def _find_function(path: Path, library: Path) -> Callable[..., None]:
    try:
        function = getattr(ctypes.CDLL(str(library)), CPU_FUNCTION)
    except (OSError, AttributeError) as error:
        raise _loop_error(path, f"there is no function {CPU_FUNCTION}") from error
    function.restype = None
    found: Callable[..., None] = function
    return found


def _loop_error(path: Path | None, message: str) -> SpecError:
    return SpecError([SpecProblem(str(path), "", message)])


def _work(exercise: Exercise, sizes: Sizes) -> int:
    """Floating-point operations of the task, or its bytes where it has none."""
    return (exercise.useful_flops or exercise.useful_bytes).evaluate(sizes)


def _time(
    exercise: Exercise, label: str, operation: Callable[[], object], sizes: Sizes
) -> SweepRow:
    samples: list[float] = []
    while len(samples) < CPU_REPEATS and sum(samples) < 1000 * CPU_SECONDS:
        began = time.perf_counter()
        operation()
        samples.append(1000 * (time.perf_counter() - began))
    return timed_row(exercise, label, median(samples), (min(samples), max(samples)), sizes)
