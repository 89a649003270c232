"""A class's results as HTML: a report, and a page per submission. Each is one file that needs no
other file and no network.

All texts may be hostile; `pages` makes them harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path, PurePosixPath

from grader.errors import GraderError, UsageError
from grader.plumbing.atomic import write_file
from grader.records import BatchEntry, BatchSummary, Score
from grader.report.feedback import describe_grade
from grader.report.html.overview import Digest, Graded, digest_score, render_overview
from grader.report.html.submission import render_submission
from grader.report.json import read_score

REPORT_FILE = "report.html"
PAGES_FOLDER = "pages"
MAX_SOURCE_BYTES = 1 << 20


def write_report(out: Path, batch: BatchSummary) -> None:
    """Write `report.html` and `pages/` into the batch's folder, from its entries and the scores and
    sources that they name.

    A score that cannot be read is shown as missing. Pages of removed students are removed. Raises
    UsageError where the folder cannot be written.
    """
    graded = [*_write_pages(out, batch)]
    own = {out / each.page for each in graded if each.page is not None}
    for path in sorted((out / PAGES_FOLDER).rglob("*.html")):
        if path not in own:
            path.unlink(missing_ok=True)
    write_file(
        out / REPORT_FILE, render_overview(batch, graded).encode("utf-8", "replace"), "the report"
    )


def read_digests(out: Path, batch: BatchSummary) -> dict[tuple[str, str], Digest]:
    """What reports need of the scores in a batch's folder, by student and exercise, of those that
    can be read."""
    scores = ((entry, read_entry_score(out, entry)) for entry in batch.entries)
    return {
        (entry.student, entry.exercise): digest_score(score)
        for entry, score in scores
        if score is not None
    }


def _write_pages(out: Path, batch: BatchSummary) -> Iterator[Graded]:
    titles = {exercise.id: exercise.title for exercise in batch.exercises}
    taken: set[str] = set()
    for entry in batch.entries:
        score = read_entry_score(out, entry)
        if score is None or entry.score_path is None:
            yield Graded(entry, None, None)
            continue
        page = _name_page(entry.score_path, taken)
        back = "../" * page.count("/") + REPORT_FILE
        text = render_submission(
            score,
            student=entry.student,
            title=titles[entry.exercise],
            source=read_source(out, entry),
            back=back,
            duplicate_of=entry.duplicate_of,
            notes=describe_grade(entry),
        )
        _write_page(out / page, text)
        yield Graded(entry, page, digest_score(score))


def write_page(path: Path, score: Score, *, title: str, source: str | None) -> None:
    """Write the page of one submission alone. `title` is the exercise's. Raises UsageError where
    the file cannot be written."""
    text = render_submission(score, student=score.submission_name, title=title, source=source)
    write_file(path, text.encode("utf-8", "replace"), "the page")


def _name_page(score_path: str, taken: set[str]) -> str:
    """`scores/jane.json` -> `pages/jane.html`: the name of the score is already safe and unique."""
    parts = PurePosixPath(score_path).with_suffix("").parts[1:]
    stem = "/".join((PAGES_FOLDER, *parts))
    names = (f"{stem}-{number}.html" if number > 1 else f"{stem}.html" for number in count(1))
    name = next(name for name in names if name not in taken)
    taken.add(name)
    return name


def read_entry_score(out: Path, entry: BatchEntry) -> Score | None:
    """The score of an entry; None where there is none, or it cannot be read."""
    if entry.score_path is None:
        return None
    try:
        return read_score(out / entry.score_path)
    except GraderError:
        return None


def read_source(out: Path, entry: BatchEntry) -> str | None:
    """The submitted file as text; None where it is gone."""
    if entry.source_path is None:
        return None
    try:
        with (out / entry.source_path).open("rb") as file:
            return file.read(MAX_SOURCE_BYTES).decode("utf-8", "replace")
    except OSError:
        return None


def _write_page(path: Path, text: str) -> None:
    """Without a flush to the disk: a page can be made again from its score."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise UsageError(
            f"cannot write the page {path}: {error.strerror}",
            "Name a folder that has room and may be written to.",
        ) from error
