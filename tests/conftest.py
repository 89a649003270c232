"""Tests that need what not every machine has are skipped unless an option asks for them."""

from __future__ import annotations

import pytest

OPTIONS = {
    "gpu": "needs a GPU",
    "slow": "takes minutes",
    "cluster": "starts a cluster",
    "browser": "needs Chromium and Playwright",
    "toolkits": "downloads CUDA compilers",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-gpu", action="store_true", help="run the tests that need an NVIDIA GPU and PyCUDA as well")
    parser.addoption("--run-slow", action="store_true", help="run the tests that take minutes as well")
    parser.addoption("--run-cluster", action="store_true", help="run the tests that start a Dask cluster as well (extra `cluster`)")
    parser.addoption("--run-browser", action="store_true", help="open reports in Chromium as well (extra `browser`)")
    parser.addoption("--run-toolkits", action="store_true", help="try the compilers of other CUDA toolkits as well (2.5 GB by pip, once)")
    parser.addoption("--all-levels", action="store_true", help="run the corpus at every optimisation level of ptxas, not only at -O3")
    parser.addoption("--all-targets", action="store_true", help="run the whole corpus on every emulated GPU, not only a sample of it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = {marker: why for marker, why in OPTIONS.items() if not config.getoption(f"--run-{marker}")}
    for item in items:
        for marker, why in left_out.items():
            if item.get_closest_marker(marker):
                item.add_marker(pytest.mark.skip(reason=f"{why}: --run-{marker}"))
