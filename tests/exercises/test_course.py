"""The table of the course's items names what is there: sections of handouts, tests, submissions."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
HANDOUTS = {
    "T": "transpose",
    "C": "gemm_coalesced",
    "G": "gemm_tiled",
    "R": "gemm_register_blocked",
}
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in TEXT.splitlines()
    if re.match(r"\| (?!item|---)", line)
]


def test_every_item_says_where_it_is_and_how_that_was_checked() -> None:
    assert len(ROWS) > 60
    assert [row for row in ROWS if len(row) != 3 or not all(row)] == []


def test_the_sections_that_are_named_are_there() -> None:
    for letter, name in HANDOUTS.items():
        handout = (ROOT / "exercises" / name / "README.md").read_text(encoding="utf-8")
        for row in ROWS:
            for titles in re.findall(
                rf"(?:^|; |and |, ){letter},((?: and|,? \"[^\"]+\")+)", row[1]
            ):
                for title in re.findall(r'"([^"]+)"', titles):
                    assert f"## {title}" in handout or f"**{title}" in handout, (letter, title)


def test_the_files_and_tests_that_are_named_are_there() -> None:
    tests = "".join(
        path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")
    )
    for name in re.findall(r"`((?:tests|exercises|benchmarks|starter)/[^`]+)`", TEXT):
        assert [*ROOT.glob(name)], name
    for name in re.findall(r"`(test_\w+)`", TEXT):
        assert f"def {name}(" in tests, name
    for name in re.findall(r"`((?:passed|failed)--\w+)`", TEXT):
        assert [*(ROOT / "tests" / "submissions").glob(f"*/{name}.cu")], name
