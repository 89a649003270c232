"""What a submission asks for and cannot have on the emulated device is its own launch error, with
the bytes: with a compiler."""

from __future__ import annotations

from pathlib import Path

import pytest

import grader
from grader.devices.gpus import read_gpus
from grader.devices.plan_limits import check_memory, out_of_memory
from grader.errors import GraderError
from grader.messages.hidden import describe_mistake
from grader.records import DeviceBuffer, LaunchLimits, Role, Score, Status

TRANSPOSE = Path(__file__).resolve().parents[2] / "exercises" / "transpose"
KERNEL = """\
{declared}
// launch: transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8){shared}>>>(out, in, rows, cols{argument})
__global__ void transpose(float* out, const float* in, int rows, int cols{parameter})
{{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    {used}
    if (x < cols && y < rows) out[x * rows + y] = in[y * cols + x];
}}
"""


def grade(tmp_path: Path, cache: Path, **parts: str) -> Score:
    path = tmp_path / "transpose.cu"
    path.write_text(
        KERNEL.format(
            **dict.fromkeys(("declared", "shared", "argument", "parameter", "used"), "") | parts
        )
    )
    return grader.grade(TRANSPOSE, path, device="emulated", seed=7, cache=cache, model=False)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            {
                "declared": "__device__ char big[2200000000];",
                "used": "if (rows == 12345) big[(size_t)x * 99991] = 1;",
            },
            "2,200,000,000 bytes",
        ),
        (
            {
                "declared": "// scratch: char big[2200000000]",
                "argument": ", big",
                "parameter": ", char* big",
            },
            "2,200,000,000 bytes",
        ),
        ({"shared": ", 300000"}, "300000"),
    ],
)
def test_memory_that_cannot_be_had_is_a_launch_error_with_the_bytes(
    tmp_path: Path, cache: Path, parts: dict[str, str], said: str
) -> None:
    score = grade(tmp_path, cache, **parts)
    assert score.status is Status.LAUNCH_ERROR, score.message
    assert said in score.message


def test_large_local_arrays_are_run(tmp_path: Path, cache: Path) -> None:
    """300 KB a thread: 77 MB a block, however many threads the machine has."""
    used = (
        "volatile int local[75000]; local[(x * 977 + rows) % 75000] = y; if (local[(x * 977 + rows)"
        " % 75000] != y) return;"
    )
    score = grade(tmp_path, cache, used=used)
    assert score.status in (Status.PASSED, Status.FAILED), score.message
    assert all(case.passed for case in score.cases)


def test_a_large_variable_that_fits_is_run_without_the_checks_where_their_shadow_would_not(
    tmp_path: Path, cache: Path
) -> None:
    score = grade(
        tmp_path,
        cache,
        declared="__device__ char big[100000000];",
        used="if (rows == 12345) big[(size_t)x * 99991] = 1;",
    )
    assert score.status in (Status.PASSED, Status.FAILED), score.message
    assert all(case.passed for case in score.cases)


def test_scratch_and_variables_count_together() -> None:
    limits: LaunchLimits = read_gpus()["h100"].emulated_info.limits
    scratch = (
        DeviceBuffer("s", "float32", (300 << 20,), Role.SCRATCH),
        DeviceBuffer("in", "float32", (1 << 32,), Role.INPUT),
    )
    assert check_memory(scratch, 800 << 20, limits) is None
    failure = check_memory(scratch, 900 << 20, limits)
    assert failure is not None
    assert f"scratch buffers need {1200 << 20:,} bytes" in describe_mistake(failure).message
    assert f"variables take {900 << 20:,} bytes" in describe_mistake(failure).message


def test_who_asks_for_little_is_not_to_blame_for_a_full_machine() -> None:
    with pytest.raises(GraderError, match="has no room"):
        out_of_memory((DeviceBuffer("in", "float32", (1 << 32,), Role.INPUT),), 0, 1 << 20)
