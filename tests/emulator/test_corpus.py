"""The kernels of the corpus on the emulated device have the outputs and counters of an H100.

By default, a minimal set of cases that covers every opcode with every modifier at -O3, except two;
with --run-slow all cases at -O3, with --all-levels all cases.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.corpus import (
    Case,
    compile_case,
    find_cases,
    find_differences,
    find_recorded,
    run_case,
)
from tests.support.corpus_cover import (
    DEAR,
    LEVEL,
    Listed,
    choose_cases,
    cover,
    find_listed,
    list_opcodes,
    union,
)
from tests.support.corpus_explained import EXPLAINED, find_explanation

CASES = find_cases()
USUAL = tuple(case for case in CASES if case.level == LEVEL)
CHOSEN = choose_cases(USUAL)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every case with --all-levels; translation takes half a second per case."""
    if "case" in metafunc.fixturenames:
        every = metafunc.config.getoption("--all-levels")
        marks = {
            case: [] if every or case in CHOSEN else [pytest.mark.slow]
            for case in (CASES if every else USUAL)
        }
        metafunc.parametrize(
            "case", [pytest.param(case, marks=marks[case]) for case in marks], ids=str
        )


def test_runs_as_an_h100_does(case: Case) -> None:
    result, recorded = run_case(case), find_recorded(case)
    if recorded is None:
        pytest.skip("it runs, but no H100 has run it as it stands now")
    differences = find_differences(case, result, recorded.result)
    assert bool(differences) is bool(find_explanation(case)), (
        "\n".join(differences) or f"{case} is as on the GPU: delete its line of EXPLAINED"
    )


def test_each_explanation_is_of_a_case() -> None:
    assert set(EXPLAINED) <= {name for case in CASES for name in (case.path.stem, str(case))}


def test_has_the_opcodes_that_are_listed(case: Case) -> None:
    """The choice of cases depends on the list; `python -m tests.support.corpus_cover` writes it."""
    if (listed := find_listed(case)) is None:
        pytest.skip("not listed: it is always run")
    assert listed == list_opcodes(compile_case(case))


def test_the_default_cases_have_every_opcode_and_modifier_of_the_corpus() -> None:
    usual = [case for case in USUAL if case.path.stem not in DEAR]
    known = {case: listed for case in usual if (listed := find_listed(case)) is not None}
    assert len(known) > 180
    chosen = [case for case in CHOSEN if case in known]
    assert union(known[case] for case in chosen) == union(known.values())
    assert len(chosen) < len(known) / 2


def test_a_cover_leaves_out_nothing_and_holds_nothing_superfluous() -> None:
    a, b, c, d = USUAL[:4]
    opcodes = {a: frozenset("pqr"), b: frozenset("pqs"), c: frozenset("qrt"), d: frozenset("st")}
    assert cover({case: Listed(each, 50) for case, each in opcodes.items()}) == {a, d}
    assert cover(
        {case: Listed(each, 5000 if case == a else 50) for case, each in opcodes.items()}
    ) == {b, c}
    listed = {case: Listed(each, 50) for case, each in opcodes.items()}
    assert cover(listed, covered=frozenset("pqr")) == {d}
    assert cover(listed, covered=frozenset("pqrst")) == frozenset()


def test_a_kernel_that_is_not_listed_is_run(tmp_path: Path) -> None:
    new = replace(USUAL[0], path=tmp_path / "new.cu")
    new.path.write_text("// A kernel that is new.\n")
    assert new in choose_cases([*USUAL, new])
