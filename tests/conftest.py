"""Tests that need what not every machine has are skipped unless an option asks for them."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-gpu", action="store_true", help="run the tests that need an NVIDIA GPU and PyCUDA as well")
    parser.addoption("--all-levels", action="store_true", help="run the corpus at every optimisation level of ptxas, not only at -O3")
    parser.addoption("--all-targets", action="store_true", help="run the whole corpus on every emulated GPU, not only a sample of it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--run-gpu"):
        return
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(pytest.mark.skip(reason="needs a GPU: --run-gpu"))
