"""A run that ends badly says in which case, and of a hidden one no sizes: with a compiler and the
emulated device."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import grader
from grader.grading.cases import BENCHMARK
from grader.records import Printed, Score, Status
from grader.report.json import format_score
from grader.report.score_page import print_score
from grader.report.terminal import make_console
from grader.spec.draws import draw_cases
from grader.spec.exercise import Case
from grader.spec.reader import read_exercise

TRANSPOSE = Path(__file__).resolve().parents[2] / "exercises" / "transpose"
SEED = 7
CASES = draw_cases(read_exercise(TRANSPOSE), SEED)
HIDDEN = next(case for case in CASES if case.name == "primes")

KERNEL = """\
// launch: transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void transpose(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (BROKEN) { ACTION; }
    if (x < cols && y < rows) out[x * rows + y] = in[y * cols + x];
}
"""
BEYOND = "out[rows * cols + x] = 0"
ENDLESS = "for (volatile int i = 0; i < 1;) { }"
WRONG = "{ if (x < cols && y < rows && x < 40) out[x * rows + y] = -3.0f; return; }"


def at(case: Case) -> str:
    return f"(rows == {case.sizes['rows']} && cols == {case.sizes['cols']})"


def grade(tmp_path: Path, case: Case, action: str) -> Score:
    path = tmp_path / "transpose.cu"
    path.write_text(KERNEL.replace("BROKEN", at(case)).replace("ACTION", action))
    return grader.grade(TRANSPOSE, path, device="emulated", seed=SEED, model=False)


def shown(score: Score) -> str:
    """Both reports of a score."""
    stream = io.StringIO()
    print_score(score, console=make_console(stream, environ={}, width=2000))
    return stream.getvalue() + format_score(score)


def test_a_public_case_is_named_with_its_sizes(tmp_path: Path) -> None:
    public = CASES[1]
    score = grade(tmp_path, public, BEYOND)
    sizes = f"rows = {public.sizes['rows']:,}, cols = {public.sizes['cols']:,}"
    assert score.status is Status.RUNTIME_ERROR
    assert score.message.endswith(f" In case '{public.name}' ({sizes}).")
    assert "bytes)" in score.message


def test_a_hidden_case_that_ends_badly_gives_no_bytes_away(tmp_path: Path) -> None:
    score = grade(tmp_path, HIDDEN, BEYOND)
    assert score.status is Status.RUNTIME_ERROR
    assert "the end of buffer out (kernel" in score.message
    assert score.message.endswith(f" In case '{HIDDEN.name}'.")
    size_bytes = 4 * HIDDEN.sizes["rows"] * HIDDEN.sizes["cols"]
    assert not any(
        figure in shown(score) for figure in (f"{size_bytes:,}", str(size_bytes), " bytes")
    )
    assert [finding.offset_bytes for finding in score.findings] == [None]


def test_a_launch_that_a_hidden_case_makes_too_large_gives_no_threads_away(tmp_path: Path) -> None:
    path = tmp_path / "transpose.cu"
    path.write_text(
        KERNEL.replace("dim3(32, 8)>>>", "dim3(32, 8 + rows / 257 * rows)>>>")
        .replace("BROKEN", "false")
        .replace("ACTION", "")
    )
    score = grader.grade(TRANSPOSE, path, device="emulated", seed=SEED, cache=tmp_path / "cache")
    case = next(case for case in CASES if case.sizes["rows"] >= 257)
    assert case.hidden
    assert score.status is Status.LAUNCH_ERROR
    assert (
        score.message
        == "line 1, column 74: the block has more threads than can be launched. In case"
        f" '{case.name}'."
    )
    side = 8 + case.sizes["rows"] // 257 * case.sizes["rows"]
    assert not any(
        figure in shown(score) for figure in (f"(32, {side}", f" {side}", f"{32 * side} threads")
    )


@pytest.mark.slow
def test_a_time_out_names_its_case(tmp_path: Path) -> None:
    score = grade(tmp_path, HIDDEN, ENDLESS)
    assert score.status is Status.TIMEOUT
    assert score.message.endswith(f" In case '{HIDDEN.name}'.")


def test_a_wrong_hidden_case_gives_no_sizes_away(tmp_path: Path) -> None:
    score = grade(tmp_path, HIDDEN, WRONG)
    assert score.status is Status.FAILED
    case = next(case for case in score.cases if not case.passed)
    assert (case.name, BENCHMARK in {each.name for each in score.cases}) == (HIDDEN.name, False)
    assert "of the elements of `out` are wrong" in case.message
    total = HIDDEN.sizes["rows"] * HIDDEN.sizes["cols"]
    assert not any(figure in shown(score) for figure in (f"{total:,}", f" {total}", "▒"))


def test_what_a_public_case_prints_is_shown_as_the_submissions_own(tmp_path: Path) -> None:
    public = CASES[0]
    score = grade(tmp_path, public, 'if (x + y == 0) printf("\\x1b[31m%d rows\\n", rows)')
    printed = {case.name: case.printed for case in score.cases if case.printed}
    assert printed == {
        public.name: (Printed("transpose", f"\x1b[31m{public.sizes['rows']} rows\n"),)
    }
    report = shown(score)
    assert (
        "Printed by the submission itself, not by the grader (kernel transpose, case"
        f" {public.name})" in report
    )
    assert f"| \\x1b[31m{public.sizes['rows']} rows" in report


def test_what_a_hidden_case_prints_is_not_shown(tmp_path: Path) -> None:
    score = grade(tmp_path, HIDDEN, 'if (x + y == 0) printf("SIZES %d\\n", rows)')
    assert not any(case.printed for case in score.cases)
    assert f"SIZES {HIDDEN.sizes['rows']}" not in shown(score)


def test_a_failed_run_shows_what_it_printed_before(tmp_path: Path) -> None:
    score = grade(tmp_path, CASES[0], '{ if (x + y == 0) printf("so far"); out[-9999] = 0; }')
    assert score.status is Status.RUNTIME_ERROR
    assert score.printed == (Printed("transpose", "so far"),)
