"""A course platform that speaks LTI 1.3: it signs people in by OpenID Connect, and has tokens, a
gradebook and a list of members. Its services answer on a port of this machine.
"""

from __future__ import annotations

import functools
import json
import threading
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

from grader.lti import CHOOSING, GRADES, LTI, MEMBERS, MEMBERS_TYPE, SCORES_TYPE, Platform

ISSUER = "https://school.example.org"
CLIENT = "client-7"
LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
INSTRUCTOR = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"
LAUNCH = "https://localhost/lti/launch"
Form = dict[str, str]


def make_rsa() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


school_key = functools.cache(make_rsa)
"""The key of each platform: to make one takes 0.15 s of processor time."""


@dataclass
class School:
    """The platform. `tool_keys`: the key set that the tool publishes; `opened`: the claims of what
    the browser opens; `chosen`: the answers of instructors who chose an exercise."""

    key: RSAPrivateKey = field(default_factory=school_key)
    tool_keys: Mapping[str, Any] = field(default_factory=dict)
    address: str = ""
    members: list[dict[str, Any]] = field(default_factory=list)
    scores: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)
    launch: str = LAUNCH
    opened: Mapping[str, Any] = field(default_factory=dict)
    chosen: list[str] = field(default_factory=list)
    without_cell: set[str] = field(default_factory=set)
    """The gradebook refuses points of these people, as Moodle's does for everybody who is not a
    student of the course."""
    key_requests: int = 0
    moved: bool = False
    """The gradebook answers with a redirect."""

    @property
    def registration(self) -> Platform:
        """The tool's record of this platform."""
        paths = ("auth", "keys", "token", "")
        urls = (f"{self.address}/{path}" for path in paths)
        return Platform(ISSUER, CLIENT, *urls, deployments=("1",), courses=("2",))

    def confirm(
        self,
        asked: str,
        subject: str,
        *,
        claims: Mapping[str, Any] | None = None,
        key: RSAPrivateKey | None = None,
        kid: str = "school",
    ) -> Form:
        """The form that the platform lets the browser send after an authentication request."""
        query = dict(parse_qsl(urlsplit(asked).query))
        fixed = {
            "scope": "openid",
            "response_type": "id_token",
            "response_mode": "form_post",
            "prompt": "none",
            "client_id": CLIENT,
            "redirect_uri": self.launch,
            "login_hint": subject,
        }
        assert asked.startswith(f"{self.address}/auth?")
        assert {name: query[name] for name in fixed} == fixed
        own = self.claims(subject, query["nonce"]) | dict(claims or {})
        own = {name: value for name, value in own.items() if value is not None}
        token = jwt.encode(own, key or self.key, "RS256", {"kid": kid})
        return {"state": query["state"], "id_token": token}

    def claims(self, subject: str, nonce: str) -> dict[str, Any]:
        """A student opens the link of an exercise."""
        now = int(time.time())
        return {
            "iss": ISSUER,
            "aud": CLIENT,
            "sub": subject,
            "nonce": nonce,
            "iat": now,
            "exp": now + 300,
            "name": f"Name of {subject}",
            f"{LTI}version": "1.3.0",
            f"{LTI}deployment_id": "1",
            f"{LTI}message_type": "LtiResourceLinkRequest",
            f"{LTI}target_link_uri": LAUNCH,
            f"{LTI}context": {"id": "2", "label": "cuda", "title": "CUDA 101"},
            f"{LTI}resource_link": {"id": "link-1"},
            f"{LTI}roles": [LEARNER],
            f"{LTI}custom": {"exercise": "vector_add"},
            f"{GRADES}claim/endpoint": {"lineitem": self.column(3)},
        }

    def column(self, number: int) -> str:
        """The address of a column of the gradebook, in Moodle's form."""
        return f"{self.address}/services/2/lineitems/{number}/lineitem?type_id=1"

    def teaching(self, **more: Any) -> dict[str, Any]:  # noqa: ANN401
        """The claims of an instructor."""
        return {f"{LTI}roles": [INSTRUCTOR], **more}

    def membership(self) -> dict[str, Any]:
        url = f"{self.address}/members"
        return {f"{MEMBERS}claim/namesroleservice": {"context_memberships_url": url}}

    def choosing(self) -> dict[str, Any]:
        """The claims of an instructor who adds an item to the course."""
        settings = {
            "deep_link_return_url": f"{self.address}/chosen",
            "accept_types": ["ltiResourceLink"],
            "accept_presentation_document_targets": ["window"],
            "data": "opaque",
        }
        return self.teaching(
            **{
                f"{LTI}message_type": "LtiDeepLinkingRequest",
                f"{CHOOSING}deep_linking_settings": settings,
            }
        )

    def read_choice(self, token: str) -> dict[str, Any]:
        """The item that an instructor chose, after the platform's checks."""
        claims = self.verify(token, ISSUER)
        assert claims["iss"] == CLIENT
        assert claims[f"{LTI}message_type"] == "LtiDeepLinkingResponse"
        assert claims[f"{LTI}deployment_id"] == "1"
        assert claims[f"{CHOOSING}data"] == "opaque"
        (item,) = claims[f"{CHOOSING}content_items"]
        return item

    def show(self, path: str) -> str:
        """A page for browsers: `/auth` goes on to the tool, `/course` opens it."""
        if path.startswith("/auth"):
            hint = dict(parse_qsl(urlsplit(path).query))["login_hint"]
            form = self.confirm(f"{self.address}{path}", hint, claims=self.opened)
            return make_form(self.launch, form, "Confirm")
        given = {"iss": ISSUER, "client_id": CLIENT, "target_link_uri": self.launch}
        address = self.launch.replace("launch", "login")
        name = path.rpartition("/")[2]
        framed = make_form(address, {**given, "login_hint": name}, "Choose", target="frame")
        opened = make_form(address, {**given, "login_hint": name}, "Open")
        return f'<h1>Course</h1>{opened}{framed}<iframe name="frame" width="900" height="600"></iframe>'

    def verify(self, token: str, audience: str) -> dict[str, Any]:
        """The claims of a token that the tool has signed."""
        key = jwt.PyJWKSet.from_dict(dict(self.tool_keys))[jwt.get_unverified_header(token)["kid"]]
        needed = {"require": ["exp", "iat", "jti"]}
        return jwt.decode(token, key, ["RS256"], needed, audience=audience)

    def give_token(self, form: Mapping[str, str]) -> dict[str, Any]:
        """The token endpoint: RFC 7523 with client credentials."""
        assert form["grant_type"] == "client_credentials"
        assert form["client_assertion_type"].endswith(":jwt-bearer")
        claims = self.verify(form["client_assertion"], f"{self.address}/token")
        assert claims["iss"] == claims["sub"] == CLIENT
        self.scopes.append(form["scope"])
        return {"access_token": f"token {form['scope']}", "token_type": "Bearer", "expires_in": 60}


def make_form(address: str, fields: Form, button: str, *, target: str = "_self") -> str:
    """A form with hidden fields and a button."""
    inputs = (
        f'<input type="hidden" name="{name}" value="{text}">' for name, text in fields.items()
    )
    start = f'<form method="post" action="{address}" target="{target}">'
    return f"{start}{''.join(inputs)}<button>{button}</button></form>"


@contextmanager
def open_school() -> Iterator[School]:
    """A platform whose services answer."""
    school = School()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path)
            if path.path == "/keys":
                school.key_requests += 1
                public = jwt.algorithms.RSAAlgorithm.to_jwk(school.key.public_key(), as_dict=True)
                self.send({"keys": [{**public, "kid": "school", "alg": "RS256", "use": "sig"}]})
            elif path.path == "/members":
                assert self.headers["Authorization"].endswith("contextmembership.readonly")
                assert self.headers["Accept"] == MEMBERS_TYPE
                number = int(parse_qs(path.query).get("page", ["0"])[0])
                more = f'<{school.address}/members?page={number + 1}>; rel="next"'
                link = {"Link": more} if number + 1 < len(school.members) else {}
                self.send({"members": school.members[number : number + 1]}, **link)
            elif path.path.startswith(("/auth", "/course")):
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.end_headers()
                self.wfile.write(school.show(self.path).encode())
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.path == "/chosen":
                school.chosen.append(dict(parse_qsl(body))["JWT"])
                self.send(None)
            elif self.path == "/token":
                self.send(school.give_token(dict(parse_qsl(body))))
            elif "/scores?" in self.path and school.moved:
                self.send_response(307)
                self.send_header("Location", f"{school.address}/stolen/scores?")
                self.end_headers()
            elif "/lineitem/scores?type_id=1" in self.path:
                assert self.headers["Authorization"].endswith("lti-ags/scope/score")
                assert self.headers["Content-Type"] == SCORES_TYPE
                if (score := json.loads(body))["userId"] in school.without_cell:
                    self.send_error(400, "Incorrect score received")
                    return
                school.scores.append((self.path, score))
                self.send([])
            else:
                self.send_error(404)

        def send(self, content: object, **headers: str) -> None:
            self.send_response(200)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(b"" if content is None else json.dumps(content).encode())

        def log_message(self, *_: object) -> None:
            """Writes no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    school.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield school
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def read_json(address: str) -> Any:  # noqa: ANN401
    with urllib.request.urlopen(address) as answer:
        return json.load(answer)
