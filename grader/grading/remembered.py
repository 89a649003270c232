"""Modelled times of an exercise's own programs, kept on disk: they are the same for every submission.

An entry is a small JSON file under a key of all that the time depends on: the machine code, the launches, the GPU, and the code of the
emulator and of the model. One that does not parse counts as absent.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import tempfile
from dataclasses import asdict
from pathlib import Path

from grader.records import DeviceInfo, Program, Timing
from grader.toolchain.cache import cache_key

_MODEL = ("emulator/**/*.py", "devices/modelled.py", "devices/gpus.json", "judging/modelled.py")


def time_key(program: Program, info: DeviceInfo) -> str:
    """The name of the entry of a program's time on a GPU."""
    code = hashlib.sha256(program.binary.cubin).hexdigest()
    return "time-" + cache_key(code, repr(program.launches), repr(program.buffers), info.id, model_digest())


@functools.cache
def model_digest() -> str:
    """A digest of the files that modelled times come from."""
    package = Path(__file__).parents[1]
    files = sorted(path for pattern in _MODEL for path in package.glob(pattern))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def read_time(folder: Path | None, key: str) -> Timing | None:
    """The timing, or None where there is none or where its file is damaged."""
    if folder is None:
        return None
    try:
        found = json.loads((folder / key).read_text(encoding="utf-8"))
        low, high = map(float, found["interval_ms"])
        return Timing(str(found["plan"]), float(found["median_ms"]), (low, high), ())
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_time(folder: Path | None, key: str, timing: Timing) -> None:
    """Keep a timing; a folder that cannot be written to only costs the next run its time."""
    if folder is None:
        return
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False, encoding="utf-8") as file:
            json.dump(asdict(timing), file)
        Path(file.name).replace(folder / key)
