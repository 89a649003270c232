"""Starts the slowest steps while the rest of the grader still loads: compilation and loading of the
emulated device, or a GPU's worker and Nsight Compute. For this reason the module imports little.

Nothing is decided here. The grading itself reports a wrong name, exercise or file later; the
started work is then stopped.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.devices.choose import EMULATED, has_pycuda, parse_device
from grader.devices.gpus import read_gpus
from grader.errors import GraderError
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import cache_folder
from grader.records import DeviceChoice, Options, RunLimits, Submission, ToolLimits
from grader.submission.instances import find_open_templates
from grader.submission.lookups import check_lookups
from grader.submission.source_file import read_submission
from grader.toolchain.compilation import Compilation

if TYPE_CHECKING:
    from grader.devices.gpu.counting import Counting
    from grader.devices.remote.remote_device import RemoteDevice


@dataclass(frozen=True)
class Begun:
    """Running work: the compilation for the emulated device, or a GPU's worker and Nsight Compute.
    `device`: the name of the GPU that they use."""

    compilation: Compilation | None = None
    device: str = ""
    worker: RemoteDevice | None = None
    counting: Counting | None = None


NOTHING = Begun()


@contextmanager
def begin_early(options: Options, exercise: Path, submission: Path) -> Iterator[Begun]:
    """Starts work that the grading will need, and stops it at the end if it still runs. Nothing if
    it cannot start: the grading then finds the reason."""
    with ExitStack() as stack:
        try:
            begun = _begin(options, exercise, submission, stack)
        except (GraderError, OSError, ValueError, KeyError, TypeError):
            begun = NOTHING
        yield begun


def _begin(options: Options, exercise: Path, submission: Path, stack: ExitStack) -> Begun:
    """Raises the exceptions that `begin_early` catches."""
    choice = parse_device(str(options.device), gpu_works=has_pycuda, has_pycuda=has_pycuda)
    spec = json.loads((exercise / "spec.json").read_text(encoding="utf-8"))
    if choice.kind != EMULATED:
        _load_device()  # a stand-in for the GPU
        return NOTHING if "program" in spec else _begin_on_gpu(options, choice, spec, stack)
    compilation = _begin_compiling(options, read_gpus()[choice.id].arch, spec, submission)
    if compilation is not None:
        stack.enter_context(compilation)
        _load_device()
    return Begun(compilation)


def _begin_on_gpu(
    options: Options, choice: DeviceChoice, spec: Mapping[str, Any], stack: ExitStack
) -> Begun:
    from grader.devices.gpu.counting import Counting
    from grader.devices.gpu.nvml import guess_arch
    from grader.devices.remote.remote_device import RemoteDevice
    from grader.sandbox.process import run_tool

    arch = guess_arch(int(choice.id))
    if arch is None:
        return NOTHING
    worker = stack.enter_context(RemoteDevice(str(choice), isolated=options.isolated))
    limits = RunLimits(0, float(spec["limits"]["wall_seconds"]))
    counting = stack.enter_context(Counting(int(choice.id), arch, limits, run_tool))
    return Begun(device=str(choice), worker=worker, counting=counting)


def _begin_compiling(
    options: Options, arch: str, spec: Mapping[str, Any], submission: Path
) -> Compilation | None:
    source = read_submission(submission)
    if not isinstance(source, Submission) or check_lookups(source.text) is not None:
        return None
    if "launch" in source.text and find_open_templates(source.text):
        return None  # the launch lines decide which instances are compiled
    limits = ToolLimits(wall_seconds=float(spec["limits"]["compile_seconds"]))
    tools = find_toolchain(
        prefer_wheel=True, cache=cache_folder(options), isolated=options.isolated
    )
    order = tools.order(source, arch, limits)
    return None if order.is_done else Compilation(order)


def _load_device() -> None:
    from grader.devices.remote.worker_process import load_ahead

    load_ahead()
