"""What other people's programs rely on: the names of `grader`, their arguments and fields, and
types that mypy knows. A change here is a change of the public API (docs/python.md)."""

from __future__ import annotations

import dataclasses
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import grader

ROOT = Path(__file__).resolve().parents[1]
NAMES = [
    "Counters",
    "Detail",
    "Finding",
    "GraderError",
    "HostMistake",
    "HostPlace",
    "KernelLaunch",
    "KernelList",
    "KernelRun",
    "LaunchTime",
    "LineCounters",
    "MachineWork",
    "ProgramKernel",
    "ProgramLaunch",
    "ProgramRun",
    "Score",
    "SubmissionError",
    "TimelineEntry",
    "UsageError",
    "WarpAccess",
    "exec_program",
    "grade",
    "inspect",
    "run",
]
ARGUMENTS = {
    "exec_program": "sources=() *args=() *command=() *nvcc=() *stdin='' *device='emulated'"
    " *devices=1 *check=False *model=True *cwd=None *timeout_s=None",
    "grade": "exercise submission *device='auto' *seed=None *progress=None *cache=None"
    " *isolated=True *model=True",
    "inspect": "files *device='emulated:h100' *arch=None *isolated=True *code=False",
    "run": "source *inputs=None *outputs *sizes=None *scalars=None *tensor_maps=None"
    " *device='emulated:h100' *check=False *model=False *seed=0 *isolated=True *progress=None"
    " *detail=Detail(instructions=False, cycles=False, spans=0)",
}
"""Arguments of the functions, with a star where they are given by name."""
LAUNCHED = (
    "kernel grid block registers static_shared_bytes dynamic_shared_bytes local_bytes occupancy"
)
FIELDS = {
    "KernelRun": "outputs launches findings printed device notes source_name source sizes render"
    " machine accesses",
    "MachineWork": "listings sizes lines modelled_sizes simulated",
    "ProgramRun": "exit_code device kernels launches findings failures host_findings timeline"
    " stdout stderr compiler notes checked modelled streams counted render",
    "ProgramKernel": f"{LAUNCHED} symbol source launches counters lines instructions modelled"
    " unmodelled waited time",
    "ProgramLaunch": "group device stream site instructions counters ms",
    "HostMistake": "kind message advice place stack count",
    "TimelineEntry": "kind name device stream start_ms end_ms bytes launch process",
    "Detail": "instructions cycles spans",
    "KernelLaunch": f"{LAUNCHED} counters lines printed time",
    "LaunchTime": "ms interval_ms bound source kind",
    "LineCounters": "line counters",
    "WarpAccess": "line kernel launch memory operation width_bytes array block block_size warp"
    " addresses elements passes passes_ideal bytes_used wavefronts",
    "Finding": "kind message kernel line block thread buffer offset_bytes other_line other_block"
    " other_thread element case",
    "KernelList": "kernels errors",
}
COUNTERS = (
    "instructions_executed thread_instructions_executed"
    " shared_load_instructions shared_store_instructions"
    " shared_load_wavefronts shared_store_wavefronts shared_atomic_wavefronts"
    " shared_wavefronts shared_wavefronts_ideal shared_bank_conflicts"
    " global_load_requests global_load_sectors global_load_efficiency"
    " global_store_requests global_store_sectors global_store_efficiency"
    " global_atomic_requests global_atomic_sectors"
)
USERS_FILE = """\
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import grader
from grader.pytest_plugin import CudaRun


def total(x: NDArray[np.float32]) -> float:
    try:
        run: grader.KernelRun = grader.run(
            Path("sum.cu"),
            inputs={"x": x},
            outputs={"y": ("float32", (1,)), "z": np.zeros(3)},
            sizes={"n": x.size},
            scalars={"alpha": 2.5, "beta": np.float32(1)},
            check=True,
        )
    except grader.SubmissionError as error:
        print(error.status.value, error.message, error.line, error.advice, error.detail)
        raise
    for launch in run.launches:
        counters: grader.Counters | None = launch.counters
        if counters is not None:
            print(launch.kernel, launch.grid.x, counters.global_load_efficiency)
        time: grader.LaunchTime | None = launch.time
        print(0.0 if time is None else time.ms)
    places: list[int | None] = [finding.line for finding in run.findings]
    print(places)
    return float(run.outputs["y"][0])


def test_it(cuda_emulated: CudaRun) -> None:
    assert cuda_emulated("sum.cu", outputs={"y": ("float32", 1)}).outputs
    wrong: int = grader.run("sum.cu", outputs={}).printed
"""


def test_the_names() -> None:
    assert grader.__all__ == NAMES
    assert all(getattr(grader, name).__doc__ for name in NAMES)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_arguments(name: str) -> None:
    told = []
    for parameter in inspect.signature(getattr(grader, name)).parameters.values():
        star = "*" if parameter.kind is parameter.KEYWORD_ONLY else ""
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        told.append(f"{star}{parameter.name}{default}")
    assert " ".join(told) == ARGUMENTS[name]


@pytest.mark.parametrize("name", FIELDS)
def test_the_fields(name: str) -> None:
    fields = [field.name for field in dataclasses.fields(getattr(grader, name))]
    assert fields == FIELDS[name].split()


def test_the_counters() -> None:
    counters = grader.Counters()
    assert [name for name in COUNTERS.split() if not hasattr(counters, name)] == []


def test_a_user_s_file_passes_mypy_strictly(tmp_path: Path) -> None:
    """Its one mistake is found, so that types have come through."""
    path = tmp_path / "mine.py"
    path.write_text(USERS_FILE)
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", path], cwd=ROOT, capture_output=True, text=True
    )
    wrong, end = ran.stdout.splitlines()
    assert f":{USERS_FILE.count(chr(10))}: error: Incompatible types in assignment" in wrong
    assert end.startswith("Found 1 error"), ran.stdout + ran.stderr


def test_the_package_says_that_it_is_typed_and_where_its_plugin_is() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert (ROOT / "grader" / "py.typed").is_file()
    assert "py.typed" in project["tool"]["setuptools"]["package-data"]["grader"]
    plugins = project["project"]["entry-points"]["pytest11"]
    assert plugins == {"cuda_emulated": "grader.pytest_plugin"}
