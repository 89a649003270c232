"""`grade late`: a policy for late work, applied to a graded class."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import Command, make_parser, printing
from grader.cli.pending import tell_pending
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.batch.collect import HandIn
    from grader.batch.lateness import LateWork
    from grader.records import BatchSummary

DESCRIPTION = """\
Apply a policy for late work to a graded class. The points of the work stay as they are; beside them
gradebooks, reports and feedback get what was handed in late, what that costs, and what is left.
Nothing is graded again.
"""
EPILOG = """\
examples:
  grade late results/ late.toml --times times.csv
  grade late results/ --none
                        takes it back

a policy, in TOML (or the same in JSON):
  timezone = "Europe/Berlin"         # of all times without an offset; UTC if left out
  due = 2026-11-20T23:59:00          # or [due] with a line for each exercise
  grace_minutes = 15                 # until then it is on time
  percent_per_day = 10               # for every day begun since it was due
  percent_of = "possible"            # or "earned": of which points
  cap_percent = 50                   # at most
  unknown_percent = 10               # where Canvas marks it late and no time is known
  file_times = false                 # true: the file's own time, where nothing else tells

  [extensions]                       # by name or id: a time, or days more
  "Jane Doe" = 2026-11-23T23:59:00
  4711 = 3

times, in a CSV: a column that names the student, as a roster has it, and one of submitted,
submitted_at, Submission Time or Moodle's Last modified (submission); maybe one exercise. Without
it times are Gradescope's, and Canvas's names say what is late (_LATE_) but not how much.

Policy and times are kept in DIR: `grade batch` applies them again to what it grades later.

exit codes: 0 applied, 2 bad usage
"""
MOST_TOLD = 10


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("late", DESCRIPTION, EPILOG)
    parser.add_argument("folder", metavar="DIR", help="what `grade batch --out` wrote")
    parser.add_argument("policy", nargs="?", metavar="POLICY", help="a TOML or a JSON file")
    parser.add_argument("--times", metavar="FILE.csv", help="who handed in when")
    parser.add_argument(
        "--roster", metavar="FILE.csv", help="who is who, for the gradebooks of platforms"
    )
    parser.add_argument("--none", action="store_true", help="take the policy back")
    return parser


def run_late(options: argparse.Namespace) -> int:
    """`grade late DIR POLICY`: 0 when it was applied."""
    if options.none == (options.policy is not None):
        raise UsageError(
            "name one policy, or --none", "grade late DIR POLICY, or grade late DIR --none"
        )
    from grader.batch.lateness import forget_files, keep_files, take_back
    from grader.batch.results import read_summary, write_summary
    from grader.batch.roster import find_names
    from grader.report.class_table import print_summary
    from grader.report.html import write_report
    from grader.report.platforms.gradebooks import write_gradebooks
    from grader.report.terminal import make_console

    out = Path(options.folder)
    batch = take_back(read_summary(out))
    if options.none:
        forget_files(out)
    else:
        times = Path(options.times) if options.times else None
        batch = read_checked(Path(options.policy), times, batch).apply(batch)
        keep_files(out, Path(options.policy), times)
    write_summary(out, batch)
    roster, titles = find_names(out, Path(options.roster) if options.roster else None)
    write_gradebooks(
        out, batch, roster.find, assignments=titles, moodle_columns=roster.moodle_columns
    )
    write_report(out, batch)
    with printing():
        print_summary(batch, console=make_console(sys.stdout))
        tell_unknown(batch)
        tell_pending(batch)
    return 0


def read_checked(policy: Path, times: Path | None, batch: BatchSummary) -> LateWork:
    """The policy and the times, checked against who is in a batch."""
    from grader.batch.late_policy import check_extensions
    from grader.batch.lateness import read_late_work

    late = read_late_work(policy, times, [exercise.id for exercise in batch.exercises])
    check_extensions(late.policy, [(each.student, each.student_id) for each in batch.entries])
    return late


def find_late_work(
    options: argparse.Namespace, exercises: Sequence[str], hand_ins: Sequence[HandIn]
) -> LateWork | None:
    """What `grade batch` applies: the policy of its options, which is kept, else the one that is
    kept in its folder."""
    from grader.batch.late_policy import check_extensions
    from grader.batch.lateness import keep_files, read_kept, read_late_work

    out = Path(options.out)

    if options.late is None:
        if options.times is not None:
            raise UsageError("--times goes together with --late", "Name a policy, too.")
        return read_kept(out, exercises)
    if options.anonymous:
        raise UsageError(
            "--late goes by names, which --anonymous takes away",
            "Grade first, then give `grade late` the policy with the numbers of names.csv.",
        )
    times = Path(options.times) if options.times else None
    late = read_late_work(Path(options.late), times, exercises)
    check_extensions(late.policy, [(each.student, each.student_id) for each in hand_ins])
    keep_files(out, Path(options.late), times)
    return late


def tell_unknown(batch: BatchSummary) -> None:
    """Name those of whom it cannot be told what they get."""
    from grader.report.text import clean_line

    unknown = [each for each in batch.entries if each.points is not None and each.final is None]
    if unknown:
        names = ", ".join(clean_line(each.student) for each in unknown[:MOST_TOLD])
        more = ", ..." if len(unknown) > MOST_TOLD else ""
        print(
            f"No final points for {len(unknown):,}, of whom no time is known: {names}{more}. Give"
            " --times, or unknown_percent."
        )


LATE = Command(_parser, run_late)
