"""The report in a real browser: it sorts, filters and links, and nothing of a submission runs.

Chromium through Playwright: `pip install playwright`, and a `chromium` on PATH or Playwright's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from grader.report.html import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
from report.html.test_report import hostile_class
from tests.report.test_kernel_run_page import RUN
from tests.support.classes import HOSTILE, make_scores, make_summary, write_class

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page that fails the test where something runs that should not, or is loaded from
    anywhere."""
    context = browser.new_context(offline=True)
    opened = context.new_page()
    troubles: list[str] = []
    opened.on(
        "dialog", lambda dialog: (troubles.append(f"dialog {dialog.message}"), dialog.dismiss())
    )
    opened.on("pageerror", lambda error: troubles.append(f"error {error}"))
    opened.on(
        "console",
        lambda message: (
            troubles.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    opened.on(
        "request",
        lambda request: None if request.url.startswith("file:") else troubles.append(request.url),
    )
    yield opened
    context.close()
    assert troubles == []


def column(page: Page, number: int) -> list[str]:
    """The sort values of the rows that are shown."""
    shown = "tbody tr[data-status]:not([hidden])"
    value = "(rows, n) => rows.map(({cells}) => cells[n].dataset.v ?? cells[n].textContent.trim())"
    return [*page.eval_on_selector_all(shown, value, number)]


def test_sorts_by_mouse_and_keyboard(page: Page, tmp_path: Path) -> None:
    write_report(
        tmp_path,
        write_class(tmp_path, make_scores(60), ["zoë", "Ärmel", "student 10", "student 9"]),
    )
    page.goto((tmp_path / "report.html").as_uri())
    points = page.locator("table.sortable th", has_text="Points")
    points.locator("button").click()
    assert points.get_attribute("aria-sort") == "descending"
    shown = column(page, 2)
    graded = [float(value) for value in shown if value]
    assert graded == sorted(graded, reverse=True)
    assert shown[len(graded) :] == [""] * (60 - len(graded))
    points.locator("button").focus()
    page.keyboard.press("Enter")
    assert points.get_attribute("aria-sort") == "ascending"
    assert [float(value) for value in column(page, 2)[: len(graded)]] == sorted(graded)
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    assert page.locator("table.sortable th[aria-sort]").count() == 1
    names = column(page, 0)
    assert names[0] == "Ärmel"
    assert names.index("student 9") < names.index("student 10")


def test_filters_and_says_how_many_are_shown(page: Page, tmp_path: Path) -> None:
    write_report(tmp_path, write_class(tmp_path, make_scores(60), ["Ada Lovelace"]))
    page.goto((tmp_path / "report.html").as_uri())
    page.fill("#search", "lovelace")
    assert column(page, 0) == ["Ada Lovelace"]
    assert page.inner_text("#shown") == "1 of 60 shown"
    page.fill("#search", "lóvelace")
    assert column(page, 0) == ["Ada Lovelace"]
    page.fill("#search", "")
    page.select_option("#status", "full marks")
    assert set(column(page, 1)) == {"full marks"}


def test_links_lead_to_the_page_and_back(page: Page, tmp_path: Path) -> None:
    write_report(tmp_path, write_class(tmp_path, make_scores(5), [HOSTILE]))
    page.goto((tmp_path / "report.html").as_uri())
    page.locator("tbody a").first.click()
    assert page.inner_text("h1").startswith("</script><script>alert(1)")
    page.click("nav a")
    assert page.url.endswith("report.html")


def test_nothing_of_a_submission_runs(page: Page, tmp_path: Path) -> None:
    write_report(tmp_path, hostile_class(tmp_path))
    for path in [tmp_path / "report.html", *sorted((tmp_path / "pages").iterdir())]:
        page.goto(path.as_uri())
        assert page.locator("main img, main script, main iframe").count() == 0
        assert page.evaluate("document.scripts.length") == (path.name == "report.html")


@pytest.mark.parametrize("width", [360, 1280])
def test_nothing_is_wider_than_the_window(page: Page, tmp_path: Path, width: int) -> None:
    write_report(tmp_path, write_class(tmp_path, make_scores(12), [HOSTILE * 5]))
    page.set_viewport_size({"width": width, "height": 800})
    for path in (tmp_path / "report.html", tmp_path / "pages" / "s00001.html"):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_class_of_nobody_opens(page: Page, tmp_path: Path) -> None:
    write_report(tmp_path, make_summary([]))
    page.goto((tmp_path / "report.html").as_uri())
    assert "No submissions." in page.inner_text("main")


@pytest.mark.slow
def test_ten_thousand_rows_sort_in_seconds(page: Page, tmp_path: Path) -> None:
    batch = write_class(tmp_path, make_scores(50))
    write_report(tmp_path, make_summary(batch.entries * 200))
    page.goto((tmp_path / "report.html").as_uri())
    assert page.inner_text("#shown") == "1,000 of 10,000 shown"
    took = page.evaluate(
        "() => { const start = performance.now(); document.querySelectorAll('th"
        " button')[2].click(); document.body.offsetHeight; return performance.now() - start; }"
    )
    assert took < 10_000
    best = max(entry.score or 0 for entry in batch.entries)
    assert {float(value) for value in column(page, 2)} == {best}
    page.click("#more")
    assert len(column(page, 2)) == 10_000


NOTEBOOK = """<!DOCTYPE html><style>
.jp table{table-layout:fixed;border:none}.jp tbody tr:nth-child(odd){background:rgb(9,9,9)}
.jp td,.jp th{text-align:right;max-width:none;padding:.5em}</style>
<body data-jp-theme-light=THEME><table id=own><tr><td>a table of the notebook</table><div class=jp>
"""
STYLE_OF = "(node, name) => getComputedStyle(node)[name]"


@pytest.mark.parametrize(
    ("light", "background"), [("true", "rgb(246, 247, 249)"), ("false", "rgb(18, 21, 26)")]
)
def test_a_run_in_a_notebook_has_its_own_look_and_leaves_the_rest_alone(
    page: Page, tmp_path: Path, light: str, background: str
) -> None:
    path = tmp_path / "notebook.html"
    path.write_text(NOTEBOOK.replace("THEME", light) + (RUN._repr_html_() or ""), "utf-8")
    page.emulate_media(color_scheme="dark" if light == "true" else "light")
    page.goto(path.as_uri())

    def style(selector: str, name: str) -> str:
        return str(page.eval_on_selector(selector, STYLE_OF, name))

    assert style(".grade-run", "backgroundColor") == background
    assert style(".grade-run table.code", "tableLayout") == "auto"
    assert style(".grade-run tbody tr", "backgroundColor") == "rgba(0, 0, 0, 0)"
    assert style(".grade-run .src", "textAlign") == "left"
    assert style("#own td", "padding") == "1px"
    assert style("body", "backgroundColor") == "rgba(0, 0, 0, 0)"
