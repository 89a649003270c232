from __future__ import annotations

from pathlib import Path

import pytest

from grader.authoring.mutants import Mistake, blank_out, make_mutants

ROOT = Path(__file__).resolve().parents[2]

CHANGES = [
    (Mistake.DROPPED_BARRIER, "__syncthreads();", {";"}),
    (Mistake.DROPPED_BARRIER, "block.sync();", {";"}),
    (Mistake.DROPPED_BARRIER, "cg::sync(block);", {";"}),
    (Mistake.OFF_BY_ONE, "if(i<n) f();", {"if(i<=n) f();"}),
    (Mistake.OFF_BY_ONE, "for (int i = 0; i <= n; i++) f();", {"for (int i = 0; i < n; i++) f();"}),
    (Mistake.OFF_BY_ONE, "bool in = i < n;", {"bool in = i <= n;"}),
    (Mistake.OFF_BY_ONE, "f<true>(a); k<<<1, 2>>>(b); x = y >> 3; p->q = 1;", set()),
    (Mistake.SWAPPED_INDEX, "out[row * n + col] = 1;", {"out[col * n + row] = 1;"}),
    (Mistake.SWAPPED_INDEX, "f(threadIdx.x, 1);", set()),
    (
        Mistake.SWAPPED_INDEX,
        "int c = threadIdx.x; int r = threadIdx.y;",
        {"int c = threadIdx.y; int r = threadIdx.y;", "int c = threadIdx.x; int r = threadIdx.x;"},
    ),
    (Mistake.SWAPPED_INDEX, "if (rows % 4 == 0 && cols % 4 == 0) f();", set()),
    (Mistake.SKIPPED_TAIL, "int tiles = (n + TILE - 1) / TILE;", {"int tiles = (n / TILE);"}),
    (
        Mistake.SKIPPED_TAIL,
        "// launch: k<<<ceil_div(n, 8), 8>>>(n)",
        {"// launch: k<<<((n) / (8)), 8>>>(n)"},
    ),
    (Mistake.SKIPPED_TAIL, "if (tail) { f(); }", {"if (false) { f(); }"}),
    (Mistake.SKIPPED_TAIL, "if (fast) { f(); } else g();", set()),
    (
        Mistake.MISSING_GUARD,
        "if (i < n && j < m) f();",
        {"if (true && j < m) f();", "if (i < n && true) f();"},
    ),
    (
        Mistake.MISSING_GUARD,
        "x = (i < n && k) ? a[i] : 0;",
        {"x = (true && k) ? a[i] : 0;", "x = (i < n && true) ? a[i] : 0;"},
    ),
    (Mistake.MISSING_GUARD, "return i < n ? a[i] : 0;", {"return true ? a[i] : 0;"}),
    (
        Mistake.LOST_SUM,
        "for (int i = 0; i < 4; i += 2) sum += a[i];",
        {"for (int i = 0; i < 4; i += 2) sum = a[i];"},
    ),
]


@pytest.mark.parametrize(("mistake", "source", "mutants"), CHANGES)
def test_makes_the_mistake(mistake: Mistake, source: str, mutants: set[str]) -> None:
    assert {mutant.text for mutant in make_mutants(source) if mutant.mistake is mistake} == mutants


@pytest.mark.parametrize(
    "source",
    [
        "// if (i < n) a += b; __syncthreads();",
        "/* i <\n n */",
        "#define A(i) if (i < n) a += b",
        'f("i < n ? a : b");',
        'f(R"x(\nif (i < n) a += b;\n)x");',
        "%:define A(i) if (i < n) \\\n a += b",
    ],
)
def test_leaves_alone_what_is_no_code(source: str) -> None:
    assert make_mutants(source) == ()


def test_a_string_with_the_mark_of_a_comment_hides_nothing() -> None:
    [mutant] = make_mutants('f("//"); __syncthreads();')
    assert mutant.text == 'f("//"); ;'


def test_names_line_and_change() -> None:
    [mutant] = make_mutants("void f()\n{\n    __syncthreads();\n}\n")
    assert (mutant.line, mutant.before, mutant.after) == (3, "__syncthreads();", ";")


@pytest.mark.parametrize(
    "path", sorted((ROOT / "solutions").glob("*.cu")), ids=lambda path: path.stem
)
def test_changes_one_line_of_every_reference(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    mutants = make_mutants(source)
    assert {mutant.text for mutant in mutants}.isdisjoint({source})
    assert len({mutant.text for mutant in mutants}) == len(mutants)
    for mutant in mutants:
        pairs = zip(source.split("\n"), mutant.text.split("\n"), strict=True)
        assert [number for number, (old, new) in enumerate(pairs, 1) if old != new] == [mutant.line]
    barriers = [line for line in blank_out(source).split("\n") if "__syncthreads()" in line]
    assert sum(mutant.mistake is Mistake.DROPPED_BARRIER for mutant in mutants) == len(barriers)
