"""Copies are found, whatever is done to their text; independent solutions of the same exercise are
not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.records import Comparison
from grader.similar.tokens import WORDS
from grader.similar.winnowing import DEFAULT_THRESHOLD, compare_files

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


def rename(text: str) -> str:
    """Other names for everything that a student names, and other numbers."""
    text = re.sub(
        r"\b[A-Za-z_]\w*", lambda name: name[0] if name[0] in WORDS else f"my_{name[0]}_of_it", text
    )
    return re.sub(r"\b(?:16|4)\b", "32", text)


def reformat(text: str) -> str:
    """No comments but others, all on long lines, other white space."""
    text = re.sub(r"//[^\n]*", "", text)
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return "// all my own work\n\n\n" + "\n\n".join(
        line if line.startswith("#") else f"{line}  /* mine */" for line in lines
    )


def reorder(text: str) -> str:
    """The file's top-level pieces in the opposite order: definitions behind their users."""
    return "\n".join(reversed(re.split(r"(?<=\n\})\n", text)))


DISGUISES = {"renamed": rename, "reformatted": reformat, "all": lambda text: reformat(rename(text))}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("exercise", ORIGINALS)
def test_a_disguised_copy_is_found(exercise: str, disguise: str) -> None:
    original = read(exercise)
    (pair,) = compare(original, DISGUISES[disguise](original)).pairs
    assert pair.similarity > 0.97


def test_reordered_functions_are_found() -> None:
    original = (ROOT / "solutions" / "transpose.cu").read_text()
    changed = reorder(original)
    assert changed.splitlines()[:5] != original.splitlines()[:5]
    (pair,) = compare(original, rename(changed)).pairs
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
    alone = [read("transpose"), rename(read("transpose"))]
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
