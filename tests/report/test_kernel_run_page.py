"""A run of kernels as a notebook shows it: nothing that runs, all texts escaped, both themes; and
many launches told together."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from grader.records import (
    Counters,
    Dim3,
    Finding,
    FindingKind,
    KernelLaunch,
    KernelRun,
    LaunchTime,
    LineCounters,
    Source,
)
from grader.report.html.pages import scope_style
from grader.report.html.program import render_run
from grader.report.kernel_pages import MOST_LAUNCHES, list_launch_tables

HOSTILE = "<script>alert(1)</script>\x1b[31m&\"'"
TIME = LaunchTime(0.5, (0.4, 0.6), "DRAM", Source.MODELLED)
COUNTED = Counters(instructions_executed=7, global_load_requests=1, global_load_sectors=4)


def make_launch(kernel: str = "k", time: LaunchTime | None = TIME) -> KernelLaunch:
    lines = (LineCounters(2, COUNTED),)
    sizes = (Dim3(4), Dim3(32), 16, 128, 0, 0, 0.5)
    return KernelLaunch(kernel, *sizes, COUNTED, lines, "", time)


RUN = KernelRun(
    {"y": np.arange(6, dtype=np.float32).reshape(2, 3)},
    (make_launch(),),
    (Finding(FindingKind.RACE, f"race {HOSTILE}", kernel=HOSTILE, line=2),),
    f"printed {HOSTILE}",
    f"a device {HOSTILE}",
    (f"a note {HOSTILE}",),
    f"{HOSTILE}.cu",
    f"// first\n__global__ void k() {{}} // {HOSTILE}\n",
    {"n": 6},
    render_run,
)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.open.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_it_is_whole_markup_without_a_script() -> None:
    html = RUN._repr_html_()
    assert html is not None
    tags = Tags()
    tags.feed(html)
    assert tags.open == []
    assert {"table", "style", "details"} <= set(tags.names)
    assert not {"script", "iframe", "link", "img"} & set(tags.names)
    assert "alert(1)" in html
    assert "\x1b" not in html


def test_it_shows_all_that_the_run_tells() -> None:
    text = render_run(RUN)
    for told in ("a device", "race", "printed", "a note", "0.5 ms", "DRAM", "2 x 3", ">7</td>"):
        assert told in text


def test_a_run_without_a_renderer_is_text() -> None:
    assert replace(RUN, render=None)._repr_html_() is None
    assert repr(RUN) == "<KernelRun: k (launches: 1, findings: 1) -> y float32[2, 3]>"


@pytest.mark.parametrize(
    ("rule", "scoped"),
    [
        ("td,.num th{a:b}", ".grade-run.grade-run td,.grade-run.grade-run .num th{a:b}"),
        ("body{a:b}", ".grade-run.grade-run{a:b}"),
        ("@media print{a:is(b,c){d:e}}", "@media print{.grade-run.grade-run a:is(b,c){d:e}}"),
        (".tbody{a:b}", ".grade-run.grade-run .tbody{a:b}"),
    ],
)
def test_a_rule_applies_to_the_frame_alone(rule: str, scoped: str) -> None:
    colours = ":root{--bg:1;--ink:2}@media (prefers-color-scheme:dark){:root{--bg:3;--ink:4}}"
    assert scoped in scope_style(colours + rule)


def test_the_theme_of_the_notebook_wins() -> None:
    style = re.search("<style>(.*?)</style>", render_run(RUN), re.DOTALL)
    assert style is not None
    rules = dict(re.findall(r"\[data-jp-theme-light=(\w+)\][^{]*\{([^}]*)\}", style[1]))
    assert "--bg:#f6f7f9" in rules["true"]
    assert "--bg:#12151a" in rules["false"]


def test_many_launches_are_told_by_their_kernels() -> None:
    launches = (make_launch("a"), make_launch("b")) * MOST_LAUNCHES
    shapes, times, counters = list_launch_tables(replace(RUN, launches=launches))
    assert [row[:2] for row in shapes.rows] == [("6 x", "a"), ("6 x", "b")]
    assert [row[1:3] for row in times.rows] == [("3 ms", "2.4 ms to 3.6 ms")] * 2
    assert counters.headings == ("counter", "6 x a", "6 x b")
    assert counters.rows[0] == ("instructions_executed", "42", "42")


def test_a_time_that_is_missing_is_no_row() -> None:
    launches = (make_launch(), make_launch(time=None))
    titles = [table.title for table in list_launch_tables(replace(RUN, launches=launches[1:]))]
    assert titles == ["Launches", "Counters"]
    assert len(list_launch_tables(replace(RUN, launches=launches))[1].rows) == 1
