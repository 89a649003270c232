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
from grader.server.records import Assignment, Attempt, Override
from grader.server.web.playground import check_guest, share
from grader.server.web.visits import Visit, missing, redirect, send_report, show


def show_start(visit: Visit) -> Response:
    """Continues at the class for instructors, at the exercises for students."""
    return redirect("/class" if visit.user.teaches else "/exercises")


def list_exercises(visit: Visit) -> Response:
    """The exercises with the student's points."""
    lessons, person_id = _list_lessons(visit), visit.user.id
    with visit.site.reading() as connection:
        all_rules = attempts.read_all_rules(connection, lessons)
        own = attempts.by_student(attempts.read_attempts(connection, person_id=person_id))
        overrides = attempts.read_overrides(connection, person_id=person_id)
    rows = []
    for lesson in lessons.values():
        rules, mine = all_rules[lesson.id], own.get((person_id, lesson.id), [])
        if rules.visible or visit.user.teaches:
            override = attempts.choose_override(overrides.get((person_id, lesson.id), []))
            rows.append((lesson, rules, mine, attempts.choose_counting(mine, rules), override))
    return show(visit, "exercises.html", rows=rows, now=visit.now)


def show_exercise(visit: Visit) -> Response:
    """The handout and the editor, with the student's latest text."""
    lesson = find_lesson(visit, visit.path["exercise"])
    with visit.site.reading() as connection:
        rules, own = _read_own(visit, connection, lesson)
        source = attempts.read_source(connection, own[-1].id) if own else lesson.starter
        overrides = attempts.read_overrides(connection, person_id=visit.user.id)
    override = attempts.choose_override(overrides.get((visit.user.id, lesson.id), []))
    return show_work(visit, lesson, rules, own, source, override=override)


def show_history(visit: Visit) -> Response:
    """The table of the student's attempts, for the page's script."""
    lesson = find_lesson(visit, visit.path["exercise"])
    with visit.site.reading() as connection:
        rules, own = _read_own(visit, connection, lesson)
    counting = attempts.choose_counting(own, rules)
    return show(visit, "history.html", attempts=own[::-1], counting=counting, reading=None)


def _read_own(
    visit: Visit, connection: Connection, lesson: Lesson
) -> tuple[Assignment, list[Attempt]]:
    own = attempts.read_attempts(connection, person_id=visit.user.id, exercise=lesson.id)
    return attempts.read_rules(connection, lesson.id), own


def show_work(
    visit: Visit,
    lesson: Lesson,
    rules: Assignment,
    own: list[Attempt],
    source: str,
    *,
    override: Override | None = None,
    reading: Attempt | None = None,
    student: str = "",
) -> Response:
    """The page of the editor. `reading`: an instructor reads this attempt of a student."""
    shown = reading or (own[-1] if own else None)
    texts = {"exercise": lesson.id, "source": source, "starter": lesson.starter}
    ids = {"person": visit.user.id, "attempt": shown and shown.id}
    data = json.dumps({**texts, **ids, "reading": reading is not None})
    is_late = rules.deadline_s is not None and visit.now > rules.deadline_s
    history = {"attempts": own[::-1], "counting": attempts.choose_counting(own, rules)}
    state = {"rules": rules, "is_late": is_late, "override": override}
    reader = {"reading": reading, "student": student}
    return show(visit, "work.html", {**history, **state, **reader}, lesson=lesson, data=data)


def show_picture(visit: Visit) -> Response:
    """A picture of a handout: only names that the exercise's folder has."""
    lesson = find_lesson(visit, visit.path["exercise"])
    path = lesson.pictures.get(visit.path["name"]) or missing()
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return Response(path.read_bytes(), media_type=kind)


def show_guide(visit: Visit) -> Response:
    """The page on reports, to which all handouts link."""
    return show(visit, "guide.html", guide=visit.site.guide or missing())


def add_attempt(visit: Visit) -> Response:
    """Grades a text, and submits it if the student asks."""
    lesson = find_lesson(visit, visit.path["exercise"])
    with visit.site.engine.begin() as connection:
        check_guest(connection, visit.user)
        rules = attempts.read_rules(connection, lesson.id)
        source = visit.form.get("source", "").replace("\r\n", "\n")
        person = visit.user.id
        added = attempts.add_attempt(connection, person, lesson.id, source, now=visit.now)
        attempt = attempts.read_attempt(connection, added)
        assert attempt is not None
        if visit.form.get("submit") == "yes" and not visit.user.is_guest:
            attempts.submit(connection, attempt, rules, visit.now)
    return JSONResponse({"attempt": added})


def submit_attempt(visit: Visit) -> Response:
    """Submits an attempt that was graded before."""
    with visit.site.engine.begin() as connection:
        attempt = _find_own(visit, connection)
        rules = attempts.read_rules(connection, attempt.exercise)
        attempts.submit(connection, attempt, rules, visit.now)
    return JSONResponse({"attempt": attempt.id})


def grade_on_gpu(visit: Visit) -> Response:
    """Sends an attempt to the queue of the GPU, within the quota."""
    quota = visit.site.settings.gpu_quota
    with visit.site.engine.begin() as connection:
        attempt = _find_own(visit, connection) if quota else missing()
        attempts.send_to_gpu(connection, attempt, quota, visit.now)
    return JSONResponse({"attempt": attempt.id})


def _find_own(visit: Visit, connection: Connection) -> Attempt:
    """An attempt of this person, who is no guest."""
    attempt = find_attempt(visit, connection)
    return missing() if attempt.person_id != visit.user.id or visit.user.is_guest else attempt


def try_fixes(visit: Visit) -> Response:
    """Grades an attempt again, and tries fixes of it, if the exercise allows it."""
    with visit.site.engine.begin() as connection:
        attempt = find_attempt(visit, connection)
        lesson = find_lesson(visit, attempt.exercise)
        if not lesson.may_try_fixes or visit.user.is_guest:
            missing()
        if visit.user.teaches:
            attempts.grade_again(connection, [attempt], visit.now, what_if=True)
        else:
            attempts.try_fixes(connection, attempt, visit.site.settings.gpu_quota, visit.now)
    return JSONResponse({"attempt": attempt.id})


def send_attempt(visit: Visit) -> Response:
    """An attempt for the page's script: source, marks, and the verdict as HTML."""
    with visit.site.reading() as connection:
        attempt = find_attempt(visit, connection)
        previous = attempts.read_previous(connection, attempt)
        source = attempts.read_source(connection, attempt.id)
        before = attempts.read_source(connection, previous.id) if previous else None
        shown = attempts.read_kept(connection, attempt, "shown")
        comments = attempts.read_comments(connection, attempt.id)
        has_page = attempts.read_kept(connection, attempt, "page") is not None
        sent = queue.count_on_gpu(connection, visit.user.id, visit.now)
    verdict: dict[str, Any] | None = json.loads(shown) if shown else None
    template = visit.site.templates.get_template("verdict.html")
    changes = [] if before is None else list_changes(before, source)
    graded = {"verdict": verdict, "has_page": has_page, "comments": comments}
    lesson = visit.site.lessons.get(attempt.exercise)
    visitor = {"teaches": visit.user.teaches, "token": visit.form_token, "lesson": lesson}
    visitor["share"] = share(visit.site, attempt) if visit.user.is_guest else ""
    visitor |= {"quota": visit.site.settings.gpu_quota, "sent": sent, "person": visit.user}
    compared = {"attempt": attempt, "previous": previous, "changes": changes}
    html = template.render(**compared, **graded, **visitor)
    texts = [{"line": each.line, "text": each.text} for each in comments]
    marks = {"marks": verdict["marks"] if verdict else [], "comments": texts}
    state = {"attempt": attempt.id, "done": attempt.is_done, "source": source}
    return JSONResponse({**state, **marks, "html": html})


def show_report(visit: Visit) -> Response:
    """The page of the verdict."""
    with visit.site.reading() as connection:
        return send_report(attempts.read_kept(connection, find_attempt(visit, connection), "page"))


def download_source(visit: Visit) -> Response:
    """The text of an attempt as a file."""
    with visit.site.reading() as connection:
        attempt = find_attempt(visit, connection)
        source = attempts.read_source(connection, attempt.id)
    headers = {"Content-Disposition": f'attachment; filename="{attempt.exercise}.cu"'}
    return Response(source.encode("utf-8", "replace"), headers=headers, media_type="text/plain")


def find_lesson(visit: Visit, exercise: str) -> Lesson:
    """An exercise that this person may see."""
    lesson = _list_lessons(visit).get(exercise) or missing()
    if not visit.user.teaches:
        with visit.site.reading() as connection:
            if not attempts.read_rules(connection, exercise).visible:
                missing()
    return lesson


def _list_lessons(visit: Visit) -> Mapping[str, Lesson]:
    """The exercises; only guests and instructors can run files without an exercise."""
    is_student = not visit.user.is_guest and not visit.user.teaches
    return visit.site.lessons if is_student else visit.site.all_lessons


def find_attempt(visit: Visit, connection: Connection) -> Attempt:
    """An attempt that this person may see: a student's own, or any for an instructor."""
    attempt = attempts.read_attempt(connection, visit.number("attempt"))
    if attempt is None or (attempt.person_id != visit.user.id and not visit.user.teaches):
        missing()
    return attempt
