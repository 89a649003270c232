"""What is graded, and what makes a result reusable: the submission, the exercise, the device, the
grader and the seed."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import GraderError
from grader.records import Options

SEED_BITS = 53  # what a JSON number holds exactly


@dataclass(frozen=True)
class Task:
    """One grading. `key` names its result; `folder` is the exercise's."""

    key: str
    exercise: str
    folder: Path
    sha256: str
    source: Path
    options: Options


@dataclass(frozen=True)
class Graded:
    """The outcome of a task: the score as JSON text, and what of it the journal holds beside it."""

    key: str
    exercise: str
    sha256: str
    text: str
    seconds: float
    attempts: int = 1

    def fields(self) -> dict[str, object]:
        """What a gradebook needs of the score. Raises GraderError where the text is no score."""
        try:
            score = json.loads(self.text)
            device = score["device"]["name"] if score["device"] else None
            digest = {
                "why": score.get("why", ""),
                "causes": score.get("causes", []),
                "checks": [_digest_check(check) for check in score["checks"]],
            }
            return {
                name: score[name]
                for name in ("status", "score", "max_score", "judged_points", "message")
            } | {"device": device, "digest": json.dumps(digest)}
        except (ValueError, KeyError, TypeError) as error:
            raise GraderError(f"a worker answered what is no score: {error!r}") from error


def _digest_check(check: dict[str, Any]) -> dict[str, Any]:
    own = {name: check[name] for name in ("status", "points", "max_points", "bonus")}
    return {"name": check["headline"] or check["title"], **own}


def make_key(*, sha256: str, exercise_hash: str, device: str, grader: str, seed: str) -> str:
    """The name of a result: equal if and only if all that it depends on is."""
    return hashlib.sha256(
        json.dumps([sha256, exercise_hash, device, grader, seed]).encode()
    ).hexdigest()


def draw_seed(secret: bytes, sha256: str) -> int:
    """The seed of a submission, when none was set: the same for the same file, and not to be known
    from another file's score."""
    return int.from_bytes(hmac.digest(secret, sha256.encode(), "sha256")[:8], "big") >> (
        64 - SEED_BITS
    )
