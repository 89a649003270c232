from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

from grader.cpp.types import CPP_NAMES
from grader.records import Role
from grader.spec.cpu import CPU_FUNCTION, SIZE_TYPE, SUM_TYPE, cpu_parameters, find_cpu_file
from grader.spec.draws import buffer_shape, make_inputs
from grader.spec.exercise import BufferSpec, Case, Exercise
from grader.spec.oracle import load_oracle
from grader.spec.reader import read_exercise
from grader.spec.tolerance import tolerance_at
from tests.support.exercises import OF_KERNELS

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = [ROOT / "exercises" / name for name in OF_KERNELS]
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


@pytest.mark.parametrize("sums", ["float", "double"])
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_loop_computes_what_the_oracle_says(folder: Path, sums: str, tmp_path: Path) -> None:
    exercise = read_exercise(folder)
    path = find_cpu_file(exercise)
    assert path is not None
    library = tmp_path / "cpu.so"
    subprocess.run(
        [
            "cc",
            "-std=c99",
            *WARNINGS,
            "-O2",
            "-shared",
            "-fPIC",
            f"-D{SUM_TYPE}={sums}",
            path,
            "-o",
            library,
        ],
        check=True,
    )
    case = Case(
        "sizes that differ",
        dict(zip(exercise.size_names, (37, 53, 71), strict=False)),
        hidden=False,
    )
    arrays = run(exercise, ctypes.CDLL(str(library)), case)
    expected = load_oracle(exercise)(
        {name: arrays[name] for name in make_inputs(exercise, case, 1)}, case.sizes
    )
    bound = tolerance_at(exercise, case)
    relative = 2.0**-23 if sums == "double" else bound.relative
    for name, wanted in expected.items():
        allowed = (0 if sums == "double" else bound.absolute) + (
            0 if bound.exact else relative * np.abs(wanted)
        )
        assert (np.abs(arrays[name] - wanted) <= allowed).all(), name


def run(exercise: Exercise, library: ctypes.CDLL, case: Case) -> dict[str, np.ndarray]:
    """All buffers after a call of `reference`, whose outputs held a pattern before."""
    arrays = make_inputs(exercise, case, 1)
    arrays |= {
        buffer.name: np.full(buffer_shape(buffer, case.sizes), -1.25, buffer.dtype)
        for buffer in exercise.buffers
        if buffer.role is Role.OUTPUT
    }
    given = [
        (
            ctypes.c_int(case.sizes[each])
            if isinstance(each, str)
            else ctypes.c_void_p(arrays[each.name].ctypes.data)
        )
        for each in cpu_parameters(exercise)
    ]
    library[CPU_FUNCTION](*given)
    return arrays


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_loop_is_cpp_too_and_has_the_spec_s_signature(folder: Path) -> None:
    """A second declaration that differs would overload the function in C++, and is refused in C."""
    exercise = read_exercise(folder)
    path = find_cpu_file(exercise)
    assert path is not None
    parameters = ", ".join(map(declare, cpu_parameters(exercise)))
    text = f'void {CPU_FUNCTION}({parameters});\n#include "{path}"\n'
    for language in ("c++", "c"):
        subprocess.run(
            ["cc", "-x", language, *WARNINGS, "-fsyntax-only", "-"],
            input=text,
            text=True,
            check=True,
        )


def declare(parameter: BufferSpec | str) -> str:
    """A parameter in C, which has no name for CUDA's `__half`."""
    if isinstance(parameter, str):
        return f"{SIZE_TYPE} {parameter}"
    const = "const " if parameter.role is Role.INPUT else ""
    element = "_Float16" if parameter.dtype == "float16" else CPP_NAMES[parameter.dtype]
    return f"{const}{element} *{parameter.name}"
