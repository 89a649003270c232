"""Accounts: invitations, sessions, forms of other sites, and guesses of passwords."""

from __future__ import annotations

import time

import pytest

from grader.errors import UsageError
from grader.plumbing.passwords import hash_password
from grader.server import people
from grader.server.launch import invite_first
from grader.server.records import Role
from grader.server.web.site import Site
from tests.support.served import PASSWORD, TOKEN, enter, visit


def invited(site: Site, login: str = "eve@example.org") -> str:
    with site.engine.begin() as connection:
        person = people.add_person(connection, "Eve", login, role=Role.STUDENT)
        return f"/invitations/{people.invite(connection, person, time.time())}"


def accept(site: Site, link: str, password: str = PASSWORD):  # noqa: ANN201
    visitor = visit(site)
    form = {"form_token": visitor.token(link), "password": password, "again": password}
    return visitor, visitor.client.post(link, data=form)


def test_an_invitation_opens_an_account_once(site: Site) -> None:
    link = invited(site)
    _, answer = accept(site, link)
    assert answer.url.path == "/exercises"
    assert "Sign out" in answer.text
    assert visit(site).client.get(link).status_code == 404


def test_a_short_password_is_refused(site: Site) -> None:
    _, answer = accept(site, invited(site), "short")
    assert answer.status_code == 400
    with pytest.raises(UsageError):
        hash_password("x" * 201)


def test_the_first_instructor_gets_a_link_until_it_is_used(site: Site) -> None:
    first, second = invite_first(site), invite_first(site)
    assert first is not None
    assert second not in (None, first)
    _, answer = accept(site, str(second).removeprefix(site.settings.url))
    assert answer.url.path == "/class"
    assert invite_first(site) is None


def sign_in(site: Site, password: str, visitor=None):  # noqa: ANN001, ANN201
    visitor = visitor or visit(site)
    form = {
        "form_token": visitor.token("/sign-in"),
        "login": "EVE@example.org ",
        "password": password,
    }
    return visitor.client.post("/sign-in", data=form)


def test_a_session_has_a_new_cookie_and_the_cookie_is_closed_to_scripts(site: Site) -> None:
    """Session fixation: the cookie from before the sign-in opens nothing."""
    accept(site, invited(site))
    visitor = visit(site)
    visitor.client.cookies.set("grade_session", "chosen-by-an-attacker", domain="localhost.local")
    answer = sign_in(site, PASSWORD, visitor)
    header = answer.history[0].headers["set-cookie"]
    assert "HttpOnly" in header
    assert "SameSite=lax" in header
    assert "chosen-by-an-attacker" not in header
    thief = visit(site)
    thief.client.cookies.set("grade_session", "chosen-by-an-attacker", domain="localhost.local")
    assert thief.client.get("/exercises").url.path == "/sign-in"


def test_passwords_cannot_be_guessed(site: Site) -> None:
    accept(site, invited(site))
    codes = [sign_in(site, f"guess number {number}").status_code for number in range(6)]
    assert codes == [401] * 5 + [429]
    assert sign_in(site, PASSWORD).status_code == 429


def test_sign_out_ends_the_session_on_the_server(site: Site) -> None:
    visitor = enter(site, "ada@example.org")
    cookie = visitor.client.cookies["grade_session"]
    visitor.post("/sign-out")
    thief = visit(site)
    thief.client.cookies.set("grade_session", cookie, domain="localhost.local")
    assert thief.client.get("/exercises").url.path == "/sign-in"


@pytest.mark.parametrize("token", ["", "0" * 64, "\udcff", "another's"])
def test_a_form_of_another_site_is_refused(site: Site, token: str) -> None:
    ada, eve = enter(site, "ada@example.org"), enter(site, "eve@example.org")
    given = eve.token() if token == "another's" else token.encode("utf-8", "replace").decode()
    form = {"form_token": given, "source": "x"}
    assert ada.client.post("/exercises/vector_add/attempts", data=form).status_code == 403


def test_a_sign_in_form_of_another_site_is_refused(site: Site) -> None:
    answer = visit(site).client.post("/sign-in", data={"login": "eve", "password": PASSWORD})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "place", ["//evil.example", "https://evil.example", "/\\evil.example", "/\tx"]
)
def test_a_sign_in_continues_only_at_this_server(site: Site, place: str) -> None:
    accept(site, invited(site))
    visitor = visit(site)
    page = visitor.client.get("/sign-in", params={"next": place})
    found = TOKEN.search(page.text)
    assert found is not None
    form = {"form_token": found[1], "login": "eve@example.org", "password": PASSWORD, "next": place}
    answer = visitor.client.post("/sign-in", data=form, follow_redirects=False)
    assert answer.headers["location"] == "/"
