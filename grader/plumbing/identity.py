"""The identity of a grader: a hash of its own files, and the versions of the tools and libraries
that compute for it."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
from collections.abc import Iterable
from pathlib import Path

_LIBRARIES = (
    *("nvidia-cuda-nvcc", "nvidia-cuda-nvdisasm", "nvidia-cuda-cccl"),
    *("llvmlite", "numpy"),
)
_PACKAGE = Path(__file__).resolve().parents[1]
_SUFFIXES = frozenset({".py", ".json", ".cpp", ".h"})
"""Of the files that the package itself is made of; caches of Python lie beside them."""


def hash_files(files: Iterable[tuple[str, bytes]]) -> str:
    """SHA-256 of named contents, in order of the names."""
    digest = hashlib.sha256()
    for name, content in sorted(files):
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


@functools.cache
def hash_package(*patterns: str) -> str:
    """SHA-256 of the package's own files of these patterns."""
    paths = {path for pattern in patterns for path in _PACKAGE.glob(pattern)}
    return hash_files(
        (path.relative_to(_PACKAGE).as_posix(), path.read_bytes())
        for path in paths
        if path.suffix in _SUFFIXES
    )


def grader_identity() -> str:
    """The grader's version, and a hash of its code and of the versions of its compiler and emulator
    libraries."""
    tools = json.dumps([(tool, _version(tool)) for tool in _LIBRARIES])
    digest = hashlib.sha256(f"{hash_package('**/*')}{tools}".encode()).hexdigest()
    return f"{_version('cuda-exercise-grader')}+{digest[:12]}"


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "absent"
