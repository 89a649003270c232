"""The example notebook runs from top to bottom, and shows what its text says."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

import grader
from tests.docs.pages import ROOT

PATH = ROOT / "docs" / "kernels.ipynb"
BOOK = json.loads(PATH.read_text(encoding="utf-8"))


def execute(cells: list[str]) -> list[object]:
    """Executes cells as a kernel of Jupyter does, and returns the value of each one's last
    expression, None where it ends with something else."""
    names: dict[str, Any] = {"__name__": "__main__"}
    shown = []
    for number, text in enumerate(cells, start=1):
        tree = ast.parse(text)
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {number}", "exec"), names)
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
        shown.append(value)
    return shown


def code_cells() -> list[str]:
    return ["".join(cell["source"]) for cell in BOOK["cells"] if cell["cell_type"] == "code"]


def test_it_runs_and_shows_runs(capsys: pytest.CaptureFixture[str]) -> None:
    runs = [value for value in execute(code_cells()) if isinstance(value, grader.KernelRun)]
    tiled, racing, scan = (run._repr_html_() or "" for run in runs)
    assert "Bank conflicts" in tiled
    assert "Found in the checked mode" in racing
    assert "10 x step" in scan
    printed = capsys.readouterr().out
    assert "-> 0" in printed
    assert "launch_error in line 3" in printed


def test_it_is_kept_without_outputs() -> None:
    cells = [cell for cell in BOOK["cells"] if cell["cell_type"] == "code"]
    assert [cell for cell in cells if cell["outputs"] or cell["execution_count"]] == []
    assert len({cell["id"] for cell in BOOK["cells"]}) == len(BOOK["cells"])
