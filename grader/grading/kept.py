"""Cache of scores: an equal grading on this machine takes its score from here.

The key contains all inputs of the score. Two kinds of gradings are not kept: without a given seed,
because each draws another, and after a limit of time or memory, because a repetition can end
differently.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from grader.grading.remembered import recall, remember
from grader.grading.session import Job
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import cache_key
from grader.plumbing.identity import grader_identity, hash_files
from grader.plumbing.record_json import make_converter
from grader.records import Score
from grader.spec.own_files import read_files

if TYPE_CHECKING:
    from cattrs import Converter


@dataclass(frozen=True)
class Keeper:
    """The cache folder, and the key of a grading's score."""

    folder: Path
    key: str

    def recall(self) -> Score | None:
        """The kept score; None if there is none."""
        return recall(self.folder, self.key, Score, _converter())

    def keep(self, score: Score) -> None:
        """Keeps a score that went through all steps. A grading that ended early is repeated: this
        is quick, and a tool's limit cannot always be distinguished from a mistake."""
        if not score.status.ended_early:
            remember(self.folder, self.key, score)


def find_keeper(job: Job) -> Keeper:
    """The keeper of this grading. Raises ToolMissing, like the grading itself."""
    tools = find_toolchain(prefer_wheel=True, cache=job.cache, isolated=job.options.isolated)
    subject, submission = job.subject, job.submission
    facts = subject.environment | tools.versions
    parts = (
        grader_identity(),
        tools.nvcc.identity,
        *map(str, tools.nvcc.include_roots),
        json.dumps(facts, sort_keys=True),
        subject.exercise.id,
        hash_files(read_files(subject.exercise)),
        *(submission.name, submission.sha256),
        *(str(job.choice), str(job.options.isolated), str(job.options.model), str(job.seed)),
        repr(job.options.detail),
    )
    return Keeper(job.cache, f"score-{cache_key(*parts)}")


@functools.cache
def _converter() -> Converter:
    """A converter that keeps integers in fields of type float, so that a score from the cache has
    the same JSON text."""
    made = make_converter()
    made.register_structure_hook(float, _check_number)
    return made


def _check_number(value: object, _: object) -> float:
    if type(value) in (int, float):
        return cast(float, value)
    raise ValueError("not a number")
