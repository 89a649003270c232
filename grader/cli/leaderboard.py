"""`grade leaderboard`: points and times of a class under made-up names."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.common import Command, add_new_file, make_parser, new_file, printing
from grader.cli.pending import tell_pending
from grader.errors import UsageError

DESCRIPTION = """\
Make a leaderboard of a graded class as one page: points and times under made-up names. Each student
gets a random name that stays the same; the student finds it in the files of `grade feedback`.
Nothing is published unless you publish the page.
"""
EPILOG = """\
examples:
  grade leaderboard results/ -o leaderboard.html
  grade leaderboard results/ --students willing.csv -o leaderboard.html
                        only students who agreed

DIR/leaderboard-names.csv lists students and names: keep it.

exit codes: 0 written, 2 bad usage
"""


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("leaderboard", DESCRIPTION, EPILOG)
    parser.add_argument("folder", metavar="DIR", help="the results of `grade batch --out`")
    parser.add_argument(
        "--students",
        metavar="FILE.csv",
        help="only these students, by names or ids as in a roster (default: all)",
    )
    add_new_file(parser, "FILE.html", "the page")
    return parser


def run_leaderboard(options: argparse.Namespace) -> int:
    """`grade leaderboard DIR -o FILE.html`: 0 if the file was written."""
    target = new_file(options, "the leaderboard")
    from grader.batch.handles import HANDLES, give_handles
    from grader.batch.results import read_summary
    from grader.batch.roster import read_roster
    from grader.report.files import write_file
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
    with printing():
        print(f"{target}: {len(shown):,} names. {out / HANDLES} lists the students: keep it.")
        tell_pending(batch)
    return 0


LEADERBOARD = Command(_parser, run_leaderboard)
