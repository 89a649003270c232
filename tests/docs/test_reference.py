"""The generated pages are what the grader knows now, and the picture is a report of today."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.docs.pages import ROOT

GENERATOR = runpy.run_path(str(ROOT / "docs" / "generate.py"))
PAGES: dict[str, str] = GENERATOR["make_pages"]()
SCHEMAS: dict[str, str] = GENERATOR["make_schemas"]()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_generated(name: str) -> None:
    held = (ROOT / "docs" / name).read_text(encoding="utf-8")
    made_from = re.search(r"CUDA \d+\.\d+\.$", held, re.MULTILINE)
    if made_from and made_from[0] not in PAGES[name]:
        pytest.skip(f"the page was made from {made_from[0]}")
    assert held == PAGES[name], "run `python docs/generate.py`"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_as_generated(name: str) -> None:
    held = (ROOT / "grader" / "schemas" / name).read_text(encoding="utf-8")
    assert held == SCHEMAS[name], "run `python docs/generate.py`"


def test_all_of_reference_is_generated() -> None:
    held = {f"reference/{path.name}" for path in (ROOT / "docs" / "reference").iterdir()}
    assert held == set(PAGES)


@pytest.mark.slow
def test_the_picture_is_the_report_of_today() -> None:
    held = (ROOT / "docs" / "images" / "report.svg").read_text(encoding="utf-8")
    assert held == GENERATOR["draw_report"](), "run `python docs/generate.py --picture`"
