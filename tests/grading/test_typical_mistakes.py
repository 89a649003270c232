"""What a student reads after a typical mistake: its cause, in the words of the file, and once."""

from __future__ import annotations

import html
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import grader
from grader.records import Score
from grader.report.platforms import FORMATS, format_for_platform
from grader.report.platforms.github import format_github
from grader.report.platforms.gradescope import format_gradescope
from grader.report.platforms.junit import format_junit
from grader.report.score_page import print_score
from grader.report.terminal import make_console
from tests.support.known import ROOT

RIGHT = """\
// launch: t<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void t(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
"""
Edits = list[tuple[str, str]]
Mistake = tuple[Edits, *tuple[str, ...]]
MISTAKES: dict[str, Mistake] = {
    "arguments_exchanged": (
        [("(out, in, rows, cols)\n__", "(in, out, rows, cols)\n__")],
        "the kernel wrote to its input `in`, and never to its output `out`: are the two exchanged"
        " in the launch line?",
    ),
    "more_rows_of_threads_than_of_the_tile": (
        [("dim3(32, 8)", "dim3(32, 32)"), ("j += 8", "j += 32"), ("tile[32][33]", "tile[16][33]")],
        "tile[16][0] lies behind the end of `tile[16][33]`",
        "The launch (line 1) has blocks of 32 x 32 threads",
    ),
    "a_semicolon_left_out": (
        [("[threadIdx.y + j];\n}", "[threadIdx.y + j]\n}")],
        'line 11: expected a ";" at the end of the line',
    ),
    "a_counter_that_stands_still": (
        [
            (
                "    __syncthreads();\n",
                "    __syncthreads();\n    for (int j = 0; j < 32; j += rows / 64) {\n"
                "        out[j] += 1.0f;\n    }\n",
            )
        ],
        "Kernel t had not ended in block (0, 0, 0), in the loop of lines 9 to 10",
    ),
    "a_barrier_in_a_branch": (
        [("    __syncthreads();\n", "    if (threadIdx.x < 16) __syncthreads();\n")],
        "some wait at it for lanes 16 to 31 of a warp, which take another branch at line 8",
    ),
    "too_much_shared_memory": (
        [
            (
                "tile[32][33];",
                "tile[32][33], more[200][64]; more[threadIdx.x][threadIdx.y] = rows;",
            ),
            ("    __syncthreads();", "    __syncthreads(); out[0] = more[rows % 200][3];"),
        ],
        "55,424 bytes of static __shared__ memory (tile 4,224, more 51,200); at most 49,152 are allowed",
    ),
}


@pytest.mark.parametrize(
    "mistake",
    [
        # an endless loop takes all of its 20 s of processor time
        pytest.param(
            mistake, marks=pytest.mark.slow if name == "a_counter_that_stands_still" else []
        )
        for name, mistake in MISTAKES.items()
    ],
    ids=MISTAKES,
)
def test_names_the_cause(mistake: Mistake, tmp_path: Path, cache: Path) -> None:
    edits, *said = mistake
    page = read_page(edits, tmp_path, cache)
    assert [words for words in said if words not in page] == []


@pytest.fixture(scope="module")
def racy(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Score:
    """A transpose without its barrier."""
    return grade([("    __syncthreads();\n", "")], tmp_path_factory.mktemp("racy"), cache)


def test_says_a_race_once(racy: Score) -> None:
    page = show(racy)
    assert page.count("thread (0, 1, 0) stores it at line 7 without having waited") == 1
    assert page.count("a __syncthreads() is missing between line 7 and line 10") == 1
    assert "(costs 60 points): line 7: Let all threads wait at a __syncthreads()" in page


def test_a_race_silences_all_guesses(racy: Score) -> None:
    """Where wrong elements lie, and what they hold, is chance."""
    guesses = ("edge", "first 31 rows", "NaN", "zero")
    texts = [show(racy), *(format_for_platform(racy, form) for form in FORMATS)]
    assert [text for text in texts if any(guess in text for guess in guesses)] == []
    hidden = [case.message for case in racy.cases if case.hidden and not case.passed]
    assert hidden
    ends = ("of the elements of `out` are wrong", "order in which blocks and warps run")
    assert all(message.endswith(ends) for message in hidden)


@pytest.mark.parametrize("form", [form for form in FORMATS if form not in ("gcc", "sarif")])
def test_a_platform_tells_the_race_and_shows_the_tiles(form: str, racy: Score) -> None:
    told = (
        html.unescape(format_for_platform(racy, form))
        .encode()
        .decode("unicode_escape" if form in ("github", "gradescope") else "utf-8")
    )
    assert "a __syncthreads() is missing between line 7 and line 10" in told
    assert "▒▒▒▒████▒▒▒▒████" in told
    assert "▒ some wrong, █ all wrong" in told


def test_a_bonus_that_was_not_attempted_is_not_failed(racy: Score) -> None:
    why = "the file has no kernel transpose_in_place"
    name = "In-place transpose (bonus)"
    assert f"skipped: {why}" in show(racy)
    (test,) = [
        each for each in json.loads(format_gradescope(racy))["tests"] if each["name"] == name
    ]
    assert (test.get("status"), test.get("score"), test["tags"]) == (None, None, ["skipped"])
    assert test["output"] == why
    (test,) = [each for each in json.loads(format_github(racy))["tests"] if each["name"] == name]
    assert (test["status"], test["message"]) == ("pass", why)
    (case,) = [
        each
        for each in ET.fromstring(format_junit(racy)).iter("testcase")
        if each.get("name") == name
    ]
    assert [(each.tag, each.get("message")) for each in case] == [("skipped", why)]


def read_page(edits: Edits, folder: Path, cache: Path) -> str:
    """What the terminal shows, less its line breaks."""
    return show(grade(edits, folder, cache))


def grade(edits: Edits, folder: Path, cache: Path) -> Score:
    """The score of the right file with some mistakes, on the emulated device."""
    text = RIGHT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    file = folder / "mine.cu"
    file.write_text(text)
    return grader.grade(
        ROOT / "exercises" / "transpose",
        file,
        device="emulated:h100",
        seed=11,
        cache=cache,
        model=False,
    )


def show(score: Score) -> str:
    """What the terminal shows, less its line breaks."""
    stream = io.StringIO()
    print_score(score, console=make_console(stream, width=200))
    return " ".join(stream.getvalue().split())
