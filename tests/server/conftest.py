"""Sites for the tests of the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs the extra `server`")
pytest.importorskip("alembic", reason="needs the extra `server`")
pytest.importorskip("argon2", reason="needs the extra `server`")

from grader.server.web.site import Site
from tests.support.postgres import open_postgres
from tests.support.served import enter, grade_all, make_site

HOSTILE = '<img src=x onerror="alert(1)">'
HOSTILE_SOURCE = f"#error {HOSTILE}</script><script>alert(2)</script>\n__global__ void k() {{}}\n"


ON_BOTH = (
    *("test_class", "test_database", "test_gpu_queue", "test_kills", "test_platform"),
    "test_queue",
)
"""The modules whose tests run on SQLite and on PostgreSQL."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "database" in metafunc.fixturenames and metafunc.module.__name__.endswith(ON_BOTH):
        metafunc.parametrize("database", ["sqlite", "postgresql"], indirect=True)


@pytest.fixture(scope="session")
def make_postgres() -> Iterator[Callable[[], str]]:
    with open_postgres() as make:
        yield make


@pytest.fixture
def database(request: pytest.FixtureRequest) -> str | None:
    """The URL of a new database; None for SQLite in the site's folder."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return None
    make: Callable[[], str] = request.getfixturevalue("make_postgres")
    return make()


@pytest.fixture
def site(tmp_path: Path, database: str | None) -> Iterator[Site]:
    made = make_site(tmp_path, database=database)
    yield made
    made.engine.dispose()


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
