"""Tasks of a batch, and the keys of results: a result can be reused while submission, exercise,
device, grader and seed are the same."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.errors import GraderError
from grader.records import Options

SEED_BITS = 53  # a JSON number represents these exactly


@dataclass(frozen=True)
class Task:
    """One grading. `key`: the key of its result; `folder`: the exercise's folder."""

    key: str
    exercise: str
    folder: Path
    sha256: str
    source: Path
    options: Options


@dataclass(frozen=True)
class Graded:
    """The result of a task: the score as JSON text, the time in seconds and the attempts."""

    key: str
    exercise: str
    sha256: str
    text: str
    seconds: float
    attempts: int = 1

    def fields(self) -> dict[str, object]:
        """The score's fields for the gradebook. Raises GraderError if the text is no score."""
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
            raise GraderError(f"the answer of a worker is not a score: {error!r}") from error


def _digest_check(check: dict[str, Any]) -> dict[str, Any]:
    own = {name: check[name] for name in ("status", "points", "max_points", "bonus")}
    return {"name": check["headline"] or check["title"], **own}


def make_key(*, sha256: str, exercise_hash: str, device: str, grader: str, seed: str) -> str:
    """The key of a result: a hash of everything that the result depends on."""
    return hashlib.sha256(
        json.dumps([sha256, exercise_hash, device, grader, seed]).encode()
    ).hexdigest()


def draw_seed(secret: bytes, sha256: str) -> int:
    """The seed of a submission if the user gave none: the same for the same file, and not
    predictable from another file's score."""
    return int.from_bytes(hmac.digest(secret, sha256.encode(), "sha256")[:8], "big") >> (
        64 - SEED_BITS
    )
