"""The site builds without a warning, its links lead to files, and its search finds the right page,
where mkdocs is installed (extra `docs`)."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.pages import ROOT

pytest.importorskip("mkdocs")
pytest.importorskip("material")

FIRST_RESULTS = {
    "canvas zip": "instructor/",
    "too close to call": "student/",
    "how exact is the time": "timing-model/",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return folder


def test_the_site_holds_pages_and_handouts(site: Path) -> None:
    student = (site / "student" / "index.html").read_text(encoding="utf-8")
    assert 'href="../repository/exercises/transpose/"' in student
    assert (site / "repository" / "exercises" / "transpose" / "index.html").is_file()
    assert not [*site.rglob("*.py")]


def test_the_first_page_has_an_install_line_and_a_picture(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    assert "pip install" in re.sub(r"<[^>]+>", "", page)
    assert re.search(r'<img [^>]*src="images/report\.svg"', page)


def test_no_link_is_dead(site: Path) -> None:
    dead = [
        (str(page.relative_to(site)), link)
        for page in site.rglob("*.html")
        for link in local_links(page)
        if not target_of(link, page, site).is_file()
    ]
    assert dead == []


def local_links(page: Path) -> Iterator[str]:
    links = re.findall(r'(?:href|src)="([^"#?]+)', page.read_text(encoding="utf-8"))
    return (unquote(link) for link in links if not re.match(r"[a-z]+:|//", link))


def target_of(link: str, page: Path, site: Path) -> Path:
    path = site / link.removeprefix("/") if link.startswith("/") else page.parent / link
    return path / "index.html" if path.is_dir() else path


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_search_returns_the_right_page_first(site: Path) -> None:
    script = ROOT / "tests" / "support" / "search.mjs"
    ended = subprocess.run(
        ["node", str(script), str(site), *FIRST_RESULTS],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    pages = [line.partition("#")[0] for line in ended.stdout.splitlines()]
    assert dict(zip(FIRST_RESULTS, pages, strict=True)) == FIRST_RESULTS
