"""Rights: students see only their own work, and no hidden data reaches a browser."""

from __future__ import annotations

import json
import time

import pytest

from grader.server.attempts import read_attempt, read_kept, write_rules
from grader.server.records import Assignment, Role
from grader.server.web.site import Site
from tests.support.served import JSON, ROOT, Visitor, enter, visit

OF_ATTEMPT = ("/attempts/1.json", "/attempts/1/report", "/attempts/1/source", "/attempts/1/events")
OF_INSTRUCTOR = ("/class", "/roster", "/exports?kind=csv", "/students/1/vector_add", "/attempts/1")


@pytest.mark.parametrize("address", OF_ATTEMPT)
def test_a_student_does_not_see_an_attempt_of_another(graded: Site, address: str) -> None:
    other = enter(graded, f"other of {address}")
    assert other.client.get(address).status_code == 404
    assert visit(graded).client.get(address, headers=JSON).status_code == 401


@pytest.mark.parametrize("address", OF_INSTRUCTOR)
def test_a_student_does_not_see_the_pages_of_instructors(graded: Site, address: str) -> None:
    other = enter(graded, f"other of {address}")
    assert other.client.get(address).status_code == 404
    assert visit(graded).client.get(address).url.path == "/sign-in"


POSTS = (
    "/attempts/1/submit",
    "/attempts/1/comments",
    "/attempts/1/again",
    "/exercises/vector_add/rules",
    "/exercises/vector_add/again",
    "/roster",
    "/people",
    "/people/1/invitation",
    "/people/1/remove",
    "/students/1/vector_add/points",
)


@pytest.mark.parametrize("address", POSTS)
def test_a_student_does_not_change_the_course_or_another_s_work(graded: Site, address: str) -> None:
    other = enter(graded, f"sender of {address}")
    form = {"form_token": other.token(), "points": "100", "reason": "x", "login": "new"}
    assert other.client.post(address, data=form).status_code == 404


def test_an_exercise_that_is_not_visible_does_not_exist_for_students(site: Site) -> None:
    with site.engine.begin() as connection:
        write_rules(connection, Assignment("vector_add", visible=False))
    ada = enter(site, "ada@example.org")
    assert "/exercises/vector_add" not in ada.client.get("/exercises").text
    assert ada.client.get("/exercises/vector_add").status_code == 404
    teacher = enter(site, "t@example.org", Role.INSTRUCTOR)
    assert teacher.client.get("/exercises/vector_add").status_code == 200


def owner(site: Site) -> Visitor:
    """A browser of the student with the attempts."""
    ada = enter(site, f"another login {time.monotonic_ns()}")
    from sqlalchemy import update

    from grader.server.tables import SESSIONS

    with site.engine.begin() as connection:
        mine = SESSIONS.c.person_id == ada.person_id
        connection.execute(update(SESSIONS).where(mine).values(person_id=1))
    return ada


def test_no_hidden_data_reaches_a_browser(graded: Site) -> None:
    ada = owner(graded)
    pages = (
        "/",
        "/exercises",
        "/exercises/vector_add",
        "/guide",
        *OF_ATTEMPT[:3],
        "/attempts/2.json",
    )
    texts = {page: ada.client.get(page).text for page in pages}
    with graded.reading() as connection:
        attempt = read_attempt(connection, 1)
        assert attempt is not None
        score = json.loads(read_kept(connection, attempt, "score") or "")
    spec = json.loads((ROOT / "exercises" / "vector_add" / "spec.json").read_text())
    draws = [json.dumps(case["sizes"]["n"]) for case in spec["cases"]["hidden"]]
    reference = (ROOT / "solutions" / "vector_add.cu").read_text()
    body = max(reference.splitlines(), key=len)
    secrets = [str(score["seed"]), graded.form_secret.hex(), body, *draws, "sqlite:"]
    assert score["points" if "points" in score else "score"] > 0
    assert not [
        (page, secret[:40]) for page, text in texts.items() for secret in secrets if secret in text
    ]


def test_the_verdict_shows_checks_marks_and_the_report(graded: Site) -> None:
    ada = owner(graded)
    sent = ada.client.get("/attempts/1.json").json()
    assert sent["done"]
    assert "Correctness" in sent["html"]
    assert "of 35 points" in sent["html"]
    report = ada.client.get("/attempts/1/report")
    assert report.headers["content-security-policy"].startswith("sandbox;")
    assert "Machine code" in report.text or "machine" in report.text


def test_a_submission_does_not_read_the_server_s_database(graded: Site) -> None:
    sent = owner(graded).client.get("/attempts/3.json").json()
    assert "rejected" in sent["html"]
    assert "SQLite format" not in sent["html"]
