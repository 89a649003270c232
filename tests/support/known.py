"""The known submissions: what each file of tests/submissions says of itself.

Its name is the verdict of an H100, where every check is judged. Lines `// expect WHERE: WHAT (WHY)`
behind the first one say what differs elsewhere, and what is expected besides:

    // expect without a model: passed, only a clock tells (65 % of the peak, 80 % are asked)
    // expect without a model: passed, only the timed size tells
    // expect without a model: inconclusive, only a GPU counts (blocks wait for each other)
    // expect with a model: passed, too close to call
    // expect with a model: passed, the model is too fast (82 % of the peak)
    // expect with a model: inconclusive, hardly known (the model does not know this kind of kernel)
    // expect on an emulated device: unsupported (HGMMA)
    // expect points: 45 (what the attack has earned)
    // expect bonus: failed (what its check says)
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from grader.records import Status

ROOT = Path(__file__).resolve().parents[2]
SUBMISSIONS = ROOT / "tests" / "submissions"

ONLY_A_CLOCK_TELLS = "passed, only a clock tells"
ONLY_THE_TIMED_SIZE_TELLS = "passed, only the timed size tells"
ONLY_A_GPU_COUNTS = "inconclusive, only a GPU counts"
TOO_CLOSE_TO_CALL = "passed, too close to call"
MODEL_TOO_FAST = "passed, the model is too fast"
HARDLY_KNOWN = "inconclusive, hardly known"

_NAME = re.compile(r"(?P<status>[a-z_]+)--(?P<reason>[a-z0-9_]+)")
_LINE = re.compile(r"// expect (?P<where>[^:]+): (?P<what>[^(]+?)(?: \((?P<why>.+)\))?")
_WHERE = {
    "without a model": {ONLY_A_CLOCK_TELLS, ONLY_THE_TIMED_SIZE_TELLS, ONLY_A_GPU_COUNTS},
    "with a model": {TOO_CLOSE_TO_CALL, MODEL_TOO_FAST, HARDLY_KNOWN},
    "on an emulated device": {status.value for status in Status},
    "points": None,
    "bonus": {"failed"},
}
"""What may be said where; None: a number."""


@dataclass(frozen=True)
class Expected:
    """What is expected somewhere, and why, or what is said with it."""

    what: str
    why: str = ""


@dataclass(frozen=True)
class Known:
    """A submission whose verdict is known; `status` is an H100's, the others are as above."""

    file: Path
    status: Status
    reason: str
    without_model: Expected | None = None
    with_model: Expected | None = None
    emulated: Expected | None = None
    points: float | None = None
    bonus: Expected | None = None

    @property
    def name(self) -> str:
        """`exercise/status--reason`."""
        return f"{self.file.parent.name}/{self.file.stem}"

    @property
    def status_emulated(self) -> Status:
        """The status on an emulated device, with times of a model that agrees with an H100."""
        return Status(self.emulated.what) if self.emulated is not None else self.status

    @property
    def runs_right(self) -> bool:
        """Whether its outputs are right at all sizes: it passes, or only a clock or a GPU's
        counters tell why not."""
        said = None if self.without_model is None else self.without_model.what
        return said in (ONLY_A_CLOCK_TELLS, ONLY_A_GPU_COUNTS) or self.status is Status.PASSED


def read_known(file: Path) -> Known:
    """What a file says of itself. Raises ValueError for a name or a line that says nothing."""
    named = _NAME.fullmatch(file.stem)
    if named is None:
        raise ValueError(f"{file} is not named <status>--<reason>.cu")
    lines = file.read_text(encoding="utf-8").splitlines()
    said = dict(_parse_line(line, file) for line in lines if _is_expectation(line))
    points = said.get("points")
    return Known(
        file,
        Status(named["status"]),
        named["reason"],
        without_model=said.get("without a model"),
        with_model=said.get("with a model"),
        emulated=said.get("on an emulated device"),
        points=None if points is None else float(points.what),
        bonus=said.get("bonus"),
    )


def digest(file: Path) -> str:
    """SHA-256 of a file less what it says of itself: a GPU's verdict holds until its code changes."""
    lines = file.read_bytes().splitlines(keepends=True)
    own = (line for line in lines if not line.startswith(b"// expect "))
    return hashlib.sha256(b"".join(own)).hexdigest()


def _is_expectation(line: str) -> bool:
    return line.startswith("// expect ")


def _parse_line(line: str, file: Path) -> tuple[str, Expected]:
    match = _LINE.fullmatch(line)
    if match is None or match["where"] not in _WHERE:
        raise ValueError(f"{file}: {line!r} says nothing that is known")
    allowed = _WHERE[match["where"]]
    if match["what"] not in allowed if allowed is not None else not match["what"].isdecimal():
        raise ValueError(f"{file}: {line!r} expects what cannot be")
    return match["where"], Expected(match["what"], match["why"] or "")


KNOWN = tuple(read_known(file) for file in sorted(SUBMISSIONS.glob("*/*.cu")))
