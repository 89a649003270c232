"""Verdicts of the emulated device that a modelled time decides: how many need the benefit of the
doubt, and how wrong are these?

    python benchmarks/close_calls.py [--gpu h100|h200] [--jobs N] [--json FILE] [PATTERN ...]

Grades the known submissions that this GPU has graded (tests/data/verdicts_GPU.json) on the emulated
GPU, with modelled times. Prints each check of a time that passed although its modelled value misses
the goal, that waits for a GPU, or whose points differ from the GPU's: the modelled value, the GPU's
value and its distance from the goal, the goal, and the check's message. Then the number of checks
of times by outcome. PATTERN (`transpose/*`) selects files. --json writes all checks of times. Exit
code 0.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from verdicts import SEED, find_known

sys.path.insert(0, str(Path(__file__).parents[1]))

import grader
from grader.metrics import TIMED
from grader.records import CheckStatus
from grader.spec.exercise import Threshold
from grader.spec.reader import read_exercise
from tests.support.known import ROOT, Known, digest

SLACK_POINTS = 4.0
"""Points by which a check may differ and still count as judged alike."""


@dataclass(frozen=True)
class Judged:
    """A check of a time: its modelled and its measured value in the metric's unit, the goal in the
    same unit (None: relative to a value that is unknown), and points of both."""

    file: str
    check: str
    status: str
    modelled: float | None
    measured: float
    goal: float | None
    in_doubt: bool
    points: float
    measured_points: float
    message: str

    @property
    def outcome(self) -> str:
        if self.status == CheckStatus.NOT_MEASURED:
            return "waits for a GPU"
        if self.in_doubt and self.modelled is not None and self.goal is not None:
            missed = self.modelled < self.goal
            return "passes by the benefit of the doubt" if missed else "passes, close to the goal"
        if self.points > self.measured_points + SLACK_POINTS:
            return "more points than on the GPU"
        if self.points < self.measured_points - SLACK_POINTS:
            return "fewer points than on the GPU"
        return "as on the GPU"

    def __str__(self) -> str:
        of_goal = f" ({self.measured / self.goal - 1:+.1%} of the goal)" if self.goal else ""
        modelled, goal = (
            "?" if each is None else f"{each:.4g}" for each in (self.modelled, self.goal)
        )
        return (
            f"{self.file} {self.check}: {modelled} modelled, {self.measured:.4g} on the GPU"
            f"{of_goal}, goal {goal}: {self.message}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--gpu", default="h100", choices=("h100", "h200"))
    parser.add_argument("--jobs", type=int, default=1, help="gradings side by side")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    path = ROOT / f"tests/data/verdicts_{options.gpu}.json"
    verdicts = json.loads(path.read_text(encoding="utf-8"))
    chosen = [
        each
        for each in find_known(options.patterns)
        if verdicts.get(each.name, {}).get("sha256") == digest(each.file)
    ]
    start = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        pairs = pool.map(lambda each: (each, grade(each, options.gpu)), chosen)
        found = [
            judged for each, score in pairs for judged in compare(each, verdicts[each.name], score)
        ]
    for judged in found:
        if judged.outcome not in ("as on the GPU", "passes, close to the goal"):
            print(f"{judged.outcome}: {judged}")
    for outcome, number in Counter(judged.outcome for judged in found).most_common():
        print(f"{number:5} {outcome}")
    print(f"{len(found)} checks of times of {len(chosen)} files, {time.monotonic() - start:.0f} s")
    if options.json is not None:
        rows = [asdict(judged) for judged in found]
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def grade(known: Known, gpu: str) -> grader.Score:
    exercise = ROOT / "exercises" / known.file.parent.name
    return grader.grade(exercise, known.file, device=f"emulated:{gpu}", seed=SEED)


def compare(known: Known, verdict: Mapping[str, Any], score: grader.Score) -> Iterator[Judged]:
    """The checks of times that both devices judged."""
    exercise = read_exercise(ROOT / "exercises" / known.file.parent.name)
    for check, spec in zip(score.checks, exercise.checks, strict=True):
        if check.metric not in TIMED or check.name not in verdict["checks"]:
            continue
        points, value = verdict["checks"][check.name]
        if value is None or (check.value is None and check.status is not CheckStatus.NOT_MEASURED):
            continue
        yield Judged(
            known.name,
            check.name,
            check.status.value,
            check.value,
            value,
            find_goal(spec.threshold_on(score.device), check.relative_value),
            check.in_doubt,
            check.points,
            points,
            check.message,
        )


def find_goal(threshold: Threshold, relative: float | None) -> float | None:
    """The value for full points, in the metric's unit."""
    if threshold.relative_to is None:
        return threshold.full_mark
    return None if relative is None else threshold.scaled(relative).full_mark


if __name__ == "__main__":
    main()
