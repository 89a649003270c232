"""Read a submission: one UTF-8 text file of at most 1 MiB."""

from __future__ import annotations

import hashlib
from pathlib import Path

from grader.errors import UsageError
from grader.records import Failure, Status, Submission

MAX_BYTES = 1 << 20
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_submission(path: Path) -> Submission | Failure:
    """The submission at `path`; a Failure where it is no CUDA source text; UsageError where there
    is no readable file."""
    return parse_submission(_read_bytes(path), path.name)


def parse_submission(content: bytes, name: str) -> Submission | Failure:
    """The submission with this content, which is called `name`; a Failure as of
    `read_submission`."""
    problem = _find_problem(content)
    if problem is not None:
        message, advice = problem
        return Failure(Status.COMPILE_ERROR, f"{name}: {message}", advice=advice)
    return Submission(name, hashlib.sha256(content).hexdigest(), content.decode("utf-8-sig"))


def _read_bytes(path: Path) -> bytes:
    """At most one byte more than is allowed, so that a huge file is not read into memory."""
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder", "Name the .cu file that is to be graded.")
        if not path.exists():
            raise UsageError(f"{path} does not exist", "Name the .cu file that is to be graded.")
        if not path.is_file():
            raise UsageError(
                f"{path} is not a regular file", "Name the .cu file that is to be graded."
            )
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path} cannot be read: {error}", "Check the path and the file's permissions."
        ) from error


def _find_problem(content: bytes) -> tuple[str, str] | None:
    """What is wrong with the content and what to try, or None."""
    if len(content) > MAX_BYTES:
        return (
            f"the file is larger than {MAX_BYTES >> 20} MiB",
            "Hand in the source file, not a build output.",
        )
    if not content.strip():
        return "the file is empty", "Save the file, and hand in the .cu source."
    if content.startswith(_UTF16_MARKS):
        return "the file is UTF-16, not UTF-8", "Save it again with the encoding UTF-8."
    if b"\0" in content:
        return (
            "the file is binary, not CUDA source",
            "Hand in the .cu source, not a compiled file or an archive.",
        )
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return (
            f"line {line} is not valid UTF-8",
            "Save it again with the encoding UTF-8, or take the special character out.",
        )
    return None
