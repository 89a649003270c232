"""Draws the pictures of docs/images: pages in Chromium, and the reports on ten mistakes on a
terminal of 80 x 24.

    python docs/pictures.py               all pictures that the docs show
    python docs/pictures.py pages         the pages alone
    python docs/pictures.py terminal      the terminals alone
    python docs/pictures.py server        the pages of `grade serve` alone, by its test in Chromium
    python docs/pictures.py --all DIR     every kind of page at every width, light and dark, in DIR

Needs Chromium and the extra `browser`. Grades all files again, in some minutes.
"""

from __future__ import annotations

import argparse
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.browsers import start_chromium  # noqa: E402 - found by the line above
from tests.support.mistakes import MISTAKES  # noqa: E402
from tests.support.sample_pages import PAGES, SCHEMES, WIDTHS, make_pages  # noqa: E402
from tests.support.terminal_pictures import record_terminal  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import Browser

IMAGES = ROOT / "docs" / "images"
HIGHEST = 1800
"""Pixels of a picture in the docs: the rest of a page repeats the same elements."""
COLOURS = 200


class Picture(NamedTuple):
    """The drawn part of a page: from the element `start` to its end, or all of it."""

    page: str
    width: int
    scheme: str
    start: str | None = None
    highest: int | None = HIGHEST


SHOWN = (
    Picture("class", 1400, "light"),
    Picture("class", 1000, "dark", "#submissions"),
    Picture("class", 400, "light", "#submissions"),
    Picture("single", 1000, "light"),
    Picture("single", 400, "dark"),
    Picture("similar", 1400, "light"),
    Picture("run", 1000, "dark"),
)
"""The pictures in the docs."""
SERVED = (
    *("verdict-1400-light", "verdict-400-dark", "class-1400-dark"),
    *("any-kernel-1400-light", "any-kernel-result-400-dark"),
    *("lecture-1400-dark", "lecture-400-light"),
)
"""Those of `grade serve`: steps of the test, with width and colours."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=("pages", "terminal", "server"))
    parser.add_argument("--all", type=Path, metavar="DIR")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as room:
        if options.all is not None:
            draw_pages(make_pages(Path(room)), options.all, every_page())
            return 0
        if options.what in (None, "pages"):
            draw_pages(make_pages(Path(room)), IMAGES, SHOWN)
        if options.what in (None, "terminal"):
            draw_terminals(Path(room))
        if options.what in (None, "server"):
            draw_server(Path(room))
    return 0


def every_page() -> Iterator[Picture]:
    for page in PAGES:
        for width in WIDTHS:
            for scheme in SCHEMES:
                yield Picture(page.name, width, scheme, highest=None)


def draw_pages(pages: Mapping[str, Path], target: Path, shown: Iterable[Picture]) -> None:
    """Screenshots as PNG, named by page, width and colours."""
    from playwright.sync_api import sync_playwright

    target.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = start_chromium(playwright)
        for each in shown:
            drawn = _shoot(browser, pages[each.page], each)
            name = f"{each.page}-{each.width}-{each.scheme}.png"
            (target / name).write_bytes(_shrink(drawn))
        browser.close()


def _shoot(browser: Browser, page: Path, picture: Picture) -> bytes:
    context = browser.new_context(
        viewport={"width": picture.width, "height": 900},
        color_scheme=picture.scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    opened = context.new_page()
    opened.goto(page.as_uri())
    height = int(opened.evaluate("document.documentElement.scrollHeight"))
    top = 0
    if picture.start is not None:
        box = opened.locator(picture.start).bounding_box()
        assert box is not None
        top = max(0, int(box["y"]) - 10)
    size = min(height - top, picture.highest or height)
    clip = {"x": 0, "y": top, "width": picture.width, "height": size}
    drawn = opened.screenshot(full_page=True, clip=clip)  # type: ignore[arg-type]
    context.close()
    return drawn


def _shrink(drawn: bytes) -> bytes:
    """The picture with few colours, rare colours included: a fifth of the bytes."""
    from PIL import Image

    picture = Image.open(io.BytesIO(drawn)).convert("RGB")
    few = picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    packed = io.BytesIO()
    few.save(packed, "PNG", optimize=True)
    return packed.getvalue()


def draw_server(room: Path) -> None:
    """The pages of a student's and an instructor's hour."""
    test = ["-m", "pytest", "--run-browser", "-n", "0", "tests/server/test_in_browser.py"]
    environment = {**os.environ, "PICTURES": str(room)}
    subprocess.run([sys.executable, *test], cwd=ROOT, env=environment, check=True)
    for name in SERVED:
        (IMAGES / f"server-{name}.png").write_bytes(_shrink((room / f"{name}.png").read_bytes()))


def draw_terminals(room: Path) -> None:
    """The report on each mistake of MISTAKES, as SVG."""
    for mistake in MISTAKES:
        (room / f"{mistake.name}.cu").write_text(mistake.text, encoding="utf-8")
        drawn = record_terminal(["transpose", f"{mistake.name}.cu", "--seed", "1"], room)
        (IMAGES / f"mistake-{mistake.name}.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
