"""Checks an exercise without a grading: its spec, its oracle and the promises of its handout; all
mistakes at once."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.errors import SpecError, SpecProblem
from grader.grading.cases import BENCHMARK
from grader.metrics import METRICS, TIMED
from grader.report.soundness import Claim, Proof
from grader.spec.draws import draw_cases, make_inputs
from grader.spec.exercise import Case, CheckSpec, Exercise, Part, Task
from grader.spec.oracle import load_oracle
from grader.spec.oracle_module import ask_oracle
from grader.spec.public import HANDOUT_FILE
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
_POINTS = re.compile(r"^## Points\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| *(\d+(?:\.\d+)?) *\|(.+)\|$", re.MULTILINE)
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def read_problems(folder: Path) -> tuple[Exercise | None, list[SpecProblem]]:
    """The exercise, None where its files are wrong, and all mistakes of its spec."""
    try:
        return read_exercise(folder), []
    except SpecError as error:
        return None, list(error.problems)


@contextmanager
def salvage(folder: Path) -> Iterator[Exercise | None]:
    """The exercise with stand-ins for unneeded parts of its spec; None if the rest is wrong too."""
    with tempfile.TemporaryDirectory(prefix="grade-check-") as name:
        root, id_ = Path(name), folder.absolute().name
        copy = root / "exercises" / id_
        try:
            shutil.copytree(folder, copy)
            for place in ("starter", "solutions"):
                (root / place).mkdir()
                with suppress(FileNotFoundError):
                    shutil.copy(root_of(folder) / place / f"{id_}.cu", root / place)
            document = json.loads((copy / SPEC_FILE).read_text(encoding="utf-8"))
            kept = {field: value for field, value in document.items() if field not in _LEFT_OUT}
            (copy / SPEC_FILE).write_text(json.dumps(kept | dict(_STAND_INS)), encoding="utf-8")
            exercise: Exercise | None = read_exercise(copy)
        except (SpecError, OSError, ValueError, AttributeError):
            exercise = None
        yield exercise


def oracle_problems(exercise: Exercise, seed: int) -> list[SpecProblem]:
    """The mistakes in all cases and the emulated benchmark: each once, at its first place."""
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
    found: list[SpecProblem] = []
    for run, sizes in (*runs, (program.measured, program.measured_sizes)):
        try:
            ask_oracle(exercise.folder, run.input_at(sizes), program.outputs)
        except SpecError as error:
            found += error.problems
    return list(dict.fromkeys(found))


def _task_problems(
    exercise: Exercise, part: Part | None, path: str, seed: int
) -> list[SpecProblem]:
    found: dict[str, SpecProblem] = {}
    try:
        oracle = load_oracle(exercise, part)
    except SpecError as error:
        return list(error.problems)
    task = part or exercise
    places = list(_cases(task, path, seed))
    if part is None:
        timed = Case(BENCHMARK, exercise.benchmark["emulated"], hidden=False)
        places.append(("$.benchmark.emulated", timed))
    for place, case in places:
        try:
            oracle.check(make_inputs(task, case, seed), case.sizes)
        except SpecError as error:
            for problem in error.problems:
                placed = SpecProblem(problem.file, "", f"{problem.message} (at {place})")
                found.setdefault(re.sub(r"\d+", "", problem.message), placed)
    return list(found.values())


def make_claim(subject: str, claim: str, problems: Sequence[SpecProblem], found: str) -> Claim:
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


def relocated(problem: SpecProblem, exercise: Exercise, folder: Path) -> SpecProblem:
    """A problem of a salvaged copy, with the paths of the exercise in `folder`."""
    return SpecProblem(
        problem.file.replace(str(exercise.folder), str(folder)), problem.path, problem.message
    )


def handout_problems(exercise: Exercise) -> list[SpecProblem]:
    """Promised lines of the handout that the spec lacks, lines of the spec that the handout lacks,
    and points, goals and sizes of its section "Points" that differ from the spec's."""
    path = exercise.folder / HANDOUT_FILE
    if not path.is_file():
        return [SpecProblem(str(path), "", "this file is missing: it is the handout")]
    text, file = path.read_text(encoding="utf-8"), str(path)
    differing = (SpecProblem(file, "", each) for each in _find_differences(text, exercise))
    return [*_compare_headlines(text, exercise, file), *differing]


def _compare_headlines(text: str, exercise: Exercise, path: str) -> Iterator[SpecProblem]:
    promised = re.findall(r"^✓ ([^:\n]+): PASSED", text, flags=re.MULTILINE)
    given = [check.headline for check in exercise.checks]
    for label in promised:
        if label not in given:
            message = f"it promises the line '✓ {label}: PASSED'; no check of the spec has that"
            yield SpecProblem(path, "", f"{message} headline")
    for index, label in enumerate(given):
        if label and label not in promised:
            message = f"the handout does not promise the line '✓ {label}: PASSED'"
            spec = str(exercise.folder / SPEC_FILE)
            yield SpecProblem(spec, f"$.checks[{index}].headline", message)


def _find_differences(text: str, exercise: Exercise) -> Iterator[str]:
    """Messages about the section "Points". Without a table of points it promises nothing."""
    found = _POINTS.search(text)
    rows = _ROW.findall(found[1]) if found else []
    if not found or not rows:
        return
    if len(rows) != len(exercise.checks):
        yield f"its table of points has {len(rows)} rows, the spec {len(exercise.checks)} checks"
        return
    for check, (points, rest) in zip(exercise.checks, rows, strict=True):
        cells = [cell.strip() for cell in rest.split("|")]
        place = f"its table of points, {check.headline or check.title}"
        if float(points) != check.points:
            yield f"{place}: {points} points, in the spec {check.points:g}"
        if len(cells) == 3:
            yield from (f"{place}: {each}" for each in _compare_goal(check, *cells[1:]))
    if not exercise.program and any(check.metric in TIMED for check in exercise.checks):
        named = {_plain(number) for number in _NUMBER.findall(found[1])}
        for name, size in exercise.benchmark["gpu"].items():
            if str(size) not in named:
                yield f'"Points" does not name the size of the timed run, {name} = {size:,}'


def _compare_goal(check: CheckSpec, goal: str, partial: str) -> Iterator[str]:
    threshold, full = check.threshold, check.threshold.full_mark
    wrong = "at most" if threshold.at_least is not None else "at least"
    if wrong in goal or not _names(goal, full, check):
        field = "at_most" if threshold.at_least is None else "at_least"
        yield f"the goal is '{goal}', in the spec {field} is {full:g}"
    if threshold.zero_at is None and _NUMBER.search(partial):
        yield f"partial credit is '{partial}', and the spec has no zero_at"
    if threshold.zero_at is not None and not _names(partial, threshold.zero_at, check):
        yield f"partial credit is '{partial}', in the spec zero_at is {threshold.zero_at:g}"


def _names(cell: str, figure: float, check: CheckSpec) -> bool:
    """Whether the text of a cell has the figure: also as a percentage. Words alone can mean 0 or 1:
    `none`, `all cases`."""
    fraction = METRICS[check.metric].is_fraction
    percent = fraction or check.threshold.relative_to is not None
    wanted = {f"{figure:.6g}", *([f"{100 * figure:.6g}"] if percent else [])}
    numbers = {_plain(number) for number in _NUMBER.findall(cell)}
    return bool(wanted & numbers) or (not numbers and figure in (0, 1))


def _plain(number: str) -> str:
    """A number without separators of thousands, in the form of `_names`."""
    value = float(number.replace(",", ""))
    return str(int(value)) if value.is_integer() else f"{value:.6g}"
