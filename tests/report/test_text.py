"""Terminal control is taken out of other people's text, and nothing else is."""

from __future__ import annotations

import pytest

from grader.report.text import clean_line, clean_text, fold_to_ascii


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;never closed\nerror: kept", "\nerror: kept"),
        ("a\x9b2Jb\x1bcd\x1b", "abd"),
        ("safe\r\nover\rwritten", "safe\nover\nwritten"),
        ("bell\x07 back\x08 null\x00 tab\t.", "bell back null tab\t."),
        ("if (a\u202e) {\u2066", "if (a) {"),
        ("lone \udcff surrogate", "lone  surrogate"),
        ("kept: é × ≤ [red] \\x1b", "kept: é × ≤ [red] \\x1b"),
    ],
)
def test_cleans_control_and_keeps_the_rest(text: str, cleaned: str) -> None:
    assert clean_text(text) == cleaned


def test_a_line_is_one_line() -> None:
    assert clean_line(" a\n\tb\r\nc ") == "a b c"


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("✓ passed", "[+] passed"),
        ("– skipped", "[-] skipped"),
        ("~ partial", "[~] partial"),
        ("a – b ~ c", "a - b ~ c"),
        ("é", "\\xe9"),
    ],
)
def test_folds_to_ascii(text: str, folded: str) -> None:
    assert fold_to_ascii(text) == folded
