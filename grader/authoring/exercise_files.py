"""Checks an exercise without a grading: its spec and its oracle; all mistakes at once."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from grader.errors import SpecError, SpecProblem
from grader.grading.cases import BENCHMARK
from grader.report.soundness import Claim, Proof
from grader.spec.draws import draw_cases, make_inputs
from grader.spec.exercise import Case, Exercise, Part, Task
from grader.spec.oracle import load_oracle
from grader.spec.oracle_module import ask_oracle
from grader.spec.reader import SPEC_FILE, read_exercise, root_of
from grader.spec.whole_program import ExpectedFrom, WholeProgram

_STAND_INS: Mapping[str, object] = {
    "checks": [{"metric": "correctness", "title": "correctness", "points": 100, "at_least": 1}],
    "useful_bytes": "1",
    "tolerance": {"absolute": 1e-3, "relative": 1e-3},
}
"""Fields that can be replaced when they are wrong, so that the oracle and the reference are still
tried."""
_LEFT_OUT = ("useful_flops", "comparisons", "parts", "max_score")


def read_problems(folder: Path) -> tuple[Exercise | None, list[SpecProblem]]:
    """The exercise, None where its files are wrong, and all mistakes of its spec."""
    try:
        exercise = read_exercise(folder)
    except SpecError as error:
        return None, list(error.problems)
    return exercise, []


@contextmanager
def salvage(folder: Path) -> Iterator[Exercise | None]:
    """The exercise with stand-ins for the parts of its spec that the computation does not need;
    None where the rest is wrong too."""
    with tempfile.TemporaryDirectory(prefix="grade-check-") as name:
        root, id_ = Path(name), folder.absolute().name
        copy = root / "exercises" / id_
        try:
            shutil.copytree(folder, copy)
            for place in ("starter", "solutions"):
                _copy_if_there(root_of(folder) / place / f"{id_}.cu", root / place)
            document = json.loads((copy / SPEC_FILE).read_text(encoding="utf-8"))
            kept = {field: value for field, value in document.items() if field not in _LEFT_OUT}
            (copy / SPEC_FILE).write_text(json.dumps(kept | dict(_STAND_INS)), encoding="utf-8")
            exercise: Exercise | None = read_exercise(copy)
        except (SpecError, OSError, ValueError, AttributeError):
            exercise = None
        yield exercise


def oracle_problems(exercise: Exercise, seed: int) -> list[SpecProblem]:
    """The mistakes when the oracle computes all cases and the emulated benchmark: each once, at its
    first place."""
    if exercise.program is not None:
        return _program_problems(exercise, exercise.program, seed)
    problems = _task_problems(exercise, None, "$", seed)
    for part in exercise.parts:
        problems += _task_problems(exercise, part, f"$.parts.{part.name}", seed)
    return problems


def _program_problems(exercise: Exercise, program: WholeProgram, seed: int) -> list[SpecProblem]:
    """The mistakes when the oracle computes all runs."""
    if program.expected is not ExpectedFrom.ORACLE:
        return []
    runs = [(program.runs[case.name], case.sizes) for case in draw_cases(exercise, seed)]
    found: dict[SpecProblem, None] = {}
    for run, sizes in (*runs, (program.measured, program.measured_sizes)):
        try:
            ask_oracle(exercise.folder, run.input_at(sizes), program.outputs)
        except SpecError as error:
            found |= dict.fromkeys(error.problems)
    return list(found)


def _task_problems(
    exercise: Exercise, part: Part | None, path: str, seed: int
) -> list[SpecProblem]:
    found: dict[str, SpecProblem] = {}
    try:
        oracle = load_oracle(exercise, part)
    except SpecError as error:
        return list(error.problems)
    places = list(_cases(part or exercise, path, seed))
    if part is None:
        places.append(
            ("$.benchmark.emulated", Case(BENCHMARK, exercise.benchmark["emulated"], hidden=False))
        )
    for place, case in places:
        try:
            oracle.check(make_inputs(part or exercise, case, seed), case.sizes)
        except SpecError as error:
            for problem in error.problems:
                found.setdefault(
                    re.sub(r"\d+", "", problem.message),
                    SpecProblem(problem.file, "", f"{problem.message} (at {place})"),
                )
    return list(found.values())


def make_claim(subject: str, claim: str, problems: list[SpecProblem], found: str) -> Claim:
    """The claim that there are no problems; `found` describes the valid files."""
    if not problems:
        return Claim(subject, claim, Proof.HOLDS, found)
    count = f"{len(problems)} mistake{'s' if len(problems) > 1 else ''}"
    return Claim(subject, claim, Proof.FAILS, count, tuple(map(str, problems)))


def _cases(task: Task, path: str, seed: int) -> Iterator[tuple[str, Case]]:
    """All cases of the exercise or a part, with their JSON paths."""
    public = len(task.public_cases)
    for index, case in enumerate(draw_cases(task, seed)):
        place = f"hidden[{index - public}]" if case.hidden else f"public[{index}]"
        yield f"{path}.cases.{place}", case


def _copy_if_there(path: Path, folder: Path) -> None:
    if path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder)


def relocated(problem: SpecProblem, exercise: Exercise, folder: Path) -> SpecProblem:
    """A problem of a salvaged copy, with the paths of the exercise in `folder`."""
    return SpecProblem(
        problem.file.replace(str(exercise.folder), str(folder)), problem.path, problem.message
    )
