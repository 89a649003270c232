"""The playground: guests grade without an account, and share an attempt by a link."""

from __future__ import annotations

import re
import time
from dataclasses import replace

import pytest
from sqlalchemy import update

from grader.server import people
from grader.server.attempts import MAX_SOURCE_BYTES, read_attempt, read_attempts
from grader.server.course import ANY_KERNEL
from grader.server.records import Role
from grader.server.tables import ATTEMPTS, SESSIONS
from grader.server.web import playground
from grader.server.web.site import Site
from tests.server.conftest import HOSTILE, HOSTILE_SOURCE
from tests.support.served import JSON, Visitor, enter, finish_all, grade_all, visit, worth

KERNEL = f"""// run: --size n=64 --input x=index --output y --check
// launch: k<<<1, n>>>(y, x)
__global__ void k(float *y, const float *x) {{ // {HOSTILE}
    y[0] = x[threadIdx.x]; if (threadIdx.x == 0) printf("%s", "{HOSTILE.replace('"', "'")}");
}}
"""
PROGRAM = f"""#include <cstdio>
__global__ void k(int *x) {{ x[threadIdx.x] = 7; }} // {HOSTILE}
int main() {{
    int *d, h;
    cudaMalloc(&d, 4);
    k<<<1, 1>>>(d);
    cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost);
    cudaFree(d);
    printf("%d %s", h, "{HOSTILE.replace('"', chr(92) + '"')}");
}}
"""


@pytest.fixture
def open_site(site: Site) -> Site:
    return Site(**{**vars(site), "settings": replace(site.settings, playground=True)})


def come(site: Site) -> Visitor:
    """A guest."""
    guest = visit(site)
    form = {"form_token": guest.token("/playground")}
    assert guest.client.post("/playground", data=form).url.path == "/exercises"
    return guest


def find_link(guest: Visitor, attempt: int) -> str:
    """The path of the link that shares an attempt."""
    html = guest.client.get(f"/attempts/{attempt}.json").json()["html"]
    found = re.search(r'<a href="http://localhost(/shared/[^"]+)"', html)
    assert found is not None
    return found[1]


def test_a_guest_grades_and_shares_the_attempt(open_site: Site) -> None:
    guest = come(open_site)
    page = guest.client.get("/exercises/vector_add").text
    assert 'id="grade"' in page
    assert 'id="submit"' not in page
    attempt = guest.grade(open_site.lessons["vector_add"].starter)
    link = find_link(guest, attempt)
    assert "waits to be graded" in visit(open_site).client.get(link).text
    grade_all(open_site)
    everybody = visit(open_site)
    shared = everybody.client.get(link)
    assert shared.status_code == 200
    assert "__global__" in shared.text
    assert "<th scope=" in shared.text
    assert everybody.client.get(f"/attempts/{attempt}.json", headers=JSON).status_code == 401
    with open_site.reading() as connection:
        kept = read_attempt(connection, attempt)
        assert kept is not None
    assert "data-post" not in shared.text


def test_a_guest_runs_any_kernel_and_shares_its_report(open_site: Site) -> None:
    guest = come(open_site)
    assert "any-kernel" in guest.client.get("/exercises").text
    page = guest.client.get("/exercises/any-kernel").text
    assert "// run: --size n=65536" in page
    assert ">Run</button>" in page
    attempt = guest.grade(KERNEL, exercise=ANY_KERNEL)
    link = find_link(guest, attempt)
    grade_all(open_site)
    own = guest.client.get(f"/attempts/{attempt}.json").json()
    assert "global_load_sectors" in own["html"]
    assert [mark["line"] for mark in own["marks"]] == [4]
    assert 'class="points"><b>' not in own["html"]
    everybody = visit(open_site).client
    shared, report = everybody.get(link), everybody.get(f"{link}/report")
    assert f'href="http://localhost{link}/report"' in shared.text
    assert "global_load_sectors" in shared.text
    assert "line by line" in report.text
    assert "LDG" in report.text  # machine code
    assert report.headers["content-security-policy"].startswith("sandbox;")
    for text in (shared.text, report.text, own["html"]):
        assert "onerror" in text
        assert HOSTILE not in text
    wrong = f"{link[:-1]}{'0' if link[-1] != '0' else '1'}/report"
    assert everybody.get(wrong).status_code == 404


def test_a_guest_runs_a_program(open_site: Site) -> None:
    guest = come(open_site)
    attempt = guest.grade(PROGRAM, exercise=ANY_KERNEL)
    broken = guest.grade("int main() { return 0 }", exercise=ANY_KERNEL)
    grade_all(open_site)
    own = guest.client.get(f"/attempts/{attempt}.json").json()
    assert "7 &lt;img" in own["html"]
    assert HOSTILE not in own["html"]
    assert "Timeline" in guest.client.get(f"/attempts/{attempt}/report").text
    failed = guest.client.get(f"/attempts/{broken}.json").json()
    assert "does not compile" in failed["html"]
    assert guest.client.get(f"/attempts/{broken}/report").status_code == 404
    with open_site.reading() as connection:
        kept = {each.id: each for each in read_attempts(connection)}
    assert (kept[attempt].status, kept[broken].status) == ("passed", "compile_error")
    assert {each.points for each in kept.values()} == {None}


def test_only_guests_and_instructors_run_any_kernel(open_site: Site) -> None:
    attempt = come(open_site).grade("x", exercise=ANY_KERNEL)
    ada, teacher = enter(open_site, "a@x.org"), enter(open_site, "t@x.org", Role.INSTRUCTOR)
    page = f"/exercises/{ANY_KERNEL}"
    assert teacher.client.get(page).status_code == 200
    assert teacher.client.get(f"/attempts/{attempt}").status_code == 200
    assert ada.client.get(page).status_code == 404
    form = {"form_token": ada.token(), "source": "x"}
    assert ada.client.post(f"{page}/attempts", json=form).status_code == 404
    assert ANY_KERNEL not in ada.client.get("/exercises").text
    for shown in ("/class", "/exports?kind=csv"):
        assert ANY_KERNEL not in teacher.client.get(shown).text


def test_a_large_file_of_a_guest_is_refused(open_site: Site) -> None:
    guest = come(open_site)
    form = {"form_token": guest.token(), "source": "x" * (MAX_SOURCE_BYTES + 1)}
    answer = guest.client.post(f"/exercises/{ANY_KERNEL}/attempts", json=form, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (400, "A file has at most 256 KiB.")


def test_a_shared_text_is_no_markup(open_site: Site) -> None:
    guest = come(open_site)
    attempt = guest.grade(HOSTILE_SOURCE)
    grade_all(open_site)
    text = visit(open_site).client.get(find_link(guest, attempt)).text
    assert "onerror" in text
    assert HOSTILE not in text
    assert "<script>alert" not in text


def test_without_the_option_there_is_no_playground(site: Site) -> None:
    visitor = visit(site)
    assert visitor.client.get("/playground").status_code == 404
    teacher = enter(site, "t@example.org", Role.INSTRUCTOR)
    assert teacher.client.get(f"/exercises/{ANY_KERNEL}").status_code == 404
    form = {"form_token": visitor.token("/sign-in")}
    assert visitor.client.post("/playground", data=form).status_code == 404


def test_an_attempt_of_a_student_is_not_shared(open_site: Site) -> None:
    ada = enter(open_site, "ada@example.org")
    attempt = ada.grade("secret")
    with open_site.reading() as connection:
        kept = read_attempt(connection, attempt)
    assert kept is not None
    path = playground.share(open_site, kept).removeprefix("http://localhost")
    assert visit(open_site).client.get(path).status_code == 404
    assert "/shared/" not in ada.client.get(f"/attempts/{attempt}.json").json()["html"]


def test_a_link_cannot_be_guessed_or_made_from_the_token_of_a_form(open_site: Site) -> None:
    """A visitor chooses the cookie, and so the text that the token of a form signs."""
    guest = come(open_site)
    attempt = guest.grade("x")
    link = find_link(guest, attempt)
    thief = visit(open_site)
    for text in (str(attempt), f"share{attempt}", f"share {attempt}"):
        thief.client.cookies.set("grade_session", text, domain="localhost.local")
        token = thief.token("/sign-in")
        assert thief.client.get(f"/shared/{attempt}/{token}").status_code == 404
    wrong = (link[:-1] + ("0" if link[-1] != "0" else "1"), f"/shared/{attempt}/ä", "/shared/9/x")
    assert [thief.client.get(each).status_code for each in wrong] == [404] * 3


def test_a_guest_and_the_links_end(open_site: Site) -> None:
    guest = come(open_site)
    link = find_link(guest, guest.grade("x"))
    with open_site.engine.begin() as connection:
        old = time.time() - people.SESSION_S - 1
        connection.execute(update(ATTEMPTS).values(created_s=old))
    assert visit(open_site).client.get(link).status_code == 404
    with open_site.engine.begin() as connection:
        connection.execute(update(SESSIONS).values(expires_s=time.time() - 1))
    come(open_site)
    with open_site.reading() as connection:
        assert read_attempts(connection) == []
        assert len(people.read_people(connection, Role.GUEST)) == 1


def test_guests_have_limits(open_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def send(guest: Visitor) -> int:
        form = {"form_token": guest.token(), "source": "x"}
        address = "/exercises/vector_add/attempts"
        return guest.client.post(address, json=form, headers=JSON).status_code

    monkeypatch.setattr(playground, "MOST_OF_GUESTS", 3)
    first, second = come(open_site), come(open_site)
    assert [send(first) for _ in range(3)] == [200, 200, 400]
    assert [send(second) for _ in range(2)] == [200, 400]
    ada = enter(open_site, "ada@example.org")
    assert send(ada) == 200  # guests do not stop a student
    finish_all(open_site, lambda _: worth(1))
    assert send(second) == 200
    monkeypatch.setattr(people, "MOST_GUESTS", 2)
    third = visit(open_site)
    answer = third.client.post("/playground", data={"form_token": third.token("/playground")})
    assert (answer.status_code, "too many guests" in answer.text.lower()) == (400, True)


def test_guests_are_not_in_the_course(open_site: Site) -> None:
    guest, teacher = come(open_site), enter(open_site, "t@example.org", Role.INSTRUCTOR)
    attempt = guest.grade("x", submit=True)
    finish_all(open_site, lambda _: worth(55))
    form = {"form_token": guest.token()}
    assert guest.client.post(f"/attempts/{attempt}/submit", data=form).status_code == 404
    assert guest.client.post(f"/attempts/{attempt}/what-if", data=form).status_code == 404
    for page in ("/class", "/roster", "/exports?kind=csv"):
        assert "Guest" not in teacher.client.get(page).text
        assert guest.client.get(page).status_code == 404
    with open_site.reading() as connection:
        assert [each.submitted_s for each in read_attempts(connection)] == [None]
