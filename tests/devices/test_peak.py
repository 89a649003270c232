"""The theoretical peak of a GPU, from what was set, from attributes, and from the table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.devices.gpu.peak import (
    BOARDS,
    FP32_LANES,
    Attributes,
    Listed,
    find_peak,
    find_published,
    parse_peak,
)
from grader.devices.gpus import read_gpus
from grader.errors import GraderError, UsageError
from grader.records import GivenPeak

H100 = Attributes("NVIDIA H100 80GB HBM3", (9, 0), 132, 1_980_000, 2_619_000, 5120)
T4 = Attributes("Tesla T4", (7, 5), 40, 1_590_000, 5_001_000, 256)
RTX_3090 = Attributes("NVIDIA GeForce RTX 3090", (8, 6), 82, 1_695_000, 9_751_000, 384)
SILENT = replace(H100, clock_khz=0, memory_clock_khz=0, memory_bus_bits=0)


@pytest.mark.parametrize(
    ("attributes", "gbps", "tflops"),
    [(H100, 3352.3, 66.9), (T4, 320.1, 8.1), (RTX_3090, 936.1, 35.6)],
    ids=lambda value: str(value)[:40],
)
def test_attributes_give_what_nvidia_publishes(
    attributes: Attributes, gbps: float, tflops: float
) -> None:
    peak = find_peak(attributes)
    assert peak.bandwidth_gbps == pytest.approx(gbps, abs=0.05)
    assert peak.fp32_tflops == pytest.approx(tflops, abs=0.05)
    published = find_published(attributes.name)
    assert published is not None
    assert peak.bandwidth_gbps == pytest.approx(published.bandwidth_gbps, rel=0.01)
    assert peak.fp32_tflops == pytest.approx(published.fp32_tflops, rel=0.01)


def test_the_peak_of_tensor_cores_is_as_published_or_not_known() -> None:
    assert find_peak(H100).tensor_tflops == 989.4
    assert find_peak(T4).tensor_tflops == 65.0
    assert find_peak(replace(H100, name="a board that nobody listed")).tensor_tflops is None


def test_the_sources_say_how_a_figure_was_made() -> None:
    assert (
        str(find_peak(H100))
        == "3,352 GB/s (2 x 2619 MHz x 5120 bit, device attributes), 66.9 TFLOP/s fp32 (132 x 128"
        " lanes x 2 x 1980 MHz, device attributes)"
    )


def test_a_driver_that_tells_no_clocks_is_helped_by_the_table() -> None:
    peak = find_peak(SILENT)
    assert (peak.bandwidth_gbps, peak.fp32_tflops) == (3352.3, 66.9)
    assert peak.bandwidth_source == peak.fp32_source == "H100 datasheet and architecture paper"


def test_an_unknown_gpu_that_tells_no_clocks_has_no_peak() -> None:
    with pytest.raises(
        GraderError, match="memory bandwidth and fp32 rate of GRID V is not known"
    ) as caught:
        find_peak(replace(SILENT, name="GRID V"))
    assert "--peak GB/s,TFLOP/s" in caught.value.advice


def test_what_is_still_missing_names_the_form_of_the_option_that_gives_it() -> None:
    with pytest.raises(GraderError, match="memory bandwidth of GRID V is not known") as caught:
        find_peak(replace(H100, name="GRID V", memory_clock_khz=0))
    assert "--peak GB/s (" in caught.value.advice
    with pytest.raises(GraderError, match="fp32 rate of GRID V is not known") as caught:
        find_peak(replace(SILENT, name="GRID V"), GivenPeak(bandwidth_gbps=500.0))
    assert "--peak GB/s,TFLOP/s (" in caught.value.advice


def test_an_unknown_compute_capability_has_no_fp32_peak() -> None:
    with pytest.raises(GraderError, match="fp32 rate"):
        find_peak(replace(H100, name="new", compute_capability=(99, 0)))


def test_what_is_set_wins_and_the_rest_is_found() -> None:
    peak = find_peak(H100, GivenPeak(bandwidth_gbps=3000.0))
    assert (peak.bandwidth_gbps, peak.bandwidth_source) == (3000.0, "set by --peak")
    assert peak.fp32_tflops == pytest.approx(66.9, abs=0.05)
    assert (
        find_peak(replace(SILENT, name="GRID V"), GivenPeak(500.0, 10.0)).fp32_source
        == "set by --peak"
    )


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("3352", GivenPeak(3352.0)),
        ("3352.3,66.9", GivenPeak(3352.3, 66.9)),
        (" 900 , 14e0 ", GivenPeak(900.0, 14.0)),
    ],
)
def test_reads_the_option(text: str, given: GivenPeak) -> None:
    assert parse_peak(text) == given


@pytest.mark.parametrize(
    "text", ["", "fast", "0", "-1", "nan", "inf", "1,2,3", "3352,", "3352,0", "3,352.3,66.9"]
)
def test_refuses_what_is_no_peak(text: str) -> None:
    with pytest.raises(UsageError, match="is no peak"):
        parse_peak(text)


@pytest.mark.parametrize("name", BOARDS)
def test_every_board_has_figures(name: str) -> None:
    published = find_published(name)
    assert published is not None
    assert published.source == BOARDS[name].source
    assert 100 < published.bandwidth_gbps < 10_000
    assert 1 < published.fp32_tflops < 1_000


def test_every_emulated_gpu_stands_for_a_board_of_the_table() -> None:
    """So that its peaks are not entered twice."""
    listed = [board.id for board in BOARDS.values() if isinstance(board, Listed)]
    assert sorted(listed) == sorted(read_gpus())


def test_every_supported_compute_capability_has_its_lanes() -> None:
    assert {(7, 5), (8, 0), (8, 6), (8, 7), (8, 9), (9, 0)} <= FP32_LANES.keys()
