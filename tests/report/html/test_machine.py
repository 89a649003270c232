"""Machine code and the time of warps on a page: beside the source, folded, and harmless."""

from __future__ import annotations

import re
from dataclasses import replace

from grader.records import CodeListing, LineCycles, MachineWork, WarpState
from grader.report.html.machine import draw_bar, make_machine
from grader.report.html.submission import render_submission
from grader.report.json import format_score, parse_score
from tests.report.test_machine_pages import CODE, STORE, WORK
from tests.support.factories import make_graded

SOURCE = "\n\n    float x = in[i];\nout[i] = x;\n}\n"


def page_of(work: MachineWork | None) -> str:
    score = replace(make_graded(), machine=work)
    return render_submission(score, student="jane", title="Copy", source=SOURCE)


def test_a_line_has_its_part_of_the_cycles_and_its_code_in_a_fold() -> None:
    page = page_of(WORK)
    row = page[page.index('id="L4"') :]
    assert "<span>66 %</span>" in row[: row.index("</tr>")]
    fold = row[row.index("<details>") : row.index("</details>")]
    assert "1 instruction, 66 % of the cycles: long scoreboard 90 %" in fold
    cells = re.findall(r"<td[^>]*>(.*?)</td>", fold)
    assert cells[:6] == ["64", "96 %", "5 Y", "", "2", "0020"]
    assert "STG.E desc[UR4][R4.64], R2" in cells[6]
    assert "LDG.E 0010 (line 3)" in cells[6]
    assert '<tr class="hot">' in fold


def test_a_page_that_nobody_asked_for_more_is_as_it_was() -> None:
    page = page_of(None)
    assert "<details>" not in page
    assert "Cycles of warps" not in page


def test_a_score_from_json_keeps_its_bars() -> None:
    score = replace(make_graded(), machine=WORK)
    again = parse_score(format_score(score))
    assert again.machine == MachineWork(lines=WORK.lines, modelled_sizes=WORK.modelled_sizes)
    page = render_submission(again, student="jane", title="Copy", source=SOURCE)
    assert "<span>66 %</span>" in page
    assert "<details>" not in page


def test_a_bar_is_as_long_as_its_part_of_the_longest() -> None:
    line = LineCycles(1, {WarpState.BARRIER: 30.0, WarpState.SELECTED: 10.0})
    widths = re.findall(r'class="(\w+)" x="([\d.]+)" width="([\d.]+)"', draw_bar(line, 80.0))
    assert widths == [("selected", "0.00", "12.50"), ("barrier", "12.50", "37.50")]


def test_several_kernels_are_told_apart_and_headers_have_a_fold_of_their_own() -> None:
    other = CodeListing("<b>k</b>", (replace(STORE, line=None),), 1)
    machine = make_machine(replace(WORK, listings=(CODE, other)))
    assert machine is not None
    assert [name for name, _ in machine.lines[None].kernels] == ["<b>k</b>"]
    page = page_of(replace(WORK, listings=(CODE, other)))
    assert "Code of headers: 1 instruction" in page
    assert "<b>k</b>" not in page
    assert "&lt;b&gt;k&lt;/b&gt;" in page


def test_code_without_a_model_has_no_column_of_time() -> None:
    bare = replace(CODE, instructions=tuple(replace(e, states={}) for e in CODE.instructions))
    page = page_of(MachineWork((bare,), {"n": 2048}))
    assert "Cycles of warps" not in page
    assert "Executions are those at n = 2,048." in page
    assert page.count("<details>") == 3


def test_nothing_is_styled_where_the_policy_forbids_it() -> None:
    assert "style=" not in page_of(WORK)
