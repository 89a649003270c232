"""Every kernel of the corpus runs on the emulated device, and leaves and counts what an H100 left and counted."""

from __future__ import annotations

import pytest

from .corpus import Case, find_cases, find_differences, find_recorded, run_case

_SPLIT = "counts one or a few executed instructions otherwise where a warp has split: when paths wait for each other is not fully known"
_COLLECTIVE = "WARPSYNC.COLLECTIVE: the H100 executes more instructions where lanes of several groups wait for each other"
_DIVISION = "FCHK sends other operands near the ends of the range the slow way: the same results, other counts of instructions"
_TABLES = "MUFU: a table that is not public; within its documented error"
EXPLAINED = {
    "atomic_compare_and_swap-O0": _SPLIT,
    "atomic_generic-O0": _SPLIT,
    "atomic_shared_f32-O0": _SPLIT,
    "atomic_shared_f64-O0": _SPLIT,
    "atomic_shared_s32-O0": _SPLIT,
    "atomic_shared_s64-O1": _SPLIT,
    "atomic_shared_s64-O3": _SPLIT,
    "atomic_shared_u64": "of lanes whose compare-and-swap changes nothing, the H100 lets others pass first",
    "coalesced_groups": _COLLECTIVE,
    "copy_async_4_8_16-O0": "LDGSTS at -O0: other sectors",
    "copy_async_zero_fill": "LDGSTS.ZFILL takes more wavefronts",
    "double_div_random": f"{_TABLES}: 1 unit in the last place of a reciprocal root",
    "double_remainder": _TABLES,
    "fences": "fences for the whole system take instructions and a store of their own",
    "float_div_random": _DIVISION,
    "float_div_rounding": _DIVISION,
    "function_pointers": _SPLIT,
    "generic_addresses": "ncu counts bytes of generic accesses as global wherever they lie, and their requests not the same each time",
    "generic_widths": "ncu counts bytes of generic accesses as global wherever they lie",
    "mufu_lg2": f"{_TABLES}: absolute near 1",
    "shuffle_from_two_branches": _COLLECTIVE,
    "special_registers": "%warpid is a slot of the multiprocessor: the PTX ISA does not promise which",
    "tiles_of_a_block": _COLLECTIVE,
}
"""Files, or cases, that differ from the H100, and why. Whoever finds the rule behind one deletes its line: it fails then."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every case with --all-levels, else those at -O3: translating takes half a second for each."""
    every = metafunc.config.getoption("--all-levels")
    metafunc.parametrize("case", [case for case in find_cases() if every or case.level == 3], ids=str)


def test_runs_as_an_h100_does(case: Case) -> None:
    result, recorded = run_case(case), find_recorded(case)
    if recorded is None:
        pytest.skip("it runs, but no H100 has run it as it stands now")
    differences = find_differences(case, result, recorded.result)
    why = EXPLAINED.get(case.path.stem) or EXPLAINED.get(str(case))
    assert bool(differences) is bool(why), "\n".join(differences) or f"{case} is as on the H100: delete its line of EXPLAINED"
