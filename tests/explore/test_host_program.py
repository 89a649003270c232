"""Host programs: they compile for every exercise, run their plan as often as they should, and judge
as the grader does."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.cli import main
from grader.cpp.lexer import find_names
from grader.explore.host_program import read_fills
from grader.spec.exercise import Case, Initialisation
from grader.spec.reader import read_exercise
from grader.spec.tolerance import tolerance_at
from tests.support.exercises import OF_KERNELS as EXERCISES
from tests.support.host_builds import compile_object, link_for_gpu, link_without_gpu, run_program

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("transpose", "gemm_tiled")
"""Those whose programs are compiled by default: of each kind of verification one."""
TRANSPOSING, MULTIPLYING = {"FAKE_KERNEL": "transpose"}, {"FAKE_KERNEL": "multiply"}

AWKWARD = r"""
// launch: awkward::first<32, float><<<dim3(ceil_div(cols, 32), min(rows, 2)), 32 * WARPS, 50000 + 4 * WARPS>>>(out, in, both, N)
// launch: hidden<<<1, GRID>>>(both, in, rows * cols)
// launch: plain<<<max(1, 2), 32>>>(out, both)
// scratch: float both[2 * rows * cols]
#include <cuda_fp16.h>
#define WARPS 4
#define N (1000000 * 1)
#define GRID (8 * N / 1000000)
#define median(a, b, c) ((a) + (b) + (c))
#define times_ms 17
#define CHECK(x) (x)
#define ceil_div(a, b) (((a) + (b) - 1) / (b))
namespace awkward {
template <int SIZE, class T> __global__ void first(T* out, const T* in, float4* both, long long n) { out[0] = in[0] + both[0].x; }
template __global__ void first<32, float>(float*, const float*, float4*, long long);
}
namespace { __global__ void hidden(float* both, const float (*in)[4], int n) { both[n - 1] = in[0][3]; } }
extern "C" __global__ void plain(float4* out, const float* both) { out[0].x = both[0]; }
void verify() {}
int min(int a) { return a; }
int main(int argc, char** argv) { verify(); return CHECK(argc - min(1)); } // the end \
"""


def write_host(target: Path, exercise: Path, submission: Path, *options: str) -> Path:
    assert main(["host", str(exercise), str(submission), "-o", str(target), *options]) == 0
    return target


@pytest.fixture(scope="module")
def starters(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The object file of a starter's program, compiled once."""
    folder = tmp_path_factory.mktemp("hosts")

    def compiled(id_: str) -> Path:
        target = folder / f"{id_}.cu"
        if target.with_suffix(".o").exists():
            return target.with_suffix(".o")
        return compile_object(
            write_host(target, ROOT / "exercises" / id_, ROOT / "starter" / f"{id_}.cu")
        )

    return compiled


@pytest.mark.parametrize(
    "id_",
    [*QUICK, *(pytest.param(id_, marks=pytest.mark.slow) for id_ in EXERCISES if id_ not in QUICK)],
)
def test_a_starters_program_compiles_and_links(id_: str, starters: Callable[[str], Path]) -> None:
    """Without a GPU it says so, with the line of the call that failed, or runs."""
    ran = run_program([str(link_for_gpu(starters(id_))), "--once"])
    assert ran.returncode == 0 or re.match(
        rf".*{id_}\.cu:\d+: cudaMalloc\(&\w+, .*\): \w.*", ran.stderr
    ), ran.stderr


@pytest.mark.slow
@pytest.mark.parametrize("id_", EXERCISES)
def test_a_references_program_compiles(id_: str, tmp_path: Path) -> None:
    compile_object(
        write_host(
            tmp_path / f"{id_}.cu", ROOT / "exercises" / id_, ROOT / "solutions" / f"{id_}.cu"
        )
    )


# --- what a program does --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def transpose(starters: Callable[[str], Path]) -> str:
    return str(link_without_gpu(starters("transpose")))


@pytest.fixture(scope="module")
def gemm(starters: Callable[[str], Path]) -> str:
    return str(link_without_gpu(starters("gemm_tiled")))


def test_right_results_end_with_0(transpose: str) -> None:
    ran = run_program([transpose, "100", "70"], TRANSPOSING)
    assert (
        ran.stdout
        == "0.5000 ms, the median of 21 runs with a cold cache, 0.1 GB/s of useful bytes\nout: 7000"
        " elements compared with the plain loop on the processor, which they must equal: all"
        " right, worst error 0\n"
    )
    assert ran.returncode == 0
    assert ran.launches == ["3 4 1, 32 8 1"] * 24


def test_once_launches_once_and_verifies(transpose: str) -> None:
    ran = run_program([transpose, "100", "70", "--once"], TRANSPOSING)
    assert (ran.returncode, len(ran.launches)) == (0, 1)
    assert "ms" not in ran.stdout
    assert "all right" in ran.stdout


def test_an_element_that_nobody_writes_is_wrong(transpose: str) -> None:
    ran = run_program([transpose, "100", "70", "--once"], TRANSPOSING | {"FAKE_SKIP": "1"})
    assert ran.returncode == 1
    assert "1 WRONG, worst error nan; the first is out[69][99]: expected " in ran.stdout


def test_an_input_that_is_written_to_is_wrong(transpose: str) -> None:
    ran = run_program([transpose, "8", "--once"], TRANSPOSING | {"FAKE_SPOIL": "1"})
    assert ran.returncode == 1
    assert ran.stdout.endswith(
        "all right, worst error 0\nin: WRONG, a kernel wrote to this input\n"
    )


def test_what_is_not_verified_is_not_called_right(transpose: str) -> None:
    ran = run_program([transpose, "100", "--once", "--no-verify"], TRANSPOSING | {"FAKE_SKIP": "1"})
    assert (ran.returncode, ran.stdout) == (0, "not verified\n")
    assert ran.launches == ["64 4 1, 32 8 1"]


@pytest.mark.parametrize(
    "arguments", [["--twice"], ["0"], ["8", "8", "8"], ["12x"], ["99999999999"], [""]]
)
def test_arguments_that_make_no_sense_end_with_2(arguments: list[str], transpose: str) -> None:
    ran = run_program([transpose, *arguments], TRANSPOSING)
    assert ran.returncode == 2
    assert ran.stderr.endswith("usage: ./transpose [rows [cols]] [--once] [--no-verify]\n")


def test_an_error_of_cuda_is_told_with_its_line(transpose: str) -> None:
    ran = run_program([transpose, "2100", "2100"], TRANSPOSING)
    assert ran.returncode == 1
    assert re.fullmatch(
        r"\S+transpose\.cu:\d+: cudaMalloc\(&out, out_count \* sizeof\(\*out\)\): as good as a"
        r" GPU's error\n",
        ran.stderr,
    )


@pytest.mark.parametrize(("part", "verdict"), [(0.9, 0), (-0.9, 0), (1.1, 1)])
def test_a_sum_may_be_off_by_the_graders_tolerance(part: float, verdict: int, gemm: str) -> None:
    exercise = read_exercise(ROOT / "exercises" / "gemm_tiled")
    sizes = {"M": 60, "N": 50, "K": 300}
    bound = tolerance_at(exercise, Case("any", sizes, hidden=False)).absolute
    ran = run_program(
        [gemm, *map(str, sizes.values()), "--once"], MULTIPLYING | {"FAKE_ERROR": str(part * bound)}
    )
    assert ran.returncode == verdict, ran.stdout
    assert f"off by at most {bound:.2g} + 2.4e-07 * |expected|" in ran.stdout


def test_nothing_of_an_awkward_submission_is_in_the_way(tmp_path: Path) -> None:
    submission = tmp_path / "awkward.cu"
    submission.write_text(AWKWARD)
    program = write_host(tmp_path / "host.cu", ROOT / "exercises" / "transpose", submission)
    text = program.read_text()
    assert f'#line 1 "{submission}"' in text
    after = text.splitlines().index(
        next(line for line in text.splitlines() if line.endswith('host.cu"'))
    )
    assert text.splitlines()[after] == f'#line {after + 2} "{program}"'
    ran = run_program(
        [str(link_without_gpu(compile_object(program))), "8", "64", "--once"], {"FAKE_KERNEL": ""}
    )
    assert ran.launches == ["2 2 1, 128 1 1", "1 1 1, 8 1 1", "2 1 1, 32 1 1"]


def test_without_cpu_c_numpy_says_what_is_right(tmp_path: Path) -> None:
    for place in ("exercises", "starter"):
        shutil.copytree(ROOT / place, tmp_path / place)
    exercise = tmp_path / "exercises" / "transpose"
    (exercise / "cpu.c").unlink()
    program = write_host(tmp_path / "host.cu", exercise, ROOT / "starter" / "transpose.cu")
    host = str(link_without_gpu(compile_object(program)))
    right = run_program([host, "--once"], TRANSPOSING)
    assert right.returncode == 0
    assert (
        "4194304 elements compared with NumPy's result, which they must equal: all right"
        in right.stdout
    )
    assert run_program([host, "--once"], TRANSPOSING | {"FAKE_SKIP": "1"}).returncode == 1
    assert run_program([host, "64"], TRANSPOSING).returncode == 2
    (tmp_path / "host.expected").unlink()
    assert "write it anew with `grade host`" in run_program([host], TRANSPOSING).stderr


# --- the command ----------------------------------------------------------------------------------


def test_the_command_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "starter" / "transpose.cu", "mine.cu")
    write_host(
        Path("my_main.cu"), ROOT / "exercises" / "transpose", Path("mine.cu"), "--arch", "sm_90"
    )
    commands = [
        line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  ")
    ]
    assert commands == [
        "nvcc -O3 -std=c++17 -lineinfo -arch=sm_90 -o my_main my_main.cu",
        "./my_main",
        "ncu --set full -f -o mine ./my_main --once",
        "ncu --import mine.ncu-rep --page details",
        "compute-sanitizer ./my_main --once",
        "compute-sanitizer --tool racecheck ./my_main --once",
    ]


def test_replaces_only_what_it_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exercise, starter, target = (
        ROOT / "exercises" / "transpose",
        ROOT / "starter" / "transpose.cu",
        tmp_path / "my_main.cu",
    )
    target.write_text("precious")
    assert main(["host", str(exercise), str(starter), "-o", str(target)]) == 2
    assert "`grade host` did not write it" in capsys.readouterr().err
    assert target.read_text() == "precious"
    write_host(target, exercise, starter, "--force")
    first = target.read_text()
    assert write_host(target, exercise, starter).read_text() == first


BAD_OPTIONS = (
    ["-o", "host.c"],
    ["-o", "host.cu", "--arch", "sm_90; rm"],
    ["-o", "mine.cu"],
    ["-o", "no/host.cu"],
    [],
)


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_bad_usage(options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "starter" / "transpose.cu", "mine.cu")
    before = Path("mine.cu").read_text()
    assert main(["host", str(ROOT / "exercises" / "transpose"), "mine.cu", *options]) == 2
    assert Path("mine.cu").read_text() == before


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("dim3(TILE, ROWS)", "dim3(TILE, ROW)"), "'ROW' is not known here"),
        (("int cols)", "int cols, int more)"), "takes 5 arguments"),
    ],
)
def test_a_plan_that_is_wrong_is_told_as_in_grading(
    change: tuple[str, str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submission = tmp_path / "mine.cu"
    submission.write_text((ROOT / "starter" / "transpose.cu").read_text().replace(*change))
    target = tmp_path / "host.cu"
    assert (
        main(["host", str(ROOT / "exercises" / "transpose"), str(submission), "-o", str(target)])
        == 1
    )
    assert words in capsys.readouterr().out
    assert not target.exists()


@pytest.mark.parametrize("init", Initialisation)
def test_every_way_to_fill_an_input_has_its_function(init: Initialisation) -> None:
    name = f"fill_{init.value}"
    assert name in find_names(read_fills()[name])
