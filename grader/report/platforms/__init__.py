"""A score as other programs take it: `--format gradescope`, `github` or `junit`; and gradebooks for
Canvas and Moodle."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grader.records import Score
from grader.report.platforms.github import format_github
from grader.report.platforms.gradescope import format_gradescope
from grader.report.platforms.junit import format_junit

FORMATS: Mapping[str, Callable[[Score], str]] = {
    "gradescope": format_gradescope,
    "github": format_github,
    "junit": format_junit,
}
