"""Links between pages, and to files of the repository, lead somewhere: on the web view of the
repository and in the site."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import GUIDE, HANDOUTS, ROOT, name_of

LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(([^)\s]+)\)")
PAGES = (*GUIDE, *HANDOUTS)
NAMED = re.compile(r"(?<![\w/.{}*<$-])(?:[a-z_]+/)+[a-z_0-9]+\.(?:py|cpp|h|md)\b")
"""A file that a text names by its path."""
BASES = (
    *("", "grader", "grader/emulator", "grader/emulator/codegen", "grader/emulator/cpp"),
    "grader/cuda/cpp",
)
OTHERS = ("linux/", "toolkit/")
"""Folders of headers outside of the repository."""


def text_of(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


def links_of(page: Path) -> Iterator[str]:
    return (link for link in LINK.findall(text_of(page)) if not re.match(r"https?:", link))


def anchors_of(page: Path) -> set[str]:
    """The anchors that both the repository's web view and the site have."""
    text = text_of(page)
    titles = re.findall(r"^#+ (.*)$", text, flags=re.M)
    shared = {web_anchor(title) for title in titles} & {site_anchor(title) for title in titles}
    return shared | set(re.findall(r'<a id="([^"]+)"', text))


def web_anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def site_anchor(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


@pytest.mark.parametrize("page", [pytest.param(page, id=name_of(page)) for page in PAGES])
def test_links_lead_to_files_and_anchors(page: Path) -> None:
    for link in links_of(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.is_file(), link
        assert target.is_relative_to(ROOT), link
        assert not anchor or anchor in anchors_of(target), link


def test_every_page_is_linked() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in GUIDE
        for link in links_of(page)
    }
    assert [name_of(page) for page in GUIDE if page not in linked and page.name != "index.md"] == []


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_named_files_exist() -> None:
    sources = (
        path for kind in ("py", "cpp", "h", "md") for path in ROOT.glob(f"grader/**/*.{kind}")
    )
    pages = (page for page in GUIDE if page.name != "changelog.md")
    missing = {
        f"{name_of(page)}: {name}"
        for page in (*pages, *sources)
        for name in NAMED.findall(page.read_text(encoding="utf-8"))
        if not any((ROOT / base / name).exists() for base in BASES)
        and not (page.parent / name).exists()
        and not name.startswith(OTHERS)
    }
    assert not missing
