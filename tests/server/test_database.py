"""The database: its versions, its files, and the errors that its user sees."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import select, text

from grader.authoring.autograder import make_wheel
from grader.cli import main
from grader.cli.serve import LIBRARIES, check_url
from grader.errors import GraderError, UsageError
from grader.server.course import find_lessons, render_handout
from grader.server.database import migrate, open_database, read_secret
from grader.server.records import Queue
from grader.server.tables import GRADINGS, METADATA
from grader.server.web.site import PAGE, Site
from tests.support.served import enter


def test_a_database_has_the_newest_tables_and_version(site: Site) -> None:
    migrate(site.engine)  # the second start
    with site.engine.connect() as connection:
        context = MigrationContext.configure(connection)
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == "v0004"


def test_an_earlier_database_gets_the_new_columns_and_keeps_its_rows(site: Site) -> None:
    enter(site, "ada@example.org").grade("x")
    with site.engine.begin() as connection:
        for column in ("what_if", "queue", "charged"):
            connection.execute(text(f"ALTER TABLE gradings DROP COLUMN {column}"))
        connection.execute(text("UPDATE alembic_version SET version_num = 'v0001'"))
    migrate(site.engine)
    with site.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []
        assert connection.scalars(select(GRADINGS.c.what_if)).all() == [False]
        assert connection.scalars(select(GRADINGS.c.queue)).all() == [Queue.SERVER]
    with site.engine.begin() as connection:
        connection.execute(text("UPDATE gradings SET queue = 'gpu'"))
        connection.execute(text("ALTER TABLE gradings DROP COLUMN charged"))
        connection.execute(text("UPDATE alembic_version SET version_num = 'v0003'"))
    migrate(site.engine)
    with site.engine.connect() as connection:
        assert connection.scalars(select(GRADINGS.c.charged)).all() == [True]


def test_a_secret_is_drawn_once(site: Site) -> None:
    with site.engine.begin() as connection:
        first = read_secret(connection, "a")
    with site.engine.begin() as connection:
        assert read_secret(connection, "a") == first != read_secret(connection, "b")


@pytest.mark.parametrize("url", ["nonsense", "what://x", "oracle+none://x"])
def test_a_wrong_url_of_a_database_names_the_next_step(url: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_database(url)
    assert "postgresql" in caught.value.advice


def test_a_database_that_does_not_answer_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    with pytest.raises(GraderError) as caught:
        migrate(open_database(f"sqlite:///{tmp_path}/none/course.sqlite"))
    assert caught.value.exit_code == 3


def test_a_course_without_exercises_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_lessons(tmp_path)
    assert "grade new" in caught.value.advice


@pytest.mark.parametrize("url", ["grade.example.org", "ftp://x", "https://x/path"])
def test_a_wrong_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError):
        check_url(url)
    assert check_url("https://x/") == "https://x"


def test_without_the_extra_the_command_names_pip(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(["serve"]) == 2
    error = capsys.readouterr().err
    assert ", ".join(LIBRARIES) in error
    assert "pip install 'cuda-exercise-grader[server]'" in error


def test_the_command_line_does_not_load_the_server() -> None:
    code = "import sys, grader.cli; print([m for m in sys.modules if m.startswith(('starlette', 'sqlalchemy'))])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_the_bundle_is_made_from_these_sources() -> None:
    """After a change: `npm ci && npm run build` in grader/server/page."""
    digest = sha256()
    for name in ("work.ts", "package.json", "package-lock.json"):
        digest.update((PAGE / name).read_bytes())
    assert (PAGE / "bundle" / "sources.sha256").read_text().strip() == digest.hexdigest()
    assert "http" not in (PAGE / "package-lock.json").read_text().replace(
        "https://opencollective", ""
    )


def test_the_wheel_holds_the_pages() -> None:
    with zipfile.ZipFile(io.BytesIO(make_wheel()[1])) as archive:
        names = set(archive.namelist())
    shipped = ("style.css", "bundle/work.js", "bundle/LICENSES.txt", "templates/work.html")
    shipped += ("any/README.md", "any/any-kernel.cu")
    assert {f"grader/server/page/{name}" for name in shipped} <= names
    assert "grader/server/migrations/versions/v0001.py" in names


def test_links_and_pictures_of_a_handout_lead_to_the_server() -> None:
    handout = (
        "[r](../../docs/report.md#x) [o](../scan/README.md) [w](https://w.example) ![p](a/b.svg)"
    )
    html = render_handout(handout, "scan")
    for address in (
        "/guide#x",
        "/exercises/scan",
        "https://w.example",
        "/exercises/scan/pictures/b.svg",
    ):
        assert f'="{address}"' in html
