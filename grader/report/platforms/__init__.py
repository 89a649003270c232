"""A score for other programs: `--format NAME`, and gradebooks for Canvas and Moodle."""

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
    "gcc": "lines like gcc's messages, for editors",
    "sarif": "SARIF, for code scanning",
}
"""The meaning of each format. The module of its name, which loads on use, has `format_NAME(score,
rule)`."""


def format_for_platform(score: Score, name: str, rule: PendingRule | None = None) -> str:
    """The score in the platform's format, by a rule for pending points. GraderError where the
    platform cannot represent a missing final grade."""
    module = import_module(f"{__name__}.{name}")
    format_score: Callable[[Score, PendingRule | None], str] = getattr(module, f"format_{name}")
    return format_score(score, rule)
