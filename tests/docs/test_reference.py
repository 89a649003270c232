"""The generated pages are what the grader knows now, and the picture is a report of today."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"
GENERATOR = runpy.run_path(str(ROOT / "docs" / "generate.py"))
PAGES: tuple[str, ...] = tuple(GENERATOR["PAGES"])
SCHEMAS: dict[str, str] = GENERATOR["make_schemas"]()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_as_generated(name: str) -> None:
    held, page = (
        (REFERENCE / f"{name}.md").read_text(encoding="utf-8"),
        GENERATOR["make_page"](name),
    )
    made_from = re.search(r"CUDA \d+\.\d+\.$", held, re.MULTILINE)
    if made_from and made_from[0] not in page:
        pytest.skip(f"the page was made from {made_from[0]}")
    assert held == page, "run `python docs/generate.py`"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_as_generated(name: str) -> None:
    held = (ROOT / "grader" / "schemas" / name).read_text(encoding="utf-8")
    assert held == SCHEMAS[name], "run `python docs/generate.py`"


def test_all_of_reference_is_generated() -> None:
    assert {path.name for path in REFERENCE.iterdir()} == {f"{name}.md" for name in PAGES}


@pytest.mark.slow
def test_the_picture_is_the_report_of_today() -> None:
    held = (ROOT / "docs" / "images" / "report.svg").read_text(encoding="utf-8")
    assert held == GENERATOR["draw_report"](), "run `python docs/generate.py --picture`"
