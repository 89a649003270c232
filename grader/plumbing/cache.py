"""A cache on disk: a folder of entries under keys of all that they depend on.

An entry is one file: the SHA-256 of the rest, then compressed bytes. It appears whole, by its name;
one that is not whole counts as absent. The first one of a key stays. diskcache keeps all entries in
one SQLite file, which no folder on a network can share.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import tempfile
import zlib
from pathlib import Path

_DIGEST_BYTES = 32


def cache_key(*parts: str) -> str:
    """A file name for an entry that depends on `parts`; their boundaries count."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def read_entry(folder: Path, key: str) -> bytes | None:
    """The content of an entry, or None where there is none or where it is damaged."""
    try:
        whole = (folder / key).read_bytes()
        digest, body = whole[:_DIGEST_BYTES], whole[_DIGEST_BYTES:]
        return zlib.decompress(body) if hashlib.sha256(body).digest() == digest else None
    except (OSError, zlib.error):
        return None


def keep_entry(folder: Path, key: str, content: bytes) -> bytes:
    """Write an entry, and give back what is kept: the content of another process that was quicker.

    A folder that cannot be written to only costs the next run its time.
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
    """Give a file its entry's name where there is no whole entry yet."""
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
