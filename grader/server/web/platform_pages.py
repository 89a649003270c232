"""Sign-in from a course platform, and the page where its instructors choose an exercise."""

from __future__ import annotations

import logging

from starlette.responses import JSONResponse, Response

from grader import lti
from grader.errors import GraderError, UsageError
from grader.server import people
from grader.server.returns import read_key
from grader.server.web import visits
from grader.server.web.visits import Visit, begin_session, make_policy, missing, redirect, show

LAUNCH = "/lti/launch"


def begin_sign_in(visit: Visit) -> Response:
    """Asks the platform to confirm the person."""
    given, site = {**visit.query, **visit.form}, visit.site
    names = (given.get("iss", ""), given.get("client_id", ""))
    platform = lti.find_platform(site.settings.platforms, *names)
    launch = f"{site.settings.url}{LAUNCH}"
    address, state = lti.begin_sign_in(platform, given, launch, site.secret(LAUNCH))
    answer = redirect(address)
    secure = "SameSite=None; Secure; Partitioned" if launch.startswith("https:") else "SameSite=Lax"
    cookie = f"{visits.STATE}={state}; Path=/lti; Max-Age={lti.LAUNCH_S}; HttpOnly; {secure}"
    answer.headers.append("set-cookie", cookie)  # `set_cookie` knows Partitioned from Python 3.14
    return answer


def finish_sign_in(visit: Visit) -> Response:
    """Opens a session for a person whom the platform confirms, or shows the choice of exercises."""
    site = visit.site
    launch = lti.read_launch(site.settings.platforms, visit.form, visit.state, site.secret(LAUNCH))
    with site.engine.begin() as connection:
        people.use_once(connection, launch.nonce, visit.now, seconds=2 * lti.LAUNCH_S)
        key = read_key(connection)
    if launch.return_url is not None:
        return _show_choice(visit, launch, key) if launch.member.teaches else missing()
    if visit.in_frame:
        raise UsageError(
            "this opens only in its own window", "The instructor selects a new window."
        )
    members = []
    if launch.member.teaches and launch.members is not None:
        try:
            members = lti.read_members(launch, key)
        except (GraderError, KeyError, TypeError, AttributeError) as error:
            logging.getLogger("uvicorn.error").warning("The platform sends no members: %s", error)
    lesson = site.lessons.get(launch.exercise or "")
    with site.engine.begin() as connection:
        for member in members:
            people.enter_member(connection, launch.platform, member, {})
        row = lti.name_cell(launch, lesson.id if lesson else None)
        person = people.enter_member(connection, launch.platform, launch.member, row)
        token = people.open_session(connection, person, visit.now)
    return begin_session(visit, token, f"/exercises/{lesson.id}" if lesson else "/")


def send_keys(visit: Visit) -> Response:
    """The public key of this server, for platforms."""
    with visit.site.engine.begin() as connection:
        return JSONResponse(lti.public_keys(read_key(connection)))


def _show_choice(visit: Visit, launch: lti.Launch, key: str) -> Response:
    """A form for each exercise, which the browser sends to the platform."""
    url = f"{visit.site.settings.url}{LAUNCH}"
    choices = [
        (each, lti.sign_choice(launch, lti.make_item(each.id, each.title, each.full, url), key))
        for each in visit.site.lessons.values()
    ]
    answer = show(visit, "choice.html", choices=choices, address=launch.return_url)
    origin = launch.platform.origin
    policy = make_policy(visit.nonce, forms=origin, frames=origin)
    answer.headers["content-security-policy"] = policy
    return answer
