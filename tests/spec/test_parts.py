"""Reading what goes beyond one task with fixed goals: parts, comparisons, relative thresholds,
derived tolerances."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.errors import SpecError
from grader.records import Role
from grader.spec.exercise import ComparedWith, Float32Sum, Forbidden, Initialisation, Tolerance
from grader.spec.reader import read_exercise
from grader.spec.whole_program_rules import whole_program_problems

from .test_reader import ORACLE, SPEC, Spec, drop, problems_of, put, write_exercise

PART: Spec = {
    "title": "Scale in place",
    "sizes": {"k": "elements"},
    "buffers": [
        {"name": "z", "dtype": "float32", "shape": ["k"], "role": "output", "init": "normal"}
    ],
    "default_plan": {"launch": ["in_place<<<ceil_div(k, TILE), TILE>>>(z, k)"]},
    "cases": {
        "public": [{"name": "small", "sizes": {"k": 4}}],
        "hidden": [{"name": "drawn", "sizes": {"k": [5, 7]}}],
    },
    "tolerance": "exact",
}
PART_CHECK: Spec = {
    "metric": "correctness",
    "part": "in_place",
    "name": "in_place",
    "title": "In place",
    "points": 5,
    "bonus": True,
    "at_least": 1,
}
SUM_SPEC: Spec = copy.deepcopy(SPEC)
SUM_SPEC["tolerance"] = {"float32_sum": "n"}
del SUM_SPEC["cases"]["public"][0]["init"]
PARTS_SPEC: Spec = {**SPEC, "parts": {"in_place": PART}, "checks": [*SPEC["checks"], PART_CHECK]}
PARTS_ORACLE = (
    ORACLE + "\ndef expected_in_place(inputs, sizes):\n    return {'z': inputs['z'] * 2.0}\n"
)


def test_reads_a_part(tmp_path: Path) -> None:
    exercise = read_exercise(write_exercise(tmp_path, PARTS_SPEC, oracle=PARTS_ORACLE))
    [part] = exercise.parts
    assert (part.name, part.title, part.size_names, part.tolerance) == (
        "in_place",
        "Scale in place",
        ("k",),
        Tolerance(),
    )
    assert (part.buffers[0].role, part.buffers[0].init) == (Role.OUTPUT, Initialisation.NORMAL)
    assert (exercise.checks[-1].part, exercise.checks[-1].name, exercise.max_score) == (
        "in_place",
        "in_place",
        100,
    )


def test_a_part_forbids_for_itself(tmp_path: Path) -> None:
    spec = copy.deepcopy(PARTS_SPEC)
    spec["parts"]["in_place"]["forbid"] = {"scratch_bytes_above": "4 * k"}
    exercise = read_exercise(write_exercise(tmp_path, spec, oracle=PARTS_ORACLE))
    most = exercise.parts[0].forbid.scratch_bytes_above
    assert most is not None
    assert most.evaluate({"k": 3}) == 12
    assert exercise.forbid == Forbidden()


def test_reads_a_tolerance_for_sums(tmp_path: Path) -> None:
    tolerance = read_exercise(write_exercise(tmp_path, SUM_SPEC)).tolerance
    assert isinstance(tolerance, Float32Sum)
    assert tolerance.terms.evaluate({"n": 5}) == 5


def test_reads_relative_thresholds_and_comparisons(tmp_path: Path) -> None:
    spec = copy.deepcopy(SPEC)
    spec["comparisons"] = {"blocked": {"launch": ["blocked<TILE><<<n, TILE>>>(y, x, n)"]}}
    spec["checks"][1]["relative_to"] = "reference"
    spec["checks"][1]["overrides"]["t4"]["relative_to"] = "baseline"
    exercise = read_exercise(write_exercise(tmp_path, spec))
    assert exercise.comparisons["blocked"].launches[0].kernel.name == "blocked"
    assert exercise.checks[1].threshold.relative_to is ComparedWith.REFERENCE
    assert (exercise.checks[1].overrides or {})["t4"].relative_to is ComparedWith.BASELINE


def test_max_score_may_be_another(tmp_path: Path) -> None:
    spec = copy.deepcopy(SPEC)
    spec["max_score"], spec["checks"][0]["points"] = 35, 5
    assert read_exercise(write_exercise(tmp_path, spec)).max_score == 35


PART_MISTAKES = [
    (
        put("parts", "in_place", "default_plan", "launch", 0, value="f<<<n, 1>>>(z, k)"),
        "$.parts.in_place.default_plan.launch[0]",
        "'n' is",
    ),
    (
        put("parts", "in_place", "buffers", 0, "shape", 0, value="n"),
        "$.parts.in_place.buffers[0].shape[0]",
        "'n' is not known here",
    ),
    (
        put("parts", "in_place", "cases", "public", 0, "sizes", "n", value=1),
        "$.parts.in_place.cases.public[0].sizes.n",
        "no size 'n'",
    ),
    (
        put("parts", "in_place", "cases", "hidden", 0, "name", value="small"),
        "$.parts.in_place.cases.hidden[0].name",
        "two cases",
    ),
    (
        put("parts", "in_place", "cases", "public", 0, "sizes", "k", value=2**31 - 1),
        "$.parts.in_place.cases.public[0]",
        "4 GiB",
    ),
    (
        put("parts", "in_place", "tolerance", value={"float32_sum": "kk"}),
        "$.parts.in_place.tolerance.float32_sum",
        "did you mean 'k'?",
    ),
    (
        put("parts", "in_place", "forbid", value={"atomics": "al"}),
        "$.parts.in_place.forbid.atomics",
        "did you mean 'all'?",
    ),
    (
        put("parts", "in_place", "forbid", value={"scratch_bytes_above": "n"}),
        "$.parts.in_place.forbid.scratch_bytes_above",
        "'n' is not",
    ),
    (
        put("parts", "in_place", "titel", value="x"),
        "$.parts.in_place.titel",
        "did you mean 'title'?",
    ),
    (put("checks", 3, "part", value="in_plaec"), "$.checks[3].part", "did you mean 'in_place'?"),
    (
        put("checks", 3, "metric", value="global_load_sectors"),
        "$.checks[3].metric",
        "judged for its correctness only",
    ),
    (drop("checks", 3), "$.parts.in_place", "no check judges this part"),
    (
        put("checks", 0, "part", value="in_place"),
        "$.checks[0].part",
        "the first check must be the correctness of the exercise itself",
    ),
]


@pytest.mark.parametrize(
    ("edit", "path", "words"),
    PART_MISTAKES,
    ids=[f"{path} {words}" for _, path, words in PART_MISTAKES],
)
def test_a_mistake_in_a_part_has_its_path(
    tmp_path: Path, edit: Callable[[Spec], None], path: str, words: str
) -> None:
    spec = copy.deepcopy(PARTS_SPEC)
    edit(spec)
    found = problems_of(write_exercise(tmp_path, spec, oracle=PARTS_ORACLE))
    assert any(got_path == path and words in message for got_path, message in found), found


def test_a_part_needs_an_oracle_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"there is no function expected_in_place\(inputs, sizes\)"):
        read_exercise(write_exercise(tmp_path, PARTS_SPEC))


def test_float32_sum_is_refused_where_it_was_not_derived(tmp_path: Path) -> None:
    spec = copy.deepcopy(SUM_SPEC)
    spec["cases"]["hidden"][0]["init"] = "index"
    spec["buffers"][0]["dtype"] = "float16"
    assert problems_of(write_exercise(tmp_path, spec)) == [
        (
            "$.cases.hidden[0].init",
            (
                "the tolerance float32_sum is derived for normal or small_integers inputs, not for"
                " index: use one of these"
            ),
        ),
        ("$.buffers[0].dtype", "the tolerance float32_sum is for float32 outputs, not for float16"),
    ]


def test_a_formula_of_the_least_work_has_a_message() -> None:
    spec = {"program": {"least": {"threads": "n / 0"}, "measured": {"sizes": {"n": 4}}}}
    assert [problem.message for problem in whole_program_problems(spec, Path())][-1] == (
        "column 3: division by zero"
    )
