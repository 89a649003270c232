"""The web application: routes, headers of all answers, and the pages of errors."""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.server.web import class_pages, platform_pages, playground, sign_in, work_pages
from grader.server.web.events import Board, stream_attempt
from grader.server.web.site import Site
from grader.server.web.visits import make_policy, public, show_message, signed_in, teaching

KINDS = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
TITLES = {
    400: "This request cannot be read.",
    403: "This form is too old.",
    404: "This page does not exist, or is not yours.",
    405: "This address has no such form.",
    413: "This is too large.",
    500: "The server failed. Your work is kept.",
}
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_ATTEMPT, _PERSON = "/attempts/{attempt:int}", "/students/{person:int}"
_EXERCISE = "/exercises/{exercise}"


def make_app(site: Site) -> Starlette:
    """The application of a site. Its answers are for the host of the site's address only."""
    host = urlsplit(site.settings.url).hostname or "localhost"
    hosts = sorted({host, "localhost", "127.0.0.1"})
    app = Starlette(
        routes=_make_routes(),
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False)],
        exception_handlers={HTTPException: show_error, Exception: show_error},
    )
    app.middleware_stack = add_headers(app.build_middleware_stack())  # also around faults
    app.state.site = site
    app.state.board = Board(site)
    return app


def _make_routes() -> list[Route]:
    get, post = ["GET"], ["POST"]
    rows = [
        ("/", signed_in(work_pages.show_start), get),
        ("/sign-in", public(sign_in.show_sign_in), get),
        ("/sign-in", public(sign_in.sign_in), post),
        ("/sign-out", public(sign_in.sign_out), post),
        ("/invitations/{token}", public(sign_in.show_invitation), get),
        ("/invitations/{token}", public(sign_in.accept_invitation), post),
        ("/lti/login", public(platform_pages.begin_sign_in, own_forms=False), get + post),
        ("/lti/launch", public(platform_pages.finish_sign_in, own_forms=False), post),
        ("/lti/keys", public(platform_pages.send_keys), get),
        ("/playground", public(playground.start), get + post),
        ("/shared/{attempt:int}/{token}", public(playground.show_shared), get),
        ("/shared/{attempt:int}/{token}/report", public(playground.show_shared_report), get),
        ("/exercises", signed_in(work_pages.list_exercises), get),
        (_EXERCISE, signed_in(work_pages.show_exercise), get),
        (f"{_EXERCISE}/history", signed_in(work_pages.show_history), get),
        (f"{_EXERCISE}/pictures/{{name}}", signed_in(work_pages.show_picture), get),
        (f"{_EXERCISE}/attempts", signed_in(work_pages.add_attempt), post),
        ("/guide", signed_in(work_pages.show_guide), get),
        (_ATTEMPT, teaching(class_pages.show_attempt), get),
        (f"{_ATTEMPT}.json", signed_in(work_pages.send_attempt), get),
        (f"{_ATTEMPT}/events", stream_attempt, get),
        (f"{_ATTEMPT}/report", signed_in(work_pages.show_report), get),
        (f"{_ATTEMPT}/source", signed_in(work_pages.download_source), get),
        (f"{_ATTEMPT}/submit", signed_in(work_pages.submit_attempt), post),
        (f"{_ATTEMPT}/gpu", signed_in(work_pages.grade_on_gpu), post),
        (f"{_ATTEMPT}/what-if", signed_in(work_pages.try_fixes), post),
        (f"{_ATTEMPT}/comments", teaching(class_pages.add_comment), post),
        (f"{_ATTEMPT}/again", teaching(class_pages.grade_again), post),
        ("/class", teaching(class_pages.show_class), get),
        (f"{_EXERCISE}/rules", teaching(class_pages.set_rules), post),
        (f"{_EXERCISE}/again", teaching(class_pages.grade_all_again), post),
        ("/exports", teaching(class_pages.export), get),
        ("/roster", teaching(class_pages.show_roster), get),
        ("/roster", teaching(class_pages.import_roster), post),
        ("/people", teaching(class_pages.add_person), post),
        ("/people/{person:int}/invitation", teaching(class_pages.renew_invitation), post),
        ("/people/{person:int}/remove", teaching(class_pages.remove_person), post),
        (f"{_PERSON}/{{exercise}}", teaching(class_pages.show_student), get),
        (f"{_PERSON}/{{exercise}}/points", teaching(class_pages.set_points), post),
    ]
    routes = [Route(path, endpoint, methods=methods) for path, endpoint, methods in rows]
    return [*routes, Route("/static/{version}/{name}", send_static, methods=get)]


async def send_static(request: Request) -> Response:
    """The script or the style sheet. Its address contains its version, so browsers keep it."""
    site: Site = request.app.state.site
    name = request.path_params["name"]
    content = site.static.get(name)
    if content is None:
        return PlainTextResponse("not found", 404)
    kind = KINDS[name.rpartition(".")[2]]
    headers = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        content, headers["Content-Encoding"] = site.compressed[name], "gzip"
    return Response(content, media_type=kind, headers=headers)


async def show_error(request: Request, error: Exception) -> Response:
    """The page of an error that has no visit. The log has the reason of a fault."""
    status, advice = 500, "Try again, or ask your instructor to read the log."
    if isinstance(error, HTTPException):
        status = error.status_code
        advice = error.detail if status in (400, 403, 413) else ""
    asks = "application/json" in request.headers.get("accept", "")
    title = TITLES.get(status, "This did not work.")
    return show_message(request.app.state.site, title, advice, status, wants_json=asks)


def add_headers(app: ASGIApp) -> ASGIApp:
    """Adds the headers of security that an answer does not have, and draws the nonce of the
    editor's style sheet."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        scope["nonce"] = nonce = secrets.token_urlsafe(12)
        own = {**HEADERS, "content-security-policy": make_policy(nonce)}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in own.items():
                    headers.setdefault(name, value)
            await send(message)

        await app(scope, receive, send_with_headers)

    return answer
