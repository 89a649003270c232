"""The galleries: what is counted of every access is what its addresses mean, and what a course says
of it."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from grader.cli import main
from grader.explore.exhibits import GALLERIES, read_sketches, run_gallery
from grader.plumbing.cache import default_cache
from grader.report.access_pictures import UNUSED, Exhibit, Gallery, Memory, draw, print_gallery
from grader.report.terminal import make_console

SECTORS = {
    "consecutive": 4,
    "broadcast": 1,
    "reversed": 4,
    "shuffled": 4,
    "one_far_away": 5,
    "misaligned_by_4": 5,
    "misaligned_by_16": 5,
    "stride_2": 8,
    "stride_4": 16,
    "stride_8": 32,
    "stride_32": 32,
    "column": 32,
    "doubles": 8,
    "float4s": 16,
    "box_of_8_2_2": 4,
    "box_turned": 8,
    "rows_of_16": 4,
    "columns_of_16": 16,
    "first_half_active": 2,
    "every_second_active": 4,
}
LINES = {
    "consecutive": 1,
    "broadcast": 1,
    "reversed": 1,
    "shuffled": 1,
    "one_far_away": 2,
    "misaligned_by_4": 2,
    "misaligned_by_16": 2,
    "stride_2": 2,
    "stride_4": 4,
    "stride_8": 8,
    "stride_32": 32,
    "column": 32,
    "doubles": 2,
    "float4s": 4,
    "box_of_8_2_2": 4,
    "box_turned": 8,
    "rows_of_16": 2,
    "columns_of_16": 16,
    "first_half_active": 1,
    "every_second_active": 1,
}
WAVEFRONTS = {
    "row": 1,
    "column_of_32": 32,
    "column_of_33": 1,
    "column_of_34": 2,
    "column_of_36": 4,
    "column_of_40": 8,
    "row_too_many": 32,
    "broadcast": 1,
    "two_words_of_a_bank": 2,
    "stride_2": 2,
    "swizzle": 1,
    "float2_row": 2,
    "float4_row": 4,
    "float4_column": 4,
    "doubles": 2,
    "block_of_16_by_17": 2,
    "block_of_16_by_18": 1,
}
THEORY: Mapping[str, Mapping[str, int]] = {"coalescing": SECTORS, "banks": WAVEFRONTS}
EVERY = [(gallery, name) for gallery in THEORY for name in THEORY[gallery]]


@pytest.fixture(scope="module")
def galleries() -> dict[str, Gallery]:
    return {
        name: run_gallery(name, gpu="h100", cache=default_cache(os.environ)) for name in GALLERIES
    }


def find(galleries: Mapping[str, Gallery], gallery: str, name: str) -> Exhibit:
    return next(exhibit for exhibit in galleries[gallery].exhibits if exhibit.name == name)


def test_every_kernel_of_the_files_is_shown(galleries: dict[str, Gallery]) -> None:
    for name, gallery in galleries.items():
        assert (
            [exhibit.name for exhibit in gallery.exhibits]
            == list(read_sketches(name))
            == list(THEORY[name])
        )


@pytest.mark.parametrize(("gallery", "name"), EVERY)
def test_counts_what_theory_says(galleries: dict[str, Gallery], gallery: str, name: str) -> None:
    exhibit = find(galleries, gallery, name)
    assert exhibit.requests == -(-len(exhibit.addresses) // 32)
    assert exhibit.passes == exhibit.requests * THEORY[gallery][name]


@pytest.mark.parametrize(("gallery", "name"), EVERY)
def test_counts_what_the_addresses_mean(
    galleries: dict[str, Gallery], gallery: str, name: str
) -> None:
    exhibit = find(galleries, gallery, name)
    warps = [
        [address for address in exhibit.addresses[start : start + 32] if address is not None]
        for start in range(0, len(exhibit.addresses), 32)
    ]
    if gallery == "coalescing":
        assert exhibit.passes == sum(
            len(touched(warp, exhibit.element_bytes, 32)) for warp in warps
        )
        assert exhibit.lines_touched == LINES[name]
        assert exhibit.bytes_moved == 32 * exhibit.passes
    else:
        assert exhibit.passes == sum(wavefronts(warp, exhibit.element_bytes) for warp in warps)
        assert exhibit.bytes_moved == 128 * exhibit.passes
    assert exhibit.bytes_used == sum(len(touched(warp, exhibit.element_bytes, 1)) for warp in warps)


def touched(addresses: Sequence[int], element_bytes: int, unit_bytes: int) -> set[int]:
    """The units of so many bytes that hold a byte of these elements."""
    return {
        byte // unit_bytes
        for address in addresses
        for byte in range(address, address + element_bytes)
    }


def wavefronts(addresses: Sequence[int], element_bytes: int) -> int:
    """Of all lanes at once (4 bytes), half of them (8) or a quarter (16): the most words of one
    bank."""
    lanes = 128 // element_bytes
    return sum(
        most_of_a_bank(touched(addresses[start : start + lanes], element_bytes, 4))
        for start in range(0, 32, lanes)
    )


def most_of_a_bank(words: set[int]) -> int:
    banks = [word % 32 for word in words]
    return max(map(banks.count, banks))


@pytest.mark.parametrize(("gallery", "name"), EVERY)
def test_the_picture_shows_as_much_as_was_counted(
    galleries: dict[str, Gallery], gallery: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.report.access_pictures.MOST_ROWS", 32)
    exhibit, memory = find(galleries, gallery, name), galleries[gallery].memory
    rows = draw(exhibit, memory)
    if memory is Memory.GLOBAL:
        sectors = [sector for row in rows for sector in row.split("|")[1:-1] if sector.strip()]
        assert len(sectors) == exhibit.passes // exhibit.requests
        assert all(set(sector) - {UNUSED} for sector in sectors)
    else:
        assert len(rows) - 1 == exhibit.passes // exhibit.requests


@pytest.mark.parametrize("gallery", THEORY)
def test_fits_eighty_columns(galleries: dict[str, Gallery], gallery: str) -> None:
    shown = io.StringIO()
    for whole in (False, True):
        print_gallery(
            galleries[gallery], console=make_console(shown, environ={}, width=80), whole=whole
        )
    assert all(name in shown.getvalue() for name in THEORY[gallery])
    assert max(map(len, shown.getvalue().splitlines())) <= 80


def test_one_of_them_is_shown_with_its_kernel(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "gallery.json"
    assert (
        main(
            ["gallery", "banks", "column_of_33", "--json", str(table), "--device", "emulated:h200"]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "__shared__ float tile[32][33];" in shown
    assert "// launch: column_of_33<<<1, 32>>>(in, out, place)" in shown
    assert "__device__ void fill(" in shown
    assert "column_of_32" not in shown
    (exhibit,) = json.loads(table.read_text())["exhibits"]
    assert (exhibit["name"], exhibit["access"], exhibit["passes"]) == (
        "column_of_33",
        "tile[threadIdx.x][0]",
        1,
    )


def test_json_on_stdout_is_all_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gallery", "banks", "row", "--json", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["exhibits"][0]["passes_ideal"] == 1


def test_lists_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gallery"]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for names in THEORY.values() for name in names)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["bank"], "did you mean 'banks'"),
        (["banks", "column_of_31"], "did you mean 'column_of_3"),
        (["banks", "--device", "emulated:h10"], "did you mean 'h100'"),
        (["banks", "--device", "gpu"], "a gallery runs on the emulated device"),
        (["banks", "--json", ""], "the name is empty"),
    ],
)
def test_says_what_is_bad_usage(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gallery", *arguments]) == 2
    assert complaint in capsys.readouterr().err
