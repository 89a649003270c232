"""What is graded, and what makes a result reusable: the submission, the exercise, the device, the
grader and the seed."""

from __future__ import annotations

import hashlib
import hmac
import importlib.metadata
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.errors import GraderError

SEED_BITS = 53  # what a JSON number holds exactly
_TOOLS = ("nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm", "nvidia-cuda-cccl", "llvmlite", "numpy")
_PACKAGE_FILES = ("*.py", "*.json")


@dataclass(frozen=True)
class Task:
    """One grading. `key` names its result; `folder` is the exercise's; `device` is as `grade
    --device` takes it."""

    key: str
    exercise: str
    folder: Path
    sha256: str
    source: Path
    device: str
    seed: int
    isolated: bool = True
    model: bool = True


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
            return {
                name: score[name]
                for name in ("status", "score", "max_score", "judged_points", "message")
            } | {"device": device}
        except (ValueError, KeyError, TypeError) as error:
            raise GraderError(f"a worker answered what is no score: {error!r}") from error


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


def hash_files(files: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 of named contents, in order of the names."""
    digest = hashlib.sha256()
    for name, content in sorted(files):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def grader_identity() -> str:
    """The grader's version, and a hash of its code and of the versions of what compiles and
    emulates for it."""
    package = Path(__file__).resolve().parents[1]
    files = (path for pattern in _PACKAGE_FILES for path in package.rglob(pattern))
    code = hash_files((path.relative_to(package).as_posix(), path.read_bytes()) for path in files)
    tools = json.dumps([(tool, _version(tool)) for tool in _TOOLS])
    digest = hashlib.sha256(f"{code}{tools}".encode()).hexdigest()
    return f"{_version('cuda-exercise-grader')}+{digest[:12]}"


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
