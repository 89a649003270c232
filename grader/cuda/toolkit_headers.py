"""The folder `include` of the toolkit for programs: NVIDIA's headers, headers that its wheels lack,
and names that CUDA 13 removed, so that programs of older toolkits compile without a change.

The files of `headers/` take the place of NVIDIA's, which they include from `toolkit/`.
"""

from __future__ import annotations

import re
from pathlib import Path

OWN = Path(__file__).with_name("headers")
LACKING = ("cuda_profiler_api.h", "cudaProfiler.h", "curand.h")
"""Headers that NVIDIA's wheels lack; those of a toolkit are preferred."""
TYPES = "driver_types.h"
REMOVED_FIELDS = (
    *("clockRate", "deviceOverlap", "computeMode", "kernelExecTimeoutEnabled"),
    *("maxTexture1DLinear", "memoryClockRate", "singleToDoublePrecisionPerfRatio"),
    "cooperativeMultiDeviceLaunch",
)
"""Fields of cudaDeviceProp. They take the first elements of its field `reserved`, in this order, as
in cpp/runtime/properties.cpp; the other fields keep their places."""
_RESERVED = re.compile(r"\bint\s+reserved\[(\d+)\];")


def fill_headers(include: Path, real: Path) -> None:
    """Makes the folder. `real`: the folder with NVIDIA's cuda_runtime.h."""
    include.mkdir()
    (include / "toolkit").symlink_to(real)
    for path in OWN.iterdir():
        if path.name not in LACKING or not (real / path.name).exists():
            (include / path.name).write_bytes(path.read_bytes())
    for path in real.iterdir():
        if path.name != TYPES and not (include / path.name).exists():
            (include / path.name).symlink_to(path)
    types = (real / TYPES).read_text(encoding="utf-8")
    (include / TYPES).write_text(add_removed_fields(types), encoding="utf-8")


def add_removed_fields(types: str) -> str:
    """The text of driver_types.h with the fields that CUDA 13 removed from cudaDeviceProp."""
    if "clockRate" in types:
        return types
    start = types.index("cudaDeviceProp\n")
    return types[:start] + _RESERVED.sub(_with_fields, types[start:], count=1)


def _with_fields(reserved: re.Match[str]) -> str:
    count = int(reserved[1]) - len(REMOVED_FIELDS)
    return f"int {', '.join(REMOVED_FIELDS)}, reserved[{count}];"
