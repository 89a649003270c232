"""A score as other programs take it: `--format NAME`, and gradebooks for Canvas and Moodle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.records import PendingRule, Score

FORMATS: Mapping[str, str] = {
    "gradescope": "Gradescope's results.json",
    "github": "GitHub Classroom's autograding JSON",
    "junit": "JUnit's XML",
    "markdown": "a pull request's comment in GitHub's Markdown",
}
"""What each format is. The module of its name, which loads on use, has
`format_NAME(score, rule)`."""


def format_for_platform(score: Score, name: str, rule: PendingRule | None = None) -> str:
    """The score as the platform takes it, by a rule for pending points. GraderError where the
    platform has no way to say that there is no final grade."""
    module = import_module(f"{__name__}.{name}")
    format_score: Callable[[Score, PendingRule | None], str] = getattr(module, f"format_{name}")
    return format_score(score, rule)
