"""Every kind of page at the widths of a large window, a small one and a phone: nothing is cut or
overlaps, the keyboard reaches everything, and axe finds nothing.

The pages are those of tests/support/sample_pages.py; `python docs/pictures.py` shows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
from tests.support.sample_pages import PAGES, SCHEMES, WIDTHS, make_pages

pytestmark = pytest.mark.browser

CHECKPOINTS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")
NAMES = [page.name for page in PAGES]
HTML = [page.name for page in PAGES if page.file.endswith(".html")]
FOCUSED = """() => {
  const it = document.activeElement;
  if (it === document.body) return null;
  const all = [...document.querySelectorAll("*")];
  const box = it.getBoundingClientRect(), look = getComputedStyle(it);
  return {
    place: all.indexOf(it), name: it.tagName + " " + it.textContent.trim().slice(0, 40),
    seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight,
    marked: look.outlineStyle !== "none" || it.closest("svg") !== null,
  };
}"""
MOST_STOPS = 80


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    return make_pages(tmp_path_factory.mktemp("pages"))


@pytest.fixture(params=SCHEMES)
def scheme(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=WIDTHS)
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": request.param, "height": 900}, reduced_motion="reduce"
    )
    yield context.new_page()
    context.close()


def width_of(page: Page) -> int:
    assert page.viewport_size is not None
    return page.viewport_size["width"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_cut_and_nothing_overlaps(
    page: Page, pages: Mapping[str, Path], name: str
) -> None:
    page.goto(pages[name].as_uri())
    if name not in HTML:  # a picture, which has a size of its own
        width, height = page.evaluate(
            "['width', 'height'].map(of => document.rootElement[of].baseVal.value)"
        )
        page.set_viewport_size({"width": int(width), "height": int(height)})
    assert page.evaluate(CHECKPOINTS, width_of(page)) == []
    if page.locator("details").count():
        page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
        assert page.evaluate(CHECKPOINTS, width_of(page)) == []


@pytest.mark.parametrize("name", HTML)
def test_axe_finds_nothing(page: Page, pages: Mapping[str, Path], name: str, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.goto(pages[name].as_uri())
    page.eval_on_selector_all("details", "all => all.forEach(each => { each.open = true; })")
    violations = axe.run(page).response["violations"]
    assert [
        (each["id"], each["help"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in violations
    ] == []


@pytest.mark.parametrize("name", HTML)
def test_the_keyboard_goes_through_the_page_in_order(
    page: Page, pages: Mapping[str, Path], name: str
) -> None:
    """Each stop is in sight and marked, and lies behind the one before."""
    page.goto(pages[name].as_uri())
    stops = []
    for _ in range(MOST_STOPS):
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop is None or stop in stops[:1]:  # the end, or the first one again
            break
        stops.append(stop)
    assert [stop["name"] for stop in stops if not (stop["seen"] and stop["marked"])] == []
    places = [stop["place"] for stop in stops]
    assert places == sorted(set(places))
    reachable = page.locator("a[href], button:visible, input, select, summary").count()
    assert len(stops) >= min(reachable, MOST_STOPS)


@pytest.mark.parametrize("name", HTML)
def test_what_is_folded_opens_by_the_keyboard(
    page: Page, pages: Mapping[str, Path], name: str
) -> None:
    page.goto(pages[name].as_uri())
    for folded in page.locator("details").all()[:5]:
        before = folded.evaluate("each => each.open")
        folded.locator("summary").first.focus()
        page.keyboard.press("Enter")
        assert folded.evaluate("each => each.open") is not before


def test_the_class_is_sorted_by_the_keyboard_at_every_width(
    page: Page, pages: Mapping[str, Path]
) -> None:
    page.goto(pages["class"].as_uri())
    head = page.locator("table.sortable th").filter(has_text=re.compile("^Points$"))
    head.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    first = page.locator("table.sortable tbody tr").first
    assert "100 / 100" in first.inner_text()


def test_what_happened_is_in_sight_at_every_width(page: Page, pages: Mapping[str, Path]) -> None:
    """And no row is higher than a third of a window."""
    page.goto(pages["class"].as_uri())
    rows = page.locator("table.sortable tbody tr")
    told = rows.filter(has_text="out of bounds").locator("td").last
    box = told.bounding_box()
    assert box is not None
    assert box["x"] + box["width"] <= width_of(page)
    assert box["width"] >= 200
    heights = rows.evaluate_all("all => all.map(each => each.offsetHeight)")
    assert max(heights) < 300
