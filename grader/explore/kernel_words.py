"""What kernels are run with, as a command line says it: `n=65536`, `x=normal:n`, `y=float32:n`,
`alpha=2.0`, `x=points.npy`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from grader.cpp.brackets import split_arguments
from grader.cpp.cursor import LanguageError, did_you_mean, quote
from grader.cpp.expressions import parse_expression
from grader.cpp.types import CPP_NAMES, NUMPY_NAMES
from grader.errors import UsageError
from grader.explore.kernel_data import Output
from grader.spec.draws import draw_array
from grader.spec.exercise import Initialisation

DEFAULT_DTYPES = {Initialisation.PERMUTATION: "int32"}
"""The type of an array whose word names none; float32 for what is not here."""
_FILE = ".npy"


def parse_sizes(words: Iterable[str]) -> dict[str, int]:
    """The sizes of `NAME=NUMBER`. Raises UsageError."""
    sizes: dict[str, int] = {}
    for name, text in split_names("--size", words).items():
        try:
            sizes[name] = parse_expression(text).evaluate(sizes)
        except LanguageError as error:
            raise UsageError(
                f"--size {name}={text}: {error.message}", "Give an integer: --size n=65536."
            ) from None
    return sizes


def parse_scalars(words: Iterable[str]) -> dict[str, int | float]:
    """The scalars of `NAME=NUMBER`: integers, and floats where there is a point or an exponent.
    Raises UsageError."""
    return {
        name: _parse_number(name, text) for name, text in split_names("--scalar", words).items()
    }


def read_inputs(
    words: Iterable[str], sizes: Mapping[str, int], *, seed: int
) -> dict[str, np.ndarray]:
    """The inputs of `NAME=INIT:SHAPE[:TYPE]`, drawn from the seed, and of `NAME=FILE.npy`. Raises
    UsageError."""
    return {
        name: _read_contents(f"--input {name}={text}", name, text, sizes, seed)
        for name, text in split_names("--input", words).items()
    }


def read_outputs(words: Iterable[str], sizes: Mapping[str, int], *, seed: int) -> dict[str, Output]:
    """The outputs of `NAME=TYPE:SHAPE`, which hold nothing before the run, and those that hold
    something, as inputs do. Raises UsageError."""
    outputs: dict[str, Output] = {}
    for name, text in split_names("--output", words).items():
        what = f"--output {name}={text}"
        first, colon, shape = text.partition(":")
        if colon and (dtype := _find_dtype(first)) is not None:
            outputs[name] = dtype, _parse_shape(what, shape, sizes)
        else:
            outputs[name] = _read_contents(what, name, text, sizes, seed)
    return outputs


def split_names(option: str, words: Iterable[str]) -> dict[str, str]:
    """`NAME=TEXT` as name and text. Raises UsageError for other words, and a name given twice."""
    named: dict[str, str] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals or not name or not text:
            raise UsageError(f"{option} {word}: there is no NAME=...", f"Write {option} NAME=...")
        if name in named:
            raise UsageError(f"{option}: {quote(name)} is given twice", "Give each name once.")
        named[name] = text
    return named


def _parse_number(name: str, text: str) -> int | float:
    for parse in (lambda: int(text, 0), lambda: int(text), lambda: float(text)):
        try:
            return parse()
        except ValueError:
            continue
    raise UsageError(f"--scalar {name}={text}: {quote(text)} is no number", "Write 2 or 2.0, say.")


def _read_contents(
    what: str, name: str, text: str, sizes: Mapping[str, int], seed: int
) -> np.ndarray:
    """The array that a word describes: a file, or how it is filled, its shape and its type."""
    if text.endswith(_FILE):
        return _read_file(what, Path(text))
    kind, *rest = text.split(":")
    known = kind in tuple(Initialisation)
    if not known or not 1 <= len(rest) <= 2:
        guess = did_you_mean(kind, tuple(Initialisation))
        wrong = "SHAPE is missing" if not rest else "there is something behind TYPE"
        raise UsageError(
            f"{what}: {wrong if known else f'{quote(kind)} is no way to fill an array{guess}'}",
            f"Write {name}=HOW:SHAPE or {name}=HOW:SHAPE:TYPE, where HOW is one of"
            f" {', '.join(Initialisation)}; or {name}=FILE.npy.",
        )
    init = Initialisation(kind)
    dtype = _find_dtype(rest[1]) if len(rest) == 2 else DEFAULT_DTYPES.get(init, "float32")
    if dtype is None:
        raise UsageError(
            f"{what}: {quote(rest[1])} is no type{did_you_mean(rest[1], CPP_NAMES)}",
            f"Types are {', '.join(CPP_NAMES)}.",
        )
    shape = _parse_shape(what, rest[0], sizes)
    try:
        return draw_array(init, dtype, shape, seed=seed, names=(name,))
    except (MemoryError, ValueError) as error:  # more than there is, more than NumPy can number
        raise UsageError(
            f"{what}: this machine has no room for an array of the shape {shape}",
            "Give smaller extents.",
        ) from error


def _read_file(what: str, path: Path) -> np.ndarray:
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(
            f"{what}: the file cannot be read: {error}", "Write it with numpy.save."
        ) from error
    if not isinstance(array, np.ndarray):
        raise UsageError(f"{what}: the file holds no single array", "Write it with numpy.save.")
    return array


def _find_dtype(text: str) -> str | None:
    """NumPy's name of a type that is written so or as in C."""
    return text if text in CPP_NAMES else NUMPY_NAMES.get(text)


def _parse_shape(what: str, text: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The extents, expressions of the sizes with commas between them."""
    try:
        shape = tuple(parse_expression(extent).evaluate(sizes) for extent in split_arguments(text))
    except LanguageError as error:
        known = f" Sizes that are given: {', '.join(sizes)}." if sizes else ""
        raise UsageError(
            f"{what}: the shape {quote(text)}: {error.message}",
            f"Write extents with commas between them: rows,cols or 2*n.{known}",
        ) from None
    if not shape or min(shape) < 1:
        raise UsageError(f"{what}: the shape is {shape}", "Give at least one element.")
    return shape
