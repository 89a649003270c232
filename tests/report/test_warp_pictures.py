"""Which accesses a report and a page draw, and that a picture in SVG says who asks for what."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from grader.records import Counters, Dim3, LineCounters, Memory, Operation, Score, WarpAccess
from grader.report.annotation import PAGE_COLUMNS, annotate
from grader.report.html import write_page
from grader.report.html.warp_charts import draw_actual, draw_ideal, make_figures
from grader.report.json import format_score, parse_score
from grader.report.worst_accesses import accesses_of_checks, accesses_of_lines
from tests.report.html.test_report import Page
from tests.report.test_annotation import show as show_annotated
from tests.report.test_json import SCHEMA
from tests.report.test_terminal import show
from tests.support.classes import HOSTILE
from tests.support.factories import (
    CROOKED_LINES,
    GOOD_LINES,
    GPU,
    SOURCE,
    STORING_CROOKEDLY,
    make_case,
    make_failed,
    make_graded,
)

LANES = range(32)
COLUMN = WarpAccess(
    line=11,
    kernel="transpose_shared",
    launch=1,
    memory=Memory.SHARED,
    operation=Operation.LOAD,
    width_bytes=4,
    array="tile[32][32]",
    block=Dim3(0, 0, 0),
    block_size=Dim3(32, 8, 1),
    warp=3,
    addresses=tuple(128 * lane for lane in LANES),
    elements=tuple(f"tile[{lane}][0]" for lane in LANES),
    passes=32,
    passes_ideal=1,
    bytes_used=128,
    wavefronts=tuple((lane,) for lane in LANES),
)
STRIDE = replace(
    COLUMN,
    memory=Memory.GLOBAL,
    operation=Operation.STORE,
    array="out[2048][2048]",
    addresses=tuple(0x7F0000100000 + 8192 * lane for lane in LANES),
    elements=tuple(f"out[{lane}][0]" for lane in LANES),
    passes_ideal=4,
    wavefronts=(),
)
ROWS = replace(
    STRIDE,
    line=8,
    operation=Operation.LOAD,
    array="in[2048][2048]",
    addresses=tuple(0x7F0000100000 + 4 * lane for lane in LANES),
    passes=4,
)
"""Wastes nothing: nothing draws it."""


def crooked(**changed: object) -> Score:
    score = make_graded(lines=CROOKED_LINES)
    return replace(score, **{"accesses": (ROWS, COLUMN, STRIDE), **changed})


def test_a_report_draws_what_lost_its_checks_and_each_once() -> None:
    assert accesses_of_checks(crooked()) == (COLUMN, STRIDE)
    report = show(crooked(), width=80)
    assert report.count("What a warp does there") == 1
    assert "executed: 32 wavefronts            ideal: 1 wavefront" in report
    assert "executed: 32 sectors                  ideal: 4 sectors" in report
    assert max(map(len, report.splitlines())) <= 80


@pytest.mark.parametrize(
    "score",
    [
        replace(make_graded(lines=GOOD_LINES), accesses=(COLUMN,)),
        crooked(accesses=()),
        make_graded(cases=(make_case(passed=False, hidden=True),)),
    ],
    ids=["nothing lost", "addresses unknown", "a hidden case is wrong"],
)
def test_a_report_draws_nothing_where_nothing_was_lost_to_it(score: Score) -> None:
    assert "What a warp does" not in show(score)


def test_what_failed_has_no_accesses() -> None:
    from grader.records import Failure, Status

    failed = make_failed(Failure(Status.RUNTIME_ERROR, "case primes stopped"))
    assert failed.accesses == ()


def test_a_gpu_s_report_says_whose_the_addresses_are() -> None:
    assert "on the emulated device" not in show(crooked())
    assert "on the emulated device)" in " ".join(show(crooked(device=GPU)).split())


def test_lines_that_lose_little_are_not_drawn() -> None:
    lines = (LineCounters(8, CROOKED_LINES[0].counters), LineCounters(11, STORING_CROOKEDLY))
    assert accesses_of_lines([ROWS, COLUMN, STRIDE], lines, 8) == (COLUMN, STRIDE)
    assert accesses_of_lines([ROWS, COLUMN, STRIDE], lines, 1) == (COLUMN,)
    ragged = Counters(
        global_store_requests=100,
        global_store_sectors=410,
        global_store_sectors_ideal=400,
        global_store_bytes=12800,
    )
    assert accesses_of_lines([STRIDE], [LineCounters(11, ragged)], 8) == ()


def test_the_source_page_draws_them_below_the_source() -> None:
    shown = show_annotated(crooked(), SOURCE)
    assert shown.index("all lines") < shown.index("What a warp does there")
    assert "rows = 2,048, cols = 2,048" in shown.partition("What a warp does there")[2]


def test_the_json_holds_them_and_reads_back() -> None:
    text = format_score(crooked())
    assert not [*Draft202012Validator(SCHEMA).iter_errors(json.loads(text))]
    assert parse_score(text).accesses == (ROWS, COLUMN, STRIDE)


def test_every_cell_says_lane_thread_element_and_address() -> None:
    banks, sectors = str(draw_actual(COLUMN)), str(draw_actual(STRIDE))
    titles = re.findall(r'tabindex="0" role="img"><title>(.*?)</title>', banks)
    assert len(titles) == 32
    assert titles[5] == "lane 5, thread (5, 3, 0): tile[5][0], byte 640, bank 0"
    titles = re.findall(r'role="img"><title>(.*?)</title>', sectors)
    assert titles[1] == "lane 1, thread (1, 3, 0): out[1][0], address 0x7f0000102000, sector 0"
    assert sectors.count("<title>1 of 8 words asked for</title>") == 32
    assert sectors.count('class="unmoved"') == 3 * 32


def test_wavefronts_beyond_the_ideal_are_marked() -> None:
    assert (
        str(draw_actual(COLUMN)).count('class="lost"'),
        str(draw_actual(COLUMN)).count('class="used"'),
    ) == (31, 1)
    assert str(draw_ideal(COLUMN)).count('class="used"') == 32


def test_lanes_that_share_a_word_share_a_cell() -> None:
    shared = replace(
        COLUMN,
        addresses=tuple(4096 * (lane // 8) for lane in LANES),
        passes=4,
        wavefronts=tuple(tuple(range(start, start + 8)) for start in range(0, 32, 8)),
    )
    titles = re.findall(r'role="img"><title>(.*?)</title>', str(draw_actual(shared)))
    assert titles[1] == "lanes 8 to 15: tile[8][0], byte 4,096, bank 0"
    assert len(titles) == 4


def test_the_page_draws_each_line_and_opens_what_lost_points(tmp_path: Path) -> None:
    score = crooked(checks=crooked().checks[:2])
    path = tmp_path / "page.html"
    write_page(path, score, title="Transpose", source=SOURCE)
    page = Page(path)
    details = [a for tag, a in page.tags if tag == "details" and a.get("class") == "card picture"]
    assert [("open" in a, a.get("id")) for a in details] == [(True, "P11"), (False, None)]
    assert [a["href"] for tag, a in page.tags if tag == "a" and a.get("title")] == ["#P11"]
    assert "Executed: 32 wavefronts" in page.text
    figures = make_figures(annotate(score, SOURCE, PAGE_COLUMNS))
    assert [figure.shown for figure in figures.figures] == [True, False]


def test_the_page_makes_names_harmless(tmp_path: Path) -> None:
    hostile = replace(COLUMN, array=HOSTILE, kernel=HOSTILE, elements=(HOSTILE,) * 32)
    write_page(tmp_path / "page.html", crooked(accesses=(hostile,)), title="T", source=SOURCE)
    page = Page(tmp_path / "page.html")
    assert page.count("script") == page.count("img") == 0
    assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", (tmp_path / "page.html").read_text())
