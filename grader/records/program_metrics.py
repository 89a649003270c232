"""The metrics that only whole programs have."""

from __future__ import annotations

from grader.records.metric_row import Better, Metric, Shows

HOST_FINDINGS = "host_findings"
_NO_ACTIVITY = "the program copied nothing, or its kernels have no modelled time"

PROGRAM_ROWS = (
    Metric(
        HOST_FINDINGS,
        Better.LOWER,
        "mistakes in host code",
        "mistakes in the host code of a program: leaks, wrong copies, missing synchronisation,"
        " unchecked errors",
        program=lambda run: run.host_mistakes,
        is_goal=False,
        shows=Shows.HOST_MISTAKES,
        advice="`grade exec --check` shows each mistake with its place.",
    ),
    Metric(
        "program_time_ms",
        Better.LOWER,
        "GPU time",
        "time of a program on the GPU: from its first copy or kernel to the end of its last",
        unit="ms",
        program=lambda run: run.time_ms,
        undefined=_NO_ACTIVITY,
        advice="Use pinned memory, and let copies and kernels of different streams overlap.",
    ),
    Metric(
        "overlap_fraction",
        Better.HIGHER,
        "overlap",
        "part of the time of copies in which another copy or kernel runs, 0 to 1",
        program=lambda run: run.overlap,
        is_fraction=True,
        undefined=_NO_ACTIVITY,
        advice="Copy in chunks, each in a stream with its kernel, from and to pinned memory.",
    ),
)
