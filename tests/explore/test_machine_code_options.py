"""What `--annotate`, `--sass` and `--trace` add to the commands that take kernels."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.cli import main

SOURCE = """\
// launch: saxpy<<<ceil_div(n, 256), 256>>>(y, x, alpha, n)
__global__ void saxpy(float* y, const float* x, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += alpha * x[i];
}
__global__ void idle(float* y) { y[0] = 1; }
"""
GIVEN = ["--size", "n=1000", "--scalar", "alpha=2.0", "--output", "y=index", "--input", "x=index"]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("saxpy.cu").write_text(SOURCE)
    return "saxpy.cu"


def test_a_run_prints_bars_and_code_and_writes_a_trace(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--annotate", "--sass", "--trace", "t.json", "--json", "run.json"]
    assert main(["run", file, *GIVEN, *asked]) == 0
    printed = capsys.readouterr()
    bars, code = printed.out.split("Where the cycles of warps go: modelled")[1].split("saxpy: ")
    (row,) = (line for line in bars.splitlines() if "alpha * x[i];" in line)
    assert row.split()[-1].count("L") > 10
    assert "STG.E" in code
    assert "idle" not in code  # it was not launched
    assert "t.json: Launch 1 (saxpy): all " in printed.err
    assert json.loads(Path("t.json").read_text())["traceEvents"]
    machine = json.loads(Path("run.json").read_text())["machine"]
    (kernel,) = machine["kernels"]
    assert {each["executed"] for each in kernel["instructions"]} == {32, 0}
    assert {line["line"] for line in machine["lines"]} <= {2, 3, 4, 5, None}
    assert {"stall_cycles", "yields", "writes", "reads", "waits"} <= kernel["instructions"][
        0
    ].keys()


def test_inspect_prints_the_code_of_all_kernels(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", file, "--sass"]) == 0
    page = capsys.readouterr().out
    assert "idle: " in page
    assert "4  if (i < n) y[i] += alpha * x[i];" in page
    assert main(["inspect", file, "--sass", "--json", "-"]) == 0
    kernels = json.loads(capsys.readouterr().out)["kernels"]
    assert all(len(each["code"]) == each["instructions"] for each in kernels)
    assert "executed" not in kernels[0]["code"][0]


def test_without_a_run_there_is_no_code_and_no_trace(
    file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path(file).write_text("__global__ void k() { int x }\n")
    assert main(["transpose", file, "--sass", "--trace", "t.json", "--quiet"]) == 1
    printed = capsys.readouterr()
    assert "No machine code is shown" in printed.out
    assert "grade inspect" not in printed.out
    assert "No trace is written" in printed.err
    assert not Path("t.json").exists()


def test_what_cannot_be_together_is_refused(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", file, *GIVEN, "--sass", "--json", "-"]) == 2
    assert "--sass and --json - both print" in capsys.readouterr().err
    assert main(["transpose", file, "--no-model", "--trace", "t.json"]) == 2
    assert "--no-model models nothing" in capsys.readouterr().err
    assert main(["run", file, *GIVEN, "--trace", "nowhere/t.json"]) == 2
    assert "cannot write the trace" in capsys.readouterr().err
