"""The handouts keep to their exercises: what they promise is what the spec gives, and what they say
of lanes and banks is so."""

from __future__ import annotations

import re
import runpy
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from grader.authoring.exercise_files import handout_problems
from grader.devices.gpus import read_gpus
from grader.metrics import TIMED
from grader.records import WhatIfMode
from grader.spec.exercise import CheckSpec, Exercise
from grader.spec.reader import read_exercise

ROOT = Path(__file__).parents[2]
EXERCISES = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/spec.json"))
SECTIONS = (
    "The task",
    "Points",
    "How to run it",
    "Hints",
    "The ladder",
    "Questions",
    "Common mistakes",
    "Why these goals",
    "Key takeaways",
    "Further reading",
)
OF_PROGRAMS = ("The counters",)
"""The counters of kernels are on the common page."""
REPORT_PAGE = ROOT / "docs" / "report.md"
MOST_WORDS = 2000
BOX = re.compile(
    r"^\| \*\*You learn\*\* \|.+\n\| \*\*You need\*\* \|.+\n\| \*\*Time\*\* \|.+\d", re.M
)
FACTORS = frozenset({"speedup_over_naive"})
LANES = range(32)


@pytest.fixture(scope="module", params=EXERCISES)
def exercise(request: pytest.FixtureRequest) -> Exercise:
    return read_exercise(ROOT / "exercises" / request.param)


def handout_of(exercise: Exercise) -> str:
    return (exercise.folder / "README.md").read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def promises(exercise: Exercise) -> list[list[str]]:
    """The cells of the table of points, one list for each check."""
    lines = re.findall(
        r"^\| *\d+ \|.*$", section(handout_of(exercise), "Points"), flags=re.MULTILINE
    )
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_it_promises_the_points_of_every_check(exercise: Exercise) -> None:
    assert [int(points) for points, *_ in promises(exercise)] == [
        check.points for check in exercise.checks
    ]


def test_it_promises_the_goal_of_every_check(exercise: Exercise) -> None:
    for check, (_, _, goal, partial) in zip(exercise.checks, promises(exercise), strict=True):
        assert words_of_goal(check) in goal, check.name
        assert partial == (
            "none"
            if check.threshold.zero_at is None
            else f"from {figure(check, check.threshold.zero_at)} on"
        )


def test_it_promises_the_points_goals_and_sizes_of_the_spec(exercise: Exercise) -> None:
    assert len(promises(exercise)) == len(exercise.checks)
    assert handout_problems(exercise) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("| 20 | **Bank", "| 10 | **Bank", "10 points, in the spec 20"),
        ("at least 80 %", "at least 85 %", "the goal is"),
        ("from 55 % on", "from 50 % on", "partial credit is"),
        ("from 55 % on", "none", "in the spec zero_at is 0.55"),
        ("8192 × 8192", "4096 × 4096", "does not name the size of the timed run"),
        ("✓ Performance: PASSED", "✓ Speed: PASSED", "promises the line"),
    ],
)
def test_a_handout_that_differs_from_the_spec_is_reported(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    for place in ("exercises/transpose", "starter", "solutions"):
        shutil.copytree(ROOT / place, tmp_path / place)
    path = tmp_path / "exercises" / "transpose" / "README.md"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    problems = handout_problems(read_exercise(path.parent))
    assert message in " ".join(problem.message for problem in problems)


def test_it_names_each_check_by_its_headline(exercise: Exercise) -> None:
    """In bold type, exactly where the check has a line of its own at the head of the report."""
    for check, (_, name, _, _) in zip(exercise.checks, promises(exercise), strict=True):
        assert re.findall(r"\*\*(.+?)\*\*", name) == ([check.headline] if check.headline else [])


def test_it_promises_the_lines_at_the_head_of_the_report(exercise: Exercise) -> None:
    text = re.sub(
        r"^```console$.*?^```$", "", handout_of(exercise), flags=re.MULTILINE | re.DOTALL
    )  # less the transcripts
    promised = re.findall(r"^✓ ([^:]+): PASSED", text, flags=re.MULTILINE)
    assert promised == [check.headline for check in exercise.checks if check.headline]


def test_it_has_everything_that_a_student_needs(exercise: Exercise) -> None:
    text = handout_of(exercise)
    sections = (*SECTIONS, *(() if exercise.program is None else OF_PROGRAMS))
    assert [title for title in sections if f"\n## {title}\n" not in text] == []
    assert f"starter/{exercise.id}.cu" in text
    assert exercise.program is not None or {"// launch:", "// scratch:"} <= set(
        re.findall("// (?:launch|scratch):", text)
    )
    assert text.count("<details>") == text.count("</details>") >= 4


def test_it_explains_every_metric_that_is_graded(exercise: Exercise) -> None:
    page = handout_of(exercise) if exercise.program else REPORT_PAGE.read_text(encoding="utf-8")
    counters = section(page, "The counters")
    assert [
        check.metric
        for check in exercise.checks
        if check.metric != "correctness" and f"`{check.metric}`" not in counters
    ] == []


def test_it_names_the_gpus_that_have_goals_of_their_own(exercise: Exercise) -> None:
    goals = section(handout_of(exercise), "Why these goals")
    names = {"gpu": "On a GPU"} | {id: gpu.name for id, gpu in read_gpus().items()}
    own = {device for check in exercise.checks for device in check.overrides or {}}
    assert [device for device in own if names[device] not in goals] == []


def test_it_says_where_times_come_from(exercise: Exercise) -> None:
    text = " ".join(section(handout_of(exercise), "How to run it").split())
    if exercise.program is not None:
        assert "`--no-model` excludes these checks." in text
        return
    assert "[Your report](../../docs/report.md)" in text
    if not any(check.metric in TIMED for check in exercise.checks):
        return
    sizes = " × ".join(str(size) for size in exercise.benchmark["gpu"].values())
    assert sizes in section(handout_of(exercise), "Points").replace(",", "")


def test_the_common_page_says_how_times_are_judged() -> None:
    """A time is left out where the run was not verified, not for want of a GPU."""
    text = " ".join(REPORT_PAGE.read_text(encoding="utf-8").split())
    assert "Times are modelled at the size at which a GPU measures them" in text
    assert "`NOT MEASURED`, with the reason, if the timed run could not be verified" in text
    assert "Those points are pending: a GPU decides them." in text
    assert "too close to call on a model, the benefit of the doubt" in text


def test_it_begins_with_a_box_and_a_drawing(exercise: Exercise) -> None:
    start = handout_of(exercise).split("\n## ", 1)[0]
    assert BOX.search(start)
    assert re.search(r"^!\[.{40,}\]\(drawing\.svg\)$", start[:1500], re.M)


def test_it_is_short(exercise: Exercise) -> None:
    """Without transcripts, which are folded, comments, and the addresses of links."""
    hidden = r"^```console\n.*?^```$|^<!--.*?-->$"
    text = re.sub(hidden, "", handout_of(exercise), flags=re.M | re.S)
    words = re.sub(r"\]\([^)]*\)", "]", text).split()
    assert sum(bool(re.search(r"\w", word)) for word in words) <= MOST_WORDS


def test_it_tells_the_limits_of_what_a_part_may_use(exercise: Exercise) -> None:
    text = handout_of(exercise)
    for task in (exercise, *exercise.parts):
        limit = task.forbid.device_variable_bytes_above
        assert limit is None or f"{limit:,} bytes of `__device__` variables" in " ".join(
            text.split()
        )
        assert task.forbid.scratch_bytes_above is None or "no scratch buffer" in text


def test_it_gives_nothing_of_the_reference_away(exercise: Exercise) -> None:
    assert "solutions/" not in handout_of(exercise)


def figure(check: CheckSpec, value: float) -> str:
    """A goal as the handouts write it: `80 %`, `3 ×`."""
    return (
        f"{value:g} ×"
        if check.metric in FACTORS or check.threshold.relative_to
        else f"{100 * value:g} %"
    )


def words_of_goal(check: CheckSpec) -> str:
    if check.metric in ("correctness", "sanitized"):
        return "all cases"
    if check.threshold.at_most == 0:
        return "none at all"
    if check.threshold.at_most is not None:
        if check.metric.endswith("_per_block"):
            return f"at most {check.threshold.at_most:g} sectors per block"
        return f"at most {figure(check, check.threshold.at_most)}"
    assert check.threshold.at_least is not None
    return f"at least {figure(check, check.threshold.at_least)}"


def test_no_fix_gives_the_solution_away(exercise: Exercise) -> None:
    """The fixes that the grader knows are the point of these exercises."""
    assert exercise.what_if is WhatIfMode.OFF


# --- sectors and banks: the pictures of the GEMM handouts, by the rules themselves ----------------

M, N, K = 512, 768, 640
STEPS = M * N * K // 32
"""Warps times steps along k."""


def sectors(elements: Iterable[int]) -> int:
    return len({element // 8 for element in elements})


def wavefronts(words: Iterable[int]) -> int:
    distinct = set(words)
    return max(sum(word % 32 == bank for word in distinct) for bank in range(32))


def product_sectors(rows: Iterable[int], cols: Iterable[int]) -> int:
    """Sectors that a warp reads in one step along k, its lanes at these elements of C."""
    return sectors(row * K for row in rows) + sectors(cols)


@pytest.mark.parametrize(
    ("kernel", "each"),
    [
        ("`gemm_naive`", product_sectors(LANES, [7] * 32)),
        (
            "`B` as it is, `threadIdx.x` = column, blocks of 32 × 32",
            product_sectors([7] * 32, LANES),
        ),
        (
            "`B` as it is, `threadIdx.x` = column, blocks of 16 × 16",
            product_sectors((t // 16 for t in LANES), (t % 16 for t in LANES)),
        ),
    ],
)
def test_the_coalesced_handout_counts_sectors_right(kernel: str, each: int) -> None:
    text = (ROOT / "exercises" / "gemm_coalesced" / "README.md").read_text(encoding="utf-8")
    assert f"| {kernel} | {each * STEPS:,} | {each} |" in text


def test_the_coalesced_handout_is_right_about_a_transposed_b() -> None:
    by_rows = sectors(t // 16 * K for t in LANES) + sectors(t % 16 * K for t in LANES)
    text = (ROOT / "exercises" / "gemm_coalesced" / "README.md").read_text(encoding="utf-8")
    transposition = 2 * K * N // 8 // 2  # it reads every sector of B once
    assert f"| {by_rows * STEPS + transposition:,} | {by_rows} |" in text


@pytest.mark.parametrize(
    ("tile", "words"), [(8, "8 × 8 tiles"), (16, "16 × 16 tiles"), (32, "32 × 32 tiles")]
)
def test_the_tiled_handout_counts_sectors_right(tile: int, words: str) -> None:
    text = (ROOT / "exercises" / "gemm_tiled" / "README.md").read_text(encoding="utf-8")
    assert f"| {words} | {M * K // 8 * (N // tile) + K * N // 8 * (M // tile):,} |" in text


def test_the_register_blocked_handout_is_right_about_its_pictures() -> None:
    uncoalesced = [t // 8 * N + t % 8 * 4 for t in LANES]
    assert (sectors(uncoalesced), sectors(LANES)) == (16, 4)
    assert wavefronts(t * 8 for t in range(16)) == 4
    assert wavefronts(t * 8 + word for t in range(8) for word in range(4)) == 2
    assert wavefronts(t * 4 + word for t in range(8) for word in range(4)) == 1
    assert wavefronts(t % 2 * 4 * (128 + 4) + t // 2 for t in LANES) == 1


def test_the_ladder_s_table_is_that_of_its_data() -> None:
    ladder = runpy.run_path(str(ROOT / "benchmarks" / "ladder.py"))
    folder = ROOT / "exercises" / "gemm_register_blocked"
    found = ladder["read_ladder"](folder / "ladder.json")
    assert ladder["format_table"](found) in (folder / "README.md").read_text(encoding="utf-8")
    assert (folder / "ladder.svg").read_text(encoding="utf-8") == ladder["draw"](found)
