"""Fixes that the server tries for a student, where the exercise allows it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.server.attempts import read_attempt, read_attempts, read_kept
from grader.server.course import find_lessons
from grader.server.web.site import Site
from tests.support.served import JSON, ROOT, enter, finish_all, grade_all, make_site
from tests.support.served import worth as points

BUTTON = 'data-post="/attempts/{}/what-if"'


def allow_fixes(site: Site, mode: str) -> Site:
    """The site, whose exercise shows fixes in this mode."""
    file = site.lessons["transpose"].folder / "spec.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "what_if": mode}))
    lessons = find_lessons(site.settings.course)
    return Site(**{**vars(site), "lessons": lessons})


@pytest.fixture
def allowing(tmp_path: Path) -> Site:
    return allow_fixes(make_site(tmp_path, "transpose"), "full")


def test_a_student_sees_the_fixes_that_the_server_tried(allowing: Site) -> None:
    ada = enter(allowing, "ada@example.org")
    attempt = ada.grade((ROOT / "starter" / "transpose.cu").read_text(), exercise="transpose")
    grade_all(allowing)
    before = ada.client.get(f"/attempts/{attempt}.json").json()
    assert BUTTON.format(attempt) in before["html"]
    answer = ada.client.post(
        f"/attempts/{attempt}/what-if", json={"form_token": ada.token()}, headers=JSON
    )
    assert answer.json() == {"attempt": attempt}
    grade_all(allowing)
    after = ada.client.get(f"/attempts/{attempt}.json").json()
    assert "Fixes that were tried:" in after["html"]
    assert "rows of 33" in after["html"]
    assert BUTTON.format(attempt) not in after["html"]
    with allowing.reading() as connection:
        kept = read_attempt(connection, attempt)
        assert kept is not None
        score = json.loads(read_kept(connection, kept, "score") or "")
        page = read_kept(connection, kept, "page") or ""
    assert score["what_if"]["fixes"][0]["code"]
    assert "33" in page
    assert before["marks"] == after["marks"]
    assert str(score["seed"]) not in after["html"]


def test_an_exercise_without_fixes_has_no_button_and_no_address(site: Site) -> None:
    ada = enter(site, "ada@example.org")
    attempt = ada.grade("x")
    finish_all(site, lambda _: points(1))
    assert "what-if" not in ada.client.get(f"/attempts/{attempt}.json").json()["html"]
    form = {"form_token": ada.token()}
    assert ada.client.post(f"/attempts/{attempt}/what-if", data=form).status_code == 404


def test_only_the_owner_lets_the_server_try_fixes_and_once_at_a_time(allowing: Site) -> None:
    ada, eve = enter(allowing, "ada@example.org"), enter(allowing, "eve@example.org")
    attempt = ada.grade("x", exercise="transpose")
    finish_all(allowing, lambda _: points(1))
    address = f"/attempts/{attempt}/what-if"
    assert eve.client.post(address, data={"form_token": eve.token()}).status_code == 404
    assert ada.client.post(address, data={"form_token": "0"}).status_code == 403
    for _ in range(3):
        ada.post(address)
    assert len(finish_all(allowing, lambda _: points(2))) == 1
    with allowing.reading() as connection:
        assert [each.points for each in read_attempts(connection)] == [2]
