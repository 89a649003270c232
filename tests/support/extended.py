"""Checks that an addition works, in the tree that holds it: `python -m tests.support.extended KIND`
(tests/test_extending.py makes that tree)."""

from __future__ import annotations

import io
import json
import runpy
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from jsonschema import Draft202012Validator

from grader.cli import main
from grader.devices.gpu.ncu_metrics import required_metrics
from grader.devices.gpus import read_gpus
from grader.emulator.run.counts import InstructionCounts
from grader.judging.score import failed_score
from grader.records import (
    Counters,
    Dim3,
    Failure,
    KernelLaunch,
    KernelRun,
    LineCounters,
    Score,
    Status,
)
from grader.records.counters import count_accesses
from grader.report.json import format_score, parse_score
from grader.report.kernel_pages import format_run, print_run
from grader.report.score_page import print_score
from grader.report.terminal import make_console
from grader.spec.schema import schema_problems
from tests.support.factories import make_graded, make_subject

GENERATED = Path("grader") / "schemas"


def check_metric() -> None:
    score = written(make_graded())
    assert score["metrics"]["shared_instructions"]["value"] == 200
    assert "warp instructions that access shared memory" in run_command("metrics")
    spec = json.loads(Path("exercises/transpose/spec.json").read_text())
    spec["checks"][1] |= {"metric": "shared_instructions"}
    assert schema_problems(spec)[0] == []


def check_counter() -> None:
    fetch = InstructionCounts(0, "ATOMS", 8, 5, 160, "shared", load=True, atomic=True)
    reduction = InstructionCounts(1, "ATOMS", 8, 3, 96, "shared", atomic=True)
    counters = count_accesses([fetch, reduction])
    assert counters.shared_fetch_instructions == 5  # type: ignore[attr-defined]
    assert counters.shared_atomic_instructions == 8
    assert "smsp__inst_executed_op_shared_fetch.sum" in required_metrics("sm_90")
    run = make_run(counters)
    plain = json.loads(format_run(run))["launches"][0]
    assert plain["counters"]["shared_fetch_instructions"] == 5
    shown = io.StringIO()
    print_run(run, console=make_console(shown))
    assert "shared_fetch_instructions" in shown.getvalue()
    score = written(make_graded(lines=(LineCounters(8, counters),)))
    assert score["lines"][0]["counters"]["shared_fetch_instructions"] == 5


def check_status() -> None:
    status = Status("overheated")
    score = failed_score(make_subject(), Failure(status, "the GPU is too hot"))
    assert written(score)["status"] == "overheated"
    assert status.exit_code == 3
    assert not status.has_points
    shown = io.StringIO()
    print_score(score, console=make_console(shown))
    assert "Too hot" in shown.getvalue()


def check_format() -> None:
    from grader.report.platforms import format_for_platform

    score = make_graded()
    assert format_for_platform(score, "one_line") == f"transpose.cu: {score.score}\n"
    assert "one_line" in run_command("--help")


def check_gpu() -> None:
    assert "h300" in run_command("--help")
    score = written(replace(make_graded(), device=read_gpus()["h300"].emulated_info))
    assert score["device"]["name"] == "emulated NVIDIA H300"


def check_command() -> None:
    assert run_command("version") == "1.0\n"
    assert "Print the version" in run_command("version", "--help")
    assert "version" in run_command("help").split()
    refused = io.StringIO()
    with redirect_stderr(refused):
        assert main(["versoin"]) == 2
    assert "did you mean 'version'" in refused.getvalue()


def written(score: Score) -> dict[str, Any]:
    """The score's JSON, valid by the generated schema and read back as the same score."""
    generator = runpy.run_path("docs/schemas.py")
    for name, text in generator["make_schemas"]().items():
        (GENERATED / name).write_text(text, encoding="utf-8")
    schema = json.loads((GENERATED / "score.schema.json").read_text(encoding="utf-8"))
    text = format_score(score)
    plain: dict[str, Any] = json.loads(text)
    Draft202012Validator(schema).validate(plain)
    assert json.loads(format_score(parse_score(text))) == plain
    return plain


def make_run(counters: Counters) -> KernelRun:
    sizes = (Dim3(1), Dim3(32), 16, 128, 0, 0, 0.5)
    launch = KernelLaunch("k", *sizes, counters, (), "", None)
    return KernelRun({"y": np.zeros(1)}, (launch,), (), "", "emulated", ())


def run_command(*arguments: str) -> str:
    """The output of `grade`."""
    shown = io.StringIO()
    with redirect_stdout(shown):
        assert main(arguments) == 0
    return shown.getvalue()


CHECKS: Mapping[str, Callable[[], None]] = {
    "metric": check_metric,
    "counter": check_counter,
    "status": check_status,
    "format": check_format,
    "GPU": check_gpu,
    "command": check_command,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()
