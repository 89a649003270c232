"""Derives the coefficients of the special-function unit from its results, and writes them to
grader/emulator/cpp/warps/special_tables.h.

    python -m tests.support.special_tables               the results of this machine's GPU
    python -m tests.support.special_tables --emulated    of the emulated unit: the file stays equal

The form of each function's polynomial is given (special.cpp). A result gives bounds of the sum before
truncation; each row has exactly one triple {value, slope, curve} within all bounds. Takes a minute of
processor.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from llvmlite import binding

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator.cpp import SOURCES
from grader.emulator.layouts.execution import FUNCTION_PREFIX
from grader.records import Submission
from tests.support.compiling import compile_source
from tests.support.special_sums import FUNCTIONS, with_function

HEADER = SOURCES / "warps" / "special_tables.h"
Ints = np.ndarray
Evaluate = Callable[[str, Ints], Ints]
"""Function and argument words -> result words."""

_TANH = ((119, 6), (120, 6), (121, 6), (122, 5), (123, 5), (124, 4), (125, 4), (126, 4), (127, 3))
_TANH += ((128, 2), (129, 3))
"""Exponents, and fraction bits that are dropped."""
_ROW_BITS, _MOST_CURVE, _MOST_SLOPE, _STRIDE = 17, 12, 4, 61
_TABLE = r"constexpr uint32_t {}\[.*?^}};"
_KERNEL = """
extern "C" __global__ void evaluate(unsigned *words)
{
    unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
    float result;
    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(__uint_as_float(words[n])));
    words[n] = __float_as_uint(result);
}
"""


@dataclass(frozen=True)
class Points:
    """Arguments of a function in ascending order: row, lower bits, the upper 16 of these, which are
    squared. The sum of each lies in [low, high)."""

    rows: Ints
    rest: Ints
    squared: Ints
    low: Ints
    high: Ints


@dataclass(frozen=True)
class Form:
    """A polynomial: see Polynomial in special.cpp."""

    table: str
    function: str
    value_shift: int
    curve_shift: int
    slope_sign: int
    curve_sign: int
    addend: int
    points: Callable[[Evaluate, str], Points]


def _split(fractions: Ints, bits: int) -> tuple[Ints, Ints, Ints]:
    rest = fractions & ((1 << bits) - 1)
    return fractions >> bits, rest, rest >> (bits - 16)


def _integers(sums: Ints, shift: int) -> tuple[Ints, Ints]:
    """Bounds of sums that were shifted to integers."""
    return sums << shift, (sums + 1) << shift


def _floats(results: Ints, scale: Ints | int, shift: int = 0) -> tuple[Ints, Ints]:
    """Bounds of sums, shifted and truncated to float32, times 2^scale."""
    values = [words.astype(np.uint32).view(np.float32) for words in (results, results + 1)]
    low, high = (np.floor(np.ldexp(value.astype(np.float64), scale)) for value in values)
    low = low.astype(np.int64)
    return low << shift, np.maximum(high.astype(np.int64), low + 1) << shift


def _reciprocals(evaluate: Evaluate, name: str) -> Points:
    fractions = np.arange(1 << 23, dtype=np.int64)
    sums = evaluate(name, (127 << 23) + fractions) - (125 << 23)
    return Points(*_split(fractions, 16), *_integers(sums, 15))


def _roots(evaluate: Evaluate, name: str) -> Points:
    """The fraction has the lowest bit of the exponent. Without 1, whose reciprocal root is exact."""
    fractions = np.arange(1, 1 << 24, dtype=np.int64)
    words = (127 << 23) + fractions
    powers, results = (words + (1 << 23)) >> 1 & 0x7F800000, evaluate(name, words)
    reciprocal = name == "RSQ"
    sums = results - (189 << 23) + powers if reciprocal else results - (62 << 23) - powers
    return Points(*_split(fractions, 17), *_integers(sums, 16 if reciprocal else 17))


def _powers(evaluate: Evaluate, name: str) -> Points:
    fractions = np.arange(1 << 23, dtype=np.int64)
    words = np.ldexp(fractions, -23).astype(np.float32).view(np.uint32).astype(np.int64)
    return Points(*_split(fractions, 17), *_integers(evaluate(name, words) - (126 << 23), 15))


def _logarithms(evaluate: Evaluate, name: str) -> Points:
    """Without 1, whose logarithm is exact."""
    fractions = np.arange(1, 1 << 23, dtype=np.int64)
    results = evaluate(name, (127 << 23) + fractions)
    return Points(*_split(fractions, 17), *_floats(results, 36, 2))


def _sines(evaluate: Evaluate, name: str) -> Points:
    fractions = np.arange(1 << 23, dtype=np.int64)
    words = np.ldexp(fractions, -25).astype(np.float32).view(np.uint32).astype(np.int64)
    return Points(*_split(fractions, 17), *_floats(evaluate(name, words), 37))


def _tangents(evaluate: Evaluate, name: str) -> Points:
    parts, first = [], 0
    for exponent, dropped in _TANH:
        kept = np.arange(1 << (23 - dropped), dtype=np.int64)
        results = evaluate(name, (exponent << 23) + (kept << dropped))
        rows, rest, squared = _split(kept, _ROW_BITS)
        bounds = _floats(results, 168 - min(exponent, 126))
        parts.append((rows + first, rest << dropped, squared, *bounds))
        first += int(rows[-1]) + 1
    return Points(*map(np.concatenate, zip(*parts, strict=True)))


FORMS = (
    Form("RECIPROCAL", "RCP", 13, 0, -1, 1, 0x47E7, _reciprocals),
    Form("RECIPROCAL_ROOT", "RSQ", 14, 2, -1, 1, 0x7FFF, _roots),
    Form("SQUARE_ROOT", "SQRT", 15, 1, 1, -1, 0x7FFF, _roots),
    Form("EXP2", "EX2", 13, 0, 1, 1, 0x77E2, _powers),
    Form("LOG2", "LG2", 12, 1, 1, -1, 0x3345, _logarithms),
    Form("SINE", "SIN", 11, 0, 1, -1, 0, _sines),
    Form("TANGENT", "TANH", 18, 4, 1, -1, 0, _tangents),
)


def fit(form: Form, points: Points) -> Iterator[tuple[int, int, int]]:
    """The coefficients of each row."""
    ends = np.flatnonzero(np.diff(points.rows)) + 1
    columns = (points.rest, _square(points.squared), points.low, points.high - 1)
    for rest, square, low, high in zip(*(np.split(each, ends) for each in columns), strict=True):
        curves = form.curve_sign * square << form.curve_shift
        found = list(_fit_row(form, rest * form.slope_sign, curves, low, high))
        assert len(found) == 1, (form.table, found)
        yield found[0]


def _square(x: Ints) -> Ints:
    """As the unit squares: see square() in special.cpp."""
    total = (x >> 8) ** 2 >> 1
    total += (x >> 12) * (x >> 4 & 15) + (x >> 14) * (x >> 2 & 3) + (x >> 10 & 3) * (x >> 6 & 3)
    for upper, lower in ((15, 1), (13, 3), (11, 5), (9, 7)):
        total += x >> upper & x >> lower & 1
    return total


def _fit_row(
    form: Form, lines: Ints, curves: Ints, low: Ints, high: Ints
) -> Iterator[tuple[int, int, int]]:
    middle = (low + high) / 2
    ones = np.ones(len(lines))
    start = round(np.linalg.lstsq(np.stack((ones, lines, curves), 1), middle, rcond=None)[0][2])
    for curve in range(start - _MOST_CURVE, start + _MOST_CURVE + 1):
        line = np.linalg.lstsq(np.stack((ones, lines), 1), middle - curve * curves, rcond=None)
        slopes = round(line[0][1]) + np.arange(-_MOST_SLOPE, _MOST_SLOPE + 1)
        for slope in map(int, slopes):
            for part in (slice(None, None, _STRIDE), slice(None)):
                rest = slope * lines[part] + curve * curves[part] + form.addend
                least, most = int((low[part] - rest).max()), int((high[part] - rest).min())
                value = -(-least >> form.value_shift)
                if value << form.value_shift > most:
                    break
            else:
                yield from (
                    (each, slope, curve) for each in range(value, (most >> form.value_shift) + 1)
                )


def evaluate_emulated(name: str, words: Ints) -> Ints:
    emulator_runtime()  # loads the symbol
    address = binding.address_of_symbol(f"{FUNCTION_PREFIX}mufu_{name.lower()}")
    function = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(address)
    results = np.resize(words, -(-len(words) // 32) * 32).astype(np.uint32)
    for offset in range(0, results.nbytes, 128):
        function(results.ctypes.data + offset)
    return results[: len(words)].astype(np.int64)


def evaluate_on_gpu(name: str, words: Ints) -> Ints:
    import pycuda.autoprimaryctx  # noqa: F401 - a machine without a GPU has none
    import pycuda.driver as cuda

    major, minor = cuda.Device(0).compute_capability()
    source = Submission("words.cu", hashlib.sha256(_KERNEL.encode()).hexdigest(), _KERNEL)
    binary = compile_source(source, arch=f"sm_{major}{minor}", prefer_wheel=False)
    cubin = with_function(binary.cubin, FUNCTIONS.index(name), 0)
    results = np.resize(words, -(-len(words) // 256) * 256).astype(np.uint32)
    kernel = cuda.module_from_buffer(cubin).get_function("evaluate")
    kernel(cuda.InOut(results), block=(256, 1, 1), grid=(len(results) // 256, 1, 1))
    return results[: len(words)].astype(np.int64)


def read_table(text: str, table: str) -> list[tuple[int, int, int]]:
    """The rows of a table of the header."""
    found = re.search(_TABLE.format(table), text, re.DOTALL | re.MULTILINE)
    assert found, table
    cells = re.findall(r"\{(\w+), (\w+), (\w+)\}", found[0])
    return [(int(value, 16), int(slope, 16), int(curve, 16)) for value, slope, curve in cells]


def format_table(text: str, table: str, rows: list[tuple[int, int, int]]) -> str:
    """The header with other rows in a table."""
    _, slopes, curves = zip(*rows, strict=True)
    widths = (9, len(f"{max(slopes):#x}"), len(f"{max(curves):#x}"))
    cells = " ".join(
        "{"
        + ",~".join(f"{each:#0{width}x}" for each, width in zip(row, widths, strict=True))
        + "},"
        for row in rows
    )
    lines = textwrap.fill(cells, 100, initial_indent="    ", subsequent_indent="    ")
    body = f"constexpr uint32_t {table}[{len(rows)}][3] = {{\n{lines.replace('~', ' ')}\n}};"
    return re.sub(_TABLE.format(table), body, text, flags=re.DOTALL | re.MULTILINE)


def main(arguments: list[str], header: Path = HEADER) -> None:
    evaluate = evaluate_emulated if "--emulated" in arguments else evaluate_on_gpu
    text = header.read_text(encoding="utf-8")
    for form in FORMS:
        points = form.points(evaluate, form.function)
        text = format_table(text, form.table, list(fit(form, points)))
    header.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
