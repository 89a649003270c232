"""Every kernel of the corpus runs on the emulated device, and what it leaves is what an H100 left, where that is recorded."""

from __future__ import annotations

import functools
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from .corpus import RECORDED, Case, compile_case, find_cases, find_differences, run_case, unpack_result


@functools.cache
def recorded() -> dict[str, Any]:
    """What an H100 said of each case; empty while nothing is recorded."""
    return dict(json.loads(RECORDED.read_text(encoding="utf-8"))["kernels"]) if RECORDED.exists() else {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every case with --all-levels, else those at -O3: nvcc takes a second for each."""
    every = metafunc.config.getoption("--all-levels")
    metafunc.parametrize("case", [case for case in find_cases() if every or case.level == 3], ids=str)


@pytest.fixture(scope="module", autouse=True)
def compiled(request: pytest.FixtureRequest) -> None:
    """Compiles all that will run on all processors: nvcc is most of the time."""
    own = (item for item in request.session.items if item.path == request.path)
    with ThreadPoolExecutor() as pool:
        list(pool.map(compile_case, [item.callspec.params["case"] for item in own]))


def test_runs_as_an_h100_does(case: Case) -> None:
    result = run_case(case)
    if str(case) in recorded():
        differences = find_differences(case, result, unpack_result(recorded()[str(case)]))
        assert not differences, "\n".join(differences)
