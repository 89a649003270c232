"""Files of strangers: kernels by their run lines, and whole programs, within small limits."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.explore import pasted
from grader.explore.pasted import run_pasted
from grader.records import Failure, KernelRun, Options, Status
from grader.records.program_run import ProgramRun
from grader.report.html.program import render_found
from grader.report.verdict_json import show_found

HOSTILE = '<img src=x onerror="alert(1)">'
OPTIONS = Options("emulated:h100", 0, model=False)
KERNEL = """// run: --size n=256 --input x=index --output y --check
// launch: k<<<1, 256>>>(y, x, n)
__global__ void k(float *y, const float *x, int n) {
    y[threadIdx.x] = x[n - 1 - threadIdx.x];
}
"""
RUN = "// run: --size n=4 --output y\n// launch: k<<<1, 1>>>(y)\n"


def run(text: str, folder: Path) -> pasted.Found:
    path = folder / "any-kernel.cu"
    path.write_text(text)
    return run_pasted(OPTIONS, path)


def test_a_kernel_runs_with_tables_and_a_page(tmp_path: Path) -> None:
    found = run(KERNEL, tmp_path)
    assert isinstance(found, KernelRun)
    assert found.outputs["y"][0] == 255.0
    status, shown = show_found(found)
    assert (status, shown["word"], shown["points"]) == (Status.PASSED, "no mistakes found", None)
    assert [table["title"] for table in shown["tables"]] == ["Launches", "Counters", "Outputs"]
    assert "Launches" in (render_found(found, "any-kernel.cu", KERNEL) or "")


def test_a_race_is_a_mark_on_its_line(tmp_path: Path) -> None:
    found = run(KERNEL.replace("y[threadIdx.x] =", "y[0] ="), tmp_path)
    status, shown = show_found(found)
    assert status is Status.FAILED
    assert (4, "error") in {(mark["line"], mark["level"]) for mark in shown["marks"]}


def test_a_program_runs_without_rights(tmp_path: Path) -> None:
    """It reads no file of the machine, starts no process, opens no socket and has no variables of
    the server."""
    secret = tmp_path / "course.sqlite"
    secret.write_text("secret accounts")
    os.environ["GRADER_SECRET"] = "secret variable"
    text = f"""
#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <unistd.h>
__global__ void k(int *x) {{ x[threadIdx.x] = 7; }}
int main() {{
    int *d, h[4] = {{}};
    cudaMalloc(&d, sizeof h);
    k<<<1, 4>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(d);
    FILE *file = fopen("{secret}", "r");
    char line[80] = "nothing";
    if (file) fgets(line, 80, file);
    const char *variable = getenv("GRADER_SECRET");
    printf("%d %s %s ", h[3], line, variable ? variable : "nothing");
    printf("%d %d {HOSTILE.replace('"', "'")}", fork() < 0, socket(AF_INET, SOCK_STREAM, 0) < 0);
    return 0;
}}
"""
    try:
        found = run(text, tmp_path)
    finally:
        del os.environ["GRADER_SECRET"]
    assert isinstance(found, ProgramRun)
    status, shown = show_found(found)
    assert shown["printed"].startswith("7 nothing nothing 1 1 <img")
    assert (status, shown["tables"][0]["rows"][0][0]) == (Status.PASSED, "k")
    page = render_found(found, "any-kernel.cu", text) or ""
    assert "&lt;img" in page
    assert "<img" not in page


def test_a_page_contains_no_file_that_a_program_names_as_its_source(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret line\n" * 9)
    text = f'#line 1 "{secret}"\n__global__ void k(int *x) {{ x[0] = 7; }}\n'
    text += "int main() { int *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); return cudaFree(d); }\n"
    found = run(text, tmp_path)
    assert isinstance(found, ProgramRun)
    page = render_found(found, "any-kernel.cu", text) or ""
    assert "Kernels" in page
    assert "secret line" not in page


@pytest.mark.parametrize(
    "text",
    [
        RUN + "__global__ void k(volatile float *y) { while (true) y[0] = 1; }",
        "int main() { for (volatile int i = 0;; i = 1 - i) {} }",
        "__global__ void k(volatile int *x) { while (true) x[0] = 1; }\n"
        "int main() { int *d; cudaMalloc(&d, 4); k<<<1, 1>>>(d); return cudaFree(d); }",
    ],
    ids=["kernel", "host", "kernel of a program"],
)
def test_an_endless_file_ends(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    short = replace(pasted.LIMITS, wall_seconds=4.0, processor_seconds=1.0)
    monkeypatch.setattr(pasted, "LIMITS", short)
    found = run(text, tmp_path)
    assert isinstance(found, Failure)
    assert found.status is Status.TIMEOUT
    assert found.advice


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        (
            "// run: --size n=5000000000 --output y=int:n\n" + RUN,
            Status.LAUNCH_ERROR,
            "20,000,000,000",
        ),
        ("// run: --input x=/etc/passwd.npy\n" + RUN, Status.LAUNCH_ERROR, "no way to fill"),
        ("// run: --device gpu\n" + RUN, Status.LAUNCH_ERROR, "'--device' is no option"),
        ('#include "/etc/passwd"\n' + KERNEL, Status.REJECTED, "includes a file"),
        ('#include "/etc/passwd"\nint main() {}', Status.COMPILE_ERROR, "does not compile"),
        (f"// run: --size {HOSTILE}\n", Status.LAUNCH_ERROR, "is no option"),
        ("", Status.COMPILE_ERROR, ""),
        ("__global__ void k() {}", Status.LAUNCH_ERROR, "here is no output"),
    ],
)
def test_a_bad_file_is_refused_in_words(
    text: str, status: Status, message: str, tmp_path: Path
) -> None:
    found = run(text, tmp_path)
    assert isinstance(found, Failure)
    assert message in found.message
    assert found.status is status
    shown = json.dumps(show_found(found)[1])
    assert "root:" not in shown


@pytest.mark.parametrize(
    "line",
    ['#include "{}"', 'asm(".incbin \\"{}\\"");', '#pragma GCC dependency "{}"\n#error end'],
    ids=["include", "assembler", "pragma"],
)
def test_a_program_does_not_learn_which_files_exist(line: str, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "present.txt").write_text("1\n")
    answers = set()
    for name in ("data/present.txt", "data/missings.txt", "data"):
        path = str(tmp_path / name)
        found = run(f"{line.format(path)}\nint main() {{}}", tmp_path)
        assert isinstance(found, Failure)
        detail = re.sub(r"\S+\.s:|[~ ]", "", found.detail.replace(path, "PATH"))
        answers.add(detail)
    assert len(answers) == 1, answers
