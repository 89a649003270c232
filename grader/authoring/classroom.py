"""Makes the workflow of a GitHub Classroom assignment."""

from __future__ import annotations

import re

from grader.authoring.bundles import fill_template
from grader.errors import UsageError
from grader.records import PendingRule
from grader.spec.exercise import Exercise

_REPOSITORY = re.compile(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+")
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def make_workflow(
    exercise: Exercise, *, repository: str, ref: str, pending: PendingRule | None = None
) -> str:
    """The text of `classroom.yml`; `pending` is the rule for pending points. UsageError where
    repository or ref are not valid names of GitHub."""
    if not _REPOSITORY.fullmatch(repository):
        raise UsageError(
            f"--repository {repository!r} is not of the form OWNER/NAME",
            "Name the course's copy of the grader on GitHub.",
        )
    if not _REF.fullmatch(ref):
        raise UsageError(
            f"--ref {ref!r} is no branch, tag or commit", "Name one of the repository's."
        )
    return fill_template(
        "classroom.yml",
        id=exercise.id,
        repository=repository,
        ref=ref,
        points=f"{exercise.max_score:g}",
        pending=f" --pending {pending}" if pending else "",
    )
