"""Grades a class: reuses known results, grades the rest and writes all results, also after an
interruption."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from grader.batch.collect import HandIn
from grader.batch.items import Item, make_items, source_path
from grader.batch.journal import NAME as JOURNAL
from grader.batch.journal import Journal, Result
from grader.batch.pool import Pool
from grader.batch.results import (
    NAMES,
    format_names,
    make_entries,
    write_score,
    write_scores,
    write_summary,
)
from grader.batch.schedule import MakeFailed, run_tasks
from grader.batch.tasks import Task, draw_seed, make_key
from grader.batch.whole_files import replace_file
from grader.errors import UsageError
from grader.plumbing.identity import hash_files
from grader.records import BatchExercise, BatchProgress, BatchSummary, Options, PendingRule, Status
from grader.spec.exercise import Exercise
from grader.spec.own_files import read_files

DEVICE_NOTE = "device"
"""The journal's note of the device, from the last run without `--only pending`."""


class Rerun(StrEnum):
    """The known results to grade again: none, those worth a retry, or all."""

    CHANGED = "changed"
    FAILED = "failed"
    ALL = "all"


@dataclass(frozen=True)
class Settings:
    """The settings of a batch. Results of different `device_name` or `grader` (its identity) are
    not mixed. `only_pending`: grades only submissions with pending points; the new results replace
    the old, on any device. `pending`: the rule for pending points."""

    out: Path
    exercises: tuple[Exercise, ...]
    options: Options
    device_name: str
    grader: str
    only: tuple[str, ...] = ()
    only_pending: bool = False
    pending: PendingRule | None = None
    rerun: Rerun = Rerun.CHANGED
    anonymous: bool = False
    limit_is_verdict: bool = False


@dataclass(frozen=True)
class Reports:
    """Receivers of the progress, of the summary (at the end or an interruption), and of notices,
    each one sentence for the user."""

    progress: Callable[[BatchProgress], None]
    summary: Callable[[BatchSummary], None]
    notice: Callable[[str], None] = print


def run_batch(
    settings: Settings,
    hand_ins: Sequence[HandIn],
    journal: Journal,
    start_pool: Callable[[], Pool],
    *,
    make_failed: MakeFailed,
    reports: Reports,
) -> BatchSummary:
    """Grades the selected submissions without a result, and writes all results to `settings.out`.
    Starts the pool only if there is work. After an interruption or on a full disk, the journal
    still has all results; other files are written as far as possible."""
    started = _now()
    items = plan_items(settings, hand_ins, journal)
    results = journal.read_results()
    for key in _choose_again(settings.rerun, items, results, journal):
        results.pop(key, None)
    if settings.only_pending and not any(item.key in results for item in items):
        raise UsageError(
            "these submissions have no result of an earlier run",
            "Repeat the exercises, submissions, --out and --seed of the earlier run.",
        )
    for item in write_scores(settings.out, items, results, journal):
        reports.notice(
            f"the result of {item.student} in {settings.out / JOURNAL} is damaged: graded again"
        )
    before = dict(results)
    if settings.only_pending:
        waiting = {key for key, result in results.items() if result.is_pending}
        items = [replace(each, selected=each.selected and each.key in waiting) for each in items]
        for item in items:
            if item.selected:
                results.pop(item.key or "", None)
    board = _Board(settings.out, items, results, journal, reports.progress)
    tasks = make_tasks(settings, items, results, journal)
    try:
        if tasks:
            with closing(start_pool()) as pool:
                run_tasks(
                    tasks,
                    pool,
                    journal,
                    make_failed=make_failed,
                    limit_is_verdict=settings.limit_is_verdict,
                    on_results=board.take,
                    on_change=board.show,
                )
    finally:
        results = {**before, **results}
        summary = _summarise(settings, items, results, started)
        write_summary(settings.out, summary)
        reports.summary(summary)
    return summary


def plan_items(settings: Settings, hand_ins: Sequence[HandIn], journal: Journal) -> list[Item]:
    """The items of all students, with the keys of their results."""
    hashes = {exercise.id: hash_files(read_files(exercise)) for exercise in settings.exercises}
    seed = "secret" if settings.options.seed is None else str(settings.options.seed)
    device = settings.device_name
    if settings.only_pending:
        device = journal.noted(DEVICE_NOTE) or device
    journal.note(DEVICE_NOTE, device)
    pseudonyms = None
    if settings.anonymous:
        pseudonyms = journal.pseudonyms([each.student for each in hand_ins])
        replace_file(settings.out / NAMES, format_names(pseudonyms).encode("utf-8", "replace"))
        (settings.out / NAMES).chmod(0o600)

    def key_of(exercise: str, sha256: str) -> str:
        return make_key(
            sha256=sha256,
            exercise_hash=f"{exercise} {hashes[exercise]}",
            device=device,
            grader=settings.grader,
            seed=seed,
        )

    return make_items(
        hand_ins,
        settings.exercises,
        settings.out,
        key_of=key_of,
        only=settings.only,
        pseudonyms=pseudonyms,
    )


def make_tasks(
    settings: Settings, items: Sequence[Item], results: Mapping[str, Result], journal: Journal
) -> list[Task]:
    """A task for each selected file without a result; equal files share a task."""
    folders = {exercise.id: exercise.folder.absolute() for exercise in settings.exercises}
    secret, asked = journal.secret(), settings.options.seed
    tasks: dict[str, Task] = {}
    for item in items:
        known = item.key in results or item.key in tasks
        if item.key is None or item.sha256 is None or not item.selected or known:
            continue
        seed = draw_seed(secret, item.sha256) if asked is None else asked
        source = (settings.out / source_path(item.sha256)).absolute()
        tasks[item.key] = Task(
            item.key,
            item.exercise,
            folders[item.exercise],
            item.sha256,
            source,
            replace(settings.options, seed=seed),
        )
    return list(tasks.values())


def _choose_again(
    rerun: Rerun, items: Sequence[Item], results: Mapping[str, Result], journal: Journal
) -> set[str]:
    """The keys of results to grade again: by `--rerun`, of this or an interrupted run, and those on
    which the grader or the machine failed."""
    keys = {item.key for item in items if item.selected and item.key}
    known = [results[key] for key in sorted(keys & results.keys())]
    if rerun is not Rerun.CHANGED:  # a changed file has another key, which has no result
        journal.ask_again(
            result.key
            for result in known
            if rerun is Rerun.ALL or Status(result.status).is_worth_a_retry
        )
    failed = {result.key for result in known if result.status == Status.GRADER_ERROR}
    return journal.read_asked_again() | failed


class _Board:
    """The state of a batch: receives results, writes their scores and reports progress."""

    def __init__(
        self,
        out: Path,
        items: Sequence[Item],
        results: dict[str, Result],
        journal: Journal,
        on_progress: Callable[[BatchProgress], None],
    ) -> None:
        self._out, self._journal = out, journal
        self._on_progress, self._results = on_progress, results
        self._owners: dict[str, list[Item]] = {}
        for item in items:
            if item.key is not None and (item.selected or item.key in results):
                self._owners.setdefault(item.key, []).append(item)
        self._total = sum(map(len, self._owners.values()))
        self._done = sum(len(self._owners[key]) for key in results if key in self._owners)
        self._failed = 0
        self._graded, self._began = 0, time.monotonic()
        self._todo = len(self._owners) - sum(key in results for key in self._owners)

    def take(self, new: Sequence[Result]) -> None:
        for result in new:
            self._results[result.key] = result
            self._graded += 1
            text = self._journal.read_text(result.key)
            owners = self._owners.get(result.key, [])
            for item in owners:
                write_score(self._out, item, text)
            self._done += len(owners)
            self._failed += len(owners) * Status(result.status).is_worth_a_retry
            self._on_progress(
                self._progress(None, tuple(f"{item.student}: {_words(result)}" for item in owners))
            )

    def show(self, running: Sequence[Task]) -> None:
        names = tuple(self._owners[task.key][0].student for task in running)
        self._on_progress(self._progress(names, ()))

    def _progress(
        self, running: tuple[str, ...] | None, finished: tuple[str, ...]
    ) -> BatchProgress:
        seconds = time.monotonic() - self._began
        rate = self._graded / seconds if self._graded else None
        left = (self._todo - self._graded) / rate if rate else None
        return BatchProgress(self._done, self._total, self._failed, running, finished, rate, left)


def _words(result: Result) -> str:
    return f"{result.status}, {result.score:g} of {result.max_score:g} ({result.seconds:.1f} s)"


def _summarise(
    settings: Settings, items: Sequence[Item], results: Mapping[str, Result], started: str
) -> BatchSummary:
    exercises = tuple(
        BatchExercise(exercise.id, exercise.title, exercise.max_score)
        for exercise in settings.exercises
    )
    max_scores = {exercise.id: exercise.max_score for exercise in exercises}
    entries = make_entries(items, results, max_scores, settings.pending)
    device = str(settings.options.device)
    return BatchSummary(exercises, entries, started, _now(), settings.grader, device)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
