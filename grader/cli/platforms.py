"""The subcommands for teaching platforms: `gradescope-zip`, `classroom-workflow`, `gradebook` and
`feedback`; and `leaderboard`, a page with points and times of a class under made-up names."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.cli.common import (
    Command,
    add_exercise,
    add_new_file,
    add_results,
    add_value,
    add_values,
    find_exercise,
    new_file,
    print_lines,
)
from grader.cli.formats import add_pending, decide, pending_rule, print_pending
from grader.errors import UsageError
from grader.records import BatchSummary

ZIP_DESCRIPTION = """\
Make an autograder zip for Gradescope: setup.sh installs this grader, run_autograder grades a
student's upload on the emulated device (Gradescope's machines have no GPU). It does not contain the
hidden reference.
"""
ZIP_EPILOG = """\
example:
  grade gradescope-zip transpose -o transpose-gradescope.zip

In Gradescope: a programming assignment with the points that this command prints; base image Ubuntu
22.04 or newer; container with 1 CPU and 1.5 GB or more. Students upload one .cu file. A fault of
the grader gives no result instead of a zero. Pending points give no result unless you use
--pending.
"""
WORKFLOW_DESCRIPTION = """\
Make .github/workflows/classroom.yml for the template repository of a GitHub Classroom assignment:
it grades every push on the emulated device and reports points, including partial credit. The
exercise comes from the grader's repository, so a student cannot change it. Keep that repository
private: it contains hidden cases and references. The organisation's secret COURSE_TOKEN gives
access to it.
"""
WORKFLOW_EPILOG = """\
example:
  grade classroom-workflow transpose --repository my-course/cuda-exercise-grader \\
      -o .github/workflows/classroom.yml
"""
GRADEBOOK_DESCRIPTION = """\
Make the gradebooks of a graded class for Canvas and Moodle. `grade batch` writes them too; this
command adds a roster and titles.
"""
GRADEBOOK_EPILOG = """\
examples:
  grade gradebook results/ --roster canvas-export.csv --assignment "Lab 3 (4711)"
  grade gradebook results/ --assignment "transpose=Lab 3 (4711)" \\
      --assignment "gemm_tiled=Lab 4 (4712)"

written files, in the results:
  gradebook-canvas.csv   for Grades > Import: Student, ID, SIS User ID, SIS Login ID, Section, and
                         a column per exercise
  gradebook-moodle.csv   an offline grading worksheet, for the assignment's `Upload grading
                         worksheet`

Ids come from the file names of the platform's export, else from the roster: a CSV with a header
that contains one of student, Identifier, ID, SIS User ID, SIS Login ID, Email address, Email,
Username, Full name or Student. Its rows are matched with the names in `grade show`.
"""
FEEDBACK_DESCRIPTION = """\
Pack feedback for students: a page and a Markdown file per student, in a zip that Moodle and Canvas
import. Each file is about a single submission: without a link to the class, other students or the
seed of hidden cases.
"""
FEEDBACK_EPILOG = """\
examples:
  grade feedback results/ -o feedback.zip
  grade feedback results/ --format moodle --roster participants.csv -o feedback.zip

formats:
  moodle    a folder NAME_NUMBER_assignsubmission_file_ for each student: in the assignment,
            View all submissions > Upload multiple feedback files in a zip. The assignment must
            have feedback files switched on
  canvas    names of the files that Canvas exported: in the assignment, Upload submissions. Canvas
            shows the feedback under the name of the submitted file, so prefer --content page or
            --content markdown
  folders   a folder for each student, for other uses

The default is the platform of the submissions.

exit codes: 0 written, 2 bad usage
"""
MOST_LISTED = 10
LEADERBOARD_DESCRIPTION = """\
Make a leaderboard of a graded class as one page: points and times under made-up names. Each student
gets a random name that stays the same; the student finds it in the files of `grade feedback`.
Nothing is published unless you publish the page.
"""
LEADERBOARD_EPILOG = """\
examples:
  grade leaderboard results/ -o leaderboard.html
  grade leaderboard results/ --students willing.csv -o leaderboard.html
                        only students who agreed

DIR/leaderboard-names.csv lists students and names: keep it.

exit codes: 0 written, 2 bad usage
"""


def _add_zip(parser: argparse.ArgumentParser) -> None:
    add_exercise(parser)
    add_pending(parser)
    add_new_file(parser, "FILE.zip", "the autograder")


def run_gradescope_zip(options: argparse.Namespace) -> int:
    """`grade gradescope-zip EXERCISE -o FILE.zip`: 0 if the file was written."""
    target = new_file(options, "the file")
    from grader.authoring.autograder import make_autograder
    from grader.plumbing.atomic import write_file
    from grader.spec.reader import read_exercise

    exercise = read_exercise(find_exercise(options.exercise))
    content = make_autograder(exercise, pending_rule(options))
    write_file(target, content, "the autograder")
    print_lines(
        f"{target}: {len(content):,} bytes. Upload it as the autograder of a programming"
        f" assignment. Points: {exercise.max_score:g}."
    )
    return 0


def _add_workflow(parser: argparse.ArgumentParser) -> None:
    add_exercise(parser)
    text = "the course's copy of this grader, a private repository on GitHub"
    add_value(parser, "--repository", "OWNER/NAME", text, required=True)
    text = "its branch, tag or commit (default: main)"
    add_value(parser, "--ref", "REF", text, default="main")
    add_pending(parser)
    add_new_file(parser, "FILE.yml", "the workflow")


def run_classroom_workflow(options: argparse.Namespace) -> int:
    """`grade classroom-workflow EXERCISE`: 0 if the file was written."""
    target = new_file(options, "the file")
    from grader.authoring.autograder import make_workflow
    from grader.plumbing.atomic import write_file
    from grader.spec.reader import read_exercise

    exercise = read_exercise(find_exercise(options.exercise))
    text = make_workflow(
        exercise, repository=options.repository, ref=options.ref, pending=pending_rule(options)
    )
    write_file(target, text.encode(), "the workflow")
    print_lines(
        f"{target}: commit it as .github/workflows/classroom.yml. It grades {exercise.id}.cu,"
        f" or the only .cu file of a repository. Keep {options.repository} private, and let the"
        " organisation's secret COURSE_TOKEN read only this repository: students can read"
        " everything that the token can read."
    )
    return 0


def _add_gradebook(parser: argparse.ArgumentParser) -> None:
    add_results(parser)
    add_value(parser, "--roster", "FILE.csv", "the class: for example an export of the platform")
    text = "the platform's title of the assignment"
    add_values(parser, "--assignment", "[EXERCISE=]TITLE", text)
    add_pending(parser)


def run_gradebook(options: argparse.Namespace) -> int:
    """`grade gradebook DIR`: 0 if the gradebooks were written."""
    from grader.batch.results import read_summary
    from grader.batch.roster import find_names
    from grader.report.platforms.gradebooks import write_gradebooks

    folder = Path(options.folder)
    batch = decide(read_summary(folder), pending_rule(options))
    given = Path(options.roster) if options.roster is not None else None
    roster, titles = find_names(folder, given, _parse_assignments(options.assignment, batch))
    written = write_gradebooks(
        folder, batch, roster.find, assignments=titles, moodle_columns=roster.moodle_columns
    )
    print_lines(*written)
    print_pending(batch)
    return 0


def _parse_assignments(given: Sequence[str], batch: BatchSummary) -> Mapping[str, str]:
    """Titles by exercise. A title without an exercise belongs to the only exercise."""
    ids = [exercise.id for exercise in batch.exercises]
    titles = {}
    for each in given:
        name, sign, title = each.partition("=")
        if sign and name in ids:
            titles[name] = title
        elif len(ids) == 1:
            titles[ids[0]] = each
        else:
            raise UsageError(
                f"--assignment {each!r} does not name an exercise: {', '.join(ids)}",
                "Write EXERCISE=TITLE.",
            )
    return titles


def _add_feedback(parser: argparse.ArgumentParser) -> None:
    add_results(parser)
    forms, contents = ("moodle", "canvas", "folders"), ("both", "page", "markdown")
    parser.add_argument("--format", choices=forms, help="names of the files; see below")
    text = "files for each student (default: both)"
    parser.add_argument("--content", choices=contents, default="both", help=text)
    text = "Moodle's participants, if the submissions are not from Moodle"
    add_value(parser, "--roster", "FILE.csv", text)
    add_new_file(parser, "FILE.zip", "the feedback")


def run_feedback(options: argparse.Namespace) -> int:
    """`grade feedback DIR -o FILE.zip`: 0 if the file was written."""
    target = new_file(options, "the feedback")
    from grader.batch.handles import read_handles
    from grader.batch.results import read_summary
    from grader.batch.roster import read_roster
    from grader.plumbing.atomic import write_file
    from grader.report.feedback import describe_grade
    from grader.report.platforms.feedback_zip import Content, Packing, guess_packing, pack_feedback
    from grader.report.text import clean_line

    folder = Path(options.folder)
    batch = read_summary(folder)
    notes = {
        student: (f"Your name on the class's leaderboard, if it has one: {name}.",)
        for student, name in read_handles(folder).items()
    }
    packing = Packing(options.format) if options.format else guess_packing(batch)
    packed = pack_feedback(
        folder,
        batch,
        packing,
        content=Content(options.content),
        find_row=read_roster(Path(options.roster)).find if options.roster else None,
        note=lambda entry: (*describe_grade(entry), *notes.get(entry.student, ())),
    )
    write_file(target, packed.content, "the feedback")
    students = f"{packed.students:,} student{'' if packed.students == 1 else 's'}"
    left_out = [
        f"{clean_line(left.entry.student)}: {clean_line(left.reason)}"
        for left in packed.left_out[:MOST_LISTED]
    ]
    if len(packed.left_out) > MOST_LISTED:
        left_out.append(f"{len(packed.left_out) - MOST_LISTED:,} more")
    print_lines(
        f"{target}: {packed.files:,} files for {students}, as {packing.value}.",
        *(f"left out: {each}" for each in left_out),
    )
    return 0


def _add_leaderboard(parser: argparse.ArgumentParser) -> None:
    add_results(parser)
    text = "only these students, by names or ids as in a roster (default: all)"
    add_value(parser, "--students", "FILE.csv", text)
    add_new_file(parser, "FILE.html", "the page")


def run_leaderboard(options: argparse.Namespace) -> int:
    """`grade leaderboard DIR -o FILE.html`: 0 if the file was written."""
    target = new_file(options, "the leaderboard")
    from grader.batch.handles import HANDLES, give_handles
    from grader.batch.results import read_summary
    from grader.batch.roster import read_roster
    from grader.plumbing.atomic import write_file
    from grader.report.html import read_digests
    from grader.report.html.leaderboard import render_leaderboard

    out = Path(options.folder)
    batch = read_summary(out)
    willing = {entry.student: entry.student_id for entry in batch.entries}
    if options.students is not None:
        roster = read_roster(Path(options.students))
        willing = {name: id_ for name, id_ in willing.items() if roster.find(name, id_)}
        if not willing:
            raise UsageError(
                f"{options.students} names no student of the class",
                "Give names or ids as in `grade show`.",
            )
    handles = give_handles(out, [*willing])
    shown = {student: handles[student] for student in willing}
    page = render_leaderboard(batch, read_digests(out, batch), shown)
    write_file(target, page.encode(), "the leaderboard")
    print_lines(f"{target}: {len(shown):,} names. {out / HANDLES} lists the students: keep it.")
    print_pending(batch)
    return 0


FEEDBACK = Command("feedback", run_feedback, FEEDBACK_DESCRIPTION, FEEDBACK_EPILOG, _add_feedback)


GRADESCOPE_ZIP = Command(
    "gradescope-zip", run_gradescope_zip, ZIP_DESCRIPTION, ZIP_EPILOG, _add_zip
)
CLASSROOM_WORKFLOW = Command(
    "classroom-workflow",
    run_classroom_workflow,
    WORKFLOW_DESCRIPTION,
    WORKFLOW_EPILOG,
    _add_workflow,
)
GRADEBOOK = Command(
    "gradebook", run_gradebook, GRADEBOOK_DESCRIPTION, GRADEBOOK_EPILOG, _add_gradebook
)

LEADERBOARD = Command(
    "leaderboard", run_leaderboard, LEADERBOARD_DESCRIPTION, LEADERBOARD_EPILOG, _add_leaderboard
)
