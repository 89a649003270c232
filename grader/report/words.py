"""How reports name statuses: the words, and which of them are the student's doing."""

from __future__ import annotations

from collections.abc import Mapping

from grader.records import CheckStatus, Status

STATUS_WORDS: Mapping[Status, str] = {
    Status.PASSED: "full marks",
    Status.FAILED: "points lost",
    Status.COMPILE_ERROR: "compile error",
    Status.LAUNCH_ERROR: "launch error",
    Status.RUNTIME_ERROR: "runtime error",
    Status.TIMEOUT: "timeout",
    Status.REJECTED: "rejected",
    Status.UNSUPPORTED: "not supported",
    Status.INCONCLUSIVE: "inconclusive",
    Status.GRADER_ERROR: "grader failed",
}

STATUS_KINDS: Mapping[Status, str] = {
    Status.PASSED: "passed",
    Status.FAILED: "partial",
    **dict.fromkeys(
        (
            Status.COMPILE_ERROR,
            Status.LAUNCH_ERROR,
            Status.RUNTIME_ERROR,
            Status.TIMEOUT,
            Status.REJECTED,
        ),
        "failed",
    ),
    **dict.fromkeys((status for status in Status if not status.has_points), "none"),
}
"""Of a page's colours."""

CHECK_KINDS: Mapping[CheckStatus, str] = {
    CheckStatus.PASSED: "passed",
    CheckStatus.PARTIAL: "partial",
    CheckStatus.FAILED: "failed",
    CheckStatus.SKIPPED: "none",
    CheckStatus.NOT_MEASURED: "none",
}
