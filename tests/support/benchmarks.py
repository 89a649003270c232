"""The scripts of benchmarks/, for tests outside of tests/benchmarks: they import each other by their
bare names, and one of them has the name of a folder here."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

_FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


def load_benchmark(name: str) -> ModuleType:
    if str(_FOLDER) not in sys.path:
        sys.path.append(str(_FOLDER))
    spec = importlib.util.spec_from_file_location(f"benchmark_{name}", _FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
