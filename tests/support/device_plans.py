"""Small CUDA sources as plans that a device can run: compiled and resolved by the stages that do it
for submissions."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from grader.grading.building import with_recipe
from grader.records import (
    SUBMISSION,
    Binary,
    DeviceBuffer,
    DeviceInfo,
    Launch,
    Program,
    Role,
    Submission,
)
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.resolve import ResolvedPlan, resolve_plan
from tests.support.compiling import compile_source


@dataclass(frozen=True)
class Ready:
    """A compiled source with its launches and all buffers, scratch last."""

    binary: Binary
    launches: tuple[Launch, ...]
    buffers: tuple[DeviceBuffer, ...]

    def as_program(self, label: str = SUBMISSION) -> Program:
        return Program(label, self.binary, self.launches, self.buffers)


@functools.cache
def compile_text(text: str, arch: str) -> Binary:
    """The kernels of a source by the compiler that a GPU's submissions get."""
    source = Submission("test.cu", hashlib.sha256(text.encode()).hexdigest(), text)
    return with_recipe(compile_source(source, arch=arch, prefer_wheel=False), source)


def make_ready(
    text: str, buffers: Sequence[DeviceBuffer], sizes: Mapping[str, int], info: DeviceInfo
) -> Ready:
    """A source with launch lines for this device."""
    binary = compile_text(text, info.arch)
    plan = read_plan(Submission("test.cu", "", text))
    assert isinstance(plan, Plan), plan
    resolved = resolve_plan(
        plan,
        sizes=sizes,
        macros={},
        buffers=buffers,
        kernels=binary.kernels,
        limits=info.limits,
        source=text,
    )
    assert isinstance(resolved, ResolvedPlan), resolved
    return Ready(binary, resolved.launches, (*buffers, *resolved.scratch))


ATOMICS = Path(__file__).parent / "atomics.cu"
_SIDE = 64


def make_atomics(info: DeviceInfo) -> Ready:
    """The launches of `atomics.cu`."""
    buffers = tuple(
        DeviceBuffer(name, "float32", (_SIDE, _SIDE), Role.INPUT) for name in ("y", "x")
    )
    return make_ready(ATOMICS.read_text(encoding="utf-8"), buffers, {}, info)


def atomics_arrays() -> dict[str, np.ndarray]:
    """Contents of its buffers; both are inputs, so that ncu's worker has them, too."""
    x = np.random.default_rng(3).uniform(0, 8, (_SIDE, _SIDE)).astype(np.float32)
    return {"x": x, "y": np.zeros_like(x)}
