"""Tries fixes of a submission that lost points; each fixed text is graded as a submission.

A fixed text is as untrusted as the submission: the same steps compile and run it in the same
confinement. It runs only the public cases, on the emulated device, with inputs from the score's
seed. The submission's score does not change.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace

from grader.devices.choose import EMULATED
from grader.devices.gpus import read_gpus
from grader.fixes.kinds import ABOUT_TIME, apply_edits, find_causes, find_fixes, list_changes
from grader.fixes.text import FixText
from grader.grading.grade import grade_text
from grader.grading.session import run_limits
from grader.grading.stand_in import stand_in
from grader.metrics import CHECKED_CASES, CORRECTNESS, METRICS, MODELLED, Better
from grader.records import (
    SUBMISSION,
    WHAT_IF_SECONDS,
    CheckResult,
    CheckStatus,
    CodeChange,
    Counters,
    DeviceChoice,
    Edit,
    Fix,
    FixEffect,
    Options,
    Progress,
    Score,
    ShowProgress,
    Status,
    Submission,
    TriedFix,
    WhatIf,
    WhatIfMode,
    show_nothing,
)
from grader.spec.exercise import Exercise
from grader.spec.statements import Plan
from grader.submission.plan import read_plan

MOST_TRIED = 24
MOST_JOBS = 4
"""Most fixes graded at the same time: memory and cores of a laptop allow no more."""
_LEAST_SECONDS_EACH = 10.0
"""Lower limit of the wall limit of a run, which otherwise is the time for all fixes together."""
_PART_TO_COUNT = 0.6
"""Fraction of the time for counting; the rest is for modelling."""
MOST_MODELLED = 8
_LEAST_CHANGE = 0.02
"""A fraction of the value: a smaller change is no improvement."""
_LEAST_GAIN = 0.005
"""Points: a smaller difference counts as zero."""


@dataclass(frozen=True)
class Trial:
    """How fixes are tried: for `seconds` in total, `jobs` at the same time. `clock` gives
    seconds."""

    options: Options
    seconds: float = WHAT_IF_SECONDS
    jobs: int = field(default_factory=lambda: min(MOST_JOBS, len(os.sched_getaffinity(0))))
    clock: Callable[[], float] = time.monotonic


def try_fixes(exercise: Exercise, text: Submission, score: Score, trial: Trial) -> WhatIf | None:
    """The effects of fixes on the score. None if the exercise disables them, if no check lost
    points that a fix can regain, if no fix applies, or if the submission cannot be graded without a
    GPU."""
    lost = lost_checks(score)
    if exercise.what_if is WhatIfMode.OFF or not lost or score.device is None:
        return None
    device = DeviceChoice(EMULATED, stand_in(score.device).id)
    whole = _with_launches(exercise, text)
    if whole is None:
        return None
    source, plan = whole
    fixed = FixText(source, plan.launches, score.lines)
    total = sum((line.counters for line in score.lines), Counters())
    fixes = find_fixes(fixed, find_causes({check.metric for check in lost}, total))
    if not fixes:
        return None
    workshop = _Workshop(source, _public_part(exercise), text.name, score.seed, device, trial)
    base = score if score.device.kind == EMULATED else workshop.grade(source, workshop.modelling)
    if base.status.ended_early:
        return None
    plain, counted = workshop.count(fixes[:MOST_TRIED])
    right = [each for each in counted if _is_right(each.score, base)]
    ready = _promising(right, plain or base, lost)
    tried = workshop.model(ready) if trial.options.model and base.timings else ready
    right_scores = [each for each in tried if _is_right(each.score, base)]
    better = [each for each in right_scores if is_worth_it(each.score, base, lost)]
    shown = exercise.what_if is WhatIfMode.FULL
    found = (
        _describe(each, base, lost, list_changes(source, each.fix.edits) if shown else ())
        for each in better
    )
    return WhatIf(
        mode=exercise.what_if,
        device=read_gpus()[device.id].emulated_info.name,
        effects=_effects_of(base, lost),
        fixes=tuple(sorted(found, key=_order)),
        broken=len(counted) - len(right) + len(tried) - len(right_scores),
        no_better=len(right) - len(ready) + len(right_scores) - len(better),
        untried=len(fixes) - len(counted) + len(ready) - len(tried),
        seconds=round(workshop.spent, 1),
    )


def lost_checks(score: Score) -> tuple[CheckResult, ...]:
    """The checks that a fix can improve: they lost points by a known value, in a submission with
    status `failed`; not correctness."""
    if score.status is not Status.FAILED:
        return ()
    return tuple(
        check
        for check in score.checks
        if check.status in (CheckStatus.FAILED, CheckStatus.PARTIAL)
        and check.value is not None
        and check.metric not in (CORRECTNESS, CHECKED_CASES)
    )


def _with_launches(exercise: Exercise, text: Submission) -> tuple[str, Plan] | None:
    """The source with its launch lines. If it has none, the exercise's lines are appended, which
    keeps all line numbers."""
    parts = [part.name for part in exercise.parts]
    source, plan = text.text, read_plan(text, parts=parts)
    if plan is None:
        lines = "".join(f"// launch: {line}\n" for line in exercise.default_plan.lines)
        source = source + ("" if source.endswith("\n") else "\n") + lines
        plan = read_plan(_named(text.name, source), parts=parts)
    return (source, plan) if isinstance(plan, Plan) else None


def _public_part(exercise: Exercise) -> Exercise:
    """The exercise without hidden cases and parts."""
    checks = tuple(check for check in exercise.checks if check.part is None)
    names = {check.name for check in checks}
    kept = (
        replace(check, requires=tuple(name for name in check.requires if name in names))
        for check in checks
    )
    return replace(exercise, hidden_cases=(), parts=(), checks=tuple(kept))


def _named(name: str, text: str) -> Submission:
    return Submission(name, hashlib.sha256(text.encode()).hexdigest(), text)


@dataclass(frozen=True)
class _Graded:
    fix: Fix
    score: Score


class _Workshop:
    """Grades fixes in parallel, until the time is over or Ctrl-C. An interruption is no error: the
    results up to then are used."""

    def __init__(
        self,
        source: str,
        public: Exercise,
        name: str,
        seed: int,
        device: DeviceChoice,
        trial: Trial,
    ) -> None:
        self._source, self._public, self._name, self._trial = source, public, name, trial
        seconds = min(public.limits.wall_seconds, max(trial.seconds, _LEAST_SECONDS_EACH))
        self.modelling = replace(
            trial.options,
            model=True,
            device=device,
            seed=seed,
            show=show_nothing,
            reuse=False,
            interim=None,
            limits=run_limits(replace(public.limits, wall_seconds=seconds)),
        )
        self.counting = replace(self.modelling, model=False)
        self._show = trial.options.show
        self._began = trial.clock()
        self._interrupted = False

    @property
    def spent(self) -> float:
        return self._trial.clock() - self._began

    def grade(self, source: str, options: Options) -> Score:
        return grade_text(options, self._public, _named(self._name, source))

    def count(self, fixes: Sequence[Fix]) -> tuple[Score | None, list[_Graded]]:
        """The counted scores of the original text and of the fixes for which there was time."""
        seconds = _PART_TO_COUNT * self._trial.seconds
        edits = [(), *(fix.edits for fix in fixes)]
        plain, *scores = self._grade_all(edits, "trying fixes", seconds, self.counting)
        return plain, _pair(fixes, scores)

    def model(self, counted: Sequence[_Graded]) -> list[_Graded]:
        """The scores with modelled times of the fixes for which there was time."""
        fixes = [each.fix for each in counted]
        edits = [fix.edits for fix in fixes[:MOST_MODELLED]]
        stage, seconds = "modelling fixes", self._trial.seconds
        scores = self._grade_all(edits, stage, seconds, self.modelling)
        return _pair(fixes, scores)

    def _grade_all(
        self, edits: Sequence[Sequence[Edit]], stage: str, seconds: float, options: Options
    ) -> list[Score | None]:
        """The scores of the edited texts; None for those not started in time."""

        def grade_in_time(made: Sequence[Edit]) -> Score | None:
            if self._interrupted or self.spent > seconds:
                return None
            return self.grade(apply_edits(self._source, made), options)

        self._show(Progress(stage, 0, len(edits)))
        with ThreadPoolExecutor(self._trial.jobs) as pool:
            futures = [pool.submit(grade_in_time, made) for made in edits]
            try:
                _watch(futures, stage, self._show)
            except BaseException as error:
                self._interrupted = True
                if type(error) is not KeyboardInterrupt:  # SIGTERM raises a subclass
                    raise
        return [future.result() for future in futures]


def _pair(fixes: Sequence[Fix], scores: Sequence[Score | None]) -> list[_Graded]:
    pairs = zip(fixes, scores, strict=False)
    return [
        _Graded(fix, after)
        for fix, after in pairs
        if after is not None and after.status is not Status.TIMEOUT
    ]


def _watch(futures: Sequence[Future[Score | None]], stage: str, show: ShowProgress) -> None:
    waiting = set(futures)
    while waiting:
        _, waiting = wait(waiting, return_when="FIRST_COMPLETED")
        show(Progress(stage, len(futures) - len(waiting), len(futures)))


# --- effects --------------------------------------------------------------------------------------


def _is_right(after: Score, before: Score) -> bool:
    """Whether a fixed text ran, is right in the public cases, and no worse in the checked mode."""
    if after.status.ended_early:
        return False
    values = {metric.name: metric.value for metric in after.metrics}
    own = {metric.name: metric.value for metric in before.metrics}
    clean, clean_before = values.get(CHECKED_CASES), own.get(CHECKED_CASES)
    worse = clean is not None and clean_before is not None and clean < min(1.0, clean_before)
    return values.get(CORRECTNESS) == 1 and not worse


def _promising(
    right: Sequence[_Graded], plain: Score, lost: Sequence[CheckResult]
) -> list[_Graded]:
    """The fixes with better counters than the original text, most points first; then the fixes that
    only change the time."""
    better = [each for each in right if _is_better(each.score, plain, lost)]
    better.sort(key=lambda each: -_gain(each.score, plain))
    timed = any(check.metric in MODELLED for check in lost)
    about_time = [each for each in right if timed and each.fix.kind in ABOUT_TIME]
    return [*better, *(each for each in about_time if each not in better)]


def is_worth_it(after: Score, before: Score, lost: Sequence[CheckResult]) -> bool:
    """Whether a fix improves a check that lost points, and costs other checks no more than it
    gains."""
    return _is_better(after, before, lost) and _gain(after, before) >= 0


def _is_better(after: Score, before: Score, lost: Sequence[CheckResult]) -> bool:
    """Whether a check that lost points improves, if both scores have its value."""
    old = {check.name: check.value for check in before.checks}
    names = {check.name for check in lost}
    return any(
        _gets_better(check, value)
        for check in after.checks
        if check.name in names and (value := old[check.name]) is not None
    )


def _gets_better(check: CheckResult, value: float) -> bool:
    """Whether a check's value improved by more than `_LEAST_CHANGE`."""
    if check.value is None:
        return False
    higher = METRICS[check.metric].better is Better.HIGHER
    gain = check.value - value if higher else value - check.value
    return gain > _LEAST_CHANGE * abs(value)


def _describe(
    graded: _Graded, before: Score, lost: Sequence[CheckResult], code: tuple[CodeChange, ...]
) -> TriedFix:
    fix, after = graded.fix, graded.score
    times = {timing.plan: timing.median_ms for timing in after.timings}
    return TriedFix(
        fix.kind,
        fix.name,
        fix.was,
        fix.now,
        fix.line,
        _effects_of(after, lost),
        _gain(after, before),
        times.get(SUBMISSION),
        code,
    )


def _effects_of(score: Score, lost: Sequence[CheckResult]) -> tuple[FixEffect, ...]:
    by_name = {check.name: check for check in score.checks}
    checks = [by_name[check.name] for check in lost]
    return tuple(
        FixEffect(check.name, check.metric, check.value, check.source, check.status, check.points)
        for check in checks
    )


def _gain(after: Score, before: Score) -> float:
    """The gained points of judged checks, without correctness: a fix runs only the public cases."""
    own = {check.name: check.points for check in before.checks}
    gain = sum(
        check.points - own[check.name]
        for check in after.checks
        if not check.bonus
        and check.status.has_points
        and check.metric not in (CORRECTNESS, CHECKED_CASES)
    )
    return round(gain, 2) if abs(gain) >= _LEAST_GAIN else 0.0


def _order(fix: TriedFix) -> tuple[float, float]:
    """Most points first, then shortest time."""
    return -fix.gain, fix.time_ms if fix.time_ms is not None else float("inf")
