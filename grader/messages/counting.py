"""Sentences on launches that Nsight Compute did not count: one row for each reason."""

from __future__ import annotations

from collections.abc import Mapping

from grader.records import NotCounted, Uncountable


def describe_not_counted(counted: NotCounted) -> tuple[str, str]:
    """The reason as a clause ("ncu saw no launch"), and advice as a sentence or nothing."""
    reason, advice = _ROWS[counted.why]
    return reason.format_map(counted.figures), advice.format_map(counted.figures)


_NEWER_NCU = "Use a newer Nsight Compute, one that suits this GPU and its driver."
PERMIT = (
    "As administrator, permit it to all users: `options nvidia"
    " NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d/, then load the driver again; in a"
    " container, `--cap-add=SYS_ADMIN` or the host's permission."
)
_ROWS: Mapping[Uncountable, tuple[str, str]] = {
    Uncountable.FAILED: ("ncu failed: {error}", ""),
    Uncountable.FAILED_PLAN: ("the plan failed under ncu: {error}", ""),
    Uncountable.FAILED_REPLAY: (
        "a launch failed while ncu replayed it",
        "A kernel that does not repeat cannot be counted: use `--device emulated`.",
    ),
    Uncountable.FILLED_OUTPUTS: (
        "Nsight Compute runs no kernel on outputs that hold something",
        "",
    ),
    Uncountable.MISSING_COUNT: ("ncu gave no count for {metric}", _NEWER_NCU),
    Uncountable.MISSING_METRIC: ("this ncu has no metric {metric} for this GPU", _NEWER_NCU),
    Uncountable.NOT_INSTALLED: (
        "Nsight Compute (ncu) is not installed",
        "Install it (it comes with the CUDA toolkit) and put ncu on PATH, or name it in"
        " {variable}.",
    ),
    Uncountable.NOT_PERMITTED: (
        "this user may not read the GPU's counters (ERR_NVGPUCTRPERM)",
        PERMIT,
    ),
    Uncountable.NO_DRIVER: (
        "ncu cannot reach the driver here",
        "Run on the machine itself, or in a container without a sandbox such as gVisor.",
    ),
    Uncountable.NO_LAUNCH: ("ncu saw no launch", ""),
    Uncountable.NO_OUTPUT: ("ncu printed no counters", ""),
    Uncountable.OTHER_LAUNCHES: (
        "ncu counted {count} launches of other shapes than the plan's {planned}",
        "",
    ),
    Uncountable.OTHER_PROFILER: (
        "another profiler holds the GPU's counters",
        "End it, or pause it: `dcgmi profile --pause` for DCGM.",
    ),
    Uncountable.OVER_LIMIT: (
        "ncu was ended at its limit of {limit} ({seconds:g} s)",
        "Grade again when the machine is less busy.",
    ),
    Uncountable.UNKNOWN_GPU: ("this ncu does not know this GPU", _NEWER_NCU),
    Uncountable.UNREADABLE_COUNT: ("ncu gave no count for {metric} but {text!r}", _NEWER_NCU),
    Uncountable.UNREADABLE_UNIT: ("ncu gave {metric} in the unit {unit!r}", _NEWER_NCU),
    Uncountable.UNWRITTEN_REQUEST: (
        "the request for ncu could not be written: {error}",
        "Make room, or set TMPDIR to a folder that has some.",
    ),
}
