"""The pages of instructors: the class, the roster, rules, a student's attempts, points, exports."""

from __future__ import annotations

from sqlalchemy import Connection
from starlette.responses import Response

from grader.batch.roster import check_roster
from grader.errors import UsageError
from grader.records import PendingRule
from grader.report.moments import format_moment, parse_moment
from grader.server import attempts, people, queue
from grader.server.gradebook import format_export, name_uniquely, summarise
from grader.server.records import Assignment, Counting, Override, Person, Role
from grader.server.web.visits import Visit, missing, redirect, show
from grader.server.web.work_pages import find_attempt, find_lesson, read_standing, show_work

MOMENT = "%Y-%m-%dT%H:%M"
MOST_PEOPLE = 2000
Links = list[tuple[str, str, str]]
"""Name, login and invitation of people."""


def show_class(visit: Visit, connection: Connection) -> Response:
    """The table of the class. The page's script asks for it again: no content if it is equal."""
    only_table = "table" in visit.query
    queued = queue.read_version(connection)
    if only_table and visit.query.get("seen") == queued:
        return Response(status_code=204)
    lessons = list(visit.site.lessons.values())
    students = people.read_people(connection, Role.STUDENT)
    names = name_uniquely(students)
    rules = attempts.read_all_rules(connection, [each.id for each in lessons])
    find = attempts.read_standings(connection, [each.id for each in lessons])
    waiting = len(queue.read_places(connection))
    shown = [each for each in lessons if rules[each.id].visible]
    template = "class_table.html" if only_table else "class.html"
    students.sort(key=lambda each: names[each.id].casefold())
    moments = {each.id: format_moment(rules[each.id].deadline_s, MOMENT) for each in lessons}
    table = {"students": students, "names": names, "lessons": shown, "find": find}
    course = {"all_lessons": lessons, "rules": rules, "moments": moments}
    return show(visit, template, {**table, **course}, waiting=waiting, queued=queued)


def set_rules(visit: Visit, connection: Connection) -> Response:
    """Changes the deadline, the rule of counting and the visibility of an exercise."""
    lesson, given = (
        find_lesson(visit, connection),
        visit.form.get("deadline", ""),
    )
    try:
        deadline_s = parse_moment(given, MOMENT)
    except ValueError:
        advice = "Write it as 2026-03-01T23:59, in UTC."
        raise UsageError(f"{given!r} is no date and time", advice) from None
    rules = Assignment(
        lesson.id,
        deadline_s,
        Counting.BEST if visit.form.get("counting") == "best" else Counting.LAST,
        visible=visit.form.get("visible") == "yes",
    )
    attempts.write_rules(connection, rules)
    return redirect("/class#rules")


def show_roster(visit: Visit, connection: Connection) -> Response:
    """All accounts."""
    return _show_roster(visit, connection, [])


def import_roster(visit: Visit, connection: Connection) -> Response:
    """Adds the students of a CSV, and shows an invitation link for each new student."""
    rows = check_roster(visit.form.get("csv", ""), "the roster").accounts()
    if len(rows) > MOST_PEOPLE:
        raise UsageError(f"the roster has more than {MOST_PEOPLE:,} rows", "Divide it.")
    links = []
    known = {each.login: each.id for each in people.read_people(connection)}
    for each in rows:
        folded = people.fold_login(each.login)
        if folded in known:
            people.update_row(connection, known[folded], each.row)
        else:
            known[folded] = people.add_person(
                connection, each.student, each.login, student_id=each.student_id, row=each.row
            )
            links.append((each.student, each.login, _link(visit, connection, known[folded])))
    return _show_roster(visit, connection, links)


def add_person(visit: Visit, connection: Connection) -> Response:
    """Adds one student or instructor."""
    role = Role.INSTRUCTOR if visit.form.get("role") == "instructor" else Role.STUDENT
    name, login = visit.form.get("name", "").strip(), visit.form.get("login", "")
    link = _link(visit, connection, people.add_person(connection, name or login, login, role=role))
    return _show_roster(visit, connection, [(name or login, login, link)])


def renew_invitation(visit: Visit, connection: Connection) -> Response:
    """A new link for a person, also for a forgotten password."""
    person = _find_person(visit, connection)
    link = (person.name, person.login, _link(visit, connection, person.id))
    return _show_roster(visit, connection, [link])


def remove_person(visit: Visit, connection: Connection) -> Response:
    """Removes an account with its attempts, after the login was typed again."""
    person = _find_person(visit, connection)
    if people.fold_login(visit.form.get("confirm", "")) != person.login:
        raise UsageError("the login does not match", "Type the login to remove the account.")
    if person.id == visit.user.id:
        raise UsageError("this is your own account", "Another instructor can remove it.")
    people.remove_person(connection, person.id)
    return redirect("/roster")


def show_student(visit: Visit, connection: Connection) -> Response:
    """A student's attempts at an exercise, the points, and their history."""
    lesson, person = find_lesson(visit, connection), _find_person(visit, connection)
    standing = read_standing(connection, person, lesson)
    return show(visit, "student.html", student=person, lesson=lesson, standing=standing)


def show_attempt(visit: Visit, connection: Connection) -> Response:
    """An attempt of a student in the editor, which an instructor can read and comment."""
    attempt = find_attempt(visit, connection)
    lesson = find_lesson(visit, connection, attempt.exercise)
    person = people.read_person(connection, attempt.person_id) or missing()
    standing = read_standing(connection, person, lesson)
    source = attempts.read_source(connection, attempt.id)
    return show_work(visit, lesson, standing, source, reading=attempt, student=person.name)


def add_comment(visit: Visit, connection: Connection) -> Response:
    """Adds a comment on a line."""
    line, text = visit.form.get("line", ""), visit.form.get("text", "")
    number = int(line) if line.isascii() and line.isdigit() and len(line) < 7 else 0
    attempt = find_attempt(visit, connection)
    attempts.add_comment(connection, attempt.id, visit.user.name, number, text, now=visit.now)
    return redirect(f"/attempts/{attempt.id}")


def set_points(visit: Visit, connection: Connection) -> Response:
    """Sets the points of a student's exercise, or lets the grader's points count again."""
    lesson, person = find_lesson(visit, connection), _find_person(visit, connection)
    given = visit.form.get("points", "").strip().replace(",", ".")
    try:
        points = round(float(given), 2) if given else None
    except ValueError:
        raise UsageError(f"{given!r} is no number of points", "Give a number.") from None
    if points is not None and not 0 <= points <= 10 * max(lesson.full, 1):
        raise UsageError(f"{given} points are out of range", f"Give 0 to {lesson.full:g}.")
    decided = (points, visit.form.get("reason", ""), visit.user.name, visit.now)
    attempts.add_override(connection, Override(person.id, lesson.id, *decided))
    return redirect(f"/students/{person.id}/{lesson.id}")


def grade_again(visit: Visit, connection: Connection) -> Response:
    """Grades an attempt again."""
    attempt = find_attempt(visit, connection)
    attempts.grade_again(connection, [attempt], visit.now)
    return redirect(f"/students/{attempt.person_id}/{attempt.exercise}")


def grade_all_again(visit: Visit, connection: Connection) -> Response:
    """Grades the submission of each student again."""
    lesson = find_lesson(visit, connection)
    find = attempts.read_standings(connection, [lesson.id])
    chosen = (find(each.id, lesson.id).counting for each in people.read_people(connection))
    attempts.grade_again(connection, filter(None, chosen), visit.now)
    return redirect("/class")


def export(visit: Visit, connection: Connection) -> Response:
    """A gradebook as CSV."""
    kind, exercise = visit.query.get("kind", "csv"), visit.query.get("exercise", "")
    rule = visit.query.get("pending", "")
    pending = PendingRule(rule) if rule in {each.value for each in PendingRule} else None
    lessons = list(visit.site.lessons.values())
    rules = attempts.read_all_rules(connection, [each.id for each in lessons])
    shown = [each for each in lessons if rules[each.id].visible]
    lessons = [find_lesson(visit, connection, exercise)] if exercise else shown
    students = people.read_people(connection, Role.STUDENT)
    summary = summarise(connection, lessons, visit.site.settings.device, pending)
    text = format_export(summary, students, kind)
    if text is None:
        raise UsageError("Moodle's worksheet is of one exercise", "Choose an exercise.")
    name = f"gradebook-{kind}{f'-{exercise}' if exercise else ''}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8", "replace"), headers=headers, media_type="text/csv")


def _show_roster(visit: Visit, connection: Connection, links: Links) -> Response:
    return show(visit, "roster.html", people=people.read_people(connection), links=links)


def _find_person(visit: Visit, connection: Connection) -> Person:
    return people.read_person(connection, visit.path["person"]) or missing()


def _link(visit: Visit, connection: Connection, person_id: int) -> str:
    token = people.invite(connection, person_id, visit.now)
    return f"{visit.site.settings.url}/invitations/{token}"
