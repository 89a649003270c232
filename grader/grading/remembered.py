"""What an exercise's own programs take and count, kept on disk: it is the same for every
submission.

An entry of the cache holds JSON, under a key of all that it depends on: the machine code, the
launches, the GPU, and the code that makes the figures. One that does not parse counts as absent.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from grader.devices.gpu.ncu import ncu_identity
from grader.plumbing.cache import cache_key, keep_entry, read_entry
from grader.plumbing.identity import hash_package
from grader.plumbing.record_json import converter
from grader.records import DeviceInfo, Mode, Program

if TYPE_CHECKING:
    from cattrs import Converter

_EMULATED = (
    "emulator/**/*.*",
    "devices/*.py",
    "devices/emulated/*.py",
    "devices/gpus.json",
    "judging/modelled.py",
    "records/*.py",
)
_NCU = (
    "devices/gpu/ncu.py",
    "devices/gpu/ncu_metrics.py",
    "devices/gpu/profiled.py",
    "records/counter*.py",
)

Kept = TypeVar("Kept")


def graded_key(program: Program, info: DeviceInfo, mode: Mode) -> str:
    """The name of the entry of what a program counts and takes on an emulated GPU."""
    return "graded-" + _key(program, info.id, repr(mode), hash_package(*_EMULATED))


def counts_key(program: Program, info: DeviceInfo) -> str:
    """The name of the entry of what Nsight Compute counts of a program on GPUs of this model."""
    return "counts-" + _key(program, info.id, info.name, ncu_identity(), hash_package(*_NCU))


def _key(program: Program, *parts: str) -> str:
    code = hashlib.sha256(program.binary.cubin).hexdigest()
    return cache_key(code, repr(program.steps), repr(program.buffers), *parts)


def recall(
    folder: Path | None, key: str, kind: type[Kept], by: Converter | None = None
) -> Kept | None:
    """What is kept under a key; None where there is nothing or where its file is damaged. `by`:
    what reads it, where that is not the converter of all records."""
    if folder is None:
        return None
    try:
        return (by or converter()).structure(json.loads(read_entry(folder, key) or b""), kind)
    except Exception:  # cattrs collects whatever the fields' constructors raise
        return None


def remember(folder: Path | None, key: str, value: object) -> None:
    """Keep a record; a folder that cannot be written to only costs the next run its time."""
    if folder is None:
        return
    keep_entry(folder, key, json.dumps(converter().unstructure(value)).encode())
