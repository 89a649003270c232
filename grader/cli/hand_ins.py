"""The submissions of `grade batch`: reads a folder or a zip, and lists files that are not
graded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import print_notice
from grader.errors import UsageError
from grader.report.text import clean_line

if TYPE_CHECKING:
    from grader.batch.archives import SetAside
    from grader.batch.collect import HandIn

MOST_SET_ASIDE = 20


def _unpacked(submissions: Path, work: Path) -> tuple[Path, Sequence[SetAside]]:
    """The folder of the submissions. A zip is unpacked into the work folder, without members that
    cannot be unpacked."""
    if submissions.is_dir():
        return submissions, ()
    if not submissions.exists():
        raise UsageError(
            f"{submissions} does not exist",
            "Name the folder or the zip of the submissions as the last argument.",
        )
    if submissions.suffix.lower() != ".zip":
        raise UsageError(
            f"{submissions} is neither a folder nor a zip",
            "To grade a single file: grade EXERCISE SUBMISSION.cu",
        )
    from grader.batch.archives import extract_zip

    target = work / "submissions"
    target.mkdir()
    return target, extract_zip(submissions, target)


def find_hand_ins(submissions: Path, work: Path, out: Path) -> list[HandIn]:
    """The hand-ins of a folder or a zip. Prints the first files that are not graded, with reasons;
    writes all of them to a file of the results."""
    from grader.batch.collect import collect
    from grader.batch.results import SET_ASIDE, write_set_aside

    folder, packed = _unpacked(submissions, work)
    hand_ins = collect(folder, {each.place: each.reason for each in packed if each.place})
    refused = [(each.name, each.reason) for each in packed] or [
        (f"{each.student}: {name}", reason)
        for each in hand_ins
        for name, reason in each.set_aside.items()
    ]
    write_set_aside(out, refused)
    for name, reason in refused[:MOST_SET_ASIDE]:
        print_notice(f"set aside {clean_line(repr(name))[:200]}: {clean_line(reason)}")
    if len(refused) > MOST_SET_ASIDE:
        print_notice(f"... and {len(refused) - MOST_SET_ASIDE:,} more, see {out / SET_ASIDE}")
    return hand_ins
