"""A request as the pages see it: who asks, with which form; and the checks before any page runs."""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn
from urllib.parse import parse_qsl, quote

from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from grader.errors import GraderError
from grader.report.html.pages import REPORT_POLICY
from grader.server import people
from grader.server.records import Person
from grader.server.tables import SESSIONS
from grader.server.web.site import Site

COOKIE = "grade_session"
STATE = "grade_platform"
TOKEN = "form_token"
MAX_BODY_BYTES = 1 << 20
MOST_FIELDS = 40


@dataclass(frozen=True)
class Visit:
    """A request. `cookie`: the session's, or a visitor's; `state`: of a platform's sign-in;
    `in_frame`: for a frame of another page; `wants_json`: the page's script asks; `nonce` allows
    the editor's style sheet."""

    site: Site
    person: Person | None
    cookie: str
    state: str
    path: Mapping[str, Any]
    query: Mapping[str, str]
    form: Mapping[str, str]
    address: str
    nonce: str
    in_frame: bool
    wants_json: bool
    now: float

    @property
    def user(self) -> Person:
        """The person who has signed in."""
        assert self.person is not None
        return self.person

    @property
    def form_token(self) -> str:
        """The token that forms of this session carry, against requests from other sites."""
        return hmac.digest(self.site.form_secret, self.cookie.encode(), "sha256").hex()


Given = Mapping[str, object] | None
Handler = Callable[[Visit], Response]
Page = Callable[[Visit, Connection], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


def show(
    visit: Visit, template: str, given: Given = None, *, status: int = 200, **values: object
) -> Response:
    """A page. Its cookie binds the tokens of its forms to the visitor."""
    page = visit.site.templates.get_template(template)
    text = page.render(**_own_values(visit), version=visit.site.version, **values, **given or {})
    response = HTMLResponse(text.encode("utf-8", "replace"), status)
    if visit.person is None:
        set_cookie(response, visit.site, visit.cookie)
    return response


def send_report(page: str | None) -> Response:
    """The page of a verdict, without rights in the browser."""
    headers, page = {"Content-Security-Policy": REPORT_POLICY}, page or missing()
    return Response(page.encode("utf-8", "replace"), headers=headers, media_type="text/html")


def make_policy(nonce: str, *, forms: str = "'self'", frames: str = "'none'") -> str:
    """No script but our file. `forms`: the site that gets forms; `frames`: sites with a frame."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}';"
        f" img-src 'self' data:; connect-src 'self'; frame-src 'self'; form-action {forms};"
        f" base-uri 'none'; frame-ancestors {frames}"
    )


def redirect(address: str) -> Response:
    """Continues at another page of this server."""
    return RedirectResponse(address, 303)


def missing() -> NoReturn:
    """Refuses: the page does not exist, or not for this person."""
    raise HTTPException(404)


def set_cookie(response: Response, site: Site, token: str) -> None:
    age_s, secure = int(people.SESSION_S), site.settings.url.startswith("https:")
    response.set_cookie(COOKIE, token, age_s, httponly=True, samesite="lax", secure=secure)


def begin_session(visit: Visit, token: str, address: str) -> Response:
    """Continues at a page with the cookie of a new session."""
    response = redirect(address)
    set_cookie(response, visit.site, token)
    return response


async def open_visit(request: Request) -> Visit:
    """The visit of a request, with its form."""
    site: Site = request.app.state.site
    cookie = request.cookies.get(COOKIE, "")
    now = time.time()
    person = await run_in_threadpool(_find_person, site, cookie, now) if cookie else None
    form = await _read_form(request) if request.method == "POST" else {}
    return Visit(
        site,
        person,
        cookie or secrets.token_urlsafe(32),
        request.cookies.get(STATE, ""),
        request.path_params,
        dict(request.query_params),
        form,
        request.client.host if request.client else "",
        request.scope["nonce"],
        request.headers.get("sec-fetch-dest") == "iframe",
        "application/json" in request.headers.get("accept", ""),
        now,
    )


def _find_person(site: Site, cookie: str, now: float) -> Person | None:
    with site.reading() as connection:
        return people.find_person(connection, SESSIONS, cookie, now)


def public(handler: Handler, *, own_forms: bool = True) -> Endpoint:
    """A page for everybody. Forms of course platforms have tokens of their own."""
    return _endpoint(handler, lambda _: True, own_forms=own_forms)


def signed_in(page: Page) -> Endpoint:
    """A page for people with an account."""
    return _endpoint(partial(_run, page), lambda visit: visit.person is not None)


def teaching(page: Page) -> Endpoint:
    """A page for instructors; for others it does not exist."""

    def check(visit: Visit) -> bool:
        return visit.person is not None and (visit.person.teaches or missing())

    return _endpoint(partial(_run, page), check)


def _run(page: Page, visit: Visit) -> Response:
    """A page in a single transaction, which writes if a form was sent."""
    site = visit.site
    with site.engine.begin() if visit.form else site.reading() as connection:
        return page(visit, connection)


def _endpoint(
    handler: Handler, check: Callable[[Visit], bool], *, own_forms: bool = True
) -> Endpoint:
    async def answer(request: Request) -> Response:
        visit = await open_visit(request)
        if request.method == "POST" and own_forms:
            check_form(visit)
        if not check(visit):
            if visit.wants_json or request.method == "POST":
                return refuse(visit, "Your session has ended.", "Sign in again.", 401)
            return redirect(f"/sign-in?next={quote(request.url.path)}")
        try:
            return await run_in_threadpool(handler, visit)
        except GraderError as error:
            status = 400 if error.exit_code == 2 else 500
            page = refuse(visit, error.sentence, error.advice, status)
            if not own_forms:  # a browser hides all other pages in a frame of a platform
                frames = " ".join({each.origin for each in visit.site.settings.platforms})
                policy = make_policy(visit.nonce, frames=frames or "'none'")
                page.headers["content-security-policy"] = policy
            return page

    return answer


def check_form(visit: Visit) -> None:
    """Refuses a form that another site sent: its token must be of this cookie."""
    given = visit.form.get(TOKEN, "").encode("utf-8", "replace")
    if not hmac.compare_digest(given, visit.form_token.encode()):
        raise HTTPException(403, "This form is too old. Load the page again.")


def refuse(visit: Visit, message: str, advice: str, status: int) -> Response:
    """The page or the JSON of an error, with the next step."""
    asks, values = visit.wants_json, _own_values(visit)
    return show_message(visit.site, message, advice, status, wants_json=asks, **values)


def _own_values(visit: Visit) -> dict[str, object]:
    return {"person": visit.person, "token": visit.form_token, "nonce": visit.nonce}


def show_message(
    site: Site, title: str, advice: str, status: int, *, wants_json: bool, **values: object
) -> Response:
    """The same, also without a visit."""
    if wants_json:
        return JSONResponse({"error": title, "advice": advice}, status)
    shown = {"person": None, "token": "", "nonce": "", **values, "version": site.version}
    page = site.templates.get_template("message.html").render(title=title, advice=advice, **shown)
    return Response(page.encode("utf-8", "replace"), status, media_type="text/html")


async def _read_form(request: Request) -> Mapping[str, str]:
    """The fields of a form, or of the script's JSON. A body without a length has a limit too."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise HTTPException(413, "This is larger than 1 MiB.")
    except ClientDisconnect:
        raise HTTPException(400, "The request ended early.") from None
    try:
        if request.headers.get("content-type", "").startswith("application/json"):
            fields = json.loads(body)
            return {str(name): str(value) for name, value in fields.items()}
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
        return dict(pairs)
    except (ValueError, AttributeError, RecursionError):
        raise HTTPException(400, "This form cannot be read.") from None
