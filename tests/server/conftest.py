"""Sites for the tests of the server."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `server`")
pytest.importorskip("alembic", reason="needs the extra `server`")
pytest.importorskip("argon2", reason="needs the extra `server`")

from grader.server.web.site import Site
from tests.support.served import enter, grade_all, make_site

HOSTILE = '<img src=x onerror="alert(1)">'
HOSTILE_SOURCE = f"#error {HOSTILE}</script><script>alert(2)</script>\n__global__ void k() {{}}\n"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path)


@pytest.fixture(scope="package")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A site where Ada's attempts are graded for real: 1, the starter; 2, a hostile text; 3, a text
    that includes the server's database."""
    site = make_site(tmp_path_factory.mktemp("graded"))
    ada = enter(site, "ada@example.org", name=f"Ada {HOSTILE}")
    ada.grade(site.lessons["vector_add"].starter, submit=True)
    ada.grade(HOSTILE_SOURCE)
    ada.grade(f'#include "{site.settings.data}/course.sqlite"\n__global__ void vector_add() {{}}\n')
    grade_all(site)
    return site
