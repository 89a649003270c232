"""The pages of `grade explain`: each cause has one, and each small kernel makes the mistake that it
is shown for."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from grader.cli import main
from grader.explore.exhibits import GALLERIES, KERNEL, read_gallery_file, read_sketches
from grader.explore.mistakes import MISTAKES, draw_causes, run_mistakes
from grader.folders import shipped_exercises
from grader.messages.cause_rows import CAUSES
from grader.messages.explanations import NCU, Explanation, list_explanations
from grader.metrics import METRICS
from grader.report.explanation_page import Picture, Specimen, print_explanation
from grader.report.terminal import make_console

PAGES = {page.key: page for group in list_explanations().values() for page in group}
KERNELS = [name for row in CAUSES.values() if row.gallery == MISTAKES for name in row.kernels]


@pytest.fixture(scope="module")
def specimens(cache: Path) -> dict[str, Specimen]:
    return run_mistakes(KERNELS, cache=cache)


def printed(page: Explanation, picture: Picture, width: int) -> str:
    stream = io.StringIO()
    console = make_console(stream, width=width, environ={})
    print_explanation(page, picture, lambda name: f"exercises/{name}/README.md", console=console)
    return stream.getvalue()


@pytest.mark.parametrize("name", KERNELS)
def test_the_grader_finds_the_cause_for_which_a_kernel_is_shown(
    name: str, specimens: dict[str, Specimen]
) -> None:
    assert specimens[name].cause == name


def test_every_kernel_of_the_file_is_shown() -> None:
    found = [match["name"] for match in KERNEL.finditer(read_gallery_file(MISTAKES))]
    assert sorted(found) == sorted(KERNELS)


def test_the_code_of_every_kernel_fits_eighty_columns(specimens: dict[str, Specimen]) -> None:
    """Two columns of indent, and seven for the number of the line."""
    lines = [line for each in specimens.values() for _, line in each.code]
    assert [line for line in lines if len(line) > 71] == []
    assert all(len(line) <= 78 for row in CAUSES.values() for line in row.code.split("\n"))


def test_pictures_handouts_and_metrics_exist() -> None:
    exercises = {folder.name for folder in shipped_exercises()}
    for page in PAGES.values():
        row = page.row
        if row.gallery in GALLERIES:
            assert set(row.kernels) <= read_sketches(row.gallery).keys()
        assert set(row.exercises) <= exercises
        assert not row.metric or row.metric in METRICS
    assert set(NCU) <= METRICS.keys()


def test_every_page_has_a_definition_ways_to_detect_it_and_a_fix() -> None:
    assert all(page.row.meaning and page.detect and page.row.fix for page in PAGES.values())


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("key", ["bank_conflicts", "uncoalesced_loads", "race", "leak", "edge"])
def test_a_page_fits_the_terminal(key: str, width: int, cache: Path) -> None:
    (picture,) = draw_causes([CAUSES[key]], cache=cache)
    text = printed(PAGES[key], picture, width)
    assert max(map(len, text.splitlines())) <= width
    assert "How to detect it" in text
    assert "How to fix it" in text
    assert all(name in text for name in CAUSES[key].exercises)


def test_the_conflicts_of_a_column_are_drawn_beside_the_padded_tile(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["explain", "bank-conflicts"]) == 0
    text = capsys.readouterr().out
    assert "32 wavefronts a request (1 would do)" in text
    assert "1 wavefront a request (1 would do)" in text
    assert "derived__memory_l1_wavefronts_shared_excessive" in text


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("bank_conflicts", "Bank conflicts"),
        ("global_load_efficiency", "Loads not coalesced"),
        ("too-many-threads", "The block has more threads than can be launched"),
        ("latency", "Slow: bound by latency"),
        ("Leak", "Memory that is never freed"),
    ],
)
def test_a_page_has_several_names(
    name: str, title: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == 0
    assert capsys.readouterr().out.startswith(f"{title}\n")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("bank-conflict", "did you mean 'bank-conflicts'?"),
        ("coalescing", "did you mean uncoalesced-loads or uncoalesced-stores?"),
        ("xyz", "`grade explain` lists all causes"),
    ],
)
def test_a_wrong_name_gets_a_suggestion(
    name: str, suggestion: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", name]) == 2
    assert suggestion in capsys.readouterr().err


def test_without_a_name_all_causes_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = {line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "}
    assert listed >= {page.name for page in PAGES.values()}
