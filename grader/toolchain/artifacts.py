"""The cache of compilations: outputs of nvcc and nvdisasm, under a key of all inputs.

The cubin's records are parsed anew each time, so that a change of the parsers needs no new entries.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from grader.plumbing import cache


@dataclass(frozen=True)
class Artifacts:
    """The tools' outputs for a submission: the cubin, nvdisasm's listing, demangled symbols,
    shown warnings."""

    cubin: bytes
    instructions: str
    demangled: Mapping[str, str]
    warnings: str


def read_artifacts(folder: Path, key: str) -> Artifacts | None:
    """The entry, or None if it is absent or damaged."""
    content = cache.read_entry(folder, key)
    return None if content is None else _parse(content)


def keep_artifacts(folder: Path, key: str, artifacts: Artifacts) -> Artifacts:
    """Write the entry and return the kept artifacts: those of another process if it was quicker,
    since two compilations of a source give different cubins."""
    data = asdict(artifacts) | {"cubin": base64.b64encode(artifacts.cubin).decode()}
    return _parse(cache.keep_entry(folder, key, json.dumps(data).encode())) or artifacts


def parse_artifacts(data: Mapping[str, Any]) -> Artifacts:
    """An entry from its JSON. Earlier versions kept a second listing, with the lines, beside."""
    fields = {name: value for name, value in data.items() if name != "lines"}
    return Artifacts(**(fields | {"cubin": base64.b64decode(fields["cubin"])}))


def _parse(content: bytes) -> Artifacts | None:
    try:
        return parse_artifacts(json.loads(content))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
