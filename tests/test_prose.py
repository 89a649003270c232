"""No file has more of the words that make prose hard to read than docs/contributing.md allows."""

from __future__ import annotations

from pathlib import Path

from tests.support.prose import ROOT, find_excess, home_made_names, list_files

CHECKED = ("grader", "docs", "exercises", "benchmarks", "tests/emulator", "README.md")


def test_no_file_has_many_words_that_are_hard_to_read() -> None:
    """`python -m tests.support.prose` lists the places."""
    found = {str(path.relative_to(ROOT)): find_excess(path) for path in list_files(*CHECKED)}
    assert not {name: excess for name, excess in found.items() if excess}


def test_no_name_is_home_made() -> None:
    files = (path for path in list_files("grader", "benchmarks") if path.suffix != ".md")
    found = {str(path.relative_to(ROOT)): home_made_names(path) for path in files}
    assert not {name: names for name, names in found.items() if names}


def test_names_are_compared_word_by_word(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("from io import tell\n\nclass MendKind:\n    roomy = told_by = tell()\n")
    assert home_made_names(path) == {"MendKind", "told_by"}


def test_hard_words_count_in_prose_and_not_in_code(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text('"""What is told here."""\n\nwhat = "what is told"  # what he told\n')
    assert [(each.found, each.limit) for each in find_excess(path)] == [(2, 1), (2, 1), (1, 0)]
