"""The grader's cache on disk: its folder, its keys, and entries of bytes and of records.

An entry is a file, named by a key that hashes all inputs of the entry: SHA-256 of the rest, then
compressed bytes. It appears whole or not at all; a damaged entry counts as absent. The first entry
of a key stays. diskcache keeps all entries in an SQLite file, which a network folder cannot share.
The emulator, which imports nothing of grader, has its own files (emulator/codegen/kept_files.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from grader.plumbing.record_json import converter
from grader.records import Options

if TYPE_CHECKING:
    from cattrs import Converter

_DIGEST_BYTES = 32

Kept = TypeVar("Kept")


def default_cache(environ: Mapping[str, str]) -> Path:
    """The user's cache folder of the grader (XDG Base Directory Specification): compiled
    submissions, counters, scores, and the emulator's runtime."""
    base = environ.get("XDG_CACHE_HOME", "")
    return (
        Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    ) / "cuda-exercise-grader"


def cache_folder(options: Options) -> Path:
    """The cache folder of the options, else the user's."""
    return options.cache or default_cache(os.environ)


def cache_key(*parts: str) -> str:
    """A file name for an entry that depends on `parts`; their boundaries count."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def recall(
    folder: Path | None, key: str, kind: type[Kept], by: Converter | None = None
) -> Kept | None:
    """The record under a key; None if it is absent or damaged, or without a folder. `by` replaces
    the converter of all records."""
    if folder is None or (content := read_entry(folder, key)) is None:
        return None
    try:
        return (by or converter()).structure(json.loads(content), kind)
    except Exception:  # cattrs collects all exceptions of the fields' constructors
        return None


def remember(folder: Path | None, key: str, value: Any) -> None:  # noqa: ANN401 - any record
    """Keep a record, or plain JSON, under a key; without a folder nothing happens."""
    if folder is not None:
        keep_entry(folder, key, json.dumps(converter().unstructure(value)).encode())


def read_entry(folder: Path, key: str) -> bytes | None:
    """The content of an entry; None if it is absent or damaged."""
    try:
        whole = (folder / key).read_bytes()
        digest, body = whole[:_DIGEST_BYTES], whole[_DIGEST_BYTES:]
        return zlib.decompress(body) if hashlib.sha256(body).digest() == digest else None
    except (OSError, zlib.error):
        return None


def keep_entry(folder: Path, key: str, content: bytes) -> bytes:
    """Write an entry. Returns the kept content: that of another process if it was quicker.

    If the folder is not writable, nothing is kept and the next run computes the content again.
    """
    body = zlib.compress(content, level=1)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(hashlib.sha256(body).digest() + body)
            file.flush()
            return _keep_first(Path(file.name), folder, key, content)
    return content


def _keep_first(written: Path, folder: Path, key: str, content: bytes) -> bytes:
    """Give a file its entry's name unless a whole entry has it."""
    try:
        (folder / key).hardlink_to(written)
    except FileExistsError:
        if (kept := read_entry(folder, key)) is not None:
            return kept
        beside = folder / f"{key}.{written.name}"
        beside.hardlink_to(written)
        try:
            beside.replace(folder / key)
        except OSError:
            beside.unlink()
    return content
