"""The kernels of the corpus run on the emulated device, and leave and count what an H100 left and
counted.

So few cases as have every opcode with every modifier that there is at -O3; with --run-slow all at
-O3, with --all-levels all.
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
    LEVEL,
    Listed,
    choose_cases,
    cover,
    find_listed,
    list_opcodes,
    union,
)

EXPLAINED = {
    "barrier_objects_by_lanes": (
        "lanes of a warp that wait for a phase ask for it oftener here, and elsewhere less often"
    ),
    "barrier_objects_of_pipelines": (
        "threads that wait for a phase ask for it more seldom here; three runs on an H200 are alike"
    ),
    "copy_async_4_8_16-O0": "of ten runs on an H200 some take 208 sectors, and some 224 as here",
    "generic_addresses-O0": "9 load requests in one run on an H100, 10 as here in ten on an H200",
    "generic_addresses-O3": "9 store requests in one run on an H100, 10 as here in ten on an H200",
    "special_registers": (
        "%warpid is a slot of the multiprocessor: the PTX ISA does not promise which"
    ),
    "student_histograms": (
        "in the fourth kernel, warps repeat 64-bit atomics on shared memory while others are"
        " quicker: 4,771 to 5,235 warp instructions in ten runs on an H200, no two alike"
    ),
    "student_pipelines-O1": (
        "LDGSTS past the L1 under @!P0 with no lane on goes to addresses that nobody set: the H100"
        " counts 24 wavefronts more than here, an H200 86, ten times"
    ),
}
"""Files, or cases, that differ from the H100, and why. Whoever finds the rule behind one deletes
its line: it fails then."""


CASES = find_cases()
USUAL = tuple(case for case in CASES if case.level == LEVEL)
CHOSEN = choose_cases(USUAL)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every case with --all-levels; translating takes half a second for each."""
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
    why = EXPLAINED.get(case.path.stem) or EXPLAINED.get(str(case))
    assert bool(differences) is bool(why), (
        "\n".join(differences) or f"{case} is as on the H100: delete its line of EXPLAINED"
    )


def test_has_the_opcodes_that_are_listed(case: Case) -> None:
    """The choice of cases depends on it; `python -m tests.support.corpus_cover` writes the
    list."""
    if (listed := find_listed(case)) is None:
        pytest.skip("not listed: it is always run")
    assert listed == list_opcodes(compile_case(case))


def test_what_is_run_has_every_opcode_and_modifier_of_the_corpus() -> None:
    known = {case: listed for case in USUAL if (listed := find_listed(case)) is not None}
    assert len(known) > 180
    assert union(known[case] for case in CHOSEN if case in known) == union(known.values())
    assert len(CHOSEN) < len(USUAL) / 2


def test_a_cover_leaves_out_nothing_and_holds_nothing_superfluous() -> None:
    a, b, c, d = USUAL[:4]
    opcodes = {a: frozenset("pqr"), b: frozenset("pqs"), c: frozenset("qrt"), d: frozenset("st")}
    assert cover({case: Listed(each, 50) for case, each in opcodes.items()}) == {a, d}
    assert cover(
        {case: Listed(each, 5000 if case == a else 50) for case, each in opcodes.items()}
    ) == {b, c}


def test_a_kernel_that_is_not_listed_is_run(tmp_path: Path) -> None:
    new = replace(USUAL[0], path=tmp_path / "new.cu")
    new.path.write_text("// A kernel that is new.\n")
    assert new in choose_cases([*USUAL, new])
