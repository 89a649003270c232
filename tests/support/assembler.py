"""Hand-written SASS without nvcc: a text of instructions -> a translated kernel -> a launch on
NumPy arrays.

One instruction a line, as nvdisasm prints it; `loop:` in front of one names its address for BRA and
BSSY; `#` starts a comment. The source line of an instruction is its line in the text, counted from
1, so that tests can name it.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import (
    ARCHITECTURES,
    GlobalMemory,
    Instruction,
    InstructionCounts,
    KernelCode,
    LaunchOutcome,
    LaunchSettings,
    NativeKernel,
    run_launch,
    translate,
)

PARAMETER_BYTES = 64
SHARED_BASE = 0x400
ONE = (1, 1, 1)

_LABEL = re.compile(r"\s*(?P<label>[a-z_]+):")
_TARGET = re.compile(r"\b[a-z_]+$")


def assemble(text: str) -> tuple[Instruction, ...]:
    """The instructions of a text. Blank lines and comments count as lines, not as instructions."""
    labels: dict[str, int] = {}
    found: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        code = line.partition("#")[0]
        label = _LABEL.match(code)
        if label:
            labels[label["label"]] = 16 * len(found)
            code = code[label.end() :]
        if code.strip():
            found.append((number, code.strip()))
    return tuple(
        _instruction(16 * index, number, code, labels) for index, (number, code) in enumerate(found)
    )


def _instruction(offset: int, line: int, code: str, labels: Mapping[str, int]) -> Instruction:
    guard, code = code.split(None, 1) if code.startswith("@") else (None, code)
    opcode, _, operands = code.partition(" ")
    if opcode.partition(".")[0] in ("BRA", "BSSY", "CALL", "WARPSYNC"):
        operands = _TARGET.sub(lambda match: hex(labels[match[0]]), operands)
    return Instruction(offset, guard, opcode, operands.strip(), line)


@functools.cache
def build(
    text: str,
    *,
    shared_bytes: int = 0,
    local_bytes: int = 0,
    constants: tuple[tuple[int, bytes], ...] = (),
    arch: str = "sm_90",
) -> NativeKernel:
    """The translated kernel of a text, with static shared memory a block, local memory a thread,
    and constant banks.

    Translated once a session.
    """
    architecture, banks = ARCHITECTURES[arch], dict(constants)
    base = architecture.system_bytes
    return translate(
        KernelCode(
            "kernel",
            assemble(text),
            base,
            PARAMETER_BYTES,
            shared_bytes,
            local_bytes,
            banks,
            architecture=architecture,
        ),
        emulator_runtime(),
    )


@dataclass(frozen=True)
class Run:
    """A launch that ended: its outcome, the buffers' contents afterwards, and the memory that they
    lay in."""

    outcome: LaunchOutcome
    arrays: dict[str, np.ndarray]
    memory: GlobalMemory

    @property
    def executed(self) -> int:
        """Warp instructions executed."""
        return sum(counts.executed for counts in self.outcome.counts)

    @property
    def threads(self) -> int:
        """Thread instructions executed."""
        return sum(counts.threads for counts in self.outcome.counts)

    def at_line(self, line: int) -> InstructionCounts:
        """Counts of the instruction of a source line of the text."""
        return next(counts for counts in self.outcome.counts if counts.line == line)


def launch(
    kernel: NativeKernel,
    buffers: Mapping[str, np.ndarray],
    scalars: Sequence[int] = (),
    *,
    block: tuple[int, int, int] = (32, 1, 1),
    grid: tuple[int, int, int] = ONE,
    check: bool = True,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,  # noqa: ANN401 - the other fields of LaunchSettings
) -> Run:
    """Run a kernel. Parameters (from 0x210 on for sm_90): 64-bit addresses of the buffers in order,
    then 64-bit scalars.

    `check` asserts that it ended without a fault.
    """
    memory = GlobalMemory({name: array.nbytes for name, array in buffers.items()})
    for name, array in buffers.items():
        memory.view(name)[:] = array.reshape(-1).view(np.uint8)
    words = [memory.regions[name].address for name in buffers] + [
        scalar % (1 << 64) for scalar in scalars
    ]
    parameters = struct.pack(f"<{len(words)}Q", *words)
    outcome = run_launch(
        kernel, memory, LaunchSettings(grid, block, parameters, **settings), progress
    )
    if check:
        assert outcome.fault is None, outcome.fault
    arrays = {
        name: memory.view(name).view(array.dtype).reshape(array.shape).copy()
        for name, array in buffers.items()
    }
    return Run(outcome, arrays, memory)
