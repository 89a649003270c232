"""Every kernel of the corpus runs on the emulated device, and leaves and counts what an H100 left and counted."""

from __future__ import annotations

import pytest

from .corpus import Case, compile_cases, find_cases, find_differences, find_recorded, run_case


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every case with --all-levels, else those at -O3: translating takes half a second for each."""
    every = metafunc.config.getoption("--all-levels")
    metafunc.parametrize("case", [case for case in find_cases() if every or case.level == 3], ids=str)


@pytest.fixture(scope="module", autouse=True)
def compiled(request: pytest.FixtureRequest) -> None:
    """Compiles, or disassembles, all that will run on all processors: that is most of the time."""
    own = (item for item in request.session.items if item.path == request.path)
    compile_cases(item.callspec.params["case"] for item in own)


def test_runs_as_an_h100_does(case: Case) -> None:
    result, recorded = run_case(case), find_recorded(case)
    if recorded is None:
        pytest.skip("it runs, but no H100 has run it as it stands now")
    differences = find_differences(case, result, recorded.result)
    assert not differences, "\n".join(differences)
