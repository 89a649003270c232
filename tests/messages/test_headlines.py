"""The lines that a handout promises."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.messages.headlines import explain, format_headline, format_headlines, format_remark
from grader.records import CheckResult, CheckStatus, Source

CONFLICTS = CheckResult(
    "shared_bank_conflicts",
    "Shared memory",
    CheckStatus.PASSED,
    3.0,
    3.0,
    "shared_bank_conflicts",
    0,
    "== 0",
    "conflicts",
    Source.COUNTED,
    "",
    headline="Bank conflicts",
)
BANDWIDTH = replace(
    CONFLICTS,
    metric="bandwidth_fraction",
    value=0.831,
    headline="Bandwidth",
    source=Source.MODELLED,
)
CASES = replace(CONFLICTS, metric="correctness", value=0.5, headline=None, title="Right results")


@pytest.mark.parametrize(
    ("check", "line"),
    [
        (CONFLICTS, "✓ Bank conflicts: PASSED (count == 0)"),
        (replace(CONFLICTS, headline=None), "✓ Shared memory: PASSED (count == 0)"),
        (replace(CONFLICTS, value=None), "✓ Bank conflicts: PASSED"),
        (replace(CONFLICTS, status=CheckStatus.FAILED, value=1048576), "✗ Bank conflicts: FAILED (count == 1,048,576)"),
        (BANDWIDTH, "✓ Bandwidth: PASSED (bandwidth 83.1 % of peak)"),
        (replace(BANDWIDTH, in_doubt=True), "✓ Bandwidth: PASSED (bandwidth 83.1 % of peak; too close to call on a model, the benefit of the doubt)"),
        (replace(BANDWIDTH, in_doubt=True, source=Source.MEASURED), "✓ Bandwidth: PASSED (bandwidth 83.1 % of peak; too close to call, the benefit of the doubt)"),
        (CASES, "✓ Right results: PASSED"),
        (replace(CASES, status=CheckStatus.FAILED, message="1 of 2 cases is wrong"), "✗ Right results: FAILED (1 of 2 cases is wrong)"),
    ],
)  # fmt: skip
def test_a_line_says_verdict_and_figure(check: CheckResult, line: str) -> None:
    assert format_headline(check) == line


@pytest.mark.parametrize("status", [CheckStatus.SKIPPED, CheckStatus.NOT_MEASURED])
def test_without_a_verdict_the_reason_stands_in_place_of_the_figure(status: CheckStatus) -> None:
    check = replace(CONFLICTS, status=status, message="a case is wrong")
    assert format_headline(check).endswith("(a case is wrong)")
    assert format_remark(check) == explain(check) == "a case is wrong"


def test_what_is_plain_needs_no_remark() -> None:
    check = replace(CONFLICTS, message="0 where 0 are allowed")
    assert (format_remark(check), explain(check)) == ("", "")
    assert explain(replace(check, in_doubt=True)) == "0 where 0 are allowed"


def test_only_checks_with_a_headline_have_a_line() -> None:
    failed = replace(BANDWIDTH, status=CheckStatus.FAILED)
    lines = format_headlines([CONFLICTS, CASES, failed])
    assert [status for status, _ in lines] == [CheckStatus.PASSED, CheckStatus.FAILED]
