"""The cache of compilations: what nvcc and nvdisasm made, under a key of all that it depends on.

The cubin's records are parsed anew each time, so a change of the parsers needs no new entries.
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
    """What the tools made of one submission: the cubin, nvdisasm's listing, demangled symbols,
    shown warnings."""

    cubin: bytes
    instructions: str
    demangled: Mapping[str, str]
    warnings: str


def read_artifacts(folder: Path, key: str) -> Artifacts | None:
    """The entry, or None where there is none or where it is damaged."""
    content = cache.read_entry(folder, key)
    return None if content is None else _parse(content)


def keep_artifacts(folder: Path, key: str, artifacts: Artifacts) -> Artifacts:
    """Write the entry, and give back what is kept: that of another process that was quicker, for no
    two cubins of a source are alike."""
    data = asdict(artifacts) | {"cubin": base64.b64encode(artifacts.cubin).decode()}
    return _parse(cache.keep_entry(folder, key, json.dumps(data).encode())) or artifacts


def parse_artifacts(data: Mapping[str, Any]) -> Artifacts:
    """An entry from its JSON. Earlier versions kept a second listing, with the lines, beside."""
    fields = {name: value for name, value in data.items() if name != "lines"}
    return Artifacts(**(fields | {"cubin": base64.b64decode(fields["cubin"])}))


def _parse(content: bytes) -> Artifacts | None:
    try:
        return parse_artifacts(json.loads(content))
    except (ValueError, TypeError, KeyError):
        return None
