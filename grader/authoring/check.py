"""Proves an exercise sound: its files are right, its programs get the marks that they must get, and
its mistakes are caught."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from grader.authoring.exercise_files import (
    handout_problems,
    make_claim,
    oracle_problems,
    read_problems,
    relocated,
    salvage,
)
from grader.authoring.mutants import Mutant, make_mutants
from grader.authoring.verdicts import (
    CANNOT_TELL,
    Grading,
    find_rooms,
    judge_baseline,
    judge_known,
    judge_reference,
    judge_starter,
    what_it_misses,
)
from grader.devices.choose import EMULATED
from grader.errors import SpecError, SpecProblem
from grader.folders import default_cache
from grader.grading.building import build
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import Toolchain, find_toolchain
from grader.records import CheckStatus, DeviceInfo, Score, ShowProgress, Status, Submission
from grader.report.soundness import Claim, Fate, MutantFate, Proof, Soundness
from grader.spec.exercise import Exercise
from grader.spec.reader import root_of
from grader.submission.source_file import read_submission

STARTER, REFERENCE, BASELINE = "starter", "reference", "baseline"
_SURVIVES = re.compile(r"//.*\bsurvives:\s*(?P<why>\S.*)")
"""The author's word, on a line of the reference, that a mutant of this line does no harm, and
why."""
_PLAN_LINE = re.compile(r"^[ \t]*//[ \t]*(?:launch|scratch):.*$", re.MULTILINE)


@dataclass(frozen=True)
class Scope:
    """What is checked: on which device, from which seed, how many programs at once, and how much.

    `submissions` is the folder of the known submissions; `try_mutants` whether mutants are tried,
    which takes longest.
    """

    device: str
    seed: int
    jobs: int
    submissions: Path
    try_mutants: bool = True
    cache: Path | None = None


def default_submissions(folder: Path) -> Path:
    """Where the known submissions of the exercise in `folder` lie."""
    return root_of(folder) / "tests" / "submissions" / folder.absolute().name


def check_exercise(folder: Path, scope: Scope, show: ShowProgress) -> Soundness:
    """Everything that can be told of the exercise in `folder`. UsageError and GraderError as
    `pipeline.grade` raises them."""
    exercise, problems = read_problems(folder)
    found = "its schema, names, formulas, cases, points and thresholds agree"
    spec = make_claim("spec", "has no mistakes", problems, found)
    if exercise is None:
        claims = (spec, *_check_the_rest(folder, scope, show))
        return Soundness(folder.absolute().name, scope.device, claims)
    promises = handout_problems(exercise)
    handout = make_claim("handout", "promises what the spec has", promises, "the same headlines")
    wrong = oracle_problems(exercise, scope.seed)
    claims = (spec, handout, _claim_oracle(wrong))
    if wrong:
        return Soundness(exercise.id, scope.device, claims)
    try:
        return _check_programs(exercise, scope, show, claims)
    except SpecError as error:  # the exercise's own programs, which gradings compare with
        own = make_claim("programs", "compile, run and are right", list(error.problems), "")
        return Soundness(exercise.id, scope.device, (*claims, own))


def _claim_oracle(problems: list[SpecProblem]) -> Claim:
    found = "shapes, dtypes and finite values as the spec says"
    return make_claim("oracle", "computes every case", problems, found)


def _check_the_rest(folder: Path, scope: Scope, show: ShowProgress) -> list[Claim]:
    """Of an exercise with a wrong spec: whether its oracle computes, and whether its reference is
    right."""
    with salvage(folder) as exercise:
        if exercise is None:
            return []
        wrong = oracle_problems(exercise, scope.seed)
        oracle = _claim_oracle([relocated(problem, exercise, folder) for problem in wrong])
        if wrong or exercise.reference_source is None:
            return [oracle]
        files = {REFERENCE: exercise.reference_source}
        grading = Grading(exercise, scope.device, scope.seed, scope.jobs, show, scope.cache)
        score = grading.grade_all(files, "grading the reference")[REFERENCE]
        claim = judge_reference(exercise, score)
        root, own = (str(root_of(each)) for each in (exercise.folder, folder))
        details = tuple(detail.replace(root, own) for detail in claim.details)
        return [oracle, replace(claim, claim="is right", details=details)]


def _check_programs(
    exercise: Exercise, scope: Scope, show: ShowProgress, claims: tuple[Claim, ...]
) -> Soundness:
    grading = Grading(exercise, scope.device, scope.seed, scope.jobs, show, scope.cache)
    known = sorted(scope.submissions.glob("*.cu"))
    with tempfile.TemporaryDirectory(prefix="grade-check-") as name:
        files = {STARTER: exercise.baseline_source, BASELINE: _write_baseline(exercise, Path(name))}
        if exercise.reference_source is not None:
            files[REFERENCE] = exercise.reference_source
        files |= {str(path): path for path in known}
        scores = grading.grade_all(files, "grading starter, reference and known submissions")
    reference, starter = scores.get(REFERENCE), scores[STARTER]
    fates = None
    if scope.try_mutants and reference is not None and reference.status is Status.PASSED:
        fates = try_mutants(exercise, reference, grading)
    claims += (
        judge_reference(exercise, reference),
        judge_starter(starter),
        judge_baseline(scores[BASELINE]),
        judge_known(known, scores, scope.submissions),
        _judge_mutants(exercise, fates, scope),
    )
    device = reference.device if reference else starter.device
    rooms = find_rooms(exercise, reference, starter)
    name = device.name if device else scope.device
    return Soundness(exercise.id, name, claims, rooms, fates)


def _write_baseline(exercise: Exercise, folder: Path) -> Path:
    """The baseline as a submission: the starter, launched as the spec launches the baseline."""
    text = _PLAN_LINE.sub("//", exercise.baseline_source.read_text(encoding="utf-8")).rstrip("\n")
    plan = exercise.baseline_plan
    lines = [f"// scratch: {buffer.text}" for buffer in plan.scratch] + [
        f"// launch: {launch.text}" for launch in plan.launches
    ]
    path = folder / f"{exercise.id}--baseline.cu"
    path.write_text("\n".join([text, *lines, ""]), encoding="utf-8")
    return path


# --- mutants --------------------------------------------------------------------------------------


def try_mutants(exercise: Exercise, reference: Score, grading: Grading) -> tuple[MutantFate, ...]:
    """Grade every mutant of the reference, which got the score `reference`; what each came to."""
    assert exercise.reference_source is not None
    source = read_submission(exercise.reference_source)
    assert isinstance(source, Submission)
    mutants = {f"{number}": mutant for number, mutant in enumerate(make_mutants(source.text))}
    with tempfile.TemporaryDirectory(prefix="grade-check-") as name:
        files = {}
        for label, mutant in mutants.items():
            files[label] = Path(name) / f"{exercise.id}--mutant_{label}.cu"
            files[label].write_text(mutant.text, encoding="utf-8")
        scores = grading.grade_all(files, "grading mutants of the reference", model=False)
    survivors = {
        label: mutants[label] for label, score in scores.items() if is_as_good(score, reference)
    }
    device, identical = reference.device, frozenset[str]()
    if device is not None:
        identical = find_identical(exercise, source, survivors, device, grading.cache)
    return tuple(
        _tell_fate(mutant, scores[label], survived=label in survivors, identical=label in identical)
        for label, mutant in mutants.items()
    )


def is_as_good(score: Score, reference: Score) -> bool:
    """Whether a mutant lost nothing in the checks that it was judged by: no bonus either. Mutants
    are not timed by a model."""
    if score.status is not Status.PASSED:
        return False
    pairs = zip(score.checks, reference.checks, strict=True)
    return all(
        own.points >= best.points
        for own, best in pairs
        if own.status is not CheckStatus.NOT_MEASURED
    )


def find_identical(
    exercise: Exercise,
    source: Submission,
    mutants: dict[str, Mutant],
    device: DeviceInfo,
    cache: Path | None,
) -> frozenset[str]:
    """The labels of the mutants that compile to the same machine code, launched by the same
    plan."""
    where = cache or default_cache(os.environ)
    tools = find_toolchain(prefer_wheel=device.kind == EMULATED, cache=where)
    own = _fingerprint(source, exercise, tools, device.arch)
    return frozenset(
        label
        for label, mutant in mutants.items()
        if _fingerprint(replace(source, text=mutant.text), exercise, tools, device.arch) == own
    )


def _fingerprint(source: Submission, exercise: Exercise, tools: Toolchain, arch: str) -> object:
    """All that decides what a program does: its plan, and its kernels' machine code without line
    numbers."""
    try:
        built = build(source, exercise, tools, arch=arch)
    except SubmissionError:
        return None
    kernels = [
        replace(kernel, instructions=tuple(replace(i, line=None) for i in kernel.instructions))
        for kernel in built.binary.kernels
    ]
    return [launch.text for launch in built.plan.launches], built.macros, kernels


def _tell_fate(mutant: Mutant, score: Score, *, survived: bool, identical: bool) -> MutantFate:
    change, accepted = _shorten(mutant.before, mutant.after), _SURVIVES.search(mutant.before)
    if score.status is Status.COMPILE_ERROR:
        fate, why = Fate.NO_PROGRAM, "it does not compile, and tells nothing"
    elif score.status in CANNOT_TELL or score.status is Status.GRADER_ERROR:
        fate, why = Fate.UNKNOWN, f"{score.status.value}: {score.message}"
    elif not survived:
        fate, why = Fate.CAUGHT, what_it_misses(score)
    elif identical:
        fate, why = Fate.IDENTICAL, "the same machine code as the reference's"
    elif accepted:
        fate, why = Fate.ACCEPTED, f"the author says: {accepted['why']}"
    else:
        fate, why = Fate.SURVIVED, "full marks for all that this device judges"
    return MutantFate(mutant.line, mutant.mistake.value, change, fate, why)


def _shorten(before: str, after: str) -> str:
    """What changed between the two lines, with a few characters around it."""
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b),
        min(len(before), len(after)),
    )
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    first = max(0, start - 14)
    old, new = (text[first : min(len(text), len(text) - end + 10)] for text in (before, after))
    return f"{old} → {new}" if len(old) + len(new) <= 110 else f"{old[:52]}… → {new[:52]}…"


def _judge_mutants(exercise: Exercise, fates: tuple[MutantFate, ...] | None, scope: Scope) -> Claim:
    subject, claim = "mutants", "mistakes put into the reference are caught"
    if fates is None:
        why = "they need a reference that gets full marks"
        found = f"not tried: {why}" if scope.try_mutants else "not tried (--no-mutants)"
        return Claim(subject, claim, Proof.OPEN, found)
    counts = Counter(each.fate for each in fates)
    tried = len(fates) - counts[Fate.NO_PROGRAM] - counts[Fate.IDENTICAL]
    words = [f"{counts[Fate.CAUGHT]} of {tried} are"]
    words += [
        f"{counts[fate]} {fate.value}" for fate in (Fate.ACCEPTED, Fate.UNKNOWN) if counts[fate]
    ]
    survivors = [each for each in fates if each.fate is Fate.SURVIVED]
    if not survivors:
        proof = Proof.HOLDS if counts[Fate.CAUGHT] else Proof.OPEN
        return Claim(subject, claim, proof, "; ".join(words), tuple(_idle_marks(exercise, fates)))
    words += [
        f"{len(survivors)} survived",
        "add a case that tells these apart, or end the line of the reference with"
        " `// survives: why it does no harm`:",
    ]
    details = tuple(f"line {each.line}: {each.mistake}: {each.change}" for each in survivors)
    return Claim(subject, claim, Proof.FAILS, "; ".join(words), details)


def _idle_marks(exercise: Exercise, fates: tuple[MutantFate, ...]) -> Iterator[str]:
    """The lines of the reference that accept a survivor and have none: the mark can go."""
    source = exercise.reference_source
    assert source is not None
    accepted = {each.line for each in fates if each.fate is Fate.ACCEPTED}
    for number, line in enumerate(source.read_text(encoding="utf-8").splitlines(), 1):
        if _SURVIVES.search(line) and number not in accepted:
            yield f"{source}: line {number}: no mutant survives here: take `survives:` out"
