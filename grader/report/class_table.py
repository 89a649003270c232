"""A class on a terminal: the progress of its grading, and the results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table
from rich.text import Text

from grader.records import BatchEntry, BatchProgress, BatchSummary, Cause
from grader.report.ending import write_ending
from grader.report.terminal import Page
from grader.report.text import clean_line

MOST_EXAMPLES = 3
_MOST_NAMES = 4
_MOST_CAUSES = 8

ShowBatch = Callable[[BatchProgress], None]


@dataclass(frozen=True)
class CauseGroup:
    """Submissions that lost points for one cause. `part` is their fraction, 0 to 1, of the
    submissions with points; `points` is the average loss. `examples` are submissions of different
    files, the largest loss first, each with its line."""

    text: str
    submissions: int
    part: float
    points: float
    examples: tuple[tuple[BatchEntry, int | None], ...]


def group_by_cause(entries: Iterable[BatchEntry]) -> tuple[CauseGroup, ...]:
    """The groups of one exercise's entries, the largest first. A submission is in the group of each
    of its causes; failures of the grader are in no group."""
    judged = [each for each in entries if each.status is not None and each.status.has_points]
    found: dict[str, list[tuple[BatchEntry, Cause]]] = {}
    for entry in judged:
        for cause in entry.causes:
            found.setdefault(cause.key, []).append((entry, cause))
    groups = [_make_group(members, len(judged)) for members in found.values()]
    return tuple(sorted(groups, key=lambda each: (-each.submissions, -each.points)))


def _make_group(members: list[tuple[BatchEntry, Cause]], judged: int) -> CauseGroup:
    examples: dict[str | None, tuple[BatchEntry, int | None]] = {}
    for entry, cause in sorted(members, key=lambda each: -each[1].points):
        examples.setdefault(entry.sha256, (entry, cause.line))
    return CauseGroup(
        text=members[0][1].text,
        submissions=len(members),
        part=len(members) / judged,
        points=sum(cause.points for _, cause in members) / len(members),
        examples=tuple(examples.values())[:MOST_EXAMPLES],
    )


@contextmanager
def batch_display(console: Console, *, quiet: bool = False) -> Iterator[ShowBatch]:
    """Yields the callable that shows progress: a live bar on a terminal, a line per submission in a
    pipe, nothing when quiet."""
    if quiet:
        yield lambda progress: None
    elif console.is_terminal and not console.is_dumb_terminal:
        columns = (
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}", markup=False),
            TextColumn("{task.description}", markup=False),
        )
        with ProgressBar(*columns, console=console, transient=True) as bar:
            task = bar.add_task("", total=None, rate="")
            yield lambda progress: _update(bar, task, progress)
    else:
        page = Page(console)
        yield lambda progress: _write_lines(page, progress)


def _update(bar: ProgressBar, task: TaskID, progress: BatchProgress) -> None:
    for line in progress.finished:
        Page(bar.console).write_whole(line)
    description = None if progress.running is None else _running(progress.running)
    rate = _pace(progress)
    bar.update(
        task, completed=progress.done, total=progress.total, rate=rate, description=description
    )


def _running(names: tuple[str, ...]) -> str:
    shown = ", ".join(clean_line(name)[:24] for name in names[:_MOST_NAMES])
    more = ", ..." if len(names) > _MOST_NAMES else ""
    return f"{len(names)} running: {shown}{more}" if names else ""


def _pace(progress: BatchProgress) -> str:
    parts = [f"{progress.failed} failed"] if progress.failed else []
    if progress.rate is not None and progress.seconds_left is not None:
        parts += [f"{60 * progress.rate:.1f}/min", f"{_duration(progress.seconds_left)} left"]
    return "  ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    return f"{hours}:{minutes_left:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _write_lines(page: Page, progress: BatchProgress) -> None:
    first = progress.done - len(progress.finished) + 1
    pace = _pace(progress)
    for number, line in enumerate(progress.finished, start=first):
        page.write_whole(f"[{number}/{progress.total}] {line}{f'  {pace}' if pace else ''}")


def print_summary(summary: BatchSummary, *, console: Console, quiet: bool = False) -> None:
    """Print a row per submission (not when `quiet`), then a line per exercise. Names and messages
    may be hostile."""
    page = Page(console)
    if not quiet:
        console.print(_make_table(summary, page))
        console.print()
    for exercise in summary.exercises:
        entries = [entry for entry in summary.entries if entry.exercise == exercise.id]
        counts = Counter(map(_name_status, entries))
        words = ", ".join(f"{count} {name}" for name, count in counts.most_common())
        mean = _format_mean(entries)
        of_points = f"; mean {mean} of {exercise.max_score:g} points" if mean else ""
        page.write_whole(f"{exercise.id}: {len(entries)} submissions: {words}{of_points}")
        if not quiet:
            _write_causes(page, entries)


def print_class_ending(summary: BatchSummary, folder: Path, *, console: Console) -> None:
    """Print the last three lines: the mean of the grades, the next step, and the report."""
    means = []
    for exercise in summary.exercises:
        entries = [entry for entry in summary.entries if entry.exercise == exercise.id]
        mean = _format_mean(entries) or "no grade"
        means.append(f"{exercise.id}: mean {mean} of {exercise.max_score:g} points")
    step = _find_next_step(summary, folder)
    details = f"{folder}/report.html has a page for each submission"
    write_ending(Page(console), f"Score: {'; '.join(means)}", step, details)


def _format_mean(entries: Iterable[BatchEntry]) -> str:
    scores = [entry.points for entry in entries if entry.points is not None]
    return f"{sum(scores) / len(scores):.1f}" if scores else ""


def _name_status(entry: BatchEntry) -> str:
    return entry.status.value if entry.status else "not graded"


def _find_next_step(summary: BatchSummary, folder: Path) -> str:
    """Grade again where the grader failed; else judge pending points; else hand feedback back."""
    statuses = [entry.status for entry in summary.entries]
    if failed := sum(status is not None and status.is_worth_a_retry for status in statuses):
        return f"run the same command again: the grader failed for {failed} submissions"
    if pending := sum(
        entry.marks is not None and entry.points is None for entry in summary.entries
    ):
        return f"decide pending points of {pending} submissions: --only pending --device gpu"
    return f"hand feedback back: grade feedback {folder}"


def _write_causes(page: Page, entries: Sequence[BatchEntry]) -> None:
    groups = group_by_cause(entries)[:_MOST_CAUSES]
    if groups:
        page.write_whole("What went wrong, most often:")
    for group in groups:
        names = ", ".join(clean_line(entry.student)[:24] for entry, _ in group.examples)
        others = ", ..." if group.submissions > len(group.examples) else ""
        page.write_whole(
            f"{group.submissions} x {group.text}: {group.points:.3g} points each on average"
            f" ({names}{others})"
        )


def _make_table(summary: BatchSummary, page: Page) -> Table:
    several = len(summary.exercises) > 1
    table = page.make_table(framed=page.console.is_terminal)
    table.add_column("Student", overflow="fold", min_width=12, max_width=32)
    if several:
        table.add_column("Exercise")
    table.add_column("Points", justify="right", no_wrap=True, min_width=9)
    table.add_column("Result", no_wrap=True, min_width=13)
    table.add_column("Why", overflow="fold", min_width=20)
    for entry in summary.entries:
        names = (entry.student, entry.exercise) if several else (entry.student,)
        points = "" if entry.marks is None else f"{entry.score:g} / {entry.marks.total:g}"
        status = Text(_name_status(entry), style=entry.status.row.style if entry.status else "dim")
        same = f"same file as {entry.duplicate_of}; " if entry.duplicate_of else ""
        why = page.text(f"{same}{entry.reason}")
        table.add_row(*map(page.text, names), points, status, why)
    return table
