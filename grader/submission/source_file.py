"""Reads a submission: a UTF-8 text file of at most 1 MiB."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from grader.cpp.cursor import did_you_mean
from grader.errors import UsageError
from grader.records import NoSource, Submission, Unreadable

MAX_BYTES = 1 << 20
_DOCUMENTS = frozenset(
    (
        ".md",
        ".markdown",
        ".rst",
        ".tex",
        ".html",
        ".pdf",
        ".doc",
        ".docx",
        ".odt",
        ".rtf",
        ".json",
        ".csv",
        ".ipynb",
        ".py",
        ".svg",
        ".png",
        ".zip",
    )
)
"""Suffixes of files that a student hands in by mistake: handouts, reports, results. The compiler's
errors about their text would mislead."""
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MARK = "\ufeff"
"""The byte order mark, which is no text."""
_SHOWN = 8
"""Files of a folder that are named."""


def read_submission(path: Path) -> Submission | NoSource:
    """The submission at `path`, or why it is no CUDA source text; UsageError if there is no
    readable file."""
    return parse_submission(_read_bytes(path), path.name)


def read_program(path: Path, names: Sequence[str]) -> Submission | NoSource:
    """A submission of several files: `path` is their folder. UsageError if a file is missing."""
    if not path.is_dir():
        advice = f"Name a folder with the files {', '.join(names)}."
        raise UsageError(f"{path} is not a folder", advice)
    contents = {name: _read_bytes(path / name) for name in names}
    parsed = [parse_submission(content, name) for name, content in contents.items()]
    texts: list[Submission] = []
    for each in parsed:
        if isinstance(each, NoSource):
            return each
        texts.append(each)
    whole = b"".join(f"{name}\n{len(text)}\n".encode() + text for name, text in contents.items())
    others = tuple((name, each.text) for name, each in zip(names[1:], texts[1:], strict=True))
    return Submission(names[0], hashlib.sha256(whole).hexdigest(), texts[0].text, others)


def parse_submission(content: bytes, name: str) -> Submission | NoSource:
    """The submission with this content and this file name, or the reason why it is no source."""
    if Path(name).suffix.lower() in _DOCUMENTS:
        return NoSource(name, Unreadable.DOCUMENT, MAX_BYTES)
    if (why := _find_problem(content)) is not None:
        return NoSource(name, why, MAX_BYTES)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return NoSource(name, Unreadable.NOT_UTF8, MAX_BYTES, line)
    return Submission(name, hashlib.sha256(content).hexdigest(), text.removeprefix(_MARK))


def _read_bytes(path: Path) -> bytes:
    """At most a byte more than the limit, so that a huge file is not read into memory."""
    try:
        if path.is_dir():
            raise UsageError(f"{path} is a folder", "Name the .cu file that is to be graded.")
        if not path.exists():
            raise _missing(path)
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


def _missing(path: Path) -> UsageError:
    """The error for a missing file; it lists the .cu files in its folder."""
    folder = path.parent
    if not folder.is_dir():
        advice = f"There is no folder {folder}. Name the .cu file that is to be graded."
        return UsageError(f"{path} does not exist", advice)
    there = sorted(each.name for each in folder.glob("*.cu"))
    named = ", ".join(there[:_SHOWN]) + (f" and {len(there) - _SHOWN} more" * (len(there) > _SHOWN))
    where = "here" if folder == Path() else f"in {folder}"
    advice = (
        f"The .cu files {where}: {named}."
        if there
        else f"There is none {where}. Name the .cu file that is to be graded."
    )
    return UsageError(f"{path} does not exist{did_you_mean(path.name, there)}", advice)


def _find_problem(content: bytes) -> Unreadable | None:
    if len(content) > MAX_BYTES:
        return Unreadable.TOO_LARGE
    if not content.strip():
        return Unreadable.EMPTY
    if content.startswith(_UTF16_MARKS):
        return Unreadable.UTF16
    return Unreadable.BINARY if b"\0" in content else None
