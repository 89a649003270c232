"""Machine code and the time of warps on a terminal: what stands in the rows, and that they fit."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from grader.messages.warp_states import STATE_WORDS
from grader.records import (
    CodeInstruction,
    CodeListing,
    LineCycles,
    MachineWork,
    States,
    WarpState,
)
from grader.report.code_page import print_code
from grader.report.machine_rows import group_code
from grader.report.terminal import make_console
from grader.report.warp_time import make_bar, print_warp_time
from grader.sass import Control

TEXTS = {3: "    float x = in[i];", 4: "out[i] = x;", 5: "}"}
PLAIN = Control(4, False, None, None, (), 0)
LOAD = CodeInstruction(
    0x10, "@!P0 LDG.E R2,desc[UR4][R2.64]", 3, Control(1, False, 2, 0, (), 0), (), 64
)
STORE = CodeInstruction(
    0x20,
    "STG.E desc[UR4][R4.64],R2",
    4,
    Control(5, True, None, None, (2,), 0),
    (0,),
    64,
    {WarpState.LONG_SCOREBOARD: 900.0, WarpState.SELECTED: 64.0},
)
END = CodeInstruction(0x30, "EXIT", 5, PLAIN, (), 64, {WarpState.SELECTED: 36.0})
NOP = CodeInstruction(0x40, "NOP", 5, PLAIN, (), 0)
CODE = CodeListing("copy", (LOAD, STORE, END, NOP, NOP), 1)
LINES = (
    LineCycles(3, {WarpState.SELECTED: 1.0}),
    LineCycles(4, {WarpState.LONG_SCOREBOARD: 600.0, WarpState.SELECTED: 64.0}),
    LineCycles(5, {WarpState.BARRIER: 335.0}),
)
WORK = MachineWork((CODE,), {"n": 2048}, LINES, {"n": 65536})


def printed(show: Callable[[Console], None], width: int = 100, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
    show(make_console(stream, width=width, environ={}))
    stream.flush()
    stream.seek(0)
    return stream.read()


def code_page(listing: CodeListing = CODE, **how: int) -> str:
    return printed(
        lambda console: print_code((listing,), TEXTS, {"n": 2048}, console=console), **how
    )


def time_page(work: MachineWork = WORK, **how: int) -> str:
    return printed(lambda console: print_warp_time(work, TEXTS, console=console), **how)


def row(page: str, part: str) -> str:
    return next(line for line in page.splitlines() if part in line)


def test_an_instruction_stands_under_its_source_line_with_its_control_bits() -> None:
    page = code_page()
    lines = page.splitlines()
    assert lines.index(row(page, "3  float x = in[i];")) + 1 == lines.index(row(page, "LDG.E"))
    load = row(page, "@!P0 LDG.E R2, desc").split()
    assert load[:5] == ["64", "1", "W2", "R0", "0010"]
    assert row(page, "STG.E").split()[:6] == [">", "64", "96", "%", "5", "Y"]


def test_what_sets_a_scoreboard_is_named_with_its_line() -> None:
    assert row(code_page(), "STG.E").endswith("R2  <- LDG.E 0010 (line 3)")
    many = replace(STORE, waits_for=(0, 1, 2))
    page = code_page(replace(CODE, instructions=(LOAD, many, END)))
    assert "<- 1 more, STG.E 0020, EXIT 0030 (line 5)" in " ".join(page.split())


def test_hot_instructions_say_what_holds_them_up() -> None:
    page = code_page()
    assert "long scoreboard 93 %" in page
    assert [line[0] for line in page.splitlines() if " 0010" in line or " 0020" in line] == [
        " ",
        ">",
    ]


def test_without_a_model_what_is_executed_most_is_hot() -> None:
    bare = [replace(each, states={}) for each in (LOAD, STORE, END)]
    often = replace(CODE, instructions=(replace(bare[0], executed=900), *bare[1:]))
    (kernel,) = group_code([often])
    assert [row.hot for group in kernel.groups for row in group.rows] == [True, False, False]
    page = code_page(often)
    assert "cycles  " not in page.splitlines()[2]
    assert row(page, "LDG.E").startswith(">")


def test_what_was_only_compiled_has_no_counts() -> None:
    bare = tuple(replace(each, executed=None, states={}) for each in CODE.instructions)
    page = code_page(CodeListing("copy", bare))
    assert "executed" not in page
    assert "copy: 3 machine instructions\n" in page


def test_padding_is_left_out_and_said() -> None:
    page = code_page()
    assert "NOP" not in page
    assert "Left out: 2 instructions of padding." in page


@pytest.mark.parametrize("width", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("show", [code_page, time_page])
def test_pages_fit(show: Callable[..., str], width: int) -> None:
    assert max(map(cell_len, show(width=width).splitlines())) <= min(width, 110)


def test_on_a_narrow_terminal_figures_are_in_words_below() -> None:
    page = code_page(width=44)
    lines = page.splitlines()
    at = next(number for number, line in enumerate(lines) if "@!P0" in line)
    below = " ".join(" ".join(lines[at + 1 : at + 4]).split())
    assert "executed 64, stall 1, sets W2 R0" in below


@pytest.mark.parametrize("show", [code_page, time_page])
def test_pages_need_no_unicode(show: Callable[..., str]) -> None:
    assert show(encoding="ascii").isascii()


def test_bars_are_shares_of_the_longest_and_say_what_their_letters_mean() -> None:
    page = time_page()
    long, short = row(page, "out[i] = x;"), row(page, "   5  }")
    assert "66 %" in long
    assert long.count("L") > 8 * long.count("I") > 0
    assert 0.4 < short.count("B") / (long.count("L") + long.count("I")) < 0.6
    assert "float x" not in page  # a thousandth
    assert "L   60 %  long scoreboard: a warp waits for data from global" in page
    assert "modelled, at n = 65,536" in page


def test_a_bar_is_filled_to_its_end() -> None:
    states: States = dict.fromkeys(WarpState, 1.0)
    for width in range(1, 40):
        cells = make_bar(states, width)
        assert sum(count for _, count in cells) == width
    assert [state for state, _ in make_bar(states, 100)] == list(STATE_WORDS)


def test_without_a_model_there_are_no_bars() -> None:
    assert time_page(replace(WORK, lines=())) == ""


def test_every_state_has_words_and_a_letter_of_its_own() -> None:
    assert set(STATE_WORDS) == set(WarpState)
    assert len({each.letter for each in STATE_WORDS.values()}) == len(WarpState)


def test_code_cannot_control_the_terminal() -> None:
    texts = {3: "x\x1b[31m", 4: "\x07y", 5: "}"}
    page = printed(lambda console: print_code((CODE,), texts, {}, console=console))
    page += printed(lambda console: print_warp_time(WORK, texts, console=console))
    assert "\x1b" not in page
    assert "\x07" not in page
