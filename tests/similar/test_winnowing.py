"""Copies are found, whatever is done to their text; independent solutions of the same exercise are
not."""

from __future__ import annotations

import itertools
import random
import re
import time
from pathlib import Path

import pytest

from grader.records import Comparison
from grader.similar.tokens import read_tokens
from grader.similar.winnowing import DEFAULT_THRESHOLD, compare_files
from tests.support.benchmarks import load_benchmark

ROOT = Path(__file__).resolve().parents[2]
STARTERS = {path.stem: path.read_text() for path in sorted((ROOT / "starter").glob("*.cu"))}
ORIGINALS = {
    "transpose": "passed--float4_swizzled.cu",
    "gemm_coalesced": "passed--four_columns_a_thread.cu",
    "gemm_tiled": "passed--four_rows_a_thread.cu",
    "gemm_register_blocked": "failed--double_buffered_4x4.cu",
}
KERNELS = ROOT / "tests" / "data" / "truth" / "kernels"


def read(exercise: str) -> str:
    return (ROOT / "tests" / "submissions" / exercise / ORIGINALS[exercise]).read_text()


def compare(
    *texts: str, threshold: float = DEFAULT_THRESHOLD, starters: dict[str, str] = STARTERS
) -> Comparison:
    return compare_files(
        {str(number): text for number, text in enumerate(texts)},
        starters=starters,
        threshold=threshold,
    )


similar, disguises = load_benchmark("similar"), load_benchmark("disguises")


def disguise(name: str, text: str) -> str:
    return str(disguises.DISGUISES[name](text, random.Random(1)))


@pytest.mark.parametrize("name", disguises.DISGUISES)
@pytest.mark.parametrize("exercise", ORIGINALS)
def test_a_disguised_copy_is_found(exercise: str, name: str) -> None:
    original = read(exercise)
    (pair,) = compare(original, disguise(name, original)).pairs
    assert pair.similarity > (0.75 if name in ("reordered", "all of them") else 0.97)


@pytest.mark.parametrize("texts", similar.read_classes(similar.HANDS), ids=len)
def test_copies_stand_out_from_independent_solutions(texts: dict[str, str]) -> None:
    """Each hand's work, copied in another way, beside the rest of its class."""
    ways = itertools.cycle(disguises.DISGUISES)
    copies = {f"{name} copied": disguise(next(ways), text) for name, text in texts.items()}
    found = similar.likeness({**texts, **copies})
    pairs = {pair for pair, likeness in found.items() if likeness >= DEFAULT_THRESHOLD}
    assert pairs == {(name, f"{name} copied") for name in texts}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("int x = a[y];", "int left = b[right];"),
        ("float min = 0, half = 1;", "float least = 0; const float part = 1;"),
        ("s += v[i];", "s = s + v[i];"),
        ("++i; i--;", "j += 1; j -= 1;"),
        ("if (a < b) f(a);", "if (b > a) { f(a); }"),
        ("__syncthreads();", "#define WAIT() __syncthreads()\nWAIT();"),
        ("out[row * n + col] = 1;", "#define AT(m, r, c) m[r * n + c]\nAT(out, row, col) = 1;"),
        ("int x = threadIdx.x;", "#define MY(d) threadIdx.d\n#define ME MY(x)\nint x = ME;"),
        ("unsigned n; float f;", "using u = unsigned;\ntypedef float real;\nu n; real f;"),
        ("f(1, 2);", "#define ARGS 1, \\\n  2\nf(ARGS);"),
    ],
)
def test_two_ways_to_write_it_are_one(one: str, other: str) -> None:
    defined = "using u = unsigned;\ntypedef float real;\n" if "typedef" in other else ""
    assert read_tokens(defined + one).codes.tolist() == read_tokens(other).codes.tolist()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("i = threadIdx.x;", "i = threadIdx.y;"),
        ("min(a, b);", "max(a, b);"),
        ("a + b;", "a * b;"),
        ("s += v;", "s = t + v;"),
        ("__shared__ float a;", "float a;"),
    ],
)
def test_what_differs_stays_different(one: str, other: str) -> None:
    assert read_tokens(one).codes.tolist() != read_tokens(other).codes.tolist()


BOMBS = (
    "#define A0 x x\n"
    + "".join(f"#define A{i} A{i - 1} A{i - 1}\n" for i in range(1, 60))
    + "A59\n",
    "#define f(x) x f(x f(x))\n" + "f(f(f(1))) " * 99,
    "#define f(x) x\n" + "f(" * 20_000,
    "#define a b\n#define b a\na b",
)


@pytest.mark.parametrize("text", BOMBS, ids=["doubled", "nested", "open", "mutual"])
def test_macros_do_not_grow_without_end(text: str) -> None:
    assert len(read_tokens(text)) <= len(text) + 20_000


def test_files_of_5000_lines_are_compared() -> None:
    draw = random.Random(1)
    known = [read(exercise) for exercise in ORIGINALS]
    long, other = ("\n".join(draw.choices(known, k=190)) for _ in range(2))
    assert min(long.count("\n"), other.count("\n")) > 5_000
    start = time.process_time()
    assert compare(long, disguise("renamed", long), other, starters={}).pairs[0].identical
    assert time.process_time() - start < 30


def test_reordered_functions_are_found() -> None:
    original = (ROOT / "solutions" / "transpose.cu").read_text()
    changed = "\n".join(reversed(re.split(r"(?<=\n\})\n", original)))
    assert changed.splitlines()[:5] != original.splitlines()[:5]
    (pair,) = compare(original, disguise("renamed", changed)).pairs
    assert pair.similarity > 0.9
    assert len(pair.passages) > 1


@pytest.mark.parametrize("exercise", ORIGINALS)
def test_independent_solutions_are_not_found(exercise: str) -> None:
    """The reference against kernels of other authors for the same task."""
    ours = (ROOT / "solutions" / f"{exercise}.cu").read_text()
    family = "transpose" if exercise == "transpose" else "gemm"
    texts = [
        ours,
        read(exercise),
        *(path.read_text() for path in sorted(KERNELS.glob(f"{family}_*.cu"))),
    ]
    found = compare(*texts)
    assert [pair for pair in found.pairs if 0 in (pair.left, pair.right)] == []


def test_the_starters_code_is_nobodys() -> None:
    starter = STARTERS["transpose"]
    texts = [starter + read("transpose"), starter + read("gemm_register_blocked")]
    assert compare(*texts).pairs == ()
    assert compare(*texts).starter == "transpose"
    assert compare(*texts, starters={}, threshold=0.3).pairs


def test_shared_lines_are_named() -> None:
    original = read("gemm_register_blocked")
    pair = compare(original, "// one\n// two\n// three\n" + original).pairs[0]
    assert pair.identical
    assert {passage.right.first - passage.left.first for passage in pair.passages} == {3}


def test_what_half_the_class_writes_is_nobodys() -> None:
    common = read("gemm_register_blocked")
    alone = [read("transpose"), disguise("renamed", read("transpose"))]
    found = compare(*[common] * 12, *alone)
    assert [(pair.left, pair.right) for pair in found.pairs] == [(12, 13)]


ODD = (
    "",
    "\x00\xff",
    "x" * 100_000,
    '"' * 999,
    "/*",
    "#define A \\\n" * 500,
    'R"(' * 300,
    "'" * 5001,
    "\\\n" * 5000,
)


@pytest.mark.parametrize("text", ODD)
def test_nothing_is_refused(text: str) -> None:
    assert len(compare(text, text, read("transpose")).files) == 3
