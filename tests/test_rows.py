"""The tables of metrics, statuses and findings: every row says all that is asked of it."""

from __future__ import annotations

import pytest

from grader.messages.findings import FINDINGS
from grader.metrics import (
    CHECKED_CASES,
    COMPARABLE,
    CORRECTNESS,
    FIGURES,
    METRICS,
    MODELLED,
    TIMED,
    TRAFFIC,
    Shows,
)
from grader.records import FindingKind
from grader.records.predictions import PREDICTIONS
from grader.statuses import CHECK_STATUSES, STATUSES, CheckStatus, Doing, Status


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_has_one_reader(name: str) -> None:
    row = METRICS[name]
    readers = [row.time, row.count, row.traffic, row.program if row.is_of_program else None]
    is_of_cases = name in (CORRECTNESS, CHECKED_CASES, PREDICTIONS)
    assert sum(reader is not None for reader in readers) == (0 if is_of_cases else 1)
    assert (row.needs_flops or row.needs_naive) <= (name in TIMED)
    assert (row.shows is Shows.NOTHING) or row.advice


def test_groups_of_metrics_follow_from_their_readers() -> None:
    assert {"time_ms", "speedup_over_naive", "compute_fraction"} < TIMED
    assert {"dram_bytes", "l1_hit_rate", "l2_hit_rate"} == TRAFFIC
    of_programs = {"program_time_ms", "overlap_fraction"}
    assert TIMED | of_programs | TRAFFIC == MODELLED
    assert (
        set(METRICS)
        - TRAFFIC
        - {
            CORRECTNESS,
            CHECKED_CASES,
            PREDICTIONS,
            "naive_time_ms",
            "speedup_over_naive",
            "host_findings",
        }
        - of_programs
        == COMPARABLE
    )
    assert FIGURES == ("gflops", "bandwidth_gbps", "dram_bytes", "l1_hit_rate", "l2_hit_rate")
    assert all(METRICS[name].figure for name in FIGURES)


@pytest.mark.parametrize("status", Status)
def test_a_status_has_its_words(status: Status) -> None:
    row = status.row
    assert row.word
    assert row.meaning
    assert bool(row.title) == bool(row.clause) == status.ended_early
    assert status.has_points == (row.doing is Doing.STUDENT or not status.ended_early)
    assert status.exit_code == (3 if status.is_worth_a_retry else int(status is not Status.PASSED))


def test_every_member_has_a_row() -> None:
    assert set(STATUSES) == set(Status)
    assert set(CHECK_STATUSES) == set(CheckStatus)
    assert set(FINDINGS) == set(FindingKind)
