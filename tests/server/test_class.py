"""An instructor's course: roster, deadlines, the submission that counts, points, exports."""

from __future__ import annotations

import csv
import io
import re
import time

from grader.server.attempts import read_attempts, write_rules
from grader.server.gradebook import name_uniquely
from grader.server.people import read_people
from grader.server.records import Assignment, Counting, Role
from grader.server.web.site import Site
from tests.support.served import JSON, Visitor, enter, finish_all, grade_all, worth

MOODLE = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,\
Last modified (submission),Last modified (grade),Feedback comments
Participant 41,Ada Lovelace,ada@example.org,No submission,,100.00,Yes,-,-,
Participant 42,Alan Turing,alan@example.org,No submission,,100.00,Yes,-,-,
"""
ADA = "/students/{0.person_id}/vector_add"


def make_teacher(site: Site) -> Visitor:
    return enter(site, "t@example.org", Role.INSTRUCTOR, name="Grace Hopper")


def export(teacher: Visitor, kind: str) -> list[list[str]]:
    answer = teacher.client.get(f"/exports?kind={kind}&exercise=vector_add")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith("attachment")
    return [*csv.reader(io.StringIO(answer.text))]


def test_a_roster_makes_accounts_once_and_links_for_the_new(site: Site) -> None:
    teacher = make_teacher(site)
    first = teacher.post("/roster", csv=MOODLE).text
    assert len(re.findall(r"<code>http://localhost/invitations/[\w-]+</code>", first)) == 2
    again = teacher.post(
        "/roster", csv=MOODLE + "Participant 43,Eve,eve@example.org,,,100,Yes,-,-,\n"
    ).text
    assert len(re.findall("<code>http://localhost/invitations/", again)) == 1
    with site.reading() as connection:
        students = read_people(connection, Role.STUDENT)
    assert [(each.name, each.login, each.student_id) for each in students] == [
        ("Ada Lovelace", "ada@example.org", "41"),
        ("Alan Turing", "alan@example.org", "42"),
        ("Eve", "eve@example.org", "43"),
    ]


def test_a_csv_without_names_is_refused_with_the_next_step(site: Site) -> None:
    answer = make_teacher(site).post("/roster", csv="a,b\n1,2\n")
    assert answer.status_code == 400
    assert "the roster has none of the columns" in answer.text.lower()


def test_a_submission_after_the_deadline_is_refused_and_a_grading_is_not(site: Site) -> None:
    ada, teacher = enter(site, "ada@example.org"), make_teacher(site)
    kept = ada.grade("early", submit=True)
    teacher.post(
        "/exercises/vector_add/rules", deadline="2020-01-01T12:00", counting="last", visible="yes"
    )
    late = ada.grade("late")
    form = {"form_token": ada.token()}
    answer = ada.client.post(f"/attempts/{late}/submit", json=form, headers=JSON)
    assert (answer.status_code, answer.json()["error"]) == (400, "The deadline has passed.")
    form |= {"source": "late", "submit": "yes"}
    answer = ada.client.post("/exercises/vector_add/attempts", json=form, headers=JSON)
    assert answer.status_code == 400
    with site.reading() as connection:
        own = read_attempts(connection)
    assert [each.id for each in own if each.submitted_s] == [kept]
    assert len(own) == 2  # nothing is kept of a refused submission


def test_the_last_or_the_best_submission_counts(site: Site) -> None:
    ada, teacher = enter(site, "ada@example.org", name="Ada"), make_teacher(site)
    for points in ("90", "100", "40"):
        ada.grade(points, submit=points != "100")
    finish_all(site, lambda source: worth(float(source)))
    page = ADA.format(ada)
    assert "<b>40 of 100 points</b>" in teacher.client.get(page).text
    with site.engine.begin() as connection:
        write_rules(connection, Assignment("vector_add", counting=Counting.BEST))
    assert "<b>90 of 100 points</b>" in teacher.client.get(page).text
    ada.post("/attempts/2/submit")
    assert "<b>100 of 100 points</b>" in teacher.client.get(page).text


def test_points_set_by_an_instructor_count_and_stay_in_the_history(site: Site) -> None:
    ada, teacher = enter(site, "ada@example.org", name="Ada"), make_teacher(site)
    ada.grade("40", submit=True)
    finish_all(site, lambda source: worth(float(source)))
    page = ADA.format(ada)
    refused = teacher.post(f"{page}/points", points="77", reason=" ")
    assert refused.status_code == 400
    for points, reason in (("77", "a good idea"), ("", "a mistake of mine"), ("81,5", "after all")):
        teacher.post(f"{page}/points", points=points, reason=reason)
    text = teacher.client.get(page).text
    assert "<b>81.5 of 100 points</b>, set by Grace Hopper" in text
    assert text.index("after all") < text.index("a mistake of mine") < text.index("a good idea")
    assert "81.5: after all" in ada.client.get("/exercises/vector_add").text
    (row,) = export(teacher, "csv")[1:]
    assert row[2] == "81.5"
    assert "after all (points set by Grace Hopper)" in row


def test_real_scores_are_exported_as_a_batch_exports_them(graded: Site) -> None:
    teacher = enter(graded, "teacher of exports", Role.INSTRUCTOR, name="T")
    rows = {kind: export(teacher, kind) for kind in ("csv", "canvas", "moodle")}
    head, own = rows["csv"][0], next(row for row in rows["csv"] if row[0].startswith("Ada"))
    assert "vector_add: Correctness" in head
    assert own[head.index("vector_add status")] in ("passed", "failed")
    assert rows["canvas"][1][0].strip() == "Points Possible"
    assert rows["moodle"][0][:2] == ["Identifier", "Full name"]


def test_grading_again_keeps_the_points_until_the_new_verdict(site: Site) -> None:
    ada, teacher = enter(site, "ada@example.org", name="Ada"), make_teacher(site)
    ada.grade("40", submit=True)
    finish_all(site, lambda _: worth(40))
    teacher.post("/exercises/vector_add/again")
    assert "<b>40 of 100 points</b>" in teacher.client.get(ADA.format(ada)).text
    finish_all(site, lambda _: worth(60))
    assert "<b>60 of 100 points</b>" in teacher.client.get(ADA.format(ada)).text


def test_a_comment_reaches_the_student_with_its_line(site: Site) -> None:
    ada, teacher = enter(site, "ada@example.org", name="Ada"), make_teacher(site)
    attempt = ada.grade("x\ny\n")
    finish_all(site, lambda _: worth(1))
    teacher.post(f"/attempts/{attempt}/comments", line="2", text="Why not __ldg?")
    sent = ada.client.get(f"/attempts/{attempt}.json").json()
    assert "Grace Hopper" in sent["html"]
    assert sent["comments"] == [{"line": 2, "text": "Why not __ldg?"}]
    assert "Why not __ldg?" in sent["html"]
    assert teacher.post(f"/attempts/{attempt}/comments", line="-1", text="x").status_code == 400


def test_the_live_table_shows_points_attempts_and_the_queue(site: Site) -> None:
    ada, teacher = enter(site, "ada@example.org", name="Ada"), make_teacher(site)
    ada.grade("40", submit=True)
    finish_all(site, lambda _: worth(40))
    ada.grade("41")
    table = teacher.client.get("/class?table=1").text
    assert "<html" not in table
    assert "<b>40</b> …" in table
    assert "2×" in table
    assert "1 grading in the queue" in table
    (version,) = re.findall('data-version="([^"]+)"', table)
    assert teacher.client.get(f"/class?table=1&seen={version}").status_code == 204
    finish_all(site, lambda _: worth(41))
    assert teacher.client.get(f"/class?table=1&seen={version}").status_code == 200


def test_an_account_is_removed_only_with_its_login(site: Site) -> None:
    ada, teacher = enter(site, "ada@example.org", name="Ada"), make_teacher(site)
    ada.grade("x")
    assert teacher.post(f"/people/{ada.person_id}/remove", confirm="yes").status_code == 400
    teacher.post(f"/people/{ada.person_id}/remove", confirm="ada@example.org")
    with site.reading() as connection:
        assert [person.name for person in read_people(connection)] == ["Grace Hopper"]
        assert read_attempts(connection) == []


def test_students_with_the_same_name_stay_apart(site: Site) -> None:
    for login in ("a@example.org", "b@example.org"):
        enter(site, login, name="Ada")
    with site.reading() as connection:
        names = name_uniquely(read_people(connection))
    assert sorted(names.values()) == ["Ada (a@example.org)", "Ada (b@example.org)"]


def test_changes_from_the_attempt_before_are_shown(site: Site) -> None:
    ada = enter(site, "ada@example.org")
    ada.grade("int a;\nint b;\n")
    finish_all(site, lambda _: worth(40))
    ada.grade("int a;\nint c;\n")
    finish_all(site, lambda _: worth(60))
    html = ada.client.get("/attempts/2.json").json()["html"]
    assert "▲ 20 more than" in html
    assert '<span class="removed">-int b;' in html
    assert '<span class="added">+int c;' in html


def test_an_exercise_that_left_the_course_gives_no_zero(site: Site) -> None:
    ada = enter(site, "ada@example.org")
    ada.grade("x", submit=True)
    site.lessons.pop("vector_add")  # type: ignore[attr-defined]
    grade_all(site)
    with site.reading() as connection:
        (attempt,) = read_attempts(connection)
    assert (attempt.status, attempt.points) == ("grader_error", None)
    assert time.time() > attempt.created_s
