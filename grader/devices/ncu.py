"""Counts a plan's launches with Nsight Compute: one `ncu` process around a worker that runs the plan a single time.

ncu replays each launch until it has every metric and gives one row per launch; the counters of a plan are their sum.
There are no counters per source line: those come from the emulated device, where it can run the kernel. Where ncu
cannot count, the answer is a reason, never a zero. Nothing else should use the GPU meanwhile: the caller holds its lock.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.devices.base import Arrays
from grader.devices.ncu_metrics import (
    OPTIONAL,
    UNKNOWN_METRIC,
    CountedLaunch,
    NotCounted,
    parse_counts,
    required_metrics,
)
from grader.devices.ncu_worker import CUBIN, ERROR, REQUEST
from grader.records import Binary, BufferArgument, Completed, DeviceBuffer, Launch, Role, RunLimits, RunTool, ToolLimits

NCU_VARIABLE = "GRADER_NCU"
START_SECONDS = 60.0  # ncu, Python and the driver, on a busy machine
UNLIMITED_BYTES = 1 << 62  # the driver reserves more address space than any sensible limit
REPORT_BYTES = 1 << 30
PASSED_ON = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
NOT_INSTALLED = NotCounted(
    "Nsight Compute (ncu) is not installed",
    f"Install it (it comes with the CUDA toolkit), put ncu on PATH or name it in {NCU_VARIABLE}.",
)


@dataclass(frozen=True)
class PlanRun:
    """One run of a plan. `arrays` holds the inputs' contents; all other buffers are poisoned on the GPU."""

    binary: Binary
    launches: tuple[Launch, ...]
    buffers: tuple[DeviceBuffer, ...]
    arrays: Arrays


def find_ncu(environ: Mapping[str, str]) -> Path | None:
    """`$GRADER_NCU`, else the one on PATH, else the newest where NVIDIA's packages put it."""
    chosen = environ.get(NCU_VARIABLE)
    if chosen:
        return Path(chosen) if os.access(chosen, os.X_OK) else None
    on_path = shutil.which("ncu", path=environ.get("PATH", ""))
    if on_path:
        return Path(on_path)
    installed = [*Path("/opt/nvidia/nsight-compute").glob("*/ncu"), Path("/usr/local/cuda/bin/ncu")]
    return max((path for path in installed if path.exists()), default=None, key=lambda path: _version_of(path.parent.name))


def count_with_ncu(
    binary: Binary,
    launches: Sequence[Launch],
    buffers: Sequence[DeviceBuffer],
    arrays: Arrays,
    *,
    gpu_index: int,
    run: RunTool,
    limits: RunLimits,
    environ: Mapping[str, str] = os.environ,
) -> tuple[CountedLaunch, ...] | NotCounted:
    """The exact counters of each launch of a plan that ran well on this GPU (PyCUDA's index), or why there are none.

    `arrays` needs the inputs only. `limits.wall_seconds` bounds the replays of the plan; ncu gets START_SECONDS more.
    """
    counted = count_plans(
        [PlanRun(binary, tuple(launches), tuple(buffers), arrays)], gpu_index=gpu_index, run=run, limits=limits, environ=environ
    )
    return counted if isinstance(counted, NotCounted) else counted[0]


def count_plans(
    plans: Sequence[PlanRun], *, gpu_index: int, run: RunTool, limits: RunLimits, environ: Mapping[str, str] = os.environ
) -> tuple[tuple[CountedLaunch, ...], ...] | NotCounted:
    """The counters of several plans from one ncu process. If one of them cannot be counted, none is."""
    ncu = find_ncu(environ)
    if ncu is None:
        return NOT_INSTALLED
    wall_seconds = START_SECONDS + limits.wall_seconds * len(plans)
    with tempfile.TemporaryDirectory(prefix="grader-ncu-") as name:
        folders = [Path(name) / str(number) for number in range(len(plans))]
        for plan, folder in zip(plans, folders, strict=True):
            _write_request(plan, folder, gpu_index, wall_seconds)
        launches = [launch for plan in plans for launch in plan.launches]
        arch = plans[0].binary.arch
        session = _Session(ncu, tuple(folders), run, wall_seconds, _environment(environ))
        counted = _collect(session, launches, arch)
    if isinstance(counted, NotCounted):
        return counted
    rows = iter(counted)
    return tuple(tuple(next(rows) for _ in plan.launches) for plan in plans)


# --- the ncu process -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Session:
    """What every start of ncu shares."""

    ncu: Path
    folders: tuple[Path, ...]
    run: RunTool
    wall_seconds: float
    environment: dict[str, str]

    def profile(self, metrics: Sequence[str]) -> tuple[Completed, str]:
        """Run ncu for these metrics; how it ended, and its log."""
        log = self.folders[0] / "ncu.csv"
        log.unlink(missing_ok=True)
        done = self.run(
            ncu_command(self.ncu, metrics, log, self.folders),
            limits=ToolLimits(wall_seconds=self.wall_seconds, memory_bytes=UNLIMITED_BYTES, file_bytes=REPORT_BYTES),
            # run_tool makes TMPDIR a private folder: ncu's lock file in a shared one is of whoever came first.
            env=self.environment,
        )
        return done, log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""


def ncu_command(ncu: Path, metrics: Sequence[str], log: Path, folders: Sequence[Path]) -> list[str]:
    """ncu's command line around the worker; exact metric names, clocks as they are, CSV in base units."""
    options = (
        "--target-processes", "application-only", "--profile-from-start", "off", "--clock-control", "none",
        "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log), "--metrics", ",".join(metrics),
    )  # fmt: skip
    return [str(ncu), *options, sys.executable, "-m", "grader.devices.ncu_worker", *map(str, folders)]


def _collect(session: _Session, launches: Sequence[Launch], arch: str) -> tuple[CountedLaunch, ...] | NotCounted:
    """Profile; once more with fewer metrics where ncu does not know one that is for information only."""
    required = required_metrics(arch)
    done, log = session.profile((*required, *OPTIONAL))
    unknown = UNKNOWN_METRIC.search(log)
    if unknown is not None and any(name.startswith(unknown[1].replace("\\", "")) for name in OPTIONAL):
        done, log = session.profile(required)
    if done.limit is not None:
        return NotCounted(f"ncu had not ended after {session.wall_seconds:g} s", "Grade again when the machine is less busy.")
    for folder in session.folders:
        if (folder / ERROR).exists():
            return NotCounted(f"the plan failed under ncu: {(folder / ERROR).read_text(encoding='utf-8')}")
    return parse_counts(log or done.stdout + done.stderr, launches, arch)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the worker needs to find this package, PyCUDA and the driver."""
    package_root = Path(__file__).resolve().parents[2]
    found = {name: environ[name] for name in PASSED_ON if name in environ}
    return found | {"PYTHONPATH": os.pathsep.join([str(package_root), *filter(None, sys.path)]), "PYTHONSAFEPATH": "1"}


def _version_of(folder: str) -> tuple[int, ...]:
    """`2025.3.1` as numbers; empty for a folder that is named otherwise."""
    parts = folder.split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()


# --- the worker's request ------------------------------------------------------------------------------------


def _write_request(plan: PlanRun, folder: Path, gpu_index: int, wall_seconds: float) -> None:
    folder.mkdir()
    (folder / CUBIN).write_bytes(plan.binary.cubin)
    buffers = []
    for number, buffer in enumerate(plan.buffers):
        file = f"{number}.input" if buffer.role is Role.INPUT else None
        if file is not None:
            np.ascontiguousarray(plan.arrays[buffer.name]).tofile(folder / file)
        buffers.append((buffer.name, np.dtype(buffer.dtype).itemsize * math.prod(buffer.shape), file))
    request = {
        "gpu_index": gpu_index,
        "wall_seconds": wall_seconds,
        "buffers": buffers,
        "launches": [_describe_launch(launch) for launch in plan.launches],
    }
    (folder / REQUEST).write_text(json.dumps(request), encoding="utf-8")


def _describe_launch(launch: Launch) -> dict[str, object]:
    """A launch as JSON: a buffer argument is its name, an integer its value and width."""
    return {
        "symbol": launch.symbol,
        "grid": launch.grid,
        "block": launch.block,
        "dynamic_shared_bytes": launch.dynamic_shared_bytes,
        "arguments": [
            argument.buffer if isinstance(argument, BufferArgument) else (argument.value, argument.size_bytes)
            for argument in launch.arguments
        ],
    }
