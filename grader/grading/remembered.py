"""Cache of the baselines' counters and times, which are the same for every submission.

An entry is JSON. Its key contains all inputs: the machine code, the launches, the GPU, and the code
of the grader that computes the figures. An entry that does not parse counts as absent.
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
    """The key of a program's counters and modelled times on an emulated GPU."""
    return "graded-" + _key(program, info.id, repr(mode), hash_package(*_EMULATED))


def counts_key(program: Program, info: DeviceInfo) -> str:
    """The key of a program's counters by Nsight Compute on GPUs of this name."""
    return "counts-" + _key(program, info.id, info.name, ncu_identity(), hash_package(*_NCU))


def _key(program: Program, *parts: str) -> str:
    code = hashlib.sha256(program.binary.cubin).hexdigest()
    return cache_key(code, repr(program.steps), repr(program.buffers), *parts)


def recall(
    folder: Path | None, key: str, kind: type[Kept], by: Converter | None = None
) -> Kept | None:
    """The record of a key; None if there is none or its file is damaged. `by` replaces the usual
    converter."""
    if folder is None:
        return None
    try:
        return (by or converter()).structure(json.loads(read_entry(folder, key) or b""), kind)
    except Exception:  # cattrs groups the exceptions of the fields' constructors
        return None


def remember(folder: Path | None, key: str, value: object) -> None:
    """Keeps a record. A read-only folder is no error: the next run computes the record again."""
    if folder is None:
        return
    keep_entry(folder, key, json.dumps(converter().unstructure(value)).encode())
