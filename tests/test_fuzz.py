"""A small slice of `benchmarks/fuzz.py`: mutated kernels, cubins, launch lines and sources end in a defined way,
and nothing dies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("kind", "count"), [("kernels", 12), ("cubins", 60), ("programs", 500), ("sources", 2)]
)
def test_mutants_end_in_a_defined_way(kind: str, count: int) -> None:
    none = {"kernels": 0, "cubins": 0, "programs": 0, "sources": 0, "seeds": 3} | {kind: count}
    options = [part for name, value in none.items() for part in (f"--{name}", str(value))]
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "fuzz.py"), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{kind}: {count} of {count} without a defect" in done.stdout
