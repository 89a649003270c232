"""`grade feedback` packs the feedback for each student; `grade leaderboard` shows points and times
of a class under made-up names."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.common import (
    Command,
    add_new_file,
    add_results,
    add_value,
    new_file,
    print_lines,
)
from grader.cli.formats import print_pending
from grader.errors import UsageError

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
    handles = read_handles(folder)
    packing = Packing(options.format) if options.format else guess_packing(batch)
    packed = pack_feedback(
        folder,
        batch,
        packing,
        content=Content(options.content),
        find_row=read_roster(Path(options.roster)).find if options.roster else None,
        note=lambda entry: (
            *describe_grade(entry),
            *_leaderboard_note(handles.get(entry.student)),
        ),
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


def _leaderboard_note(name: str | None) -> tuple[str, ...]:
    return (f"Your name on the class's leaderboard, if it has one: {name}.",) if name else ()


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
LEADERBOARD = Command(
    "leaderboard", run_leaderboard, LEADERBOARD_DESCRIPTION, LEADERBOARD_EPILOG, _add_leaderboard
)
