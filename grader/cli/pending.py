"""`--pending` of the commands that export grades, and the list of submissions without a grade."""

from __future__ import annotations

import argparse
from dataclasses import replace

from grader.records import BatchSummary, PendingRule

MOST_LISTED = 10


def add_pending(parser: argparse.ArgumentParser) -> None:
    """`--pending lost|scaled`."""
    parser.add_argument(
        "--pending",
        choices=[rule.value for rule in PendingRule],
        help="the grade with pending points: count them as lost, or scale the judged points to all"
        " points (default: no grade)",
    )


def pending_rule(options: argparse.Namespace) -> PendingRule | None:
    """The instructor's rule for pending points; None without `--pending`."""
    return PendingRule(options.pending) if options.pending else None


def decide(batch: BatchSummary, rule: PendingRule | None) -> BatchSummary:
    """The batch with this rule for its pending points; unchanged for None."""
    if rule is None:
        return batch
    entries = tuple(replace(entry, pending_rule=rule) for entry in batch.entries)
    return replace(batch, entries=entries)


def tell_pending(batch: BatchSummary) -> None:
    """Prints the names of graded submissions without a final grade."""
    from grader.report.text import clean_line

    several = len(batch.exercises) > 1
    names = [
        clean_line(entry.student) + (f" ({entry.exercise})" if several else "")
        for entry in batch.entries
        if entry.marks is not None and entry.points is None
    ]
    if names:
        more = ", ..." if len(names) > MOST_LISTED else ""
        print(
            f"No final grade for {len(names):,} with pending points:"
            f" {', '.join(names[:MOST_LISTED])}{more}. `grade batch --only pending --device gpu`"
            " judges them; --pending lost|scaled gives a grade without this."
        )
