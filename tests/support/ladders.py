"""The rungs of the handouts' ladders: which files they are, and their modelled times and points.

A comment below a ladder's table names the file of each row (`starter`, `reference`, a known submission,
or `-`):

    <!-- rungs: starter failed--tile_of_8 - passed--tile_of_32 -->

    python -m tests.support.ladders [EXERCISE ...]     grades the rungs on the emulated H100, and writes
    their modelled milliseconds, fractions of the peak and points into the tables (default: all)
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import grader
from grader.records import Score

ROOT = Path(__file__).resolve().parents[2]
STARTER, REFERENCE, NOT_GRADED = "starter", "reference", "-"
SEED = 1
FRACTIONS = ("bandwidth_fraction", "compute_fraction")
_COMMENT = re.compile(r"^<!-- rungs: (?P<files>.+) -->$", re.MULTILINE)


@dataclass(frozen=True)
class Ladder:
    """A table of a handout: its lines, and the files of its rows."""

    exercise: str
    lines: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def head(self) -> list[str]:
        return split_row(self.lines[0])

    @property
    def rows(self) -> tuple[str, ...]:
        return self.lines[2:]

    @property
    def points(self) -> dict[str, int]:
        """The points in the table, by the file of the row."""
        place = self.head.index("points")
        cells = {
            name: split_row(row)[place] for name, row in zip(self.files, self.rows, strict=True)
        }
        return {name: int(cell) for name, cell in cells.items() if name != NOT_GRADED}

    def shows(self, column: str) -> bool:
        """Whether a column has values of the model."""
        if column.startswith("of "):
            return not any("measured" in each or "H200" in each for each in self.head)
        return column == "points" or "modelled" in column


def read_ladders(exercise: str) -> Iterator[Ladder]:
    """The tables of an exercise's handout with a comment that names their files."""
    text = handout_of(exercise).read_text(encoding="utf-8")
    for comment in _COMMENT.finditer(text):
        above = text[: comment.start()].rstrip().splitlines()
        first = len(above)
        while above[first - 1].startswith("|"):
            first -= 1
        files = tuple(comment["files"].split())
        yield Ladder(exercise, tuple(above[first:]), files)


def handout_of(exercise: str) -> Path:
    return ROOT / "exercises" / exercise / "README.md"


def file_of(exercise: str, name: str) -> Path:
    """The file of a rung."""
    if name == STARTER:
        return ROOT / STARTER / f"{exercise}.cu"
    if name == REFERENCE:
        return ROOT / "solutions" / f"{exercise}.cu"
    return ROOT / "tests" / "submissions" / exercise / f"{name}.cu"


def split_row(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def grade(exercise: str, name: str, cache: Path | None = None) -> Score:
    """A rung's score on the emulated H100."""
    folder, file = ROOT / "exercises" / exercise, file_of(exercise, name)
    return grader.grade(folder, file, device="emulated:h100", seed=SEED, cache=cache)


def values_of(score: Score) -> dict[str, str]:
    """The cells of a rung by the kind of column: `ms`, `of`, `points`."""
    metrics: Mapping[str, object] = {each.name: each.value for each in score.metrics}
    ms = metrics["time_ms"]
    graded = {check.metric for check in score.checks}
    fraction = next((metrics[name] for name in FRACTIONS if name in graded), None)
    return {
        "ms": format_ms(float(ms)) if isinstance(ms, float) else "",
        "of": format_percent(100 * fraction) if isinstance(fraction, float) else "",
        "points": f"{score.score:.0f}",
    }


def format_ms(ms: float) -> str:
    """Three digits behind the point below 1 ms, two below 10, one above."""
    return f"{ms:.3f}" if ms < 1 else f"{ms:.2f}" if ms < 10 else f"{ms:.1f}"


def format_percent(percent: float) -> str:
    return f"{percent:.0f} %" if percent >= 1 else f"{percent:.1f} %"


def renew_row(ladder: Ladder, line: str, values: Mapping[str, str]) -> str:
    """A row of the table with these values."""
    cells = split_row(line)
    for index, column in enumerate(ladder.head):
        if ladder.shows(column):
            kind = "points" if column == "points" else "of" if column.startswith("of ") else "ms"
            cells[index] = values[kind] or cells[index]
    return f"| {' | '.join(cells)} |".replace("|  |", "| |")


def main(names: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.ladders",
        description="Grade the rungs of the handouts' ladders, and write their modelled values.",
    )
    parser.add_argument("exercise", nargs="*", metavar="EXERCISE", help="default: all")
    chosen = parser.parse_args(names).exercise
    for path in sorted((ROOT / "exercises").glob("*/README.md")):
        exercise = path.parent.name
        if chosen and exercise not in chosen:
            continue
        for ladder in read_ladders(exercise):
            text = path.read_text(encoding="utf-8")
            for line, name in zip(ladder.rows, ladder.files, strict=True):
                if name == NOT_GRADED:
                    continue
                new = renew_row(ladder, line, values_of(grade(exercise, name)))
                print(new if new != line else f"unchanged: {line}", flush=True)
                text = text.replace(line, new)
            path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
