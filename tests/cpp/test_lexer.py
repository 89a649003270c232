"""The one lexer of C++: every character in one token, each with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.cpp.cursor import Cursor
from grader.cpp.lexer import (
    Kind,
    Position,
    find_names,
    join_lines,
    lines_of_code,
    read_lines,
    read_tokens,
)

PIECES = st.lists(
    st.sampled_from(['R"(', ')"', '"', "'", "//", "/*", "*/", "\\\n", "\n", "a", " "])
)


@given(PIECES.map("".join))
def test_tokens_make_up_the_source_and_know_their_places(source: str) -> None:
    tokens = list(read_tokens(source))
    assert "".join(token.text for token in tokens) == source
    for token in tokens:
        before = source[: token.start]
        place = (before.count("\n") + 1, token.start - (before.rfind("\n") + 1) + 1)
        assert token.position == place


def test_the_place_in_the_file_can_be_given() -> None:
    first, _, second = read_tokens("a\nb", line=7, column=5)
    assert (first.position, second.position) == (Position(7, 5), Position(8, 1))


def test_a_line_ends_where_the_preprocessor_ends_it() -> None:
    source = "#define A \\\n 1 /* \n */ + 2\n\nint b; // c\n"
    lines = [[token.text for token in line] for line in read_lines(source)]
    assert lines == [["#", "define", "A", "1", "+", "2"], ["int", "b", ";"]]


def test_names_are_those_of_the_code() -> None:
    assert find_names("a->b(\"c\", d) // e\n/* f */ 'g'") == {"a", "b", "d"}


def test_lines_are_joined_at_backslashes() -> None:
    assert join_lines("__has\\\n_inc\\ \r\nlude") == "__has_include"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("// Ann\nint a;  // one\n", "\nint a;\n"),
        ("int/* a\nb */a; \t\n", "int\na;\n"),
        ("// one \\\n more\nint a;", "\n\nint a;"),
        ('s = "// a";  // b', 's = "// a";'),
        ("/* a */ #include <a//b.h>", "  #include <a//b.h>"),
        ("#include <a//b.h>\n# define A 1 // c\n", "#include <a//b.h>\n# define A 1 // c\n"),
    ],
)
def test_lines_of_code_have_no_comments(text: str, code: str) -> None:
    assert lines_of_code(text) == code


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("k<<<1", ["k", "<<<", "1"]),
        ("a>>=1", ["a", ">>", "=", "1"]),
        ('"a b"', ['"', "a", "b", '"']),
        ("1 // 2", ["1", "/", "/", "2"]),
    ],
)
def test_a_cursor_takes_other_things_apart(text: str, texts: list[str]) -> None:
    cursor = Cursor(text)
    taken = []
    while cursor.token.kind is not Kind.END:
        taken.append(cursor.take().text)
    assert taken == texts


def test_a_symbol_is_split_where_it_closes_two_brackets() -> None:
    cursor = Cursor("a>>b")
    cursor.take()
    cursor.split()
    assert [cursor.take().text for _ in range(3)] == [">", ">", "b"]
