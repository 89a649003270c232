"""Loads an exercise's `oracle.py` and runs its code: any failure there is a mistake of the oracle,
with its line. `ask_oracle` is for exercises that grade programs."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np

from grader.errors import SpecError, SpecProblem
from grader.spec.exercise import InputFunction
from grader.spec.public import ORACLE_FILE
from grader.spec.whole_program import ProgramInput


def load_module(path: Path) -> ModuleType:
    """The module of an oracle. SpecError if it does not load."""
    spec = importlib.util.spec_from_file_location(f"oracle_of_{path.parent.name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise oracle_error(path, "this file is missing: it computes the expected outputs")
    module = importlib.util.module_from_spec(spec)
    # Not redirect_stdout: oracles run in several threads at once.
    vars(module)["print"] = partial(print, file=sys.stderr)
    with running(path):
        spec.loader.exec_module(module)
    return module


@contextmanager
def running(path: Path) -> Iterator[None]:
    """Around all code of the oracle: an exception is the oracle's mistake, also sys.exit()."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise oracle_error(path, _describe(error, path)) from error


def run_function(
    function: InputFunction,
    rng: np.random.Generator,
    shape: tuple[int, ...],
    dtype: np.dtype,
    sizes: Mapping[str, int],
) -> np.ndarray:
    """The function's values for a buffer of this shape and type, C-contiguous. SpecError if it
    fails or returns another shape or type."""
    module = load_module(function.path)
    with running(function.path):
        made = getattr(module, function.name)(rng, shape, dict(sizes))
    if not isinstance(made, np.ndarray) or made.shape != shape:
        got = f"the shape {made.shape}" if isinstance(made, np.ndarray) else type(made).__name__
        message = f"{function.name} must return an array of the shape {shape}, got {got}"
        raise oracle_error(function.path, message)
    converted = np.ascontiguousarray(made, dtype=dtype)
    if not np.array_equal(converted, made) and dtype.kind != "f":
        message = f"{function.name} returns values that {dtype} does not hold"
        raise oracle_error(function.path, message)
    return converted


def _describe(error: BaseException, path: Path) -> str:
    """The error with the last line of the oracle that it passed through."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename) == path.absolute()
    ]
    where = f"line {lines[-1]}: " if lines else ""
    return f"{where}{type(error).__name__}: {error}"


def oracle_error(path: Path, message: str) -> SpecError:
    """The mistake of an oracle."""
    return SpecError([SpecProblem(str(path), "", message)])


def ask_oracle(
    folder: Path, given: ProgramInput, outputs: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """The expected output, and the expected texts of the files `outputs`. SpecError for any
    mistake."""
    path = folder / ORACLE_FILE
    function = getattr(load_module(path), "expected", None)
    if not callable(function):
        raise oracle_error(path, "there is no function expected(args, stdin, files)")
    with running(path):
        answer = function(list(given.arguments), given.stdin, dict(given.files or {}))
    if isinstance(answer, str):
        answer = {"stdout": answer}
    if not isinstance(answer, dict) or not isinstance(answer.get("stdout", ""), str):
        message = 'expected must return a text or {"stdout": text, "files": {name: text}}'
        raise oracle_error(path, message)
    files = answer.get("files", {})
    if not isinstance(files, dict) or sorted(files) != sorted(outputs):
        raise oracle_error(path, f"expected must return the files {', '.join(outputs) or 'none'}")
    return answer.get("stdout", ""), {name: str(files[name]) for name in files}
