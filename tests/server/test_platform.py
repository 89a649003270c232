"""Sign-in, the choice of exercises, points and members through a course platform (LTI 1.3)."""

from __future__ import annotations

import base64
import functools
import re
import time
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

from grader import lti
from grader.errors import UsageError
from grader.report.verdicts import make_failed_verdict
from grader.server import people
from grader.server.attempts import add_override
from grader.server.launch import invite_first
from grader.server.records import Override, Role
from grader.server.returns import Sent, return_points
from grader.server.tables import INVITATIONS
from grader.server.web.site import Site
from tests.support.platform import CLIENT, ISSUER, Form, School, make_rsa, open_school
from tests.support.served import ROOT, Visitor, finish_all, make_site, visit, worth

HOSTILE = '"><script>alert(1)</script>'

tool_key = functools.cache(lti.make_key)
"""The key of each site: to make one takes 0.15 s of processor time."""


@pytest.fixture
def school() -> Iterator[School]:
    lti.read_keys.cache_clear()
    with open_school() as opened:
        yield opened


@pytest.fixture
def site(
    school: School, tmp_path: Path, database: str | None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    monkeypatch.setattr(lti, "make_key", tool_key)
    known = (school.registration,)
    made = make_site(tmp_path, url="https://localhost", platforms=known, database=database)
    school.tool_keys = visit(made).client.get("/lti/keys").json()
    yield made
    made.engine.dispose()


def ask(visitor: Visitor, subject: str = "ada") -> str:
    """Begins a sign-in; returns the address at which the platform confirms it."""
    given = {"iss": ISSUER, "client_id": CLIENT, "login_hint": subject, "target_link_uri": "x"}
    answer = visitor.client.post("/lti/login", data=given, follow_redirects=False)
    assert answer.status_code == 303
    return str(answer.headers["location"])


def launch(visitor: Visitor, form: Form):  # noqa: ANN201
    return visitor.client.post("/lti/launch", data=form)


def enter(site: Site, school: School, subject: str = "ada", **claims: object) -> Visitor:
    """A visitor whom the platform has signed in."""
    visitor = visit(site)
    answer = launch(visitor, school.confirm(ask(visitor, subject), subject, claims=claims))
    assert answer.status_code == 200, answer.text
    return visitor


def test_a_student_comes_from_the_platform_to_the_exercise(site: Site, school: School) -> None:
    visitor = visit(site)
    answer = launch(visitor, school.confirm(ask(visitor), "ada"))
    assert answer.url.path == "/exercises/vector_add"
    assert "Name of ada" in answer.text
    assert visitor.client.get("/class").status_code == 404
    enter(site, school)
    with site.reading() as connection:
        (person,) = people.read_people(connection)
    assert (person.role, person.is_active) == (Role.STUDENT, False)


def test_a_sign_in_can_begin_with_a_link(site: Site, school: School) -> None:
    visitor = visit(site)
    query = {"iss": ISSUER, "login_hint": "ada", "lti_message_hint": "m"}
    answer = visitor.client.get("/lti/login", params=query, follow_redirects=False)
    assert "lti_message_hint=m" in answer.headers["location"]
    assert launch(visitor, school.confirm(answer.headers["location"], "ada")).status_code == 200


ROLE = "http://purl.imsglobal.org/vocab/lis/v2"


@pytest.mark.parametrize(
    ("role", "teaches"),
    [
        (f"{ROLE}/membership#Instructor", True),
        (f"{ROLE}/membership/Instructor#TeachingAssistant", True),
        (f"{ROLE}/membership#Administrator", True),
        (f"{ROLE}/membership#Learner", False),
        (f"{ROLE}/membership#Mentor", False),
        (f"{ROLE}/institution/person#Instructor", False),
        (f"{ROLE}/institution/person#Administrator", False),
        (f"{ROLE}/membership#InstructorX", False),
    ],
)
def test_the_role_in_the_course_gives_the_rights(
    site: Site, school: School, role: str, teaches: bool
) -> None:
    visitor = enter(site, school, **{f"{lti.LTI}roles": [role]})
    assert (visitor.client.get("/class").status_code == 200) is teaches


def test_a_person_who_no_longer_teaches_loses_the_rights(site: Site, school: School) -> None:
    teacher = enter(site, school, "tim", **school.teaching())
    assert teacher.client.get("/class").status_code == 200
    enter(site, school, "tim")
    assert teacher.client.get("/class").status_code == 404


def test_a_teacher_of_another_course_of_the_platform_gets_no_rights(
    site: Site, school: School
) -> None:
    """Each teacher of the school can add the tool to a course of their own."""
    visitor = visit(site)
    own = {f"{lti.LTI}context": {"id": "3", "title": "My course"}}
    for claims in (school.teaching(**own), school.choosing() | own):
        answer = launch(visitor, school.confirm(ask(visitor, "ada"), "ada", claims=claims))
        assert answer.status_code == 400
        assert "The course &#39;3&#39; is not registered here" in answer.text
    assert visitor.client.get("/class").url.path == "/sign-in"


def test_people_of_two_platforms_with_the_same_name_are_two(site: Site) -> None:
    other = lti.Platform("https://other.example", *[""] * 5, deployments=(), courses=())
    member = lti.Member("ada", "Ada", teaches=False)
    with site.engine.begin() as connection:
        ids = {
            people.enter_member(connection, platform, member, {})
            for platform in (*site.settings.platforms, other)
        }
    assert len(ids) == 2


NOW = time.time()
WRONG: dict[str, dict[str, object]] = {
    "another audience": {"aud": "client-8"},
    "several audiences, for another": {"aud": [CLIENT, "client-8"], "azp": "client-8"},
    "another issuer": {"iss": "https://evil.example"},
    "an old token": {"exp": int(NOW) - 3600, "iat": int(NOW) - 7200},
    "a token of the future": {"iat": int(NOW) + 36000, "exp": int(NOW) + 72000},
    "a token without an end": {"exp": None},
    "another nonce": {"nonce": "drawn elsewhere"},
    "no nonce": {"nonce": None},
    "no person": {"sub": None},
    "no roles": {f"{lti.LTI}roles": None},
    "broken roles": {f"{lti.LTI}roles": [{}]},
    "another deployment": {f"{lti.LTI}deployment_id": "2"},
    "another course": {f"{lti.LTI}context": {"id": "3"}},
    "no course": {f"{lti.LTI}context": None},
    "another version": {f"{lti.LTI}version": "1.1"},
    "a gradebook elsewhere": {
        f"{lti.GRADES}claim/endpoint": {"lineitem": "http://169.254.169.254/latest"}
    },
    "members elsewhere": {
        f"{lti.MEMBERS}claim/namesroleservice": {"context_memberships_url": "file:///etc/passwd"}
    },
}


@pytest.mark.parametrize("claims", WRONG.values(), ids=WRONG)
def test_a_wrong_token_is_refused(site: Site, school: School, claims: dict[str, object]) -> None:
    visitor = visit(site)
    answer = launch(visitor, school.confirm(ask(visitor), "ada", claims=claims))
    assert answer.status_code == 400
    assert visitor.client.get("/exercises").url.path == "/sign-in"
    with site.reading() as connection:
        assert people.read_people(connection) == []


def test_a_token_with_another_signature_is_refused(site: Site, school: School) -> None:
    visitor = visit(site)
    asked = ask(visitor)
    forged = school.confirm(asked, "ada", key=make_rsa())
    unknown = school.confirm(asked, "ada", kid="unknown")
    head, _, rest = school.confirm(asked, "ada")["id_token"].partition(".")
    unsigned = "eyJhbGciOiJub25lIiwia2lkIjoic2Nob29sIn0." + rest.rpartition(".")[0] + "."
    broken = [{**forged, "id_token": text} for text in (unsigned, head, "", "\udcff.a.b")]
    for form in (forged, unknown, *broken, {"state": forged["state"]}, {}):
        answer = launch(visitor, {name: text for name, text in form.items() if text.isprintable()})
        assert answer.status_code == 400


def test_a_launch_works_once(site: Site, school: School) -> None:
    visitor = visit(site)
    form = school.confirm(ask(visitor), "ada")
    assert launch(visitor, form).status_code == 200
    thief = visit(site)
    thief.client.cookies = visitor.client.cookies
    thief.client.cookies.delete("grade_session")
    answer = launch(thief, form)
    assert (answer.status_code, "was used before" in answer.text) == (400, True)


def test_a_launch_of_another_browser_is_refused(site: Site, school: School) -> None:
    """An attacker must not sign a victim in to the attacker's account."""
    attacker, victim = visit(site), visit(site)
    form = school.confirm(ask(attacker, "eve"), "eve")
    assert launch(victim, form).status_code == 400
    ask(victim)
    assert "another browser" in launch(victim, form).text


def test_a_state_that_the_server_has_not_signed_is_refused(site: Site, school: School) -> None:
    visitor = visit(site)
    form = school.confirm(ask(visitor), "ada")
    head, _, signature = form["state"].rpartition(".")
    form["state"] = f"{head}.{signature[::-1]}"
    visitor.client.cookies.set("grade_platform", form["state"], domain="localhost.local")
    assert launch(visitor, form).status_code == 400


def test_a_state_is_not_made_from_the_token_of_a_form(site: Site, school: School) -> None:
    """A visitor chooses the session's cookie, and so the text that the token of a form signs."""
    visitor = visit(site)
    form = school.confirm(ask(visitor), "ada")
    signed = form["state"].rpartition(".")[0]
    visitor.client.cookies.set("grade_session", signed, domain="localhost.local")
    forged = base64.urlsafe_b64encode(bytes.fromhex(visitor.token("/sign-in"))).decode()
    form["state"] = f"{signed}.{forged.rstrip('=')}"
    visitor.client.cookies.set("grade_platform", form["state"], domain="localhost.local")
    assert launch(visitor, form).status_code == 400


def test_the_cookie_of_a_sign_in_is_closed_to_scripts(site: Site) -> None:
    given = {"iss": ISSUER, "login_hint": "ada"}
    answer = visit(site).client.get("/lti/login", params=given, follow_redirects=False)
    cookie = answer.headers["set-cookie"]
    for part in ("Path=/lti", "HttpOnly", "SameSite=None", "Secure", "Partitioned"):
        assert f"; {part}" in cookie


def test_an_unknown_platform_gets_no_request(site: Site, school: School) -> None:
    given = {"iss": "https://evil.example", "login_hint": "ada"}
    assert visit(site).client.post("/lti/login", data=given).status_code == 400
    assert visit(site).client.post("/lti/launch", data={}).status_code == 400
    assert school.key_requests == 0


def test_many_launches_read_the_keys_once_a_minute(site: Site, school: School) -> None:
    for number in range(4):
        enter(site, school, f"student {number}")
    assert school.key_requests <= 2


def test_an_instructor_chooses_an_exercise_for_the_course(site: Site, school: School) -> None:
    visitor = visit(site)
    answer = launch(visitor, school.confirm(ask(visitor, "tim"), "tim", claims=school.choosing()))
    form = re.search(
        r'action="([^"]+)"><input type="hidden" name="JWT" value="([^"]+)"', answer.text
    )
    assert form is not None
    assert unescape(form[1]) == f"{school.address}/chosen"
    item = school.read_choice(form[2])
    assert (item["url"], item["custom"]) == (
        "https://localhost/lti/launch",
        {"exercise": "vector_add"},
    )
    assert item["lineItem"]["scoreMaximum"] == site.lessons["vector_add"].full
    policy = answer.headers["content-security-policy"]
    assert f"form-action {school.address};" in policy
    assert f"frame-ancestors {school.address}" in policy
    assert "script-src 'self';" in policy
    assert visitor.client.get("/exercises").url.path == "/sign-in"


def test_a_refused_choice_is_explained_in_the_frame_of_the_platform(
    site: Site, school: School
) -> None:
    visitor = visit(site)
    claims = school.choosing() | {f"{lti.LTI}context": {"id": "3"}}
    answer = launch(visitor, school.confirm(ask(visitor, "tim"), "tim", claims=claims))
    assert answer.status_code == 400
    assert f"frame-ancestors {school.address}" in answer.headers["content-security-policy"]


def test_an_exercise_in_a_frame_is_refused_with_the_next_step(site: Site, school: School) -> None:
    visitor = visit(site)
    visitor.client.headers["sec-fetch-dest"] = "iframe"
    answer = launch(visitor, school.confirm(ask(visitor), "ada"))
    assert (answer.status_code, "selects a new window" in answer.text) == (400, True)
    assert visitor.client.get("/exercises").url.path == "/sign-in"


def test_a_student_chooses_no_exercise(site: Site, school: School) -> None:
    visitor = visit(site)
    claims = school.choosing() | {f"{lti.LTI}roles": []}
    assert (
        launch(visitor, school.confirm(ask(visitor, "eve"), "eve", claims=claims)).status_code
        == 404
    )


def test_names_of_the_platform_are_text(site: Site, school: School) -> None:
    assert HOSTILE not in enter(site, school, name=HOSTILE).client.get("/exercises").text
    teacher = enter(site, school, "tim", **school.teaching(name=HOSTILE * 20))
    assert HOSTILE not in teacher.client.get("/roster").text


def test_points_go_to_the_gradebook_once(site: Site, school: School) -> None:
    ada = enter(site, school)
    sent: Sent = {}
    ada.grade("tried only")
    finish_all(site, lambda _: worth(20))
    return_points(site, sent)
    assert school.scores == []
    ada.grade("submitted", submit=True)
    finish_all(site, lambda _: worth(55))
    for _ in range(2):
        return_points(site, sent)
    ((path, score),) = school.scores
    assert path == "/services/2/lineitems/3/lineitem/scores?type_id=1"
    assert score.pop("timestamp")
    assert score == {
        "userId": "ada",
        "scoreGiven": 55.0,
        "scoreMaximum": 100.0,
        "activityProgress": "Submitted",
        "gradingProgress": "FullyGraded",
    }


def test_points_of_an_instructor_replace_those_of_the_grader(site: Site, school: School) -> None:
    ada = enter(site, school)
    ada.grade("x", submit=True)
    finish_all(site, lambda _: worth(55))
    with site.engine.begin() as connection:
        (person,) = people.read_people(connection)
        add_override(connection, Override(person.id, "vector_add", 70, "why", "tim", 1.0))
    return_points(site, sent := {})
    assert [score["scoreGiven"] for _, score in school.scores] == [70]
    with site.engine.begin() as connection:
        add_override(connection, Override(person.id, "vector_add", None, "why", "tim", 2.0))
    return_points(site, sent)
    assert [score["scoreGiven"] for _, score in school.scores] == [70, 55]


def test_points_that_are_not_final_leave_the_cell_empty(site: Site, school: School) -> None:
    ada = enter(site, school)
    ada.grade("x", submit=True)
    finish_all(site, lambda _: make_failed_verdict("the disk is full"))
    return_points(site, {})
    ((_, score),) = school.scores
    assert score["gradingProgress"] == "PendingManual"
    assert "scoreGiven" not in score


def test_a_gradebook_that_does_not_answer_gets_the_points_later(
    site: Site, school: School, caplog: pytest.LogCaptureFixture
) -> None:
    enter(site, school).grade("x", submit=True)
    finish_all(site, lambda _: worth(55))
    school.moved = True
    return_points(site, sent := {})
    assert "Points are not returned" in caplog.text
    assert (school.scores, sent) == ([], {})  # and no redirect was followed
    school.moved = False
    return_points(site, sent)
    assert len(school.scores) == 1


def test_a_column_that_the_platform_removed_stops_no_other(site: Site, school: School) -> None:
    gone = {"lineitem": f"{school.address}/gone"}
    for subject in ("ada", "bob"):
        claims = {f"{lti.GRADES}claim/endpoint": gone} if subject == "ada" else {}
        enter(site, school, subject, **claims).grade("x", submit=True)
    finish_all(site, lambda _: worth(55))
    return_points(site, {})
    assert [score["userId"] for _, score in school.scores] == ["bob"]


def test_points_go_to_the_column_of_a_new_link(site: Site, school: School) -> None:
    """A teacher deletes the item of an exercise and adds it again."""
    enter(site, school).grade("x", submit=True)
    finish_all(site, lambda _: worth(55))
    return_points(site, sent := {})
    enter(site, school, **{f"{lti.GRADES}claim/endpoint": {"lineitem": school.column(4)}})
    for _ in range(2):
        return_points(site, sent)
    assert [path.split("/")[4] for path, _ in school.scores] == ["3", "4"]
    assert [score["scoreGiven"] for _, score in school.scores] == [55, 55]


def test_points_of_an_instructor_are_not_sent(site: Site, school: School) -> None:
    enter(site, school, "tim", **school.teaching()).grade("x", submit=True)
    finish_all(site, lambda _: worth(55))
    return_points(site, {})
    assert (school.scores, school.scopes) == ([], [])


def test_points_that_the_platform_refuses_are_sent_again_only_after_a_change(
    site: Site, school: School, caplog: pytest.LogCaptureFixture
) -> None:
    ada = enter(site, school)
    school.without_cell.add("ada")
    sent: Sent = {}
    for points in (55, 70):
        ada.grade("x", submit=True)
        finish_all(site, lambda _, points=points: worth(points))
        for _ in range(3):
            return_points(site, sent)
    refused = "refuses the request to"
    assert caplog.text.count(refused) == caplog.text.count("Incorrect score received") == 2
    assert school.scores == []


def test_an_instructor_brings_the_members_of_the_course(site: Site, school: School) -> None:
    learner = [f"{ROLE}/membership#Learner"]
    school.members = [
        {"user_id": "ada", "name": "Ada", "roles": learner, "status": "Active"},
        {"user_id": "bob", "given_name": "Bob", "roles": learner},
        {"user_id": "eve", "name": "Eve", "roles": learner, "status": "Inactive"},
        {"user_id": "tim", "name": "Tim", "roles": [f"{ROLE}/membership#Instructor"]},
    ]
    enter(site, school, "tim", **school.teaching(**school.membership()))
    enter(site, school, "ada")
    with site.reading() as connection:
        found = {each.name: each.role for each in people.read_people(connection)}
    assert found == {
        "Name of ada": Role.STUDENT,
        "Bob": Role.STUDENT,
        "Name of tim": Role.INSTRUCTOR,
    }


def test_the_first_invitation_is_for_no_account_of_the_platform(site: Site, school: School) -> None:
    """The login of such an account is a digest, which its person does not know."""
    enter(site, school, "anna", **school.teaching(name="Anna"))
    for _ in range(2):
        token = str(invite_first(site)).rpartition("/")[2]
        with site.reading() as connection:
            invited = people.find_person(connection, INVITATIONS, token, time.time())
        assert invited is not None
        assert invited.login == "instructor"


def test_a_student_brings_no_members(site: Site, school: School) -> None:
    school.members = [{"user_id": "bob", "name": "Bob", "roles": []}]
    enter(site, school, "ada", **school.membership())
    assert school.scopes == []


EXAMPLE, CANVAS = re.findall(r"```toml\n(.*?)```", (ROOT / "docs/server.md").read_text(), re.DOTALL)


def test_the_file_of_platforms_is_read(tmp_path: Path) -> None:
    file = tmp_path / "platforms.toml"
    file.write_text(EXAMPLE + CANVAS)
    moodle, canvas = lti.read_platforms(file)
    assert (moodle.client_id, moodle.deployments) == ("the client ID", ("1",))
    assert moodle.courses == ("2",)
    assert lti.find_platform((moodle, canvas), canvas.issuer, "") == canvas


def test_ids_of_courses_may_be_numbers(tmp_path: Path) -> None:
    file = tmp_path / "platforms.toml"
    file.write_text(EXAMPLE.replace('courses = ["2"]', "courses = [2]"))
    assert lti.read_platforms(file)[0].courses == ("2",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("https://moodle.example.org/mod/lti/certs.php", "http://moodle.example.org/certs"),
        ("https://moodle.example.org/mod/lti/certs.php", "file:///etc/passwd"),
        ('services = "https://moodle.example.org/"', 'services = "https://moodle.example.org"'),
        ('client_id = "the client ID"\n', ""),
        ("client_id", "client"),
        ("[[platform]]", ""),
        ('["1"]', "[1"),
        ('deployments = ["1"]', 'deployments = "1"'),
        ('courses = ["2"]\n', ""),
    ],
)
def test_a_wrong_file_of_platforms_is_refused(tmp_path: Path, old: str, new: str) -> None:
    file = tmp_path / "platforms.toml"
    assert old in EXAMPLE
    file.write_text(EXAMPLE.replace(old, new))
    with pytest.raises(UsageError):
        lti.read_platforms(file)
