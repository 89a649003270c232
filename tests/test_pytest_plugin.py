"""The fixture `cuda_emulated`, in test sessions of its own: device and check mode by option and by
setting, files beside the test, and what a failing test says."""

from __future__ import annotations

from importlib.metadata import entry_points

import pytest

pytest_plugins = ["pytester"]
LOADED = any(each.value == "grader.pytest_plugin" for each in entry_points(group="pytest11"))
SHIFT = """
// launch: shift<<<1, 64>>>(y, x)
__global__ void shift(int* y, const int* x) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  BARRIER
  y[threadIdx.x] = tile[(threadIdx.x + 1) % 64];
}
"""
TESTS = """
import numpy as np
import pytest
import grader

X = np.arange(64, dtype=np.int32)

def test_shifts(cuda_emulated):
    run = cuda_emulated("SOURCE", inputs={"x": X}, outputs={"y": np.zeros_like(X)})
    assert np.array_equal(run.outputs["y"], np.roll(X, -1))
    print("on", run.device)
"""
LOOKS_ITSELF = """
def test_looks_itself(cuda_emulated):
    run = cuda_emulated("shift.cu", inputs={"x": X}, outputs={"y": np.zeros_like(X)}, check=True)
    assert [finding.kind.value for finding in run.findings] == ["race"]

def test_fails(cuda_emulated):
    with pytest.raises(grader.SubmissionError, match="takes 2 arguments"):
        cuda_emulated("// launch: k<<<1, 1>>>(y)\\n__global__ void k(int* y, int n) {}", outputs={"y": X})
"""


def run_session(
    pytester: pytest.Pytester, *options: str, tests: str = TESTS, barrier: str = "__syncthreads();"
) -> pytest.RunResult:
    folder = pytester.path / "kernels"
    folder.mkdir(exist_ok=True)
    (folder / "shift.cu").write_text(SHIFT.replace("BARRIER", barrier))
    (folder / "test_shift.py").write_text(tests.replace("SOURCE", "shift.cu"))
    loaded = () if LOADED else ("-p", "grader.pytest_plugin")
    return pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rP", *loaded, *options)


def test_a_file_beside_the_test_is_run_on_an_h100(pytester: pytest.Pytester) -> None:
    ran = run_session(pytester)
    ran.assert_outcomes(passed=1)
    ran.stdout.fnmatch_lines(["*on emulated NVIDIA H100*"])


def test_the_device_is_a_setting_and_an_option(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\ncuda_device = emulated:a100")
    run_session(pytester).stdout.fnmatch_lines(["*on emulated NVIDIA A100*"])
    ran = run_session(pytester, "--cuda-device", "emulated:h200")
    ran.stdout.fnmatch_lines(["*on emulated NVIDIA H200*"])


@pytest.mark.parametrize("by_option", [True, False])
def test_a_finding_of_the_checked_mode_fails_a_test(
    pytester: pytest.Pytester, by_option: bool
) -> None:
    if not by_option:
        pytester.makeini("[pytest]\ncuda_check = true")
    options = ["--cuda-check"] if by_option else []
    run_session(pytester, *options).assert_outcomes(passed=1)
    ran = run_session(pytester, *options, barrier="")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["line 5: race on tile*__syncthreads() is missing*"])


def test_a_test_may_look_at_findings_and_errors_itself(pytester: pytest.Pytester) -> None:
    ran = run_session(pytester, "--cuda-check", tests=TESTS + LOOKS_ITSELF, barrier="")
    ran.assert_outcomes(passed=2, failed=1)


def test_a_source_that_fails_says_why_and_not_where_in_the_grader(
    pytester: pytest.Pytester,
) -> None:
    ran = run_session(pytester, barrier="no_such_thing();")
    ran.assert_outcomes(failed=1)
    ran.stdout.fnmatch_lines(["*SubmissionError: *", "*no_such_thing*"])
    ran.stdout.no_fnmatch_line("*kernel_run.py*")
