"""Proves an exercise sound: its files are valid, its programs get the expected marks, and mistakes
in its reference are caught."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
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
from grader.authoring.margins import find_margins
from grader.authoring.mutant_fates import judge_mutants, try_mutants
from grader.authoring.verdicts import (
    FAULTLESS,
    Grading,
    judge_baseline,
    judge_known,
    judge_reference,
    judge_starter,
)
from grader.errors import SpecError, SpecProblem
from grader.grading.tools import keep_tools_ready
from grader.records import Options
from grader.report.soundness import Claim, Soundness
from grader.spec.draws import draw_scalars
from grader.spec.exercise import Exercise
from grader.spec.oracle import SharedOracle, load_oracle
from grader.spec.reader import root_of

STARTER, REFERENCE, BASELINE = "starter", "reference", "baseline"
_PLAN_LINE = re.compile(r"^[ \t]*//[ \t]*(?:launch|scratch):.*$", re.MULTILINE)


@dataclass(frozen=True)
class Scope:
    """The programs to check, and how. `options` have a seed; `jobs` programs are graded at the
    same time; `submissions` is the folder of the known submissions; `quick`: only a sample of the
    mutants is tried."""

    options: Options
    jobs: int
    submissions: Path
    try_mutants: bool = True
    quick: bool = False


def default_submissions(folder: Path) -> Path:
    """The folder of the known submissions of the exercise in `folder`."""
    return root_of(folder) / "tests" / "submissions" / folder.absolute().name


def check_exercise(folder: Path, scope: Scope) -> Soundness:
    """All claims about the exercise. UsageError and GraderError as in `grade`."""
    device = str(scope.options.device)
    exercise, problems = read_problems(folder)
    found = "its schema, names, formulas, cases, points and thresholds agree"
    spec = make_claim("spec", "has no mistakes", problems, found)
    if exercise is None:
        claims = (spec, *_check_the_rest(folder, scope))
        return Soundness(folder.absolute().name, device, claims)
    found = "the same headlines, points, goals and sizes"
    handout = make_claim("handout", "agrees with the spec", handout_problems(exercise), found)
    wrong = oracle_problems(exercise, scope.options.fixed_seed)
    claims = (spec, handout, _claim_oracle(wrong))
    if wrong:
        return Soundness(exercise.id, device, claims)
    try:
        with keep_tools_ready():
            return _check_programs(exercise, scope, claims)
    except SpecError as error:  # the exercise's programs, which gradings compare with
        own = make_claim("programs", "compile, run and are right", error.problems, "")
        return Soundness(exercise.id, device, (*claims, own))


def _claim_oracle(problems: Sequence[SpecProblem]) -> Claim:
    found = "shapes, dtypes and finite values as the spec says"
    return make_claim("oracle", "computes every case", problems, found)


def _check_the_rest(folder: Path, scope: Scope) -> list[Claim]:
    """For a wrong spec: whether the oracle computes, and whether the reference is right."""
    with salvage(folder) as exercise:
        if exercise is None:
            return []
        wrong = oracle_problems(exercise, scope.options.fixed_seed)
        oracle = _claim_oracle([relocated(problem, exercise, folder) for problem in wrong])
        if wrong or exercise.reference_source is None:
            return [oracle]
        files = {REFERENCE: exercise.reference_source}
        grading = Grading(exercise, scope.options, scope.jobs)
        score = grading.grade_all(files, "grading the reference")[REFERENCE]
        claim = judge_reference(exercise, score)
        root, own = (str(root_of(each)) for each in (exercise.folder, folder))
        details = tuple(detail.replace(root, own) for detail in claim.details)
        return [oracle, replace(claim, claim="is right", details=details)]


def _check_programs(exercise: Exercise, scope: Scope, claims: tuple[Claim, ...]) -> Soundness:
    oracle = None
    if exercise.program is None:
        oracle = SharedOracle(load_oracle(draw_scalars(exercise, scope.options.fixed_seed)))
    grading = Grading(exercise, scope.options, scope.jobs, oracle)
    known = sorted(scope.submissions.glob("*.cu"))
    with tempfile.TemporaryDirectory(prefix="grade-check-") as name:
        files = {STARTER: _submission_path(exercise, exercise.baseline_source)}
        if exercise.program is None:
            files[BASELINE] = _write_baseline(exercise, Path(name))
        if exercise.reference_source is not None:
            files[REFERENCE] = _submission_path(exercise, exercise.reference_source)
        files |= {str(path): path for path in known}
        scores = grading.grade_all(files, "grading starter, reference and known submissions")
    reference, starter = scores.get(REFERENCE), scores[STARTER]
    fates = None
    if scope.try_mutants and reference is not None and reference.status in FAULTLESS:
        fates = try_mutants(exercise, reference, grading, quick=scope.quick)
    untried = (
        ": they need a reference that gets full marks" if scope.try_mutants else " (--no-mutants)"
    )
    claims += (
        judge_reference(exercise, reference),
        judge_starter(exercise, starter),
        *(judge_baseline(exercise, scores[label]) for label in (BASELINE,) if label in scores),
        judge_known(exercise, known, scores, scope.submissions),
        judge_mutants(exercise, fates, untried=untried, quick=scope.quick),
    )
    device = reference.device if reference else starter.device
    margins = find_margins(exercise, reference, starter)
    name = device.name if device else str(scope.options.device)
    return Soundness(exercise.id, name, claims, margins, fates)


def _submission_path(exercise: Exercise, first: Path) -> Path:
    """A program's file, or the folder of its files."""
    several = exercise.program is not None and len(exercise.program.submit) > 1
    return first.parent if several else first


def _write_baseline(exercise: Exercise, folder: Path) -> Path:
    """The baseline as a submission: the starter with the spec's baseline launch."""
    text = _PLAN_LINE.sub("//", exercise.baseline_source.read_text(encoding="utf-8")).rstrip("\n")
    plan = exercise.baseline_plan
    lines = [f"// scratch: {buffer.text}" for buffer in plan.scratch] + [
        f"// launch: {line}" for line in plan.lines
    ]
    path = folder / f"{exercise.id}--baseline.cu"
    path.write_text("\n".join([text, *lines, ""]), encoding="utf-8")
    return path
