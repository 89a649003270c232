"""What the files of benchmarks/kernels say of their runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from kernel_files import describe_source, draw_word, read_runs

from grader.errors import UsageError

SCALE = """\
// Scales.
// run: --size n=1000 --input x=normal:n --output y=float32:n --scalar alpha=2.0
// run: --size n=2000 --input x=permutation:n --output y=float32:n --scalar alpha=2.0
// launch: scale<<<ceil_div(n, 256), 256>>>(y, x, alpha, n)
__global__ void scale(float* y, const float* x, float alpha, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = alpha * x[i];
}
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "streaming" / "scale.cu"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_each_run_line_is_a_run(tmp_path: Path) -> None:

    write(tmp_path, SCALE)
    first, second = read_runs(tmp_path)
    assert (first.name, first.family, first.line) == ("streaming/scale", "streaming", 2)
    assert (first.sizes, second.sizes) == ({"n": 1000}, {"n": 2000})
    assert first.names == {"n", "x", "y", "alpha"}
    data = second.read_data(draw_word)
    assert sorted(data.arrays["x"].tolist()) == list(range(2000))
    assert data.arrays["x"].dtype == np.int32


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("--size n=1000", "--sizes n=1000", r"scale.cu:2: .*'--sizes' is no option"),
        ("n=1000", "n=1000 --check", r"scale.cu:2: --check does not describe a run"),
        ("n=1000", "n", r"scale.cu:2: --size n: there is no NAME="),
        ("n=1000", "'n=1000", r"scale.cu:2: .*No closing quotation"),
        ("n=1000 --input x=normal", "n=2000 --input x=permutation", r"scale.cu:2: .* twice"),
        ("run:", "runs:", r"scale.cu: there is no run line"),
    ],
)
def test_errors_name_the_line(old: str, new: str, words: str, tmp_path: Path) -> None:

    count = -1 if old == "run:" else 1
    write(tmp_path, SCALE.replace(old, new, count))
    with pytest.raises(UsageError, match=words):
        read_runs(tmp_path)


def test_data_that_cannot_be_drawn_are_told_with_the_line(tmp_path: Path) -> None:

    write(tmp_path, SCALE.replace("normal:n", "norml:n"))
    with pytest.raises(UsageError, match=r"scale.cu:2: --input x=norml:n: 'norml' is no way"):
        read_runs(tmp_path)[0].read_data(draw_word)


def test_comments_do_not_change_a_source_but_code_and_launch_lines_do(tmp_path: Path) -> None:

    known = describe_source(write(tmp_path, SCALE))
    assert describe_source(write(tmp_path, SCALE.replace("Scales", "It scales"))) == known
    for old, new in (("alpha * x", "x"), ("<<<ceil_div(n, 256)", "<<<1")):
        assert describe_source(write(tmp_path, SCALE.replace(old, new))) != known
