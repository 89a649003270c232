"""Sign-in, sign-out and invitations."""

from __future__ import annotations

from starlette.responses import Response

from grader.errors import UsageError
from grader.plumbing import passwords
from grader.server import people
from grader.server.records import Person
from grader.server.tables import INVITATIONS
from grader.server.web.visits import COOKIE, Visit, begin_session, redirect, refuse, show


def show_sign_in(visit: Visit) -> Response:
    """The form of the sign-in."""
    if visit.person is not None:
        return redirect("/exercises")
    return _show_sign_in(visit)


def sign_in(visit: Visit) -> Response:
    """Opens a session with a new cookie, whatever cookie the browser had."""
    login, password = visit.form.get("login", ""), visit.form.get("password", "")
    with visit.site.engine.begin() as connection:
        wait_s = people.find_limit(connection, login, visit.address, visit.now)
        known = people.read_password(connection, login)
    if wait_s is not None:
        minutes = max(1, round(wait_s / 60))
        problem = f"Too many failed sign-ins. Try again in {minutes} min."
        return _show_sign_in(visit, problem, login, 429)
    matches = passwords.fits(password[: passwords.MOST_LETTERS + 1], known and known[1])
    with visit.site.engine.begin() as connection:
        if not matches or known is None:
            people.count_failure(connection, login, visit.address, visit.now)
        else:
            token = people.open_session(connection, known[0], visit.now)
            return begin_session(visit, token, _next(visit))
    problem = "The login or the password is wrong. Your instructor can send you a new link."
    return _show_sign_in(visit, problem, login, 401)


def sign_out(visit: Visit) -> Response:
    """Ends the session."""
    with visit.site.engine.begin() as connection:
        people.close_session(connection, visit.cookie)
    response = redirect("/sign-in")
    response.delete_cookie(COOKIE, path="/")
    return response


def show_invitation(visit: Visit) -> Response:
    """The form in which an invited person chooses a password."""
    return _show_invitation(visit, _invited(visit))


def accept_invitation(visit: Visit) -> Response:
    """Sets the password and opens a session."""
    invited = _invited(visit)
    if invited is None:
        return _show_invitation(visit, None)
    password = visit.form.get("password", "")
    try:
        if password != visit.form.get("again", ""):
            raise UsageError("the two passwords differ")
        hashed = passwords.hash_password(password)
    except UsageError as error:
        problem = f"{str(error).capitalize()}. {error.advice}"
        return _show_invitation(visit, invited, problem)
    with visit.site.engine.begin() as connection:
        current = people.find_person(connection, INVITATIONS, visit.path["token"], visit.now)
        if current is None:
            return _show_invitation(visit, None)
        people.accept(connection, current, hashed)
        token = people.open_session(connection, current.id, visit.now)
    return begin_session(visit, token, "/")


def _invited(visit: Visit) -> Person | None:
    with visit.site.reading() as connection:
        return people.find_person(connection, INVITATIONS, visit.path["token"], visit.now)


def _show_invitation(visit: Visit, invited: Person | None, problem: str = "") -> Response:
    if invited is None:
        title = "This link was used, or is too old."
        return refuse(visit, title, "Sign in, or ask your instructor for a new link.", 404)
    values = {"invited": invited, "problem": problem, "fewest": passwords.FEWEST_LETTERS}
    return show(visit, "invitation.html", values, status=400 if problem else 200)


def _show_sign_in(visit: Visit, problem: str = "", login: str = "", status: int = 200) -> Response:
    values = {"problem": problem, "login": login, "next": _next(visit)}
    return show(visit, "sign_in.html", values, status=status)


def _next(visit: Visit) -> str:
    """The page to continue at: only a path of this server."""
    asked = visit.form.get("next") or visit.query.get("next") or "/"
    is_path = asked.startswith("/") and not asked.startswith("//")
    return asked if is_path and "\\" not in asked and asked.isprintable() else "/"
