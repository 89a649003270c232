"""Grades programs whose verdict is known beforehand, several at a time, and says which of them it
does not agree with."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path

from grader.grading.grade import grade
from grader.metrics import format_value
from grader.records import (
    CheckResult,
    CheckStatus,
    DeviceInfo,
    Progress,
    Score,
    ShowProgress,
    Source,
    Status,
)
from grader.report.soundness import Claim, Proof, Room
from grader.spec.exercise import CheckSpec, Exercise, Threshold
from grader.spec.reader import SPEC_FILE

MIN_ROOM = 0.03
"""Least distance of a measured value from its goal, as a part of the goal: less than that is the
noise of a busy machine."""
CANNOT_TELL = frozenset({Status.UNSUPPORTED, Status.INCONCLUSIVE})
"""Statuses that say something of the device, and nothing of the program."""

_KNOWN = re.compile(r"(?P<status>[a-z_]+)--(?P<reason>\w+)")


@dataclass(frozen=True)
class Grading:
    """How all programs of one check are graded."""

    exercise: Exercise
    device: str
    seed: int
    jobs: int
    show: ShowProgress
    cache: Path | None = None

    def grade_all(
        self, files: Mapping[str, Path], stage: str, *, model: bool = True
    ) -> dict[str, Score]:
        """The scores of the files by their labels; `model`: with modelled times where nothing
        measures them.

        Whatever an exercise's own fault raises ends it.
        """
        scores: dict[str, Score] = {}
        self.show(Progress(stage, 0, len(files)))
        with ThreadPoolExecutor(self.jobs) as pool:
            futures = {
                pool.submit(self._grade, path, model=model): label for label, path in files.items()
            }
            try:
                for future in as_completed(futures):
                    scores[futures[future]] = future.result()
                    self.show(Progress(stage, len(scores), len(files)))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return {label: scores[label] for label in files}

    def _grade(self, path: Path, *, model: bool) -> Score:
        return grade(
            self.exercise.folder,
            path,
            device=self.device,
            seed=self.seed,
            cache=self.cache,
            model=model,
        )


# --- the exercise's own programs ------------------------------------------------------------------


def judge_reference(exercise: Exercise, score: Score | None) -> Claim:
    """The claim that the reference gets full marks."""
    details: tuple[str, ...] = ()
    if score is None:
        proof = Proof.FAILS
        found = f"there is no solutions/{exercise.id}.cu: nothing shows that full marks can be had"
    elif score.status is Status.PASSED:
        proof, found = Proof.HOLDS, score.message
    else:
        proof, found = Proof.FAILS, f"{score.status.value}: {score.message}"
        details = tuple(_complaints(exercise, score))
    return Claim("reference", "gets full marks", proof, found, details)


def judge_starter(score: Score) -> Claim:
    """The claim that what students get compiles and runs, and does not get full marks."""
    return _judge_lacking("starter", "compiles, runs, and misses full marks", score)


def judge_baseline(score: Score) -> Claim:
    """The claim that the naive baseline is right, and does not get full marks."""
    claim = _judge_lacking("baseline", "is right, and misses full marks", score)
    correctness = next((check for check in score.checks if check.metric == "correctness"), None)
    if score.status is not Status.FAILED or correctness is None:
        return claim
    if correctness.status is CheckStatus.PASSED:
        return claim
    return replace(claim, proof=Proof.FAILS, found=f"it is wrong: {correctness.message}")


def _judge_lacking(subject: str, claim: str, score: Score) -> Claim:
    details: tuple[str, ...] = ()
    if score.status is Status.FAILED:
        proof, found = Proof.HOLDS, f"{score.message}; it misses {what_it_misses(score)}"
    elif score.status is not Status.PASSED:
        proof, found = Proof.FAILS, f"{score.status.value}: {score.message}"
        details = _first_lines(score.detail)
    elif missing := _untold(score):
        proof = Proof.OPEN
        found = f"{score.message}; what it should miss cannot be told on this device ({missing})"
    else:
        proof, found = Proof.FAILS, f"it gets {score.message}"
    return Claim(subject, claim, proof, found, details)


def what_it_misses(score: Score) -> str:
    """The checks that a score misses in their own names; of a failure its status and message."""
    if score.status not in (Status.FAILED, Status.PASSED):
        return f"{score.status.value.replace('_', ' ')}: {score.message}"
    missed = [
        check for check in score.checks if check.status in (CheckStatus.FAILED, CheckStatus.PARTIAL)
    ]
    wrong = next((check for check in missed if check.metric == "correctness"), None)
    return f"{wrong.name} ({wrong.message})" if wrong else ", ".join(check.name for check in missed)


def _complaints(exercise: Exercise, score: Score) -> list[str]:
    """What the reference misses, each with its file and JSON path."""
    file, spec = exercise.reference_source, exercise.folder / SPEC_FILE
    if score.status is not Status.FAILED:
        return [f"{file}: {line}" for line in _first_lines(score.detail)]
    missed = (CheckStatus.FAILED, CheckStatus.PARTIAL)
    return [
        f"{file}: misses {spec}: $.checks[{index}] ({check.name}): {check.message}"
        for index, check in enumerate(score.checks)
        if check.status in missed and not exercise.checks[index].bonus
    ]


def _untold(score: Score) -> str:
    """The checks that this device leaves open: not measured, or passed because a model cannot
    tell."""
    return ", ".join(
        check.name
        for check in score.checks
        if check.status is CheckStatus.NOT_MEASURED
        or (check.in_doubt and check.source is Source.MODELLED)
    )


def _first_lines(detail: str) -> tuple[str, ...]:
    return tuple(line for line in detail.splitlines() if line.strip())[:5]


# --- known submissions ----------------------------------------------------------------------------


def judge_known(files: Sequence[Path], scores: Mapping[str, Score], folder: Path) -> Claim:
    """The claim that every known submission gets the verdict that its name says."""
    subject, claim = "submissions", "each gets the verdict of its name"
    if not files:
        return Claim(
            subject, claim, Proof.OPEN, f"there are none in {folder} (<verdict>--<reason>.cu)"
        )
    proofs = {path: _agrees(path, scores[str(path)]) for path in files}
    wrong, unsure = (
        [path for path, each in proofs.items() if each is proof]
        for proof in (Proof.FAILS, Proof.OPEN)
    )
    found = f"{len(files) - len(wrong) - len(unsure)} of {len(files)} do"
    found += f", {len(unsure)} cannot be told on this device" if unsure else ""
    details = tuple(f"{path.name}: {_describe(scores[str(path)])}" for path in (*wrong, *unsure))
    return Claim(subject, claim, Proof.FAILS if wrong else Proof.HOLDS, found, details)


def _is_sterner(named: str, score: Score) -> bool:
    """Names are verdicts on a GPU, where a load beyond a buffer or a barrier that some threads skip
    may give wrong outputs or hang."""
    if score.device is None or score.device.kind != "emulated":
        return False
    return named in {Status.FAILED, Status.TIMEOUT} and score.status is Status.RUNTIME_ERROR


def _agrees(path: Path, score: Score) -> Proof:
    name = _KNOWN.fullmatch(path.stem)
    if name is None or name["status"] not in set(Status):
        return Proof.FAILS
    if score.status == name["status"] or _is_sterner(name["status"], score):
        return Proof.HOLDS
    only_a_clock_tells = (
        score.status is Status.PASSED and name["status"] == Status.FAILED and _untold(score)
    )
    return Proof.OPEN if only_a_clock_tells or score.status in CANNOT_TELL else Proof.FAILS


def _describe(score: Score) -> str:
    missing = _untold(score) if score.status is Status.PASSED else ""
    return f"{score.status.value}: {score.message}" + (
        f"; cannot be told: {missing}" if missing else ""
    )


# --- room -----------------------------------------------------------------------------------------


def find_rooms(exercise: Exercise, reference: Score | None, starter: Score) -> tuple[Room, ...]:
    """For each check how far the reference lies beyond its goal, and the starter before it."""
    rows = []
    for index, (check, own) in enumerate(zip(exercise.checks, starter.checks, strict=True)):
        before = _distance(own, _goal(check, own, starter.device))
        best, beyond = None, None
        if reference is not None:
            best = reference.checks[index]
            beyond = _distance(best, _goal(check, best, reference.device))
        rows.append(_room(own, best, beyond, before))
    return tuple(rows)


def _room(
    starter: CheckResult, reference: CheckResult | None, beyond: float | None, before: float | None
) -> Room:
    distances = {"reference": beyond, "starter": before}
    known = {who: distance for who, distance in distances.items() if distance is not None}
    room = ", ".join(f"{who} {100 * distance:+.3g} %" for who, distance in known.items())
    measured = reference is not None and reference.source in (Source.MEASURED, Source.MODELLED)
    if measured and any(abs(distance) < MIN_ROOM for distance in known.values()):
        proof = Proof.FAILS
        room += f": less than {100 * MIN_ROOM:g} %, so noise decides"
    elif reference is None or reference.value is None:
        proof = Proof.OPEN
    else:
        proof = Proof.HOLDS
    return Room(starter.name, starter.threshold, _value(reference), _value(starter), room, proof)


def _goal(check: CheckSpec, own: CheckResult, device: DeviceInfo | None) -> Threshold | None:
    """The goal in the metric's own unit; None where it is a multiple of a value that is not
    known."""
    threshold = check.threshold_on(device)
    if threshold.relative_to is None:
        return threshold
    return threshold.scaled(own.relative_value) if own.relative_value is not None else None


def _distance(check: CheckResult, goal: Threshold | None) -> float | None:
    """How far the value lies beyond the goal, as a part of it: negative before it; None where that
    is no question of more or less."""
    if check.value is None or goal is None or check.metric == "correctness":
        return None
    if goal.at_least:
        return check.value / goal.at_least - 1
    return 1 - check.value / goal.at_most if goal.at_most else None


def _value(check: CheckResult | None) -> str:
    if check is None:
        return "–"
    if check.value is None:
        return check.status.value.replace("_", " ")
    return format_value(check.metric, check.value)
