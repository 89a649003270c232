"""The pages of a student: exercises, the editor, attempts and their verdicts."""

from __future__ import annotations

import json
import mimetypes
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection
from starlette.responses import JSONResponse, Response

from grader.report.verdict_json import list_changes
from grader.server import attempts, queue
from grader.server.course import Lesson
from grader.server.records import Attempt, Person, Standing
from grader.server.web.playground import check_guest, share
from grader.server.web.visits import Visit, missing, redirect, send_report, show


def show_start(visit: Visit, connection: Connection) -> Response:
    """Continues at the class for instructors, at the exercises for students."""
    return redirect("/class" if visit.user.teaches else "/exercises")


def list_exercises(visit: Visit, connection: Connection) -> Response:
    """The exercises with the student's points."""
    lessons, person = _list_lessons(visit), visit.user
    find = attempts.read_standings(connection, [*lessons], person_id=person.id)
    rows = [(lesson, find(person.id, lesson.id)) for lesson in lessons.values()]
    shown = [row for row in rows if row[1].rules.visible or person.teaches]
    return show(visit, "exercises.html", rows=shown, now=visit.now)


def show_exercise(visit: Visit, connection: Connection) -> Response:
    """The handout and the editor, with the student's latest text."""
    lesson = find_lesson(visit, connection)
    standing = read_standing(connection, visit.user, lesson)
    own = standing.attempts
    source = attempts.read_source(connection, own[-1].id) if own else lesson.starter
    return show_work(visit, lesson, standing, source)


def show_history(visit: Visit, connection: Connection) -> Response:
    """The table of the student's attempts, for the page's script."""
    standing = read_standing(connection, visit.user, find_lesson(visit, connection))
    return show(visit, "history.html", standing=standing, reading=None)


def read_standing(connection: Connection, person: Person, lesson: Lesson) -> Standing:
    """The standing of a person at an exercise."""
    find = attempts.read_standings(connection, [lesson.id], person_id=person.id)
    return find(person.id, lesson.id)


def show_work(
    visit: Visit,
    lesson: Lesson,
    standing: Standing,
    source: str,
    *,
    reading: Attempt | None = None,
    student: str = "",
) -> Response:
    """The page of the editor. `reading`: an instructor reads this attempt of a student."""
    rules, own = standing.rules, standing.attempts
    shown = reading or (own[-1] if own else None)
    texts = {"exercise": lesson.id, "source": source, "starter": lesson.starter}
    ids = {"person": visit.user.id, "attempt": shown and shown.id}
    data = json.dumps({**texts, **ids, "reading": reading is not None})
    is_late = rules.deadline_s is not None and visit.now > rules.deadline_s
    state = {"standing": standing, "rules": rules, "is_late": is_late}
    reader = {"reading": reading, "student": student}
    return show(visit, "work.html", {**state, **reader}, lesson=lesson, data=data)


def show_picture(visit: Visit, connection: Connection) -> Response:
    """A picture of a handout: only names that the exercise's folder has."""
    path = find_lesson(visit, connection).pictures.get(visit.path["name"]) or missing()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Response(path.read_bytes(), media_type=kind)


def show_guide(visit: Visit, connection: Connection) -> Response:
    """The page on reports, to which all handouts link."""
    return show(visit, "guide.html", guide=visit.site.guide or missing())


def add_attempt(visit: Visit, connection: Connection) -> Response:
    """Grades a text, and submits it if the student asks."""
    lesson = find_lesson(visit, connection)
    check_guest(connection, visit.user)
    rules = attempts.read_rules(connection, lesson.id)
    source = visit.form.get("source", "").replace("\r\n", "\n")
    added = attempts.add_attempt(connection, visit.user.id, lesson.id, source, now=visit.now)
    attempt = attempts.read_attempt(connection, added)
    assert attempt is not None
    if visit.form.get("submit") == "yes" and not visit.user.is_guest:
        attempts.submit(connection, attempt, rules, visit.now)
    return JSONResponse({"attempt": added})


def submit_attempt(visit: Visit, connection: Connection) -> Response:
    """Submits an attempt that was graded before."""
    attempt = _find_own(visit, connection)
    rules = attempts.read_rules(connection, attempt.exercise)
    attempts.submit(connection, attempt, rules, visit.now)
    return JSONResponse({"attempt": attempt.id})


def grade_on_gpu(visit: Visit, connection: Connection) -> Response:
    """Sends an attempt to the queue of the GPU, within the quota."""
    quota = visit.site.settings.gpu_quota
    attempt = _find_own(visit, connection) if quota else missing()
    attempts.send_to_gpu(connection, attempt, quota, visit.now)
    return JSONResponse({"attempt": attempt.id})


def _find_own(visit: Visit, connection: Connection) -> Attempt:
    """An attempt of this person, who is no guest."""
    attempt = find_attempt(visit, connection)
    return missing() if attempt.person_id != visit.user.id or visit.user.is_guest else attempt


def try_fixes(visit: Visit, connection: Connection) -> Response:
    """Grades an attempt again, and tries fixes of it, if the exercise allows it."""
    attempt = find_attempt(visit, connection)
    lesson = find_lesson(visit, connection, attempt.exercise)
    if not lesson.may_try_fixes or visit.user.is_guest:
        missing()
    if visit.user.teaches:
        attempts.grade_again(connection, [attempt], visit.now, what_if=True)
    else:
        attempts.try_fixes(connection, attempt, visit.site.settings.gpu_quota, visit.now)
    return JSONResponse({"attempt": attempt.id})


def send_attempt(visit: Visit, connection: Connection) -> Response:
    """An attempt for the page's script: source, marks, and the verdict as HTML."""
    site, user = visit.site, visit.user
    attempt = find_attempt(visit, connection)
    person, exercise = attempt.person_id, attempt.exercise
    known = attempts.read_attempts(connection, person_id=person, exercise=exercise)
    previous = next((each for each in reversed(known) if each.id < attempt.id), None)
    source = attempts.read_source(connection, attempt.id)
    before = attempts.read_source(connection, previous.id) if previous else source
    shown = attempts.read_kept(connection, attempt, "shown")
    comments = attempts.read_comments(connection, attempt.id)
    has_page = attempts.read_kept(connection, attempt, "page") is not None
    sent = queue.count_on_gpu(connection, user.id, visit.now)
    verdict: dict[str, Any] | None = json.loads(shown) if shown else None
    compared = {"attempt": attempt, "previous": previous, "changes": list_changes(before, source)}
    graded = {"verdict": verdict, "has_page": has_page, "comments": comments}
    course = {"lesson": site.lessons.get(exercise), "quota": site.settings.gpu_quota, "sent": sent}
    visitor = {"person": user, "teaches": user.teaches, "token": visit.form_token}
    shared = share(site, attempt) if user.is_guest else ""
    template = site.templates.get_template("verdict.html")
    html = template.render(**compared, **graded, **course, **visitor, share=shared)
    texts = [{"line": each.line, "text": each.text} for each in comments]
    marks = {"marks": verdict["marks"] if verdict else [], "comments": texts}
    state = {"attempt": attempt.id, "done": attempt.is_done, "source": source}
    return JSONResponse({**state, **marks, "html": html})


def show_report(visit: Visit, connection: Connection) -> Response:
    """The page of the verdict."""
    return send_report(attempts.read_kept(connection, find_attempt(visit, connection), "page"))


def download_source(visit: Visit, connection: Connection) -> Response:
    """The text of an attempt as a file."""
    attempt = find_attempt(visit, connection)
    source = attempts.read_source(connection, attempt.id)
    headers = {"Content-Disposition": f'attachment; filename="{attempt.exercise}.cu"'}
    return Response(source.encode("utf-8", "replace"), headers=headers, media_type="text/plain")


def find_lesson(visit: Visit, connection: Connection, exercise: str | None = None) -> Lesson:
    """An exercise that this person may see, by default that of the address."""
    exercise = exercise or visit.path["exercise"]
    lesson = _list_lessons(visit).get(exercise) or missing()
    if not visit.user.teaches and not attempts.read_rules(connection, exercise).visible:
        missing()
    return lesson


def _list_lessons(visit: Visit) -> Mapping[str, Lesson]:
    """The exercises; only guests and instructors can run files without an exercise."""
    is_student = not visit.user.is_guest and not visit.user.teaches
    return visit.site.lessons if is_student else visit.site.all_lessons


def find_attempt(visit: Visit, connection: Connection) -> Attempt:
    """An attempt that this person may see: a student's own, or any for an instructor."""
    attempt = attempts.read_attempt(connection, visit.path["attempt"])
    if attempt is None or (attempt.person_id != visit.user.id and not visit.user.teaches):
        missing()
    return attempt
