"""Hostile requests and texts: markup, paths, large bodies, and other hosts."""

from __future__ import annotations

import re

import pytest

from grader.server.attempts import MAX_SOURCE_BYTES
from grader.server.records import Role
from grader.server.web.site import Site
from grader.server.web.visits import MAX_BODY_BYTES
from tests.server.conftest import HOSTILE
from tests.server.test_rights import owner
from tests.support.served import JSON, Visitor, enter, finish_all, visit, worth

FORMULA = '=cmd|"/C calc"!A0'


def test_markup_in_code_and_compiler_output_is_text(graded: Site) -> None:
    ada = owner(graded)
    teacher = enter(graded, "teacher of markup", Role.INSTRUCTOR)
    pages = ["/attempts/2/report", "/exercises/vector_add", "/attempts/2"]
    texts = [teacher.client.get(page).text for page in pages]
    texts.append(ada.client.get("/exercises/vector_add").text)
    texts.append(ada.client.get("/attempts/2.json").json()["html"])
    assert "onerror" in texts[-1]
    assert not [text for text in texts if HOSTILE in text or "<script>alert" in text]


def test_markup_in_names_comments_and_reasons_is_text(graded: Site) -> None:
    teacher = enter(graded, "teacher of names", Role.INSTRUCTOR)
    teacher.post("/attempts/1/comments", line="3", text=HOSTILE)
    teacher.post("/students/1/vector_add/points", points="3", reason=HOSTILE)
    pages = ["/class", "/roster", "/students/1/vector_add", "/attempts/1"]
    texts = [teacher.client.get(page).text for page in pages]
    texts.append(teacher.client.get("/attempts/1.json").json()["html"])
    texts.append(owner(graded).client.get("/exercises/vector_add").text)
    assert not [text for text in texts if HOSTILE in text]


def test_every_page_forbids_other_scripts(graded: Site) -> None:
    teacher = enter(graded, "teacher of policies", Role.INSTRUCTOR)
    pages = ("/sign-in", "/exercises", "/class", "/roster", "/nowhere", "/static/1/none.js")
    for answer in map(teacher.client.get, pages):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        scripts = re.findall(r"<script(?![^>]* src=)", answer.text)
        without_values = re.sub('"[^"]*"', '""', answer.text)
        assert not scripts + re.findall(r"<[^>]*\s(?:on\w+|style)=", without_values)


def test_the_page_of_a_fault_forbids_other_scripts_too(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("planted")

    ada = enter(site, "ada@example.org")
    monkeypatch.setattr(site.templates, "get_template", fail)
    answer = ada.client.get("/exercises", headers=JSON)
    assert answer.status_code == 500
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    "address",
    [
        "/exercises/vector_add/pictures/spec.json",
        "/exercises/vector_add/pictures/..%2Foracle.py",
        "/exercises/vector_add/pictures/%2e%2e%2f%2e%2e%2fsolutions%2fvector_add.cu",
        "/exercises/..%2F..%2Fdata",
        "/static/x/..%2F..%2Fapp.py",
        "/static/x/sources.sha256",
        "/attempts/1%2F..%2F2.json",
    ],
)
def test_a_path_does_not_leave_its_folder(site: Site, address: str) -> None:
    ada = enter(site, "ada@example.org")
    assert ada.client.get(address).status_code == 404


def test_a_picture_of_the_handout_is_served(site: Site) -> None:
    ada = enter(site, "ada@example.org")
    found = re.search(r'src="(/exercises/[^"]+svg)"', ada.client.get("/exercises/vector_add").text)
    assert found is not None
    picture = ada.client.get(found[1])
    assert picture.headers["content-type"] == "image/svg+xml"


def test_a_large_body_is_refused_before_it_is_kept(site: Site) -> None:
    ada = enter(site, "ada@example.org")
    form = {"form_token": ada.token(), "source": "x" * (MAX_SOURCE_BYTES + 1)}
    answer = ada.client.post("/exercises/vector_add/attempts", json=form, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (400, "A file has at most 256 KiB.")

    def endless():  # noqa: ANN202
        for _ in range(MAX_BODY_BYTES // 65536 + 2):
            yield b"x" * 65536

    answer = ada.client.post("/exercises/vector_add/attempts", content=endless())
    assert answer.status_code == 413


@pytest.mark.parametrize("body", [b"[" * 100_000, b"[]", b"\xff", b'{"a":', b"1"])
def test_a_broken_body_is_refused(site: Site, body: bytes) -> None:
    ada = enter(site, "ada@example.org")
    headers = {"content-type": "application/json", **JSON}
    answer = ada.client.post("/exercises/vector_add/attempts", content=body, headers=headers)
    assert answer.status_code == 400
    many = b"&".join(b"a=1" for _ in range(100))
    assert ada.client.post("/sign-in", content=many).status_code == 400


def test_a_zero_byte_is_refused(site: Site) -> None:
    ada = enter(site, "ada@example.org")
    form = {"form_token": ada.token(), "source": "\0"}
    answer = ada.client.post("/exercises/vector_add/attempts", json=form, headers=JSON)
    assert answer.status_code == 400


def test_a_request_for_another_host_is_refused(site: Site) -> None:
    """DNS rebinding: a name of another site that leads to this machine."""
    visitor = visit(site)
    assert visitor.client.get("/sign-in", headers={"host": "evil.example"}).status_code == 400


def test_a_cell_of_an_export_is_no_formula(site: Site) -> None:
    teacher = enter(site, "t@example.org", Role.INSTRUCTOR)
    eve: Visitor = enter(site, "eve@example.org", name=FORMULA)
    eve.grade("x", submit=True)
    finish_all(site, lambda _: worth(1))
    for kind in ("csv", "canvas", "moodle"):
        text = teacher.client.get(f"/exports?kind={kind}&exercise=vector_add").text
        assert "cmd" in text
        assert not re.search(r'(^|,)"?=', text, re.MULTILINE)
