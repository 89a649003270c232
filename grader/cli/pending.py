"""`--pending` of the commands that export grades, and the list of those who get none."""

from __future__ import annotations

import argparse
from dataclasses import replace

from grader.records import BatchSummary, PendingRule

MOST_TOLD = 10


def add_pending(parser: argparse.ArgumentParser) -> None:
    """`--pending lost|scaled`."""
    parser.add_argument(
        "--pending",
        choices=[rule.value for rule in PendingRule],
        help="grades in spite of pending points: these count as lost, or the judged points are"
        " scaled to all points (default: no grade)",
    )


def pending_rule(options: argparse.Namespace) -> PendingRule | None:
    """The instructor's decision on pending points, None for no decision."""
    return PendingRule(options.pending) if options.pending else None


def decide(batch: BatchSummary, rule: PendingRule | None) -> BatchSummary:
    """The batch with this rule for its pending points; None leaves it as it is."""
    if rule is None:
        return batch
    entries = tuple(replace(entry, pending_rule=rule) for entry in batch.entries)
    return replace(batch, entries=entries)


def tell_pending(batch: BatchSummary) -> None:
    """Name the graded submissions without a final grade."""
    from grader.report.text import clean_line

    several = len(batch.exercises) > 1
    names = [
        clean_line(entry.student) + (f" ({entry.exercise})" if several else "")
        for entry in batch.entries
        if entry.marks is not None and entry.points is None
    ]
    if names:
        more = ", ..." if len(names) > MOST_TOLD else ""
        print(
            f"No final grade for {len(names):,} with pending points: {', '.join(names[:MOST_TOLD])}"
            f"{more}. `grade batch --only pending --device gpu` judges them, and --pending"
            " lost|scaled decides without."
        )
