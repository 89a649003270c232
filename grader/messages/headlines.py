"""The lines that a handout promises: `✓ Bank conflicts: PASSED (count == 0)`. Plain text, for every
kind of report."""

from __future__ import annotations

from collections.abc import Sequence

from grader.messages.doubt import remark_doubt
from grader.metrics import CORRECTNESS, METRICS, format_value
from grader.records import CheckResult, CheckStatus


def format_headlines(checks: Sequence[CheckResult]) -> tuple[tuple[CheckStatus, str], ...]:
    """A line for every check that has a headline, with the status that gives its colour."""
    return tuple((check.status, format_headline(check)) for check in checks if check.headline)


def format_check_value(check: CheckResult) -> str:
    """The value of a check, with enough digits to differ from a missed goal; empty without a
    value."""
    if check.value is None:
        return ""
    missed = check.threshold if check.status.lost_points else ""
    return format_value(check.metric, check.value, missed=missed)


def format_headline(check: CheckResult) -> str:
    """Glyph, label, verdict, and in parentheses the figure or the reason."""
    figure = "; ".join(part for part in (_format_value(check), format_remark(check)) if part)
    return (
        f"{check.status.row.glyph} {check.headline or check.title}: {check.status.row.word.upper()}"
        + (f" ({figure})" if figure else "")
    )


def format_remark(check: CheckResult) -> str:
    """The reason why there is no verdict, or the benefit of the doubt; empty for other verdicts."""
    if not check.status.is_verdict:
        return check.message
    return remark_doubt(check.source) if check.in_doubt else ""


def explain(check: CheckResult) -> str:
    """The remark as a whole sentence."""
    return check.message if format_remark(check) else ""


def _format_value(check: CheckResult) -> str:
    if not check.status.is_verdict:
        return ""
    if check.metric == CORRECTNESS:
        return "" if check.status is CheckStatus.PASSED else check.message
    if check.value is None:
        return ""
    metric, value = METRICS[check.metric], format_check_value(check)
    noun = metric.noun
    if metric.is_of_peak:
        return f"{noun} {value} of peak"
    # Counts read as in C: the handout asks for `count == 0`.
    return f"{noun} == {value}" if noun == "count" else f"{noun} {value}"
