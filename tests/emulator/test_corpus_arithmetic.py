"""Kernels of the corpus against references that are independent of machine code: whole divisions,
roots, conversions, integers.

By default, tests of opcodes compare single instructions with the same references, and
test_corpus.py compares kernels with an H100.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from tests.support.corpus import KERNELS, make_arrays, read_cases, run_case
from tests.support.exact import BFLOAT, DOUBLE, HALF, SINGLE, Format, Mode

pytestmark = pytest.mark.slow

MODES = {"rn": Mode.NEAREST, "rz": Mode.ZERO, "rd": Mode.DOWN, "ru": Mode.UP}
MASK, MASK64 = (1 << 32) - 1, (1 << 64) - 1


def divide(fmt: Format, a: int, b: int, mode: Mode = Mode.NEAREST) -> int:
    """a / b, rounded once. Quotients of finite floats are rational, so a fraction is exact."""
    sign = (a ^ b) & fmt.sign
    if fmt.is_nan(a) or fmt.is_nan(b) or (fmt.is_infinite(a) and fmt.is_infinite(b)):
        return fmt.nan
    if fmt.is_infinite(a):
        return sign | fmt.infinity
    if fmt.is_infinite(b):
        return sign
    if fmt.value(b) == 0:
        return fmt.nan if fmt.value(a) == 0 else sign | fmt.infinity
    return fmt.round(fmt.value(a) / fmt.value(b), mode, zero_sign=sign)


def root(fmt: Format, a: int, mode: Mode = Mode.NEAREST) -> int:
    """The square root, rounded once: from an integer root with a sticky bit below it."""
    if fmt.is_nan(a) or (a & fmt.sign and a != fmt.sign):
        return fmt.nan
    if fmt.is_infinite(a) or fmt.value(a) == 0:
        return a
    scale = 4 ** (fmt.bias + 3 * fmt.fraction_bits)
    scaled = fmt.value(a) * scale
    whole = math.isqrt(int(scaled))
    sticky = 0 if whole * whole == scaled else 1
    return fmt.round(Fraction(2 * whole + sticky, 2 * math.isqrt(scale)), mode)


def patterns(array: np.ndarray) -> list[int]:
    return [int(value) for value in np.ascontiguousarray(array).view(f"u{array.itemsize}")]


def check(
    name: str, expected: dict[str, Callable[..., int]], fmt: Format | None = None, level: int = 3
) -> None:
    """Every element of the named outputs is the function of the inputs; for float NaNs, any NaN
    is accepted."""
    case = next(case for case in read_cases(KERNELS / f"{name}.cu") if case.level == level)
    arrays = make_arrays(case)
    inputs = [patterns(arrays[buffer.name]) for buffer in case.buffers if not buffer.output]
    outputs = run_case(case).outputs
    for output, function in expected.items():
        got = patterns(outputs[output])
        want = [
            function(*values) % (1 << 8 * outputs[output].itemsize)
            for values in zip(*inputs, strict=True)
        ]
        wrong = [
            n
            for n, (mine, other) in enumerate(zip(got, want, strict=True))
            if not same(mine, other, fmt)
        ]
        assert not wrong, _message(
            f"{case} {output}",
            [values[wrong[0]] for values in inputs],
            got[wrong[0]],
            want[wrong[0]],
            len(wrong),
        )


def same(mine: int, other: int, fmt: Format | None) -> bool:
    return mine == other or (fmt is not None and fmt.is_nan(mine) and fmt.is_nan(other))


def _message(where: str, inputs: Iterable[int], got: int, want: int, count: int) -> str:
    return f"{where} of {' '.join(map(hex, inputs))}: got {got:#x}, want {want:#x}; {count} differ"


def in_modes(function: Callable[..., int], prefix: str = "") -> dict[str, Callable[..., int]]:
    return {
        prefix + name: lambda *values, mode=mode: function(*values, mode)
        for name, mode in MODES.items()
    }


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize(("kind", "fmt"), [("float", SINGLE), ("double", DOUBLE)])
def test_divisions_and_roots_are_correctly_rounded(kind: str, fmt: Format, level: int) -> None:
    def inverse(a: int, mode: Mode) -> int:
        return divide(fmt, fmt.one, a, mode)

    check(f"{kind}_div_rounding", in_modes(lambda a, b, mode: divide(fmt, a, b, mode)), fmt, level)
    check(
        f"{kind}_sqrt_rounding",
        in_modes(lambda a, mode: root(fmt, a, mode)) | in_modes(inverse, "r"),
        fmt,
        level,
    )


def test_divisions_and_roots_of_all_sorts_of_patterns() -> None:
    check("float_div_random", {"quotient": lambda a, b: divide(SINGLE, a, b)}, SINGLE)
    check(
        "float_sqrt_random",
        {"root": lambda a: root(SINGLE, a), "inverse": lambda a: divide(SINGLE, SINGLE.one, a)},
        SINGLE,
    )
    check(
        "double_div_random",
        {"quotient": lambda a, b: divide(DOUBLE, a, b), "root": lambda a, b: root(DOUBLE, a)},
        DOUBLE,
    )


@pytest.mark.parametrize(("kind", "fmt"), [("float", SINGLE), ("double", DOUBLE)])
def test_sums_and_products_in_every_mode(kind: str, fmt: Format) -> None:
    check(f"{kind}_add_rounding", in_modes(fmt.add), fmt)
    check(f"{kind}_mul_rounding", in_modes(fmt.multiply), fmt)
    check(f"{kind}_fma_rounding", in_modes(fmt.fma), fmt)


@pytest.mark.parametrize(("kind", "fmt"), [("half", HALF), ("bf16", BFLOAT)])
def test_arithmetic_of_halves(kind: str, fmt: Format) -> None:
    check(f"{kind}_fma", {"plain": fmt.fma}, fmt)
    check(
        f"{kind}_arithmetic",
        {
            "sum": fmt.add,
            "product": fmt.multiply,
            "difference": lambda a, b: fmt.add(a, b ^ fmt.sign),
        },
        fmt,
    )
    check(
        f"{kind}_min_max",
        {
            "least": fmt.minimum,
            "most_or_nan": lambda a, b: fmt.minimum(a, b, largest=True, nan_wins=True),
        },
        fmt,
    )
    narrowings = {
        f"{name}_{mode}": _narrowing(fmt, place, MODES[mode])
        for place, name in enumerate("abc")
        for mode in MODES
    }
    check(f"{kind}_from_float", narrowings, fmt)


def _narrowing(fmt: Format, place: int, mode: Mode) -> Callable[..., int]:
    return lambda *values: SINGLE.convert(values[place], fmt, mode)


def signed(value: int, bits: int = 32) -> int:
    return value - (1 << bits) if value >> bits - 1 else value


def quotient(a: int, b: int) -> int:
    """Rounded towards zero; division by zero is undefined and not compared."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def test_products_of_integers() -> None:
    check(
        "int_mul",
        {
            "low_add": lambda a, b, c: a * b + c,
            "high": lambda a, b, c: a * b >> 32,
            "high_signed": lambda a, b, c: signed(a) * signed(b) >> 32,
            "full": lambda a, b, c: a * b + c,
            "full_signed": lambda a, b, c: signed(a) * signed(b) + signed(c),
        },
    )
    check(
        "int_mul_wide",
        {
            "low": lambda a, b, c: a * b + c,
            "high_signed": lambda a, b, c: signed(a, 64) * signed(b, 64) >> 64,
        },
    )


@pytest.mark.parametrize("level", [0, 3])
def test_shifts_beyond_the_width(level: int) -> None:
    check(
        "int_shift",
        {
            "left": lambda a, n, c: a << min(n, 32),
            "right": lambda a, n, c: a >> min(n, 32),
            "signed_right": lambda a, n, c: signed(a) >> min(n, 32),
        },
        level=level,
    )
    check(
        "int_funnel",
        {
            "left": lambda a, b, n: (b << 32 | a) << (n & 31) >> 32,
            "left_clamped": lambda a, b, n: (b << 32 | a) << min(n, 32) >> 32,
            "right": lambda a, b, n: (b << 32 | a) >> (n & 31),
            "right_clamped": lambda a, b, n: (b << 32 | a) >> min(n, 32),
        },
        level=level,
    )


def test_divisions_of_integers() -> None:
    """Divisors of 0 are excluded: the result is the dividend's own result."""
    for name, bits in (("int_divide", 32), ("int_divide_wide", 64)):
        case = next(case for case in read_cases(KERNELS / f"{name}.cu") if case.level == 3)
        arrays, outputs = make_arrays(case), run_case(case).outputs
        for a, b, plain, rest, whole in zip(
            *(
                patterns(array)
                for array in (
                    arrays["a"],
                    arrays["b"],
                    outputs["quotient"],
                    outputs["rest"],
                    outputs["quotient_signed"],
                )
            ),
            strict=True,
        ):
            if b:
                assert (plain, rest) == (a // b, a % b)
                assert whole == quotient(signed(a, bits), signed(b, bits)) % (1 << bits)


def test_saturating_sums() -> None:
    def total(a: int, b: int, c: int) -> int:
        return min(max(signed(a) + signed(b), -(1 << 31)), (1 << 31) - 1)

    check("int_saturate", {"sum": total})


def kernels_of_arithmetic() -> list[Path]:
    families = ("float", "double", "half", "half2", "bf16", "bf162", "mufu", "convert", "int")
    return [path for path in KERNELS.glob("*.cu") if path.stem.partition("_")[0] in families]


def test_every_family_has_kernels() -> None:
    assert len(kernels_of_arithmetic()) >= 120
