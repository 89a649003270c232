"""The exercise find_the_bugs: the starter has six bugs, and the checked mode names each."""

from __future__ import annotations

from pathlib import Path

import grader

ROOT = Path(__file__).parents[2]
NAMED = {
    "reverse": "a __syncthreads() is missing",
    "subtract": "__syncthreads() that not all threads reach",
    "mirror": "out of bounds",
    "histogram": "nothing was written there before",
    "smooth": "the asynchronous copy",
    "last": "depends on the order",
}
"""By part: words of its message."""


def test_each_bug_of_the_starter_is_named(cache: Path) -> None:
    score = grader.grade(
        ROOT / "exercises" / "find_the_bugs",
        ROOT / "starter" / "find_the_bugs.cu",
        device="emulated:h100",
        seed=3,
        cache=cache,
        model=False,
    )
    parts = {check.name: check for check in score.checks if check.name in NAMED}
    assert [name for name, words in NAMED.items() if words not in parts[name].message] == []
    assert (score.score, score.judged_points) == (10, 100)
