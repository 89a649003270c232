"""The planted bugs of tests/data/planted_bugs: small kernels whose names say what is wrong with
them, `none--...` if nothing is.

Comment lines say what a kernel is run on, in order: `// in: float a[64]` (filled with i % 17 + 1),
`// out: int y[32]` (nothing was written there), and launch lines as in a submission. `// BUG` marks
the lines that a finding must name.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.messages.hidden import describe_mistake
from grader.messages.observations import describe_observation, describe_order
from grader.records import (
    Binary,
    CheckedMode,
    DeviceBuffer,
    Finding,
    Program,
    Role,
    RunLimits,
    Submission,
)
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.resolve import ResolvedPlan, resolve_plan
from tests.support.compiling import compile_source

FOLDER = Path(__file__).parents[1] / "data" / "planted_bugs"
FILES = sorted(FOLDER.glob("*.cu"))
NONE = "none"
LIMITS = RunLimits(warp_instructions=10**7, wall_seconds=60.0)
TYPES = {"float": "float32", "int": "int32"}

_BUFFER = re.compile(
    r"^// (?P<role>in|out): (?P<type>float|int) (?P<name>\w+)\[(?P<count>\d+)\]$", re.MULTILINE
)


@dataclass(frozen=True)
class Planted:
    """A file: `kind` is what must be found (NONE: nothing), `lines` are those that the findings
    must name together."""

    path: Path
    kind: str
    lines: frozenset[int]
    buffers: tuple[DeviceBuffer, ...]
    text: str


def read_planted(path: Path) -> Planted:
    """The bug that is planted in a file."""
    text = path.read_text(encoding="utf-8")
    buffers = tuple(
        DeviceBuffer(
            match["name"],
            TYPES[match["type"]],
            (int(match["count"]),),
            Role.INPUT if match["role"] == "in" else Role.OUTPUT,
        )
        for match in _BUFFER.finditer(text)
    )
    lines = frozenset(
        number
        for number, line in enumerate(text.splitlines(), 1)
        if line.rstrip().endswith("// BUG")
    )
    return Planted(path, path.stem.partition("--")[0], lines, buffers, text)


def find_bugs(planted: Planted) -> tuple[Finding, ...]:
    """What the checked mode finds, blocks and warps in both orders; an outcome that depends on the
    order counts too."""
    binary = compile_source(_submission(planted))
    device = EmulatedDevice("h100", threads=1)
    arrays = {
        each.name: (np.arange(each.shape[0]) % 17 + 1).astype(each.dtype)
        for each in planted.buffers
        if each.role is Role.INPUT
    }
    launches = _resolve(planted, binary, device).launches
    program = Program(planted.path.stem, binary, launches, planted.buffers)
    found: list[Finding] = []
    outputs = []
    for backwards in (False, True):
        mode = CheckedMode(backwards=backwards)
        execution, got = device.run(program, arrays, limits=LIMITS, mode=mode)
        if execution.failure is not None:
            return (*found, *describe_mistake(execution.failure).findings)
        found += (describe_observation(each, hidden=False) for each in execution.findings)
        outputs.append({name: array.tobytes() for name, array in got.items()})
    if not found and outputs[0] != outputs[1]:
        found.append(describe_order(None, "the outputs differ"))
    return tuple(found)


def named_lines(findings: Sequence[Finding]) -> frozenset[int]:
    """The lines that findings name."""
    return frozenset(_lines(findings))


def _lines(findings: Sequence[Finding]) -> Iterator[int]:
    for finding in findings:
        yield from (line for line in (finding.line, finding.other_line) if line is not None)


def _resolve(planted: Planted, binary: Binary, device: EmulatedDevice) -> ResolvedPlan:
    plan = read_plan(_submission(planted))
    assert isinstance(plan, Plan), plan
    resolved = resolve_plan(
        plan,
        sizes={},
        macros={},
        buffers=planted.buffers,
        kernels=binary.kernels,
        limits=device.info.limits,
        source=planted.text,
    )
    assert isinstance(resolved, ResolvedPlan), resolved
    return resolved


def _submission(planted: Planted) -> Submission:
    return Submission(
        planted.path.name, hashlib.sha256(planted.text.encode()).hexdigest(), planted.text
    )
