"""`grade feedback`: what each student gets back."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.common import Command, add_new_file, make_parser, new_file, printing

DESCRIPTION = """\
Pack feedback to hand back: for each student a page and a Markdown file, in a zip as Moodle and
Canvas take it. Each is about one submission alone: no link to the class, no other student, and no
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
  canvas    named after the files that Canvas exported: in the assignment, Upload submissions.
            Canvas shows each under the name of the file that was handed in, so that --content
            page, or markdown, is clearer there than both
  folders   a folder for each student, for any other way

Without --format it is the platform that the submissions came from.

exit codes: 0 written, 2 bad usage
"""
MOST_TOLD = 10


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("feedback", DESCRIPTION, EPILOG)
    parser.add_argument("folder", metavar="DIR", help="what `grade batch --out` wrote")
    parser.add_argument(
        "--format",
        choices=("moodle", "canvas", "folders"),
        help="how the files are named; see below",
    )
    parser.add_argument(
        "--content",
        choices=("both", "page", "markdown"),
        default="both",
        help="which files each student gets (default: both)",
    )
    parser.add_argument(
        "--roster",
        metavar="FILE.csv",
        help="Moodle's participants, where the submissions did not come from it",
    )
    add_new_file(parser, "FILE.zip", "the feedback")
    return parser


def run_feedback(options: argparse.Namespace) -> int:
    """`grade feedback DIR -o FILE.zip`: 0 when it was written."""
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
        note=lambda entry: (*describe_grade(entry), *_tell_name(handles.get(entry.student))),
    )
    write_file(target, packed.content, "the feedback")
    with printing():
        students = f"{packed.students:,} student{'' if packed.students == 1 else 's'}"
        print(f"{target}: {packed.files:,} files for {students}, as {packing.value}.")
        for left in packed.left_out[:MOST_TOLD]:
            print(f"left out: {clean_line(left.entry.student)}: {clean_line(left.reason)}")
        if len(packed.left_out) > MOST_TOLD:
            print(f"left out: {len(packed.left_out) - MOST_TOLD:,} more")
    return 0


def _tell_name(name: str | None) -> tuple[str, ...]:
    return (f"Your name on the class's leaderboard, if it has one: {name}.",) if name else ()


FEEDBACK = Command(_parser, run_feedback)
