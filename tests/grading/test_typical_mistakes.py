"""What a student reads after a typical mistake: its cause, in the words of the file, and once."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import grader
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
        "some wait at it for lanes 16 to 31 of a warp, which go another way at line 8",
    ),
    "too_much_shared_memory": (
        [
            (
                "tile[32][33];",
                "tile[32][33], more[200][64]; more[threadIdx.x][threadIdx.y] = rows;",
            ),
            ("    __syncthreads();", "    __syncthreads(); out[0] = more[rows % 200][3];"),
        ],
        "55,424 bytes of static __shared__ memory (tile 4,224, more 51,200); 49,152 are the most",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_names_the_cause(mistake: Mistake, tmp_path: Path, cache: Path) -> None:
    edits, *said = mistake
    page = read_page(edits, tmp_path, cache)
    assert [words for words in said if words not in page] == []


def test_says_a_race_once(tmp_path: Path, cache: Path) -> None:
    page = read_page([("    __syncthreads();\n", "")], tmp_path, cache)
    assert page.count("thread (0, 1, 0) stores it at line 7 without having waited") == 1


def read_page(edits: Edits, folder: Path, cache: Path) -> str:
    """What the terminal shows, less its line breaks."""
    text = RIGHT
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    file = folder / "mine.cu"
    file.write_text(text)
    score = grader.grade(
        ROOT / "exercises" / "transpose",
        file,
        device="emulated:h100",
        seed=11,
        cache=cache,
        model=False,
    )
    stream = io.StringIO()
    print_score(score, console=make_console(stream, width=200))
    return " ".join(stream.getvalue().split())
