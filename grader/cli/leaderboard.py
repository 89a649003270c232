"""`grade leaderboard`: who is fastest, for classes that want it."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.common import Command, add_new_file, make_parser, new_file, printing
from grader.cli.pending import tell_pending
from grader.errors import UsageError

DESCRIPTION = """\
Make a leaderboard of a graded class as one page: points and times under made-up names. A name is
drawn at random once and stays the same; students find theirs in what `grade feedback` hands back.
Nothing is published unless you publish the page.
"""
EPILOG = """\
examples:
  grade leaderboard results/ -o leaderboard.html
  grade leaderboard results/ --students willing.csv -o leaderboard.html
                        those alone who want to be on it

DIR/leaderboard-names.csv says who is who: keep it.

exit codes: 0 written, 2 bad usage
"""


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("leaderboard", DESCRIPTION, EPILOG)
    parser.add_argument("folder", metavar="DIR", help="what `grade batch --out` wrote")
    parser.add_argument(
        "--students",
        metavar="FILE.csv",
        help="who is on it, by names or ids as in a roster (default: all)",
    )
    add_new_file(parser, "FILE.html", "the page")
    return parser


def run_leaderboard(options: argparse.Namespace) -> int:
    """`grade leaderboard DIR -o FILE.html`: 0 when it was written."""
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
                f"{options.students} names nobody of the class",
                "Give names or ids as `grade show` has them.",
            )
    handles = give_handles(out, [*willing])
    shown = {student: handles[student] for student in willing}
    page = render_leaderboard(batch, read_digests(out, batch), shown)
    write_file(target, page.encode(), "the leaderboard")
    with printing():
        print(f"{target}: {len(shown):,} names. Who is who is in {out / HANDLES}: keep it.")
        tell_pending(batch)
    return 0


LEADERBOARD = Command(_parser, run_leaderboard)
