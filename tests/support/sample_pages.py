"""Every kind of page that the grader writes, made from real gradings of a class of known
submissions: what the tests in a browser look at, and what docs/pictures.py draws.

A page is a row of PAGES. A new kind of page needs one more, and is looked at by all of them.
"""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader.cli import main

ROOT = Path(__file__).resolve().parents[2]
KNOWN = ROOT / "tests" / "submissions"
EXERCISE = ROOT / "exercises" / "transpose"
SEED = ("--seed", "1")
WIDTHS = (1400, 1000, 400)
"""A large window, a small one and a phone."""
SCHEMES = ("light", "dark")

CLASS = {
    "Ada Lovelace": "passed--xor_swizzle_64x64_tile",
    "Alan Turing": "failed--missing_barrier",
    "Barbara Liskov": "passed--padded_block_rows_8",
    "Bartholomew Featherstonehaugh-Cholmondeley": "failed--padding_of_sixteen",
    "Chien-Shiung Wu": "failed--naive_coalesced_reads",
    "Donald Knuth": "compile_error--undeclared_tile",
    "Edsger Dijkstra": "failed--block_indices_not_swapped",
    "Frances Allen": "runtime_error--one_element_past_the_end",
    "Grace Hopper": "passed--float4_swizzled",
    "Hedy Lamarr": "timeout--endless_loop",
    "Jean Bartik": "failed--tails_not_handled",
    "John Backus": "launch_error--too_many_threads",
    "Katherine Johnson": "failed--conflicting_tile",
    "Ольга Ладыженская": "rejected--includes_a_file_of_the_machine",
}
"""A student of each fate: the known submission of the transpose that each handed in."""
COPIES = {"Alan Turing": "Kathleen Booth", "Grace Hopper": "Mallory Malloy"}
"""Who handed in the first one's file as well, with other names in it."""


@dataclass(frozen=True)
class SamplePage:
    """A page that `make` writes into a folder, which holds the class in `class/`; `file` is its
    path there. Two pages of one command have the same `make`."""

    name: str
    make: Callable[[Path], None]
    file: str


def write_class_folder(folder: Path) -> None:
    """The submissions in `class/`: a folder per student."""
    for student, known in CLASS.items():
        text = (KNOWN / "transpose" / f"{known}.cu").read_text(encoding="utf-8")
        _hand_in(folder, student, text)
        if student in COPIES:
            _hand_in(folder, COPIES[student], _disguise(text))


def make_pages(folder: Path) -> dict[str, Path]:
    """Writes the class and all pages below `folder`; their paths by their names."""
    write_class_folder(folder)
    for make in dict.fromkeys(page.make for page in PAGES):
        make(folder)
    return {page.name: folder / page.file for page in PAGES}


def _hand_in(folder: Path, student: str, text: str) -> None:
    place = folder / "class" / student
    place.mkdir(parents=True, exist_ok=True)
    (place / "transpose.cu").write_text(text, encoding="utf-8")


def _disguise(text: str) -> str:
    return "// My own work.\n" + text.replace("tile", "cache")


# --- the pages ------------------------------------------------------------------------------------


def _grade(*arguments: object) -> None:
    """A command of `grade`; what it prints is left out."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = main([str(each) for each in arguments])
    assert code in (0, 1), f"grade {arguments}: exit code {code}"


def _make_batch(folder: Path) -> None:
    _grade("batch", EXERCISE, folder / "class", "--out", folder / "results", "--quiet", *SEED)


def _make_leaderboard(folder: Path) -> None:
    _grade("leaderboard", folder / "results", "-o", folder / "leaderboard.html", "--force")


def _make_single(folder: Path) -> None:
    text = KNOWN / "transpose" / "failed--padding_of_two.cu"
    shutil.copy(text, folder / "my_transpose.cu")
    page = folder / "page.html"
    _grade(EXERCISE, folder / "my_transpose.cu", "--html", page, *SEED)


def _make_similar(folder: Path) -> None:
    page = folder / "similar.html"
    with contextlib.chdir(ROOT):  # the page names the starter as it was given
        _grade("similar", folder / "class", "--html", page, "--starter", "starter/transpose.cu")


def _make_sweep(folder: Path) -> None:
    plot = folder / "sweep.svg"
    sizes = ("--sizes", "64,128,256,512")
    _grade("sweep", EXERCISE, ROOT / "starter" / "transpose.cu", *sizes, "--plot", plot)


def _make_run(folder: Path) -> None:
    import numpy as np

    import grader

    values = np.arange(256, dtype=np.float32)
    run = grader.run(RUN, inputs={"x": values}, outputs={"y": values}, check=True, model=True)
    html = run._repr_html_()
    assert html is not None
    page = f'<!DOCTYPE html><html lang="en"><title>A run</title><main><h1>A notebook</h1><h2>A run</h2>{html}</main></html>'
    (folder / "run.html").write_text(page, encoding="utf-8")


RUN = """\
#define THREADS 64
// launch: reverse<<<4, THREADS>>>(y, x)
__global__ void reverse(float* y, const float* x)
{
    __shared__ float tile[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    tile[threadIdx.x] = x[i];
    y[i] = tile[THREADS - 1 - threadIdx.x];
}
"""

PAGES = (
    SamplePage("class", _make_batch, "results/report.html"),
    SamplePage("student", _make_batch, "results/pages/Katherine Johnson.html"),
    SamplePage("student-failed", _make_batch, "results/pages/Frances Allen.html"),
    SamplePage("leaderboard", _make_leaderboard, "leaderboard.html"),
    SamplePage("single", _make_single, "page.html"),
    SamplePage("similar", _make_similar, "similar.html"),
    SamplePage("run", _make_run, "run.html"),
    SamplePage("sweep", _make_sweep, "sweep.svg"),
)
