"""The kernels and figures of `tests/data/truth`, compiled and run through the same stages as a
submission."""

from __future__ import annotations

import functools
import hashlib
import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.records import (
    SUBMISSION,
    Binary,
    DeviceBuffer,
    DeviceInfo,
    Kernel,
    LaunchResult,
    Program,
    Role,
    RunLimits,
    Submission,
)
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.resolve import ResolvedPlan, resolve_plan
from tests.support.compiling import compile_source

TRUTH = Path(__file__).parents[1] / "data" / "truth"
LIMITS = RunLimits(warp_instructions=10**10, wall_seconds=60.0)


@dataclass(frozen=True)
class Recorded:
    """What the H100 said of one kernel at one size; `counters` is None for a record that was only
    timed."""

    kernel: str
    sizes: dict[str, int]
    sha256: str
    launch: dict[str, Any] | None

    def __str__(self) -> str:
        return f"{self.kernel}-{'x'.join(map(str, self.sizes.values()))}"


@functools.cache
def read_records(kind: str) -> tuple[Recorded, ...]:
    """All records of h100.json of a kind: `counted` or `timed`."""
    kernels = json.loads((TRUTH / "h100.json").read_text())["kernels"]
    return tuple(_record(key, entry) for key in kernels for entry in kernels[key][kind])


def _record(key: str, entry: dict[str, Any]) -> Recorded:
    names = ("rows", "cols") if key.startswith("transpose/") else ("M", "N", "K")
    launches = entry.get("launches", [])
    assert len(launches) <= 1
    sizes = dict(zip(names, entry["size"], strict=True))
    return Recorded(
        key.partition("/")[2], sizes, entry["output_sha256"], launches[0] if launches else None
    )


def kernel_names() -> tuple[str, ...]:
    """The names of the truth kernels' files."""
    return tuple(sorted(path.stem for path in (TRUTH / "kernels").glob("*.cu")))


@functools.cache
def compile_truth(name: str) -> Binary:
    """A truth kernel as the toolchain compiles it for an H100; compiled once a session."""
    return compile_source(_submission(name))


def find_kernel(name: str) -> Kernel:
    """The one kernel of a truth file."""
    (kernel,) = compile_truth(name).kernels
    return kernel


def run_record(recorded: Recorded, *, threads: int = 1) -> tuple[LaunchResult, str]:
    """Run a record's kernel at its sizes on its inputs: what the launch counted, and the SHA-256 of
    the output."""
    device = EmulatedDevice("h100", threads=threads)
    program, arrays = make_plan(recorded, device.info)
    execution, outputs = device.run(program, arrays, limits=LIMITS)
    assert execution.failure is None, execution.failure
    assert execution.modified_inputs == ()
    (launch,) = execution.launches
    (output,) = outputs.values()
    return launch, hashlib.sha256(output.tobytes()).hexdigest()


def make_plan(recorded: Recorded, info: DeviceInfo) -> tuple[Program, dict[str, np.ndarray]]:
    """A record's kernel at its sizes for this device, and the contents of all its buffers."""
    binary = compile_truth(recorded.kernel)
    buffers = _buffers(recorded)
    plan = _resolve(recorded, binary, buffers, info)
    return Program(SUBMISSION, binary, plan.launches, buffers), _arrays(buffers)


def _submission(name: str) -> Submission:
    content = (TRUTH / "kernels" / f"{name}.cu").read_bytes()
    return Submission(f"{name}.cu", hashlib.sha256(content).hexdigest(), content.decode())


def _resolve(
    recorded: Recorded, binary: Binary, buffers: tuple[DeviceBuffer, ...], info: DeviceInfo
) -> ResolvedPlan:
    submission = _submission(recorded.kernel)
    plan = read_plan(submission)
    assert isinstance(plan, Plan), plan
    resolved = resolve_plan(
        plan,
        sizes=recorded.sizes,
        macros={},
        buffers=buffers,
        kernels=binary.kernels,
        limits=info.limits,
        source=submission.text,
    )
    assert isinstance(resolved, ResolvedPlan), resolved
    return resolved


def _buffers(recorded: Recorded) -> tuple[DeviceBuffer, ...]:
    sizes = recorded.sizes
    if "rows" in sizes:
        shape = (sizes["rows"], sizes["cols"])
        out = shape if recorded.kernel == "transpose_copy" else shape[::-1]
        return (
            DeviceBuffer("out", "float32", out, Role.OUTPUT),
            DeviceBuffer("in", "float32", shape, Role.INPUT),
        )
    m, n, k = sizes.values()
    return (
        DeviceBuffer("A", "float32", (m, k), Role.INPUT),
        DeviceBuffer("B", "float32", (k, n), Role.INPUT),
        DeviceBuffer("C", "float32", (m, n), Role.OUTPUT),
    )


def _arrays(buffers: tuple[DeviceBuffer, ...]) -> dict[str, np.ndarray]:
    """Inputs as tests/data/truth/README.md says: one generator a size, in argument order; outputs
    are NaN."""
    rng = np.random.default_rng(7)
    return {
        buffer.name: (
            rng.standard_normal(buffer.shape, dtype=np.float32)
            if buffer.role is Role.INPUT
            else np.full(buffer.shape, math.nan, dtype=np.float32)
        )
        for buffer in buffers
    }
