"""`grade feedback`: packs the feedback for each student."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.common import Command, add_new_file, make_parser, new_file, printing

DESCRIPTION = """\
Pack feedback for students: a page and a Markdown file per student, in a zip that Moodle and Canvas
import. Each file is about a single submission: without a link to the class, other students or the
seed of hidden cases.
"""
EPILOG = """\
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


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("feedback", DESCRIPTION, EPILOG)
    parser.add_argument("folder", metavar="DIR", help="the results of `grade batch --out`")
    parser.add_argument(
        "--format",
        choices=("moodle", "canvas", "folders"),
        help="names of the files; see below",
    )
    parser.add_argument(
        "--content",
        choices=("both", "page", "markdown"),
        default="both",
        help="files for each student (default: both)",
    )
    parser.add_argument(
        "--roster",
        metavar="FILE.csv",
        help="Moodle's participants, if the submissions are not from Moodle",
    )
    add_new_file(parser, "FILE.zip", "the feedback")
    return parser


def run_feedback(options: argparse.Namespace) -> int:
    """`grade feedback DIR -o FILE.zip`: 0 if the file was written."""
    target = new_file(options, "the feedback")
    from grader.batch.handles import read_handles
    from grader.batch.results import read_summary
    from grader.batch.roster import read_roster
    from grader.report.feedback import describe_grade
    from grader.report.files import write_file
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
    with printing():
        students = f"{packed.students:,} student{'' if packed.students == 1 else 's'}"
        print(f"{target}: {packed.files:,} files for {students}, as {packing.value}.")
        for left in packed.left_out[:MOST_LISTED]:
            print(f"left out: {clean_line(left.entry.student)}: {clean_line(left.reason)}")
        if len(packed.left_out) > MOST_LISTED:
            print(f"left out: {len(packed.left_out) - MOST_LISTED:,} more")
    return 0


def _leaderboard_note(name: str | None) -> tuple[str, ...]:
    return (f"Your name on the class's leaderboard, if it has one: {name}.",) if name else ()


FEEDBACK = Command(_parser, run_feedback)
