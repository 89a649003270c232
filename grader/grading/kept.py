"""Keys of the cache for gradings: scores of equal gradings, and the counters and times of an
exercise's baselines, which are the same for every submission.

A key hashes all inputs of its entry. Two kinds of gradings are not kept: without a given seed,
because each draws another, and after a limit of time or memory, because a repetition can end
differently.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from grader.devices.gpu.ncu import ncu_identity
from grader.grading.session import Job
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import cache_key, recall, remember
from grader.plumbing.identity import grader_identity, hash_files, hash_package
from grader.plumbing.record_json import make_converter
from grader.records import DeviceInfo, Mode, Program, Score
from grader.spec.exercise import Exercise
from grader.spec.own_files import read_files

if TYPE_CHECKING:
    from cattrs import Converter


_EMULATED = (
    "emulator/**/*.*",
    "devices/*.py",
    "devices/emulated/*.py",
    "devices/gpus.json",
    "judging/timing.py",
    "records/*.py",
)
_NCU = ("devices/gpu/ncu.py", "devices/gpu/ncu_metrics.py", "devices/gpu/profiled.py")


@dataclass(frozen=True)
class Keeper:
    """The cache folder, and the key of a grading's score."""

    folder: Path
    key: str

    def recall(self) -> Score | None:
        return recall(self.folder, self.key, Score, _converter())

    def keep(self, score: Score) -> None:
        """Keeps a score that went through all steps. A grading that ended early is repeated: this
        is quick, and a tool's limit cannot always be distinguished from a mistake."""
        if not score.status.ended_early:
            remember(self.folder, self.key, score)


def find_keeper(job: Job) -> Keeper:
    """The keeper of this grading. Raises ToolMissing, like the grading itself."""
    tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=job.options.isolated)
    subject, submission = job.subject, job.submission
    facts = subject.environment | tools.versions
    parts = (
        grader_identity(),
        tools.nvcc.identity,
        *map(str, tools.nvcc.include_roots),
        json.dumps(facts, sort_keys=True),
        subject.exercise.id,
        hash_files(read_files(subject.exercise)),
        *(submission.name, submission.sha256),
        *(str(job.choice), str(job.options.isolated), str(job.options.model), str(job.seed)),
        repr(job.options.detail),
    )
    return Keeper(job.cache, f"score-{cache_key(*parts)}")


def graded_key(program: Program, info: DeviceInfo, mode: Mode, exercise: Exercise) -> str:
    """The key of the counters and times of a program on an emulated GPU. They depend on the inputs,
    so on the exercise's files: functions of the oracle fill inputs."""
    files = hash_files(read_files(exercise))
    return "graded-" + _key(program, info.id, repr(mode), hash_package(*_EMULATED), files)


def counts_key(program: Program, info: DeviceInfo, counters: Collection[str]) -> str:
    """The key of these Nsight Compute counters of a program on GPUs of this model."""
    names = ",".join(counters)
    return "counts-" + _key(program, info.id, info.name, names, ncu_identity(), hash_package(*_NCU))


def _key(program: Program, *parts: str) -> str:
    code = hashlib.sha256(program.binary.cubin).hexdigest()
    return cache_key(code, repr(program.steps), repr(program.buffers), *parts)


@functools.cache
def _converter() -> Converter:
    """A converter that keeps integers in fields of type float, so that a score from the cache has
    the same JSON text."""
    made = make_converter()
    made.register_structure_hook(float, _check_number)
    return made


def _check_number(value: object, _: object) -> float:
    if type(value) in (int, float):
        return cast(float, value)
    raise ValueError("not a number")
