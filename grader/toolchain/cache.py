"""A cache of compilations on disk: what nvcc and nvdisasm made, under a key of all that it depends
on.

An entry is one file: the SHA-256 of the rest, then compressed JSON. It appears whole, by its name;
one that is not whole or does not parse counts as absent. The cubin's records are parsed anew each
time, so a change of the parsers needs no new entries.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

_DIGEST_BYTES = 32


@dataclass(frozen=True)
class Artifacts:
    """What the tools made of one submission: the cubin, nvdisasm's two outputs, demangled symbols,
    shown warnings."""

    cubin: bytes
    instructions: str
    lines: str
    demangled: Mapping[str, str]
    warnings: str


def cache_key(*parts: str) -> str:
    """A file name for an entry that depends on `parts`; their boundaries count."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def read_entry(folder: Path, key: str) -> Artifacts | None:
    """The entry, or None where there is none or where it is damaged."""
    try:
        content = (folder / key).read_bytes()
        digest, body = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != digest:
            return None
        data = json.loads(zlib.decompress(body))
        return Artifacts(**(data | {"cubin": base64.b64decode(data["cubin"])}))
    except (OSError, ValueError, TypeError, KeyError, zlib.error):
        return None


def write_entry(folder: Path, key: str, artifacts: Artifacts) -> Artifacts:
    """Write the entry, and give back what is kept: that of another process that was quicker, for no
    two cubins of a source are alike.

    A folder that cannot be written to only costs the next run its time.
    """
    data = asdict(artifacts) | {"cubin": base64.b64encode(artifacts.cubin).decode()}
    body = zlib.compress(json.dumps(data).encode(), level=1)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            file.write(hashlib.sha256(body).digest() + body)
            file.flush()
            return _keep_first(Path(file.name), folder, key, artifacts)
    return artifacts


def _keep_first(written: Path, folder: Path, key: str, artifacts: Artifacts) -> Artifacts:
    """Give a file its entry's name where there is no whole entry yet."""
    try:
        (folder / key).hardlink_to(written)
    except FileExistsError:
        if kept := read_entry(folder, key):
            return kept
        beside = folder / f"{key}.{written.name}"
        beside.hardlink_to(written)
        try:
            beside.replace(folder / key)
        except OSError:
            beside.unlink()
    return artifacts
