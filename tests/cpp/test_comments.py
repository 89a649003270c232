"""Comments are found as a C++ compiler finds them."""

from __future__ import annotations

import pytest

from grader.cpp.lexer import Comment, find_comments


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("// a", [(" a", 1, 3, True)]),
        ("\n\t // a\r\n// b\n", [(" a", 2, 5, True), (" b", 3, 3, True)]),
        ("int x; // a", [(" a", 1, 10, False)]),
        ("/* // a */", [(" // a", 1, 3, False, "/*")]),
        ("int x; /* a */ int y; // b", [(" a", 1, 10, False, "/*"), (" b", 1, 25, False)]),
        ("/**/ // b", [(" b", 1, 8, False)]),
        ("/*\n// a\r\n\n*/ // b", [("// a", 2, 1, False, ""), (" b", 4, 6, False)]),
        ("/* // a", [(" // a", 1, 3, False, "/*")]),
        ('"// a" // b', [(" b", 1, 10, False)]),
        ('"\\"// a" // b', [(" b", 1, 12, False)]),
        ('"a\n// b', [(" b", 2, 3, True)]),
        ("'\"' // a", [(" a", 1, 7, False)]),
        ("1'000 // a\n'", [(" a", 1, 9, False)]),
        ('R"(\n// a\n)" // b', [(" b", 3, 6, False)]),
        ('R"x(\n)"\n// a\n)x"\n// b', [(" b", 5, 3, True)]),
        ('FOOR"(" // a', [(" a", 1, 11, False)]),
        ("// a \\\n// b\n// c", [(" a \\\n// b", 1, 3, True), (" c", 3, 3, True)]),
        ("// don't\n// a", [(" don't", 1, 3, True), (" a", 2, 3, True)]),
        ("a / b // c", [(" c", 1, 9, False)]),
        ("/// a", [("/ a", 1, 3, True)]),
    ],
)
def test_comments(
    source: str, found: list[tuple[str, int, int, bool] | tuple[str, int, int, bool, str]]
) -> None:
    assert list(find_comments(source)) == [Comment(*row) for row in found]
