"""Run lines: the data of a run in the file itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.cli import main
from grader.errors import UsageError
from grader.explore.kernel_words import Allowed
from grader.explore.run_request import RunRequest, find_run_line, is_program, read_given
from grader.records import Submission

SAXPY = """// run: --size n=1000 --input x=index --output y --scalar=alpha=2.0 --check
// run: --size n=5 --input x=index --output y
// launch: saxpy<<<ceil_div(n, 256), 256>>>(y, x, alpha, n)
__global__ void saxpy(float *y, const float *x, float alpha, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i];
}
"""


def test_the_first_run_line_is_a_request() -> None:
    request = find_run_line(SAXPY)
    assert request.of("size") == ["n=1000"]
    assert request.of("scalar") == ["alpha=2.0"]
    assert (request.check, request.model, request.has_data) == (True, False, True)
    assert find_run_line("__global__ void k() {}") == RunRequest()
    assert find_run_line('const char *s = "// run: --size n=1";') == RunRequest()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--sizes n=1", "'--sizes' is no option"),
        ("n=1", "'n' is no option"),
        ("--save y=y.npy", "'--save' is no option"),
        ("--device gpu", "'--device' is no option"),
        ("--check=yes", "'--check' is no option"),
        ("--size", "--size has no value"),
        ("--size 'n=1", "No closing quotation"),
    ],
)
def test_a_wrong_run_line_is_refused(line: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find_run_line(f"// run: {line}\n")


def test_the_command_takes_the_run_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "saxpy.cu"
    path.write_text(SAXPY)
    assert main(["run", str(path), "--json", "-"]) == 0
    y = json.loads(capsys.readouterr().out)["outputs"]["y"]
    assert (y["shape"], y["max"]) == ([1000], 1998.0)
    own = ["--size", "n=10", "--input", "x=index", "--output", "y", "--scalar", "alpha=3.0"]
    assert main(["run", str(path), *own, "--json", "-"]) == 0
    y = json.loads(capsys.readouterr().out)["outputs"]["y"]
    assert (y["shape"], y["max"]) == ([10], 27.0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--size n=4096000000 --input x=normal --output y", "16,384,000,000 bytes"),
        ("--size n=1000 --input x=normal --output y=float32:n,n,n", "4,000,000,000 bytes"),
        ("--size n=10 --input x=/dev/zero.npy --output y", "is no way to fill an array"),
        ("--size n=10 --input x=index --output y=../y.npy", "is no way to fill an array"),
        ("--size n=10 --input x=index --output y --output z --output w", "4 arrays"),
    ],
)
def test_a_stranger_gets_small_arrays_and_no_files(line: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "saxpy.cu"
    path.write_text(SAXPY)
    request = find_run_line(f"// run: {line} --scalar alpha=1.0\n")
    allowed = Allowed(most_arrays=3, most_bytes=1 << 20, files=False)
    with pytest.raises(UsageError, match=message):
        read_given(path, request, 0, allowed=allowed)


def test_a_program_has_a_main_and_no_launch_line() -> None:
    program = Submission("p.cu", "", "int main() {}")
    assert is_program(program, RunRequest())
    assert is_program(program, find_run_line("// run: --check"))
    assert not is_program(program, find_run_line(SAXPY))
    assert not is_program(Submission("p.cu", "", SAXPY + "int main() {}"), RunRequest())
