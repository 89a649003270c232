"""The worst access of a line, with its addresses, as pictures are drawn from it: conflicts of each
kind, warps in part, and what is no picture's business."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import grader
from grader.records import Dim3, KernelRun, Memory, Operation, WarpAccess
from grader.report.access_layout import Row, actual_rows, ideal_rows
from grader.report.kernel_pages import format_run
from grader.report.terminal import Page, make_console
from grader.report.warp_pictures import print_pictures

SOURCE = Path(__file__).with_suffix("").with_name("worst_accesses.cu")
LINES = SOURCE.read_text().splitlines()


@pytest.fixture(scope="module")
def run() -> KernelRun:
    inputs = {"in": np.arange(4096, dtype=np.float32), "places": np.arange(64, dtype=np.int32)}
    return grader.run(SOURCE, inputs=inputs, outputs={"out": ("float32", (512,))})


def find(run: KernelRun, comment: str, operation: Operation = Operation.LOAD) -> WarpAccess:
    """The access of the line with this comment."""
    number = next(n for n, line in enumerate(LINES, 1) if line.endswith(f"// {comment}"))
    (access,) = (
        each for each in run.accesses if each.line == number and each.operation is operation
    )
    return access


def show(access: WarpAccess, *, width: int = 80, encoding: str = "utf-8") -> list[str]:
    """The picture as it is printed, of a line whose text is `code;`."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict")
    page = Page(make_console(stream, width=width, environ={}))
    print_pictures([access], page, texts={access.line: "code;"}, sizes={"n": 512})
    stream.seek(0)
    return stream.read().splitlines()


@pytest.mark.parametrize(
    ("comment", "operation", "passes", "ideal"),
    [
        ("a column of words", Operation.LOAD, 32, 1),
        ("a column of doubles", Operation.LOAD, 32, 2),
        ("pairs, and a column", Operation.LOAD, 1 + 16, 4),
        ("five lanes of a column", Operation.LOAD, 5, 1),
        ("lanes meet", Operation.ATOMIC, 16, 1),
        ("a bank, twice", Operation.ATOMIC, 64, 2),
        ("rows of matrices", Operation.LOAD, 32, 4),
        ("of dynamic shared memory", Operation.LOAD, 32, 1),
    ],
)
def test_conflicts_are_told_wavefront_by_wavefront(
    run: KernelRun, comment: str, operation: Operation, passes: int, ideal: int
) -> None:
    access = find(run, comment, operation)
    assert (access.memory, access.passes, access.passes_ideal) == (Memory.SHARED, passes, ideal)
    assert len(access.wavefronts) == passes
    served = Counter(lane for each in access.wavefronts for lane in each)
    active = [lane for lane, address in enumerate(access.addresses) if address is not None]
    assert served == dict.fromkeys(active, 2 if comment == "a bank, twice" else 1)


@pytest.mark.parametrize(
    ("comment", "passes", "ideal", "used"),
    [("a stride", 32, 4, 128), ("shifted", 5, 4, 128), ("broadcast", 1, 1, 4)],
)
def test_sectors_are_told_with_the_bytes_that_are_used(
    run: KernelRun, comment: str, passes: int, ideal: int, used: int
) -> None:
    access = find(run, comment)
    assert (access.memory, access.passes, access.passes_ideal) == (Memory.GLOBAL, passes, ideal)
    assert (access.bytes_used, access.excess) == (used, 32 * passes - used)
    assert access.wavefronts == ()


def test_each_line_agrees_with_its_counters(run: KernelRun) -> None:
    counted = {line.line: line.counters for launch in run.launches for line in launch.lines}
    shared = {each.line for each in run.accesses if each.memory is Memory.SHARED}
    assert shared == {line for line, c in counted.items() if c.shared_wavefronts_excessive}
    columns = find(run, "a column of words")
    assert counted[columns.line].shared_wavefronts == columns.passes


def test_lanes_have_threads_addresses_and_elements(run: KernelRun) -> None:
    columns, partial = find(run, "a column of words"), find(run, "five lanes of a column")
    assert columns.array == "tile[32][32]"
    assert columns.elements == tuple(f"tile[{lane}][3]" for lane in range(32))
    assert columns.addresses == tuple(128 * lane + 12 for lane in range(32))
    assert (partial.block, partial.warp, partial.block_size) == (Dim3(0, 1, 0), 1, Dim3(8, 5))
    assert [partial.thread(lane) for lane in (0, 4)] == [Dim3(0, 4, 0), Dim3(4, 4, 0)]
    assert partial.addresses[:5] == tuple(128 * (32 + lane) + 28 for lane in range(5))
    assert partial.addresses[5:] == partial.elements[5:] == (None,) * 27
    stride = find(run, "a stride")
    assert stride.elements == tuple(f"in[{16 * lane}]" for lane in range(32))
    first = stride.addresses[0] or 0
    assert stride.addresses == tuple(first + 64 * lane for lane in range(32))


def test_local_memory_and_what_wastes_nothing_are_not_told(run: KernelRun) -> None:
    lines = {LINES[each.line - 1].split("// ")[-1] for each in run.accesses}
    assert "local memory" not in lines
    assert not [each for each in run.accesses if each.excess == 0]


def test_rows_hold_every_word_once_and_ideal_ones_are_as_few_as_could_be(run: KernelRun) -> None:
    for access in run.accesses:
        rows, ideal = actual_rows(access), ideal_rows(access)
        drawn = {lane for row in rows for lanes in row.lanes for lane in lanes}
        assert drawn == {lane for lane, each in enumerate(access.addresses) if each is not None}
        if access.memory is Memory.GLOBAL:
            assert count_sectors(rows) == access.passes
            assert count_sectors(ideal) <= access.passes_ideal
        else:
            assert len(rows) == access.passes
            assert len(ideal) == access.passes_ideal


def count_sectors(rows: list[Row]) -> int:
    """The sectors that are moved, of 8 words."""
    return sum(sum(row.moved) for row in rows) // 8


def test_a_picture_has_80_columns(run: KernelRun) -> None:
    assert (
        show(find(run, "a column of words"))
        == """
What a warp does there (its worst access at n = 512)

     19 | code;
  A warp's load from tile[32][32] takes 32 wavefronts where 1 would do.
  Bank 3 holds 32 of the words, and delivers one per wavefront: tile[0][3],
  tile[1][3], tile[2][3], ..., tile[31][3].

      executed: 32 wavefronts            ideal: 1 wavefront
      0       8       16      24         0       8       16      24
  1   ···0····························   0123456789abcdefghijklmnopqrstuv
  2   ···1····························
  3   ···2····························
  4   ···3····························
  ... 27 more
  32  ···v····························

  Block (0, 0, 0), warp 0: lane 0 is thread (0, 0, 0).
  Rows are wavefronts, columns the 32 banks. 0-9 and a-v are the lanes 0 to 31
  that a word goes to, * several lanes, · an idle bank.""".replace(
            "     19", f"{find(run, 'a column of words').line:>7}"
        ).splitlines()
    )
    for access in run.accesses:
        assert max(map(len, show(access))) <= 80


def test_sectors_in_ascii(run: KernelRun) -> None:
    shown = show(find(run, "shifted"), encoding="ascii")
    assert (
        shown[4]
        == "  A warp's load from in[4096] moves 5 sectors, 160 bytes, and uses 128; 4 would"
    )
    assert shown[7:10] == [
        "      executed: 5 sectors                   ideal: 4 sectors",
        "  1   .0123456|789abcde|fghijklm|nopqrstu   01234567|89abcdef|ghijklmn|opqrstuv",
        "  2   v.......|        |        |",
    ]


def test_a_narrow_page_leaves_the_ideal_out(run: KernelRun) -> None:
    shown = show(find(run, "a column of words"), width=60)
    assert max(map(len, shown)) <= 60
    assert not [line for line in shown if "ideal" in line]


@pytest.mark.parametrize(
    ("comment", "operation", "words"),
    [
        ("lanes meet", Operation.ATOMIC, "16 lanes update bins[0], one at a time."),
        ("a bank, twice", Operation.ATOMIC, "Bank 0 holds 32 of the words,"),
        ("broadcast", Operation.LOAD, "moves 1 sector, 32 bytes, and uses 4."),
        (
            "five lanes of a column",
            Operation.LOAD,
            "Launch 2, block (0, 1, 0), warp 1: lane 0 is thread (0, 4, 0).",
        ),
    ],
)
def test_words_below_a_picture(
    run: KernelRun, comment: str, operation: Operation, words: str
) -> None:
    assert words in " ".join(" ".join(show(find(run, comment, operation))).split())


def test_names_are_made_harmless(run: KernelRun) -> None:
    access = find(run, "a column of words")
    hostile = replace(access, array="\x1b[31m\n", elements=("\x1b]0;x\x07[red]",) * 32)
    assert "\x1b" not in "".join(show(hostile))


def test_the_json_of_a_run_has_them(run: KernelRun) -> None:
    assert '"array": "tile[32][32]"' in format_run(run)
