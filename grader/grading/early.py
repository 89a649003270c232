"""Starts the slowest steps, compilation and loading of the emulated device, while the rest of the
grader still loads. For this reason the module imports little.

Nothing is decided here. The grading itself reports a wrong name, exercise or file later; the
started compilation is then stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.devices.choose import EMULATED, has_pycuda, parse_device
from grader.devices.gpus import read_gpus
from grader.errors import GraderError
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import cache_folder
from grader.records import Options, Submission, ToolLimits
from grader.submission.instances import find_open_templates
from grader.submission.lookups import check_lookups
from grader.submission.source_file import read_submission
from grader.toolchain.compilation import Compilation


@contextmanager
def begin_early(options: Options, exercise: Path, submission: Path) -> Iterator[Compilation | None]:
    """Starts the compilation that the grading on the emulated device will need, and stops it at the
    end if it still runs. None if it cannot start: the grading then finds the reason."""
    try:
        begun = _begin(options, exercise, submission)
    except (GraderError, OSError, ValueError, KeyError, TypeError):
        begun = None
    if begun is None:
        yield None
        return
    with begun:
        _load_device()
        yield begun


def _begin(options: Options, exercise: Path, submission: Path) -> Compilation | None:
    """Starts the compiler. Raises the exceptions that `begin_early` catches."""
    choice = parse_device(str(options.device), gpu_works=has_pycuda, has_pycuda=has_pycuda)
    if choice.kind != EMULATED:
        _load_device()  # a stand-in for the GPU
        return None
    source = read_submission(submission)
    if not isinstance(source, Submission) or check_lookups(source.text) is not None:
        return None
    if "launch" in source.text and find_open_templates(source.text):
        return None  # the launch lines decide which instances are compiled
    spec = json.loads((exercise / "spec.json").read_text(encoding="utf-8"))
    limits = ToolLimits(wall_seconds=float(spec["limits"]["compile_seconds"]))
    tools = find_toolchain(
        prefer_wheel=True, cache=cache_folder(options), isolated=options.isolated
    )
    order = tools.order(source, read_gpus()[choice.id].arch, limits)
    return None if order.is_done else Compilation(order)


def _load_device() -> None:
    from grader.devices.remote.worker_process import load_ahead

    load_ahead()
