"""Types have one name each for NumPy and for the demangler, and one size."""

from __future__ import annotations

import pytest

from grader.cpp.brackets import split_arguments, split_outside
from grader.cpp.types import DEMANGLED_NAMES, element_of, normal_integer_type, size_of


@pytest.mark.parametrize(
    ("name", "dtype", "size"),
    [
        ("float", "float32", 4),
        ("float4", "float32", 16),
        ("uchar2", "uint8", 2),
        ("ulonglong2", "uint64", 16),
        ("__half2", "float16", 4),
        ("unsigned long long", "uint64", 8),
        ("bool", "bool", 1),
        ("__nv_bfloat16", None, 2),
        ("int5", None, None),
        ("ufloat2", None, None),
        ("size_t2", None, None),
        ("Matrix", None, None),
    ],
)
def test_elements(name: str, dtype: str | None, size: int | None) -> None:
    assert (element_of(name), size_of(name)) == (dtype, size)


def test_the_demangler_has_its_own_names() -> None:
    assert DEMANGLED_NAMES["size_t"] == "unsigned long"
    assert DEMANGLED_NAMES["uint8_t"] == "unsigned char"
    assert DEMANGLED_NAMES["int64_t"] == "long"
    assert DEMANGLED_NAMES["half2"] == "__half2"


def test_words_of_integers_have_an_order() -> None:
    assert normal_integer_type(["long", "unsigned", "int"]) == "unsigned long"
    assert normal_integer_type(["signed"]) == "signed"
    assert normal_integer_type(["short", "int"]) == "short"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("int, float*", ["int", "float*"]),
        ("A<1, 2>, B", ["A<1, 2>", "B"]),
        ("(E)(1 < 2), 3", ["(E)(1 < 2)", "3"]),
        ("float (*) [4], int", ["float (*) [4]", "int"]),
        ("f(a, b)], c", ["f(a, b)]", "c"]),
    ],
)
def test_arguments_are_split_outside_of_brackets(text: str, parts: list[str]) -> None:
    assert split_arguments(text) == parts


def test_code_is_split_at_words_of_several_letters() -> None:
    text = "a < b && (c && d)"
    assert [text[start:end] for start, end in split_outside(text, "&&")] == ["a < b ", " (c && d)"]
