"""Begins what takes longest, the compiler and the loading of the emulated device, while the rest of
the grader is still loaded: this imports little.

Nothing is decided here. What is wrong with the names, the exercise or the file is told by the
grading, in its order; then what was begun is stopped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.devices.choose import EMULATED, has_pycuda, parse_device
from grader.devices.gpus import read_gpus
from grader.errors import GraderError
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import default_cache
from grader.records import Submission, ToolLimits
from grader.submission.instances import find_open_templates
from grader.submission.lookups import check_lookups
from grader.submission.source_file import read_submission
from grader.toolchain.compilation import Compilation


@contextmanager
def begin_early(
    device: str, exercise: Path, submission: Path, *, isolated: bool
) -> Iterator[Compilation | None]:
    """The compilation of a submission for the emulated device, begun as the grading will ask for
    it; None where it is for the grading to find out why there is none. What is not over at the end
    is stopped."""
    try:
        begun = _begin(device, exercise, submission, isolated=isolated)
    except (GraderError, OSError, ValueError, KeyError, TypeError):
        begun = None
    if begun is None:
        yield None
        return
    with begun:
        _load_device()
        yield begun


def _begin(device: str, exercise: Path, submission: Path, *, isolated: bool) -> Compilation | None:
    """Starts the compiler. What is wrong raises anything of `begin_early`."""
    choice = parse_device(device, gpu_works=has_pycuda, has_pycuda=has_pycuda)
    if choice.kind != EMULATED:
        return None
    source = read_submission(submission)
    if not isinstance(source, Submission) or check_lookups(source.text) is not None:
        return None
    if "launch" in source.text and find_open_templates(source.text):
        return None  # what is compiled depends on the launch lines
    spec = json.loads((exercise / "spec.json").read_text(encoding="utf-8"))
    limits = ToolLimits(wall_seconds=float(spec["limits"]["compile_seconds"]))
    tools = find_toolchain(prefer_wheel=True, cache=default_cache(os.environ), isolated=isolated)
    order = tools.order(source, read_gpus()[choice.id].arch, limits)
    return None if order.is_done else Compilation(order)


def _load_device() -> None:
    from grader.devices.remote.forked import load_ahead  # loads NumPy

    load_ahead()
