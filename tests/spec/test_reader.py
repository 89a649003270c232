"""Reading an exercise: a sound one, and every kind of broken one with the exact JSON paths of its
mistakes."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.errors import SpecError
from grader.records import Role
from grader.spec.draws import draw_scalars, scalars_of
from grader.spec.exercise import Atomics, Exercise, Forbidden, Initialisation, Threshold
from grader.spec.reader import read_exercise

Spec = dict[str, Any]

STARTER = """
#define TILE 32
#define SQUARE(x) ((x) * (x))
// #define COMMENTED 4
__global__ void naive(float* y, const float* x, int n) {}
template <int T> __global__ void __launch_bounds__(256) blocked(float* y, const float* x, int n) {}
"""

ORACLE = "def expected(inputs, sizes):\n    return {'y': inputs['x'] * 2.0}\n"

SPEC: Spec = {
    "schema_version": 1,
    "title": "Scale a matrix",
    "sizes": {"n": "rows", "m": "columns"},
    "buffers": [
        {"name": "y", "dtype": "float32", "shape": ["n", "m"], "role": "output"},
        {"name": "x", "dtype": "float32", "shape": ["n", "m"], "role": "input", "init": "normal"},
    ],
    "default_plan": {"launch": ["blocked<TILE><<<ceil_div(n, TILE), TILE>>>(y, x, n)"]},
    "baseline_plan": {
        "launch": ["naive<<<n, 32>>>(tmp, x, n)", "naive<<<n, 32>>>(y, tmp, n)"],
        "scratch": ["float tmp[n * m]"],
    },
    "cases": {
        "public": [{"name": "small", "sizes": {"n": 4, "m": 5}, "init": "index"}],
        "hidden": [
            {"name": "drawn", "sizes": {"n": {"from": 2, "to": 9}, "m": [3, 5, 7]}},
            {"name": "fixed", "sizes": {"n": 1, "m": 1}},
        ],
    },
    "tolerance": {"absolute": 1e-6, "relative": 1e-5},
    "benchmark": {"gpu": {"n": 4096, "m": 4096}, "emulated": {"n": 256, "m": 256}},
    "useful_bytes": "8 * n * m",
    "useful_flops": "n * m",
    "limits": {"processor_seconds": 30, "wall_seconds": 10, "compile_seconds": 20.5},
    "checks": [
        {
            "metric": "correctness",
            "title": "Right",
            "headline": "Correctness",
            "points": 70,
            "at_least": 1,
        },
        {
            "metric": "bandwidth_fraction",
            "title": "Fast",
            "points": 30,
            "at_least": 0.8,
            "zero_at": 0.4,
            "requires": ["correctness"],
            "overrides": {"t4": {"at_least": 0.7, "zero_at": 0.3, "why": "a copy reaches no more"}},
        },
        {
            "metric": "shared_bank_conflicts",
            "name": "no_conflicts",
            "title": "No conflicts",
            "points": 10,
            "at_most": 0,
            "requires": ["correctness", "bandwidth_fraction"],
            "bonus": True,
            "hint": "Pad.",
        },
    ],
}

ANSWERS: Spec = {
    "metric": "predictions",
    "title": "Answers",
    "points": 5,
    "at_least": 1,
    "bonus": True,
}


def write_exercise(
    root: Path,
    spec: Spec | str = SPEC,
    *,
    oracle: str | None = ORACLE,
    starter: str | None = STARTER,
) -> Path:
    folder = root / "exercises" / "scale"
    folder.mkdir(parents=True)
    (folder / "spec.json").write_text(spec if isinstance(spec, str) else json.dumps(spec))
    if oracle is not None:
        (folder / "oracle.py").write_text(oracle)
    if starter is not None:
        (root / "starter").mkdir()
        (root / "starter" / "scale.cu").write_text(starter)
    return folder


def problems_of(folder: Path) -> list[tuple[str, str]]:
    with pytest.raises(SpecError) as caught:
        read_exercise(folder)
    return [(problem.path, problem.message) for problem in caught.value.problems]


def read_broken(root: Path, edit: Callable[[Spec], object]) -> list[tuple[str, str]]:
    spec = copy.deepcopy(SPEC)
    edit(spec)
    return problems_of(write_exercise(root, spec))


# --- a sound exercise -----------------------------------------------------------------------------


def test_reads_a_sound_exercise(tmp_path: Path) -> None:
    exercise = read_exercise(write_exercise(tmp_path))

    assert isinstance(exercise, Exercise)
    assert (exercise.id, exercise.title, exercise.size_names) == (
        "scale",
        "Scale a matrix",
        ("n", "m"),
    )
    assert [(buffer.name, buffer.role, buffer.init) for buffer in exercise.buffers] == [
        ("y", Role.OUTPUT, None),
        ("x", Role.INPUT, Initialisation.NORMAL),
    ]
    assert exercise.default_plan.launches[0].kernel.name == "blocked"
    assert [launch.text for launch in exercise.baseline_plan.launches] == SPEC["baseline_plan"][
        "launch"
    ]
    assert exercise.baseline_plan.scratch[0].name == "tmp"
    assert (exercise.public_cases[0].init, exercise.public_cases[0].hidden) == (
        Initialisation.INDEX,
        False,
    )
    assert [dict(case.choices) for case in exercise.hidden_cases] == [
        {"n": range(2, 10), "m": (3, 5, 7)},
        {"n": (1,), "m": (1,)},
    ]
    assert (exercise.tolerance.absolute, exercise.tolerance.relative, exercise.tolerance.exact) == (
        1e-6,
        1e-5,
        False,
    )
    assert exercise.benchmark["emulated"] == {"n": 256, "m": 256}
    assert exercise.useful_bytes.evaluate({"n": 2, "m": 3}) == 48
    assert (exercise.limits.processor_seconds, exercise.limits.compile_seconds) == (30, 20.5)


def test_scalars_have_a_value_or_the_seeds(tmp_path: Path) -> None:
    spec = copy.deepcopy(SPEC)
    spec["scalars"] = [
        {"name": "alpha", "dtype": "float32", "value": 0.1},
        {"name": "beta", "dtype": "float32", "from": -1, "to": 1},
        {"name": "count", "dtype": "int32", "from": 3, "to": 5},
    ]
    exercise = read_exercise(write_exercise(tmp_path, spec))
    drawn = [scalars_of(draw_scalars(exercise, seed)) for seed in range(20)]
    assert {float(each["alpha"]) for each in drawn} == {float(np.float32(0.1))}
    assert len({float(each["beta"]) for each in drawn}) == 20
    assert all(-1 <= each["beta"] <= 1 for each in drawn)
    assert {int(each["count"]) for each in drawn} == {3, 4, 5}
    assert drawn[7] == scalars_of(draw_scalars(exercise, 7))
    assert {each["count"].dtype.name for each in drawn} == {"int32"}


def test_forbids_nothing_unless_the_spec_does(tmp_path: Path) -> None:
    assert read_exercise(write_exercise(tmp_path)).forbid == Forbidden()


def test_reads_what_is_forbidden(tmp_path: Path) -> None:
    limits = {"scratch_bytes_above": "0", "device_variable_bytes_above": 64}
    forbid = {**limits, "atomics": "global", "headers": ["cub", "mma.h", "thrust/sort.h"]}
    read = read_exercise(write_exercise(tmp_path, {**SPEC, "forbid": forbid})).forbid
    assert read.scratch_bytes_above is not None
    assert read.scratch_bytes_above.evaluate({}) == 0
    assert (read.device_variable_bytes_above, read.atomics, read.headers) == (
        64,
        Atomics.GLOBAL,
        ("cub", "mma.h", "thrust/sort.h"),
    )


def test_reads_the_checks(tmp_path: Path) -> None:
    correctness, bandwidth, conflicts = read_exercise(write_exercise(tmp_path)).checks

    assert (correctness.name, correctness.headline, correctness.requires, correctness.bonus) == (
        "correctness",
        "Correctness",
        (),
        False,
    )
    assert bandwidth.threshold == Threshold(at_least=0.8, zero_at=0.4)
    assert bandwidth.overrides == {"t4": Threshold(at_least=0.7, zero_at=0.3)}
    assert (conflicts.name, conflicts.metric, conflicts.bonus, conflicts.hint) == (
        "no_conflicts",
        "shared_bank_conflicts",
        True,
        "Pad.",
    )
    assert conflicts.threshold == Threshold(at_most=0)


def test_bonus_points_are_not_part_of_the_maximum(tmp_path: Path) -> None:
    assert read_exercise(write_exercise(tmp_path)).max_score == 100


def test_exact_is_a_tolerance(tmp_path: Path) -> None:
    assert read_exercise(write_exercise(tmp_path, {**SPEC, "tolerance": "exact"})).tolerance.exact


def test_the_reference_may_be_absent(tmp_path: Path) -> None:
    folder = write_exercise(tmp_path)
    assert read_exercise(folder).reference_source is None
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "scale.cu").write_text("")
    assert read_exercise(folder).reference_source == tmp_path / "solutions" / "scale.cu"


def test_finds_the_starter_from_inside_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write_exercise(tmp_path))
    exercise = read_exercise(Path())
    assert (exercise.id, exercise.baseline_source) == ("scale", tmp_path / "starter" / "scale.cu")


# --- one mistake: its path and its words ----------------------------------------------------------


def put(*place: str | int, value: object) -> Callable[[Spec], None]:
    """An edit that puts a value at a place of the spec."""

    def edit(spec: Spec) -> None:
        target: Any = spec
        for step in place[:-1]:
            target = target[step]
        target[place[-1]] = value

    return edit


def drop(*place: str | int) -> Callable[[Spec], None]:
    """An edit that removes the field at a place of the spec."""

    def edit(spec: Spec) -> None:
        target: Any = spec
        for step in place[:-1]:
            target = target[step]
        del target[place[-1]]

    return edit


def add_buffer(name: str) -> Callable[[Spec], None]:
    """An edit that adds an output of this name."""
    return lambda spec: spec["buffers"].append({**SPEC["buffers"][0], "name": name})


def drop_correctness(spec: Spec) -> None:
    spec["checks"] = [{**check, "requires": []} for check in spec["checks"][1:]]
    spec["checks"][0]["points"] = 100


SCHEMA_MISTAKES = [
    (drop("title"), "$.title", "this field is missing"),
    (drop("checks", 1, "points"), "$.checks[1].points", "this field is missing"),
    (
        put("flavour", value="red"),
        "$.flavour",
        "there is no field 'flavour'; the fields here are $schema,",
    ),
    (
        put("checks", 1, "heading", value="x"),
        "$.checks[1].heading",
        "there is no field 'heading'; did you mean 'headline'?",
    ),
    (put("schema_version", value=2), "$.schema_version", "must be 1, got 2"),
    (put("title", value=7), "$.title", "must be a text in quotes, got 7"),
    (put("title", value=""), "$.title", "must not be empty"),
    (put("sizes", value={}), "$.sizes", "must not be empty"),
    (
        put("sizes", value={"2n": "x", "n": "rows", "m": "columns"}),
        "$['2n']",
        "must be a C identifier",
    ),
    (put("buffers", 1, "dtype", value="flaot32"), "$.buffers[1].dtype", "did you mean 'float32'?"),
    (
        put("buffers", 1, "init", value="random"),
        "$.buffers[1].init",
        "must be one of normal, uniform, positive, small_integers",
    ),
    (put("buffers", 0, "shape", value="n"), "$.buffers[0].shape", 'must be a list [ ], got "n"'),
    (put("cases", "public", value=[]), "$.cases.public", "must not be empty"),
    (
        put("cases", "public", 0, "sizes", "n", value=0),
        "$.cases.public[0].sizes.n",
        "must be at least 1, got 0",
    ),
    (
        put("cases", "public", 0, "sizes", "n", value=1.5),
        "$.cases.public[0].sizes.n",
        "must be a whole number, got 1.5",
    ),
    (
        put("cases", "hidden", 0, "sizes", "n", value={"from": 1, "till": 3}),
        "$.cases.hidden[0].sizes.n.to",
        "this field is missing",
    ),
    (
        put("cases", "hidden", 0, "sizes", "m", value=[]),
        "$.cases.hidden[0].sizes.m",
        "must not be empty",
    ),
    (
        put("cases", "hidden", 0, "sizes", "m", value=["3"]),
        "$.cases.hidden[0].sizes.m[0]",
        'must be a whole number, got "3"',
    ),
    (put("tolerance", value="exactly"), "$.tolerance", 'must be "exact", got "exactly"'),
    (put("tolerance", "relative", value=-1), "$.tolerance.relative", "must be at least 0, got -1"),
    (drop("benchmark", "gpu"), "$.benchmark.gpu", "this field is missing"),
    (put("limits", "wall_seconds", value=0), "$.limits.wall_seconds", "must be more than 0, got 0"),
    (
        put("limits", "wall_seconds", value=86401),
        "$.limits.wall_seconds",
        "must be at most 86400, got 86401",
    ),
    (
        put("limits", "compile_seconds", value=1e300),
        "$.limits.compile_seconds",
        "must be at most 86400",
    ),
    (
        put("limits", "processor_seconds", value=86401),
        "$.limits.processor_seconds",
        "must be at most 86400",
    ),
    (put("checks", 1, "points", value=0), "$.checks[1].points", "must be more than 0, got 0"),
    (put("checks", 1, "points", value=-3), "$.checks[1].points", "must be more than 0, got -3"),
    (
        put("checks", 1, "at_least", value="0.8"),
        "$.checks[1].at_least",
        'must be a number, got "0.8"',
    ),
    (
        put("checks", 1, "overrides", "t4", value={"at_least": 0.7}),
        "$.checks[1].overrides.t4.why",
        "this field is missing",
    ),
    (
        put("checks", 1, "relative_to", value="basline"),
        "$.checks[1].relative_to",
        "did you mean 'baseline'?",
    ),
    (
        put("tolerance", value={"float32_sum": 3}),
        "$.tolerance.float32_sum",
        "must be a text in quotes, got 3",
    ),
    (
        put("tolerance", value={"float32_sum": "n", "relative": 1}),
        "$.tolerance.relative",
        "there is no field 'relative'",
    ),
    (
        put("tolerance", value={"float32_sum": "k"}),
        "$.tolerance.float32_sum",
        "column 1: 'k' is not known here",
    ),
    (
        put("tolerance", value={"float32_sum": "n - 4"}),
        "$.tolerance.float32_sum",
        "not positive, at the sizes of $.cases.public[0]",
    ),
    (put("max_score", value="100"), "$.max_score", 'must be a number, got "100"'),
    (put("comparisons", value={"Tiled": SPEC["default_plan"]}), "$.Tiled", "must be a short name"),
    (put("checks", 1, value="fast"), "$.checks[1]", 'must be an object { }, got "fast"'),
    (put("forbid", value={}), "$.forbid", "must not be empty"),
    (
        put("forbid", value={"atomic": "all"}),
        "$.forbid.atomic",
        "there is no field 'atomic'; did you mean 'atomics'?",
    ),
    (
        put("forbid", value={"atomics": True}),
        "$.forbid.atomics",
        "must be one of global, all, got true",
    ),
    (
        put("forbid", value={"scratch_bytes_above": 0}),
        "$.forbid.scratch_bytes_above",
        "must be a text in quotes, got 0",
    ),
    (
        put("forbid", value={"device_variable_bytes_above": "0"}),
        "$.forbid.device_variable_bytes_above",
        "must be a whole number, got",
    ),
    (
        put("forbid", value={"device_variable_bytes_above": -1}),
        "$.forbid.device_variable_bytes_above",
        "must be at least 0, got -1",
    ),
    (put("forbid", value={"headers": []}), "$.forbid.headers", "must not be empty"),
    (
        put("forbid", value={"headers": ["cub", "cub"]}),
        "$.forbid.headers",
        "the same item is listed twice",
    ),
    (
        put("forbid", value={"headers": ["<cub/cub.cuh>"]}),
        "$.forbid.headers[0]",
        "must be the name of a header, or of its folder",
    ),
    (
        put("forbid", value={"headers": ["../cub"]}),
        "$.forbid.headers[0]",
        "must be the name of a header, or of its folder",
    ),
]

SEMANTIC_MISTAKES = [
    (add_buffer("max"), "$.buffers[2].name", "'max' already means something in launch lines"),
    (add_buffer("y"), "$.buffers[2].name", "there are two sizes, buffers or scalars named 'y'"),
    (add_buffer("n"), "$.buffers[2].name", "there are two sizes, buffers or scalars named 'n'"),
    (
        put("buffers", 0, value={**SPEC["buffers"][1], "name": "y"}),
        "$.buffers",
        "there is no output",
    ),
    (
        put("scalars", value=[{"name": "y", "dtype": "float32", "value": 1}]),
        "$.scalars[0].name",
        "there are two sizes, buffers or scalars named 'y'",
    ),
    (
        put("scalars", value=[{"name": "alpha", "dtype": "uint32", "value": -1}]),
        "$.scalars[0].value",
        "uint32 cannot hold -1",
    ),
    (
        put("scalars", value=[{"name": "alpha", "dtype": "int32", "from": 0.5, "to": 1}]),
        "$.scalars[0].from",
        "int32 cannot hold 0.5",
    ),
    (
        put("scalars", value=[{"name": "alpha", "dtype": "float32", "from": 2, "to": 1}]),
        "$.scalars[0].to",
        "the largest value is smaller than the smallest one",
    ),
    (
        put("buffers", 0, "shape", value=["n", "k"]),
        "$.buffers[0].shape[1]",
        "column 1: 'k' is not known here",
    ),
    (
        put("buffers", 0, "shape", value=["n", "m - 5"]),
        "$.buffers[0].shape[1]",
        "not positive, at the sizes of $.cases.public[0]",
    ),
    (
        put("buffers", 0, "shape", value=["n", "m *"]),
        "$.buffers[0].shape[1]",
        "column 4: expected a number or a name",
    ),
    (
        drop("buffers", 1, "init"),
        "$.buffers[1].init",
        "this field is missing: it names how the input is filled",
    ),
    (
        put("buffers", 0, "init", value="index"),
        "$.buffers[0].init",
        "an output is not filled, but in a part",
    ),
    (
        put("buffers", 1, "dtype", value="int32"),
        "$.buffers[1].init",
        "int32 cannot hold normal values",
    ),
    (
        put("default_plan", "launch", 0, value="naive<<n, 32>>>(y)"),
        "$.default_plan.launch[0]",
        "column 6: expected",
    ),
    (
        put("default_plan", "launch", 0, value="naive<<<n, TIEL>>>(y, x, n)"),
        "$.default_plan.launch[0]",
        "column 12: 'TIEL' is not known",
    ),
    (
        put("default_plan", "launch", 0, value="naive<<<n, SQUARE>>>(y, x)"),
        "$.default_plan.launch[0]",
        "column 12: 'SQUARE' is not known",
    ),
    (
        put("default_plan", "launch", 0, value="naive<<<n, COMMENTED>>>(y)"),
        "$.default_plan.launch[0]",
        "column 12: 'COMMENTED' is not",
    ),
    (
        put("default_plan", "launch", 0, value="naive<<<n, 32>>>(tmp, x, n)"),
        "$.default_plan.launch[0]",
        "column 18: 'tmp' is not known",
    ),
    (
        put("baseline_plan", "launch", 1, value="niave<<<n, 32>>>(y, x, n)"),
        "$.baseline_plan.launch[1]",
        "did you mean 'naive'?",
    ),
    (
        put("baseline_plan", "scratch", 0, value="flaot tmp[n]"),
        "$.baseline_plan.scratch[0]",
        "did you mean 'float'?",
    ),
    (
        put("baseline_plan", "scratch", 0, value="float tmp[k]"),
        "$.baseline_plan.scratch[0]",
        "column 11: 'k' is not known here",
    ),
    (
        put("baseline_plan", "scratch", value=["float tmp[n]", "int tmp[n]"]),
        "$.baseline_plan.scratch[1]",
        "another scratch buffer",
    ),
    (
        put("default_plan", "scratch", value=["float x[n]"]),
        "$.default_plan.scratch[0]",
        "'x' is already the name of a buffer",
    ),
    (
        put("default_plan", "scratch", value=["float m[n]"]),
        "$.default_plan.scratch[0]",
        "'m' is already the name of a size",
    ),
    (
        put("default_plan", "scratch", value=["int min[n]"]),
        "$.default_plan.scratch[0]",
        "'min' is already the name of a function",
    ),
    (
        put("benchmark", "gpu", "n", value=(1 << 17) + 1),
        "$.benchmark.gpu",
        "the buffers need 4,295,000,064 bytes",
    ),
    (
        put("cases", "public", 0, "sizes", "n", value=1 << 30),
        "$.cases.public[0]",
        "the buffers need 42,949,672,960 bytes in all; at most",
    ),
    (
        put("cases", "hidden", 0, "sizes", "n", "to", value=1 << 30),
        "$.cases.hidden[0]",
        "(4 GiB) can be used",
    ),
    (
        put("cases", "hidden", 0, "sizes", "m", value=[3, 1 << 30]),
        "$.cases.hidden[0]",
        "(4 GiB) can be used",
    ),
    (drop("cases", "public", 0, "sizes", "m"), "$.cases.public[0].sizes.m", "this size is missing"),
    (
        put("cases", "hidden", 1, "sizes", "k", value=1),
        "$.cases.hidden[1].sizes.k",
        "there is no size 'k'",
    ),
    (
        put("cases", "hidden", 0, "name", value="small"),
        "$.cases.hidden[0].name",
        "there are two cases of the name 'small'",
    ),
    (
        put("cases", "hidden", 0, "sizes", "n", value={"from": 9, "to": 2}),
        "$.cases.hidden[0].sizes.n",
        "no value lies from 9 to 2",
    ),
    (drop("benchmark", "gpu", "m"), "$.benchmark.gpu.m", "this size is missing"),
    (put("useful_bytes", value="8 * n * mm"), "$.useful_bytes", "column 9: 'mm' is not known here"),
    (
        put("useful_bytes", value="n / (m - m)"),
        "$.useful_bytes",
        "column 3: division by zero at the sizes of $.benchmark.gpu",
    ),
    (put("useful_flops", value="0 * n"), "$.useful_flops", "gives 0, which is not positive"),
    (
        put("checks", 2, "metric", value="share_bank_conflicts"),
        "$.checks[2].metric",
        "did you mean 'shared_bank_conflicts'?",
    ),
    (
        put("checks", 2, "metric", value="beauty"),
        "$.checks[2].metric",
        "must be one of correctness, sanitized, time_ms,",
    ),
    (
        put("checks", 1, "zero_at", value=0.9),
        "$.checks[1].zero_at",
        "partial credit runs backwards: 0.9 must lie below at_least (0.8)",
    ),
    (
        put("checks", 1, "zero_at", value=0.8),
        "$.checks[1].zero_at",
        "partial credit runs backwards",
    ),
    (
        put("checks", 2, "zero_at", value=-1),
        "$.checks[2].zero_at",
        "partial credit runs backwards: -1 must lie above at_most (0)",
    ),
    (
        put("checks", 1, "overrides", "t4", "zero_at", value=0.75),
        "$.checks[1].overrides.t4.zero_at",
        "partial credit runs backwards",
    ),
    (
        put("checks", 1, "at_most", value=1),
        "$.checks[1]",
        "give either at_least or at_most, not both",
    ),
    (drop("checks", 0, "at_least"), "$.checks[0]", "give either at_least or at_most"),
    (
        put("checks", 2, "metric", value="occupancy"),
        "$.checks[2].at_most",
        "occupancy is better when it is higher: use at_least",
    ),
    (
        put("checks", 2, "name", value="correctness"),
        "$.checks[2].name",
        "there are two checks of the name 'correctness'",
    ),
    (
        put("checks", 1, "requires", value=["corectness"]),
        "$.checks[1].requires[0]",
        "did you mean 'correctness'?",
    ),
    (
        put("checks", 1, "requires", value=["correctness", "no_conflicts"]),
        "$.checks[1].requires[1]",
        "'no_conflicts' comes later",
    ),
    (
        put("checks", 0, "requires", value=["correctness"]),
        "$.checks[0].requires[0]",
        "a check cannot require itself",
    ),
    (
        put("checks", 0, "points", value=60),
        "$.checks",
        "add up to 90, not to 100: correct them, or give max_score (90)",
    ),
    (put("max_score", value=90), "$.checks", "add up to 100, not to 90: correct them"),
    (
        put("checks", 0, "relative_to", value="baseline"),
        "$.checks[0].relative_to",
        "correctness is nothing that another program has too",
    ),
    (
        put("checks", 2, "relative_to", value="reference"),
        "$.checks[2].at_most",
        "must be more than 0 where it is a multiple, got 0",
    ),
    (
        put("comparisons", value={"naive": SPEC["baseline_plan"]}),
        "$.comparisons.naive",
        "timings call another program 'naive'",
    ),
    (
        put("comparisons", value={"tiled": {"launch": ["tield<<<n, 32>>>(y, x, n)"]}}),
        "$.comparisons.tiled.launch[0]",
        "has no kernel",
    ),
    (
        put("comparisons", value={"tiled": {"launch": ["naive<<<k, 32>>>(y, x, n)"]}}),
        "$.comparisons.tiled.launch[0]",
        "'k' is not known",
    ),
    (drop_correctness, "$.checks[0].metric", "the first check must be correctness"),
    (
        put("predictions", value=[{"metric": "time", "question": "How long?"}]),
        "$.predictions[0].metric",
        "there is no metric 'time' to predict",
    ),
    (
        put("predictions", value=2 * [{"metric": "time_ms", "question": "How long?"}]),
        "$.predictions[1].metric",
        "there are two questions about time_ms",
    ),
    (
        put("checks", value=[*SPEC["checks"], ANSWERS]),
        f"$.checks[{len(SPEC['checks'])}].metric",
        "the spec has no predictions: add the questions",
    ),
    (
        put("checks", 1, "excluded_on", value=["emulated", "gpu"]),
        "$.checks[1]",
        "no device can judge this check: bandwidth_fraction exists on emulated and gpu",
    ),
    (
        lambda spec: (
            spec["checks"].append(
                {"metric": "time_ms", "title": "t", "points": 1, "at_most": 1, "bonus": True}
                | {"excluded_on": ["gpu"], "requires": ["bandwidth_fraction"]}
            )
            or spec["checks"][1].update(excluded_on=["emulated"])
        ),
        f"$.checks[{len(SPEC['checks'])}]",
        "excluded_on and requires leave none of these",
    ),
    (
        put("forbid", value={"scratch_bytes_above": "4 * k"}),
        "$.forbid.scratch_bytes_above",
        "column 5: 'k' is not known here",
    ),
    (
        put("forbid", value={"scratch_bytes_above": "n - 5"}),
        "$.forbid.scratch_bytes_above",
        "gives -1, which is negative, at the sizes",
    ),
]


@pytest.mark.parametrize(
    ("edit", "path", "words"),
    SEMANTIC_MISTAKES,
    ids=[f"{path} {words}" for _, path, words in SEMANTIC_MISTAKES],
)
def test_one_mistake_of_meaning_is_the_only_one_reported(
    tmp_path: Path, edit: Callable[[Spec], None], path: str, words: str
) -> None:
    [(got_path, message)] = read_broken(tmp_path, edit)
    assert got_path == path
    assert words in message


@pytest.mark.parametrize(
    ("edit", "path", "words"),
    SCHEMA_MISTAKES,
    ids=[f"{path} {words}" for _, path, words in SCHEMA_MISTAKES],
)
def test_a_mistake_of_form_is_reported_at_its_path(
    tmp_path: Path, edit: Callable[[Spec], None], path: str, words: str
) -> None:
    found = read_broken(tmp_path, edit)
    assert any(
        got_path.endswith(path.lstrip("$")) and words in message for got_path, message in found
    ), found


def test_a_metric_of_operations_needs_their_formula(tmp_path: Path) -> None:
    def edit(spec: Spec) -> None:
        del spec["useful_flops"]
        spec["checks"][1]["metric"] = spec["checks"][1]["name"] = "gflops"
        spec["checks"][2]["requires"] = ["gflops"]

    assert read_broken(tmp_path, edit) == [
        ("$.checks[1].metric", "gflops needs the formula useful_flops, which this spec leaves out")
    ]


# --- several mistakes at once ---------------------------------------------------------------------


def test_lists_mistakes_of_form_and_of_meaning_together(tmp_path: Path) -> None:
    def edit(spec: Spec) -> None:
        spec["titel"] = spec.pop("title")
        spec["buffers"][1]["shape"][0] = "rows"
        spec["benchmark"]["gpu"] = {"n": 1024}
        spec["checks"][1]["points"] = -5
        spec["checks"][2]["requires"] = ["correctness", "bandwidth"]
        spec["baseline_plan"]["launch"][0] = "naive<<<n 32>>>(y)"

    found = dict(read_broken(tmp_path, edit))

    assert set(found) == {
        "$.title",
        "$.titel",
        "$.buffers[1].shape[0]",
        "$.baseline_plan.launch[0]",
        "$.benchmark.gpu.m",
        "$.checks[1].points",
        "$.checks[2].requires[1]",
    }
    assert found["$.titel"] == "there is no field 'titel'; did you mean 'title'?"
    assert found["$.baseline_plan.launch[0]"].startswith("column 11: ")


def test_a_value_of_the_wrong_form_is_complained_about_once(tmp_path: Path) -> None:
    def edit(spec: Spec) -> None:
        spec["checks"][0]["at_least"] = "all"
        spec["checks"][1]["name"] = "Fast!"
        spec["buffers"][1]["init"] = 7
        spec["benchmark"]["emulated"]["n"] = "many"
        spec["limits"] = []

    paths = [path for path, _ in read_broken(tmp_path, edit)]
    assert paths == [
        "$.buffers[1].init",
        "$.benchmark.emulated.n",
        "$.limits",
        "$.checks[0].at_least",
        "$.checks[1].name",
    ]


@pytest.mark.parametrize(
    "document",
    [
        "[]",
        "7",
        "{}",
        "null",
        '{"checks": null, "cases": null, "sizes": [1]}',
        '{"buffers": [null]}',
    ],
)
def test_any_json_is_survived(tmp_path: Path, document: str) -> None:
    assert problems_of(write_exercise(tmp_path, document))


@pytest.mark.parametrize("field", sorted(SPEC))
@pytest.mark.parametrize(
    "value", [None, 0, "x", [], {}, [None], {"gpu": None, "public": None, "launch": None}], ids=str
)
def test_any_value_of_any_field_is_survived(tmp_path: Path, field: str, value: object) -> None:
    folder = write_exercise(tmp_path, {**SPEC, field: value})
    if (field, value) != ("title", "x"):
        assert all(path.startswith("$") for path, _ in problems_of(folder))


# --- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{\n  "title": "x",\n}', "line 3, column 1: not JSON"),
        ("", "line 1, column 1: not JSON"),
        ('{"title": 1, "title": 2}', "the field 'title' is given twice"),
        ('{"title": NaN}', "NaN is no finite number"),
        ('{"title": 1e999}', "1e999 is no finite number"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_broken_json_is_located(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SpecError, match=r"spec\.json") as caught:
        read_exercise(write_exercise(tmp_path, text))
    assert words in str(caught.value)


def test_a_spec_that_is_not_text(tmp_path: Path) -> None:
    folder = write_exercise(tmp_path)
    (folder / "spec.json").write_bytes(b'{"title": "\xff"}')
    with pytest.raises(SpecError, match="not UTF-8: byte 11"):
        read_exercise(folder)


def test_missing_files_are_listed_together(tmp_path: Path) -> None:
    folder = write_exercise(tmp_path, oracle=None, starter=None)
    with pytest.raises(SpecError) as caught:
        read_exercise(folder)
    assert [Path(problem.file) for problem in caught.value.problems] == [
        folder / "oracle.py",
        tmp_path / "starter" / "scale.cu",
    ]


@pytest.mark.parametrize(
    ("oracle", "words"),
    [
        ("def expected(inputs, sizes)\n    pass\n", "line 1, column 28"),
        ("def expect(inputs, sizes):\n    pass\n", "no function expected"),
    ],
)
def test_a_broken_oracle_is_seen_without_running_it(
    tmp_path: Path, oracle: str, words: str
) -> None:
    with pytest.raises(SpecError, match=r"oracle\.py") as caught:
        read_exercise(write_exercise(tmp_path, oracle=oracle))
    assert words in str(caught.value)


def test_a_missing_folder_names_the_exercise_that_was_meant(tmp_path: Path) -> None:
    folder = write_exercise(tmp_path)
    with pytest.raises(SpecError, match=r"no such folder; did you mean 'scale'\?") as caught:
        read_exercise(folder.parent / "scael")
    assert str(folder) in caught.value.advice


def test_the_folder_of_all_exercises_is_not_one(tmp_path: Path) -> None:
    folder = write_exercise(tmp_path)
    with pytest.raises(SpecError, match=r"it holds no spec\.json") as caught:
        read_exercise(folder.parent)
    assert str(folder) in caught.value.advice


def test_a_file_is_no_exercise(tmp_path: Path) -> None:
    folder = write_exercise(tmp_path)
    with pytest.raises(SpecError, match="it is a file"):
        read_exercise(folder / "oracle.py")
    assert SpecError([]).exit_code == 2
