"""Which of a kernel's parameters are copies that the file makes of an input, and what a hint says
of one that is read poorly."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from grader.judging.score import find_copies
from grader.messages.hints import Copy
from grader.records import Counters, LineCounters
from grader.spec.exercise import CheckSpec, Threshold
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from tests.support.factories import CORRECTNESS, make_exercise, make_graded, make_submission

SOURCE = """\
// scratch: float flipped[rows * cols]
// launch: flip<<<dim3(1), dim3(32)>>>(flipped, in, rows, cols)
// launch: use<<<dim3(1), dim3(32)>>>(out, flipped, rows)
__global__ void flip(float* to, const float* from, int rows, int cols) { to[0] = from[0]; }
__global__ void __launch_bounds__(32) use(float* out, const float* copy, int rows)
{
    out[threadIdx.x] = copy[threadIdx.x * rows];
}
"""
LOADS = CheckSpec(
    "global_load_efficiency", "Loads", "global_load_efficiency", 25, Threshold(at_least=0.9)
)


def copies_in(text: str) -> Mapping[str, Copy]:
    plan = read_plan(make_submission(text=text))
    return find_copies(text, plan, ["in"]) if isinstance(plan, Plan) else {}


def test_a_scratch_buffer_that_one_input_goes_into_is_a_copy_of_it() -> None:
    assert copies_in(SOURCE) == {"copy": Copy("in", "flip")}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(flipped, in, rows, cols)", "(flipped, out, rows, cols)"),
        ("(out, flipped, rows)", "(out, in, rows)"),
        ("// scratch: float", "// scratch: nonsense"),
        ("float* out, const float* copy, int rows)", "float* out, const float* copy)"),
    ],
)
def test_what_is_no_copy_for_certain_is_none(old: str, new: str) -> None:
    assert old in SOURCE
    assert copies_in(SOURCE.replace(old, new)) == {}


def loads(sectors: int) -> str:
    counters = Counters(
        global_load_requests=10,
        global_load_sectors=10 * sectors,
        global_load_sectors_ideal=40,
        global_load_bytes=1280,
    )
    exercise = make_exercise((CORRECTNESS, LOADS))
    score = make_graded(
        lines=(LineCounters(7, counters),),
        submission=make_submission(text=SOURCE),
        exercise=exercise,
    )
    return score.checks[1].hint


def test_a_copy_that_is_read_down_a_column_is_named() -> None:
    assert (
        "copy is the copy of in that flip makes, and neighbouring lanes of the warp read"
        " copy[threadIdx.x * rows] from" in loads(32)
    )
    assert "is the copy of" not in loads(5)
