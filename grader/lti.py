"""LTI 1.3, the protocol of course platforms: sign-in, the choice of exercises, points and members.

Every requested address is in the instructor's list of platforms, or begins with its `services`.
Redirects are not followed. The specifications are at https://www.imsglobal.org/spec/lti/v1p3.
"""

from __future__ import annotations

import functools
import hmac
import json
import re
import secrets
import time
import tomllib
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from grader.errors import GraderError, UsageError

LAUNCH_S = 600
"""Time from the first request of a sign-in to its end."""
LEEWAY_S = 60
REQUEST_S = 10.0
MOST_BYTES = 1 << 22
MOST_PAGES = 100
WRONG = (400, 404, 410, 422)
"""Status codes of HTTP for a request that is not repeated."""
LTI = "https://purl.imsglobal.org/spec/lti/claim/"
CHOOSING = "https://purl.imsglobal.org/spec/lti-dl/claim/"
GRADES = "https://purl.imsglobal.org/spec/lti-ags/"
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/"
SCORES_SCOPE = f"{GRADES}scope/score"
MEMBERS_SCOPE = f"{MEMBERS}scope/contextmembership.readonly"
SCORES_TYPE = "application/vnd.ims.lis.v1.score+json"
MEMBERS_TYPE = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
CLIENT, SUBJECT, COLUMN = "lti client", "lti subject", "lti column "
"""Fields of a person's row; COLUMN is followed by an exercise."""
_MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
_TEACHING = re.compile(
    rf"({re.escape(_MEMBERSHIP)}(#|/Instructor#))?(Instructor|TeachingAssistant|Administrator)"
)
"""Roles in the course. Roles in the institution give no rights."""
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next\b')


class Refusal(GraderError):  # noqa: N818 - an answer of a platform
    """The platform answered that the request is wrong: repeated, it stays wrong."""


@dataclass(frozen=True)
class Platform:
    """A platform where the instructor registered this server. `services`: the beginning of the
    addresses of its gradebook and its lists of members. `courses`: the ids of the courses that may
    open this server: a role is a role in one course, and a platform has courses of other people."""

    issuer: str
    client_id: str
    login_url: str
    keys_url: str
    token_url: str
    services: str
    deployments: tuple[str, ...]
    courses: tuple[str, ...]

    @property
    def origin(self) -> str:
        """The beginning of the addresses of its pages."""
        parts = urlsplit(self.services)
        return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True)
class Member:
    """A person in the platform's list of the course."""

    subject: str
    name: str
    teaches: bool


@dataclass(frozen=True)
class Launch:
    """A verified sign-in. `column`: the address of the exercise's column in the gradebook;
    `members`: of the list of members; `return_url`: the browser sends the chosen exercise there,
    with `data`."""

    platform: Platform
    deployment: str
    nonce: str
    member: Member
    exercise: str | None
    column: str | None
    members: str | None
    return_url: str | None
    data: str | None


def read_platforms(file: Path) -> tuple[Platform, ...]:
    """The tables `[[platform]]` of a TOML file. UsageError for a wrong file."""
    advice = "docs/server.md has an example."
    try:
        rows = tomllib.loads(file.read_text("utf-8"))["platform"]
        platforms = tuple(
            Platform(**row | {name: _read_ids(row, name) for name in ("deployments", "courses")})
            for row in rows
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{file} is no list of platforms: {error}", advice) from error
    for each in platforms:
        for url in (each.login_url, each.keys_url, each.token_url, each.services):
            parts = urlsplit(str(url))
            if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1"):
                raise UsageError(f"{file}: {url!r} is not an address with https", advice)
        if not urlsplit(each.services).path.endswith("/"):
            raise UsageError(f"{file}: {each.services!r} does not end with /", advice)
    return platforms


def _read_ids(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    if not isinstance(row[name], list):
        raise TypeError(f"{name} is not a list")
    return (*map(str, row[name]),)


def find_platform(platforms: Sequence[Platform], issuer: str, client_id: str) -> Platform:
    """The platform with these names; `client_id` may be empty. UsageError if it is unknown."""
    for each in platforms:
        if each.issuer == issuer and client_id in (each.client_id, ""):
            return each
    raise UsageError("this platform is not registered here", "Ask your instructor.")


def begin_sign_in(
    platform: Platform, form: Mapping[str, str], launch_url: str, secret: bytes
) -> tuple[str, str]:
    """The address at which the platform confirms the person, and the state for the cookie."""
    nonce = secrets.token_urlsafe(24)
    own = {"iss": platform.issuer, "client": platform.client_id, "nonce": nonce}
    state = jwt.encode({**own, "exp": int(time.time()) + LAUNCH_S}, secret, "HS256")
    fixed = {"scope": "openid", "response_type": "id_token", "response_mode": "form_post"}
    hints = {name: form[name] for name in ("login_hint", "lti_message_hint") if name in form}
    asked = {"client_id": platform.client_id, "redirect_uri": launch_url, "prompt": "none"}
    query = urlencode({**fixed, **hints, **asked, "state": state, "nonce": nonce})
    return f"{platform.login_url}{'&' if '?' in platform.login_url else '?'}{query}", state


def read_launch(
    platforms: Sequence[Platform], form: Mapping[str, str], cookie: str, secret: bytes
) -> Launch:
    """The sign-in that a platform confirms. UsageError if it is not for this browser and server,
    not signed by the platform, or too old. The caller refuses a nonce that was used."""
    try:
        state, token = form["state"], form["id_token"]
        if not hmac.compare_digest(state.encode(), cookie.encode()):
            raise UsageError("this sign-in began in another browser", "Start it again.")
        own = jwt.decode(state, secret, algorithms=["HS256"])
        platform = find_platform(platforms, own["iss"], own["client"])
        keys = read_keys(platform.keys_url, int(time.time()) // 60)
        claims = jwt.decode(
            token,
            keys[jwt.get_unverified_header(token)["kid"]],
            algorithms=["RS256"],
            audience=platform.client_id,
            issuer=platform.issuer,
            leeway=LEEWAY_S,
            options={"require": ["exp", "iat", "sub", "nonce"]},
        )
        launch = _read_claims(platform, claims)
    except (jwt.PyJWTError, KeyError, TypeError, AttributeError, UnicodeError) as error:
        message = f"the platform's answer is not valid: {error}"
        raise UsageError(message, "Start again from your course.") from error
    if launch.nonce != own["nonce"] or claims.get("azp", platform.client_id) != platform.client_id:
        raise UsageError("the platform's answer is for another sign-in", "Start it again.")
    return launch


def _read_claims(platform: Platform, claims: Mapping[str, Any]) -> Launch:
    choosing = claims[f"{LTI}message_type"] == "LtiDeepLinkingRequest"
    choice = claims[f"{CHOOSING}deep_linking_settings"] if choosing else {}
    launch = Launch(
        platform,
        deployment=str(claims[f"{LTI}deployment_id"]),
        nonce=str(claims["nonce"]),
        member=_read_member({**claims, "user_id": claims["sub"], "roles": claims[f"{LTI}roles"]}),
        exercise=(claims.get(f"{LTI}custom") or {}).get("exercise"),
        column=(claims.get(f"{GRADES}claim/endpoint") or {}).get("lineitem"),
        members=(claims.get(f"{MEMBERS}claim/namesroleservice") or {}).get(
            "context_memberships_url"
        ),
        return_url=choice["deep_link_return_url"] if choosing else None,
        data=choice.get("data"),
    )
    if claims[f"{LTI}version"] != "1.3.0":
        raise UsageError("the platform does not speak LTI 1.3.0", "Register it again.")
    course = str((claims.get(f"{LTI}context") or {}).get("id"))
    known = (
        ("deployment", launch.deployment, platform.deployments),
        ("course", course, platform.courses),
    )
    for kind, id_, ids in known:
        if id_ not in ids:
            message = f"the {kind} {id_!r} is not registered here"
            raise UsageError(
                message, f"The instructor adds it to `{kind}s` in the file of platforms."
            )
    for url in (launch.column, launch.members, launch.return_url):
        if url is not None:
            _check_service(platform, url)
    return launch


def name_cell(launch: Launch, exercise: str | None) -> dict[str, str]:
    """The fields of a person's row that lead to the person's cell in the gradebook."""
    row = {CLIENT: launch.platform.client_id, SUBJECT: launch.member.subject}
    return row | ({f"{COLUMN}{exercise}": launch.column} if exercise and launch.column else {})


def _check_service(platform: Platform, url: str) -> None:
    if not url.startswith(platform.services):
        raise UsageError(f"{url} is not below `services`", "The instructor corrects the file.")


def _read_member(each: Mapping[str, Any]) -> Member:
    subject, name = str(each["user_id"]), each.get("name") or each.get("given_name")
    teaches = any(_TEACHING.fullmatch(role) for role in each["roles"])
    return Member(subject, str(name or f"Person {subject}")[:200], teaches)


@functools.lru_cache(16)
def read_keys(url: str, _minute: int) -> jwt.PyJWKSet:
    """A platform's public keys, requested at most once a minute."""
    return jwt.PyJWKSet.from_dict(_request(url)[0])


def make_key() -> str:
    """A new private key of this server, in PEM."""
    form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return generate_private_key(65537, 2048).private_bytes(*form).decode()


def public_keys(key: str) -> dict[str, Any]:
    """The key set that platforms read."""
    private = load_pem_private_key(key.encode(), None)
    assert isinstance(private, RSAPrivateKey)
    public = jwt.algorithms.RSAAlgorithm.to_jwk(private.public_key(), as_dict=True)
    return {"keys": [{**public, "kid": _key_id(key), "alg": "RS256", "use": "sig"}]}


def _key_id(key: str) -> str:
    return hmac.digest(b"kid", key.encode(), "sha256").hex()[:16]


def _sign(claims: Mapping[str, Any], key: str) -> str:
    now = int(time.time())
    times = {"iat": now, "exp": now + LAUNCH_S, "jti": secrets.token_hex(16)}
    return jwt.encode({**claims, **times}, key, "RS256", {"kid": _key_id(key)})


def make_item(id_: str, title: str, full: float, url: str) -> dict[str, object]:
    """An exercise as an item of the course, with a column in its gradebook. `url` starts it."""
    column = {"label": title, "resourceId": id_, "scoreMaximum": full}
    link = {"type": "ltiResourceLink", "title": title, "url": url}
    own = {"custom": {"exercise": id_}, "window": {"targetName": "_blank"}}
    return {**link, **own, "lineItem": column}


def sign_choice(launch: Launch, item: Mapping[str, Any], key: str) -> str:
    """The signed answer of an instructor who chose this item for the course."""
    claims = {
        "iss": launch.platform.client_id,
        "aud": launch.platform.issuer,
        "nonce": secrets.token_hex(16),
        f"{LTI}deployment_id": launch.deployment,
        f"{LTI}message_type": "LtiDeepLinkingResponse",
        f"{LTI}version": "1.3.0",
        f"{CHOOSING}content_items": [item],
    }
    data = {} if launch.data is None else {f"{CHOOSING}data": launch.data}
    return _sign({**claims, **data}, key)


def request_token(platform: Platform, key: str, scope: str) -> str:
    """A token for a service of the platform."""
    own = {"iss": platform.client_id, "sub": platform.client_id, "aud": platform.token_url}
    form = {
        "grant_type": "client_credentials",
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        "client_assertion": _sign(own, key),
        "scope": scope,
    }
    answer, _ = _request(platform.token_url, urlencode(form).encode())
    return str(answer["access_token"])


def make_score(user: str, points: float | None, most: float | None) -> dict[str, Any]:
    """A score of the service. Without final points, the cell is empty."""
    score = {"userId": user, "activityProgress": "Submitted", "gradingProgress": "PendingManual"}
    if points is None:
        return score
    given = {"scoreGiven": points, "scoreMaximum": most, "gradingProgress": "FullyGraded"}
    return {**score, **given}


def send_score(platform: Platform, column: str, token: str, score: Mapping[str, Any]) -> None:
    """Writes a score into a column of the gradebook, whose address may have a query."""
    _check_service(platform, column)
    address, mark, query = column.partition("?")
    headers = {"Authorization": f"Bearer {token}", "Content-Type": SCORES_TYPE}
    _request(f"{address}/scores{mark}{query}", json.dumps(score).encode(), headers)


def read_members(launch: Launch, key: str) -> list[Member]:
    """The active members of the course."""
    token = request_token(launch.platform, key, MEMBERS_SCOPE)
    headers = {"Authorization": f"Bearer {token}", "Accept": MEMBERS_TYPE}
    url, found = launch.members, []
    for _ in range(MOST_PAGES):
        if url is None:
            break
        _check_service(launch.platform, url)
        page, url = _request(url, None, headers)
        found += [each for each in page["members"] if each.get("status", "Active") == "Active"]
    return [_read_member(each) for each in found]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """A redirect is an error: it may lead to another machine."""


def _request(
    url: str, data: bytes | None = None, headers: Mapping[str, str] | None = None
) -> tuple[Any, str | None]:
    """The platform's answer, None if it is empty; and the address of its next page. Refusal if it
    answers that the request is wrong, GraderError without a valid answer."""
    opener = urllib.request.build_opener(_NoRedirect)
    try:
        request = urllib.request.Request(url, data, dict(headers or {}))
        with opener.open(request, timeout=REQUEST_S) as answer:
            text, link = answer.read(MOST_BYTES), _NEXT.search(answer.headers.get("Link", ""))
        return json.loads(text) if text.strip() else None, link and link[1]
    except HTTPError as error:
        kind = Refusal if error.code in WRONG else GraderError
        raise kind(f"the platform refuses the request to {url}: {error}") from error
    except (OSError, ValueError, HTTPException) as error:
        message = f"the platform does not answer at {url}: {error}"
        raise GraderError(message, "Try again later. The file of platforms names it.") from error
