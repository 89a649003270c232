"""Grades programs with a known verdict, several at a time, and reports differences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from grader.grading.cases import Oracle
from grader.grading.grade import grade_with
from grader.metrics import METRICS
from grader.records import (
    CheckResult,
    CheckStatus,
    Options,
    Progress,
    Score,
    Source,
    Status,
    show_nothing,
)
from grader.report.soundness import Claim, Proof
from grader.spec.exercise import Exercise
from grader.spec.reader import SPEC_FILE

FAULTLESS = frozenset({Status.PASSED, Status.INCONCLUSIVE})
"""Statuses of a program that lost no point."""

MISSED = (CheckStatus.FAILED, CheckStatus.PARTIAL)
_KNOWN = re.compile(r"(?P<status>[a-z_]+)--(?P<reason>\w+)")


@dataclass(frozen=True)
class Grading:
    """The options for grading all programs of a check: `jobs` at the same time, with one progress
    display for all (`options.show`)."""

    exercise: Exercise
    options: Options
    jobs: int
    oracle: Oracle | None = None

    def grade_all(self, files: Mapping[str, Path], stage: str) -> dict[str, Score]:
        """The scores of the files by their labels. The first error of the exercise ends all."""
        scores: dict[str, Score] = {}
        self.options.show(Progress(stage, 0, len(files)))
        with ThreadPoolExecutor(self.jobs) as pool:
            futures = {pool.submit(self._grade, path): label for label, path in files.items()}
            try:
                for future in as_completed(futures):
                    scores[futures[future]] = future.result()
                    self.options.show(Progress(stage, len(scores), len(files)))
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        return {label: scores[label] for label in files}

    def _grade(self, path: Path) -> Score:
        quiet = replace(self.options, show=show_nothing)
        grade = partial(grade_with, quiet, self.exercise.folder, path, oracle=self.oracle)
        score = grade()
        # A busy machine is no fault of the exercise.
        return grade() if score.status.is_worth_a_retry else score


# --- the exercise's programs ------------------------------------------------------------------


def judge_reference(exercise: Exercise, score: Score | None) -> Claim:
    """The claim that the reference gets full marks."""
    details: tuple[str, ...] = ()
    if score is None:
        proof = Proof.FAILS
        found = f"there is no solutions/{exercise.id}.cu: nothing shows that full marks can be had"
    elif score.status in FAULTLESS:
        proof = Proof.HOLDS if score.status is Status.PASSED else Proof.OPEN
        found = score.message
    else:
        proof, found = Proof.FAILS, f"{score.status.value}: {score.message}"
        details = tuple(_complaints(exercise, score))
    return Claim("reference", "gets full marks", proof, found, details)


def judge_starter(exercise: Exercise, score: Score) -> Claim:
    """The claim that the students' starter compiles and runs, and does not get full marks."""
    return _judge_lacking("starter", "compiles, runs, and misses full marks", exercise, score)


def judge_baseline(exercise: Exercise, score: Score) -> Claim:
    """The claim that the naive baseline is right, and does not get full marks."""
    claim = _judge_lacking("baseline", "is right, and misses full marks", exercise, score)
    correctness = next((check for check in score.checks if check.metric == "correctness"), None)
    if score.status is not Status.FAILED or correctness is None:
        return claim
    if correctness.status is CheckStatus.PASSED:
        return claim
    return replace(claim, proof=Proof.FAILS, found=f"it is wrong: {correctness.message}")


def where_it_is_lost(exercise: Exercise, check: CheckResult) -> str:
    """The observation on a check that lost points: the line, the access and its buffer, or the
    wrong element; without the advice."""
    spec = next(each for each in exercise.checks if each.name == check.name)
    tried = spec.hint or METRICS[check.metric].advice
    return check.hint.removesuffix(tried).rstrip()


def _places(exercise: Exercise, score: Score) -> tuple[str, ...]:
    """Each check that lost points, with the place of the loss, if the run shows it."""
    places = ((check.name, where_it_is_lost(exercise, check)) for check in score.checks)
    return tuple(f"{name}: {place}" for name, place in places if place)


def _judge_lacking(subject: str, claim: str, exercise: Exercise, score: Score) -> Claim:
    details: tuple[str, ...] = ()
    if score.status is Status.FAILED:
        proof, found = Proof.HOLDS, f"{score.message}; it misses {list_missed(score)}"
        details = _places(exercise, score)
    elif score.status not in FAULTLESS:
        proof, found = Proof.FAILS, f"{score.status.value}: {score.message}"
        details = _first_lines(score.detail)
    elif missing := _untold(score):
        undecided = f"this device cannot decide the checks that it should miss ({missing})"
        proof, found = Proof.OPEN, f"{score.message}; {undecided}"
    else:
        proof, found = Proof.FAILS, f"it gets {score.message}"
    return Claim(subject, claim, proof, found, details)


def list_missed(score: Score) -> str:
    """The checks that a score misses in their own names; for a failure its status and message."""
    if score.status.ended_early:
        return f"{score.status.value.replace('_', ' ')}: {score.message}"
    missed = [check for check in score.checks if check.status in MISSED]
    wrong = next((check for check in missed if check.metric == "correctness"), None)
    return f"{wrong.name} ({wrong.message})" if wrong else ", ".join(check.name for check in missed)


def _complaints(exercise: Exercise, score: Score) -> list[str]:
    """The checks that the reference misses, each with its file, JSON path, and place."""
    file, spec = exercise.reference_source, exercise.folder / SPEC_FILE
    if score.status is not Status.FAILED:
        return [f"{file}: {line}" for line in _first_lines(score.detail)]
    return [
        f"{file}: misses {spec}: $.checks[{index}] ({check.name}): "
        + "; ".join(filter(None, (check.message, where_it_is_lost(exercise, check))))
        for index, check in enumerate(score.checks)
        if check.status in MISSED and not exercise.checks[index].bonus
    ]


def _untold(score: Score) -> str:
    """The checks that this device leaves open: not measured, excluded here, or passed because a
    model cannot distinguish value and goal."""
    return ", ".join(
        check.name
        for check in score.checks
        if check.status in (CheckStatus.NOT_MEASURED, CheckStatus.EXCLUDED)
        or (check.in_doubt and check.source is Source.MODELLED)
    )


def _first_lines(detail: str) -> tuple[str, ...]:
    return tuple(line for line in detail.splitlines() if line.strip())[:5]


# --- known submissions ----------------------------------------------------------------------------


def judge_known(
    exercise: Exercise, files: Sequence[Path], scores: Mapping[str, Score], folder: Path
) -> Claim:
    """The claim that every known submission gets the verdict in its name."""
    subject, claim = "submissions", "each gets the verdict of its name"
    if not files:
        found = f"there are none in {folder} (<verdict>--<reason>.cu)"
        return Claim(subject, claim, Proof.OPEN, found)
    proofs = {path: _agrees(path, scores[str(path)]) for path in files}
    wrong, unsure = (
        [path for path, each in proofs.items() if each is proof]
        for proof in (Proof.FAILS, Proof.OPEN)
    )
    found = f"{len(files) - len(wrong) - len(unsure)} of {len(files)} do"
    found += f", {len(unsure)} cannot be decided on this device" if unsure else ""
    details = tuple(
        f"{path.name}: {line}"
        for path in (*wrong, *unsure)
        for score in [scores[str(path)]]
        for line in (
            _describe(score),
            *(_places(exercise, score) if score.status is Status.FAILED else ()),
        )
    )
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
    is_timed = score.status in FAULTLESS and name["status"] in {Status.PASSED, Status.FAILED}
    cannot_decide = (is_timed and _untold(score)) or score.status is Status.UNSUPPORTED
    return Proof.OPEN if cannot_decide else Proof.FAILS


def _describe(score: Score) -> str:
    missing = _untold(score) if score.status in FAULTLESS else ""
    undecided = f"; not decided: {missing}" if missing else ""
    return f"{score.status.value}: {score.message}{undecided}"
