"""What an H100 and an H200 said of the corpus, with the cubins that they ran: so the comparison is
repeated anywhere, to the last bit.

`tests/data/corpus/record.json` holds, for each case, the SHA-256 of its source, of its cubin and of
each output, each launch's counters, and which recording said so: its date, GPU, driver and version
of Nsight Compute. `cubins.zip` and `outputs.zip` hold the bytes under their SHA-256. A case whose
source has changed since counts as not recorded.
"""

from __future__ import annotations

import functools
import hashlib
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parents[1] / "data" / "corpus"
_RECORD, _CUBINS, _OUTPUTS = "record.json", "cubins.zip", "outputs.zip"
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # equal contents give equal archives


@dataclass(frozen=True)
class Result:
    """What a run left: output arrays by name, and the counters of each launch by name (no launches:
    not counted)."""

    outputs: dict[str, np.ndarray]
    launches: tuple[dict[str, int], ...]


@dataclass(frozen=True)
class Compiled:
    """The machine code of a case, and the nvcc that made it."""

    source_sha256: str
    cubin: bytes
    nvcc_version: str


@dataclass(frozen=True)
class Recorded:
    """A case as the GPU of a recording ran it."""

    compiled: Compiled
    result: Result
    recording: str


@dataclass(frozen=True)
class Record:
    """All cases by name, and the recordings that they are from: the date, the device, versions of
    each."""

    recordings: Mapping[str, Mapping[str, str]]
    cases: Mapping[str, Recorded]

    def with_newer(self, newer: Record) -> Record:
        """The newer record, and what only this one holds."""
        cases = {**self.cases, **newer.cases}
        used = {case.recording for case in cases.values()}
        recordings = {**self.recordings, **newer.recordings}
        return Record(
            {name: about for name, about in recordings.items() if name in used},
            dict(sorted(cases.items())),
        )


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@functools.cache
def read_record(folder: Path = FOLDER) -> Record:
    """The record in a folder; without cases where there is none."""
    if not (folder / _RECORD).exists():
        return Record({}, {})
    data = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
    with zipfile.ZipFile(folder / _CUBINS) as cubins, zipfile.ZipFile(folder / _OUTPUTS) as outputs:
        cases = {name: _unpack(case, cubins, outputs) for name, case in data["cases"].items()}
    return Record(data["recordings"], cases)


def write_record(folder: Path, record: Record) -> None:
    """Write a record, in place of what the folder held."""
    folder.mkdir(parents=True, exist_ok=True)
    data = {
        "recordings": record.recordings,
        "cases": {name: _pack(case) for name, case in record.cases.items()},
    }
    (folder / _RECORD).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    _write_zip(folder / _CUBINS, [case.compiled.cubin for case in record.cases.values()])
    _write_zip(
        folder / _OUTPUTS,
        [
            array.tobytes()
            for case in record.cases.values()
            for array in case.result.outputs.values()
        ],
    )


def _pack(case: Recorded) -> dict[str, Any]:
    outputs = {
        name: {"dtype": array.dtype.name, "sha256": digest(array.tobytes())}
        for name, array in case.result.outputs.items()
    }
    return {
        "source": case.compiled.source_sha256,
        "cubin": digest(case.compiled.cubin),
        "nvcc": case.compiled.nvcc_version,
        "outputs": outputs,
        "launches": list(case.result.launches),
        "recording": case.recording,
    }


def _unpack(case: Mapping[str, Any], cubins: zipfile.ZipFile, outputs: zipfile.ZipFile) -> Recorded:
    arrays = {
        name: np.frombuffer(outputs.read(entry["sha256"]), dtype=entry["dtype"])
        for name, entry in case["outputs"].items()
    }
    return Recorded(
        Compiled(case["source"], cubins.read(case["cubin"]), case["nvcc"]),
        Result(arrays, tuple(case["launches"])),
        case["recording"],
    )


def _write_zip(path: Path, contents: list[bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted({digest(content): content for content in contents}.items()):
            archive.writestr(zipfile.ZipInfo(name, _FIXED_TIME), content, zipfile.ZIP_DEFLATED)
