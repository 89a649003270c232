"""The lines on times and counters: what was measured, what it is compared with, and who counted."""

from __future__ import annotations

from dataclasses import replace

from grader.records import Timing
from grader.report.measurement import format_measurement
from tests.support.factories import DOUBTFUL, GPU, make_graded

TIMINGS = (
    Timing("naive", 1.28, (1.279, 1.281), (1.28,)),
    Timing("submission", 0.18804, (0.1871, 0.18909), (0.188,)),
    Timing("reference", 0.187, (0.186, 0.188), (0.187,)),
)
SCORE = replace(
    make_graded(),
    device=replace(GPU, peak_source="2 x 2619 MHz x 5120 bit, device attributes; fp32: something"),
    timings=TIMINGS,
    environment={
        "copy_bandwidth": "2,960 GB/s",
        "counters": "Nsight Compute, rows = 8,192, cols = 8,192",
    },
)


def test_times_stand_beside_what_they_are_compared_with() -> None:
    time, counters = format_measurement(SCORE)
    assert (
        time == "Time: 0.188 ms (0.1871 to 0.1891), naive 1.28 ms, reference 0.187 ms;"
        " copy kernel 2,960 GB/s, peak 3,352 GB/s (2 x 2619 MHz x 5120 bit, device attributes)"
    )
    assert counters == "Counters: Nsight Compute, rows = 8,192, cols = 8,192"


def test_a_score_without_times_has_no_such_lines() -> None:
    assert format_measurement(make_graded()) == ()


def test_figures_stand_with_their_source_and_what_is_not_known_with_its_reason() -> None:
    figures = next(line for line in format_measurement(DOUBTFUL) if line.startswith("Figures"))
    assert (
        figures
        == "Figures (modelled): bandwidth 2,649 GB/s, DRAM traffic 4,096 B, L1 hit rate 87.5 %, L2"
        " hit rate 25 %"
    )
