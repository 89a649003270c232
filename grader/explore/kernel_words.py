"""The data of a run in the words of a command line: `n=65536`, `x=normal:n`, `y=float32:n`,
`alpha=2.0`, `x=points.npy`, `x=8,32:swizzle=128`. A missing type is that of the kernel's parameter.
A missing shape is the only size."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from grader.cpp.brackets import split_arguments
from grader.cpp.cursor import LanguageError, did_you_mean, quote
from grader.cpp.expressions import parse_expression
from grader.cpp.signatures import Parameter, read_parameters
from grader.cpp.types import CPP_NAMES, NUMPY_NAMES
from grader.errors import UsageError
from grader.explore.kernel_data import Output
from grader.messages.syntax import describe_error
from grader.records import Submission
from grader.spec.draws import draw_array
from grader.spec.exercise import Initialisation
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.source_file import read_submission

DEFAULT_DTYPES = {Initialisation.PERMUTATION: "int32"}
"""The type of an array without a type in its word and its parameter; float32 for all others."""
NO_USES: Uses = MappingProxyType({})
_FILE = ".npy"


@dataclass(frozen=True)
class Use:
    """A name that is a whole argument. It is `const` if no launch may write to it."""

    kernel: str
    parameter: Parameter
    line: int | None


Uses = Mapping[str, Use]


@dataclass(frozen=True)
class Allowed:
    """The arrays that words may ask for: their number, the size of each, and files of this
    machine."""

    most_arrays: float = math.inf
    most_bytes: float = math.inf
    files: bool = True

    def check_count(self, words: Collection[str]) -> None:
        """Raises UsageError for too many arrays."""
        if len(words) > self.most_arrays:
            message = f"{len(words)} arrays are given, and at most {self.most_arrays:g} are allowed"
            raise UsageError(message, "Give fewer arrays.")


ANYTHING = Allowed()


def find_uses(path: Path) -> dict[str, Use]:
    """The uses of names that are arguments of the file's kernels, in the order of the launch lines;
    empty where the file is not text or its lines are wrong: the run reports that. Raises UsageError
    where there is no such file."""
    source = read_submission(path)
    plan = read_plan(source) if isinstance(source, Submission) else None
    if not isinstance(source, Submission) or not isinstance(plan, Plan):
        return {}
    kernels = read_parameters(source.text)
    own = {scratch.name for scratch in plan.scratch}
    uses: dict[str, Use] = {}
    for launch in plan.launches:
        parameters = kernels.get(launch.kernel.name, ())
        for argument, parameter in zip(launch.arguments, parameters, strict=False):
            name = argument.bare_name
            if name is None or name in own:
                continue
            use = Use(launch.kernel.name, parameter, launch.line)
            known = uses.setdefault(name, use)
            if known.parameter.is_const and not parameter.is_const:
                uses[name] = replace(known, parameter=replace(parameter, is_const=False))
    return uses


def check_given(uses: Uses, given: Collection[str], sizes: Mapping[str, int]) -> None:
    """Raises UsageError, with the missing options, for an array that is not given."""
    missing = {name: use for name, use in uses.items() if name not in given}
    arrays = [name for name, use in missing.items() if use.parameter.is_pointer]
    if not arrays:
        return
    use = missing[arrays[0]]
    raise UsageError(
        f"nothing is given for {', '.join(map(quote, arrays))}: in line {use.line}"
        f" {use.kernel} takes {quote(arrays[0])} as {quote(use.parameter.text)}",
        f"Add {' '.join(_option(name, missing[name], sizes) for name in arrays)}, for example.",
    )


def _option(name: str, use: Use, sizes: Mapping[str, int]) -> str:
    """The option for an array: an array that is only read is drawn, other arrays are written."""
    shape = "" if len(sizes) == 1 else f":{','.join(sizes) or 'SHAPE'}"
    if use.parameter.is_const:
        integer = use.parameter.dtype is not None and "int" in use.parameter.dtype
        return f"--input {name}={'index' if integer else 'normal'}{shape}"
    if shape:
        return f"--output {name}={use.parameter.dtype or 'TYPE'}{shape}"
    return f"--output {name}" if use.parameter.dtype else f"--output {name}=TYPE"


def parse_sizes(words: Iterable[str]) -> dict[str, int]:
    """The sizes of `NAME=NUMBER`. Raises UsageError."""
    sizes: dict[str, int] = {}
    for name, text in split_names("--size", words).items():
        try:
            sizes[name] = parse_expression(text).evaluate(sizes)
        except LanguageError as error:
            message = f"--size {name}={text}: {describe_error(error)}"
            raise UsageError(message, "Give an integer: --size n=65536.") from None
    return sizes


def parse_scalars(words: Iterable[str]) -> dict[str, int | float]:
    """The scalars of `NAME=NUMBER`: integers, or floats with a point or an exponent."""
    named = split_names("--scalar", words)
    return {name: _parse_number(name, text) for name, text in named.items()}


def read_inputs(
    words: Iterable[str],
    sizes: Mapping[str, int],
    *,
    seed: int,
    uses: Uses = NO_USES,
    allowed: Allowed = ANYTHING,
) -> dict[str, np.ndarray]:
    """The inputs of `NAME=INIT[:SHAPE[:TYPE]]`, drawn from the seed, and of `NAME=FILE.npy`."""
    return {
        name: _read_contents(_Word("--input", name, text, sizes, uses.get(name), allowed), seed)
        for name, text in split_names("--input", words).items()
    }


def read_outputs(
    words: Iterable[str],
    sizes: Mapping[str, int],
    *,
    seed: int,
    uses: Uses = NO_USES,
    allowed: Allowed = ANYTHING,
) -> dict[str, Output]:
    """The outputs of `NAME[=TYPE[:SHAPE]]`, and outputs with content, written like inputs."""
    outputs: dict[str, Output] = {}
    for name, text in split_names("--output", words, bare=True).items():
        word = _Word("--output", name, text, sizes, uses.get(name), allowed)
        first, colon, shape = text.partition(":")
        dtype = _find_dtype(first) if text else word.parameter_dtype
        if dtype is not None:
            outputs[name] = dtype, _check_size(word, dtype, shape if colon else None)
        elif text:
            outputs[name] = _read_contents(word, seed)
        else:
            raise UsageError(
                f"{word}: TYPE is missing, and no kernel's parameter gives it",
                f"Write {name}=TYPE:SHAPE, for example float32:n.",
            )
    return outputs


def parse_maps(words: Iterable[str], sizes: Mapping[str, int]) -> dict[str, dict[str, object]]:
    """The tensor maps of `NAME=BOX[:FIELD=VALUE...]`, with the fields of a spec."""
    option = "--tensor-map"
    maps: dict[str, dict[str, object]] = {}
    for name, text in split_names(option, words).items():
        word = _Word(option, name, text, sizes, None)
        box, *others = text.split(":")
        maps[name] = {"box": _parse_shape(word, box)}
        for other in others:
            field, equals, value = other.partition("=")
            if not field or not equals:
                raise UsageError(
                    f"{word}: {quote(other)} is no FIELD=VALUE",
                    f"Write {name}=BOX:FIELD=VALUE, for example {name}=8,32:swizzle=128.",
                )
            is_number = value.isascii() and value.isdecimal()
            plain = int(value) if is_number else value
            maps[name][field] = _parse_shape(word, value) if field == "steps" else plain
    return maps


def split_names(option: str, words: Iterable[str], *, bare: bool = False) -> dict[str, str]:
    """`NAME=TEXT` as name and text, `bare`: and `NAME` with an empty text. Raises UsageError for
    other words, and for a repeated name."""
    named: dict[str, str] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not name or (not text and (equals or not bare)):
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
    raise UsageError(f"--scalar {name}={text}: {quote(text)} is no number", "Write 2 or 2.0.")


@dataclass(frozen=True)
class _Word:
    """An option's word for an array, the sizes, and the use of the name in the launch lines."""

    option: str
    name: str
    text: str
    sizes: Mapping[str, int]
    use: Use | None
    allowed: Allowed = ANYTHING

    def __str__(self) -> str:
        return f"{self.option} {self.name}{'=' if self.text else ''}{self.text}"

    @property
    def parameter_dtype(self) -> str | None:
        """The element type of the kernel's parameter, where it is known."""
        return None if self.use is None else self.use.parameter.dtype


def _read_contents(word: _Word, seed: int) -> np.ndarray:
    """The array of a word: a file, or its initialisation, shape and type."""
    if word.text.endswith(_FILE) and word.allowed.files:
        return _read_file(str(word), Path(word.text))
    kind, *rest = word.text.split(":")
    known = kind in tuple(Initialisation)
    if not known or len(rest) > 2:
        guess = did_you_mean(kind, tuple(Initialisation))
        wrong = "there is something behind TYPE"
        raise UsageError(
            f"{word}: {wrong if known else f'{quote(kind)} is no way to fill an array{guess}'}",
            f"Write {word.name}=HOW:SHAPE or {word.name}=HOW:SHAPE:TYPE, where HOW is one of"
            f" {', '.join(Initialisation)}; or {word.name}=FILE.npy.",
        )
    init = Initialisation(kind)
    default = word.parameter_dtype or DEFAULT_DTYPES.get(init, "float32")
    dtype = _find_dtype(rest[1]) if len(rest) == 2 else default
    if dtype is None:
        raise UsageError(
            f"{word}: {quote(rest[1])} is no type{did_you_mean(rest[1], CPP_NAMES)}",
            f"Types are {', '.join(CPP_NAMES)}.",
        )
    shape = _check_size(word, dtype, rest[0] if rest else None)
    try:
        return draw_array(init, dtype, shape, seed=seed, names=(word.name,))
    except (MemoryError, ValueError) as error:  # more than there is, more than NumPy can number
        raise UsageError(
            f"{word}: this machine has no room for an array of the shape {shape}",
            "Give smaller extents.",
        ) from error


def _read_file(what: str, path: Path) -> np.ndarray:
    advice = "Write it with numpy.save."
    try:
        array = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(f"{what}: the file cannot be read: {error}", advice) from error
    if not isinstance(array, np.ndarray):
        raise UsageError(f"{what}: the file holds no single array", advice)
    return array


def _find_dtype(text: str) -> str | None:
    """NumPy's name of a type with a NumPy or C name."""
    return text if text in CPP_NAMES else NUMPY_NAMES.get(text)


def _check_size(word: _Word, dtype: str, text: str | None) -> tuple[int, ...]:
    """The written shape, or else the only size. Raises UsageError for an array that is larger than
    allowed, before anything fills it."""
    shape = _only_shape(word) if text is None else _parse_shape(word, text)
    size_bytes, most = math.prod(shape) * np.dtype(dtype).itemsize, word.allowed.most_bytes
    if size_bytes > most:
        message = f"{word}: the array has {size_bytes:,} bytes, and at most {most:,.0f} are allowed"
        raise UsageError(message, "Give smaller extents.")
    return shape


def _only_shape(word: _Word) -> tuple[int, ...]:
    """The only size, as the shape of an array without a written shape."""
    if len(word.sizes) != 1:
        several = f", and there are several sizes: {', '.join(word.sizes)}" if word.sizes else ""
        raise UsageError(
            f"{word}: SHAPE is missing{several}",
            f"Write {word}:SHAPE, extents with commas between them: rows,cols or 2*n.",
        )
    (size,) = word.sizes.values()
    if size < 1:
        raise UsageError(f"{word}: the shape is ({size},)", "Give at least one element.")
    lanes = 1 if word.use is None else word.use.parameter.lanes
    return (size, lanes) if lanes > 1 else (size,)


def _parse_shape(word: _Word, text: str) -> tuple[int, ...]:
    """The extents, expressions of the sizes with commas between them."""
    sizes = word.sizes
    try:
        shape = tuple(parse_expression(extent).evaluate(sizes) for extent in split_arguments(text))
    except LanguageError as error:
        known = f" Sizes that are given: {', '.join(sizes)}." if sizes else ""
        raise UsageError(
            f"{word}: the shape {quote(text)}: {describe_error(error)}",
            f"Write extents with commas between them: rows,cols or 2*n.{known}",
        ) from None
    if not shape or min(shape) < 1:
        raise UsageError(f"{word}: the shape is {shape}", "Give at least one element.")
    return shape
