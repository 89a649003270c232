"""The transpose at small sizes, and a submission for it that a test completes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = """\
// launch: move<<<dim3(ceil_div(cols, 32), rows), 32>>>(out, in, rows, cols)
__global__ void move(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y;
    if (x >= cols) return;
    BODY
    out[(size_t)x * rows + y] = in[(size_t)y * cols + x];
}
"""


def make_exercise(folder: Path, timed: Mapping[str, int], counted: Mapping[str, int]) -> Path:
    """The exercise below `folder`, with these sizes of its timed and its counted run."""
    made = folder / "exercises" / "transpose"
    shutil.copytree(ROOT / "exercises" / "transpose", made)
    spec = json.loads((made / "spec.json").read_text())
    del spec["parts"]
    correctness, bandwidth, *_ = spec["checks"]
    spec["checks"] = [{**correctness, "points": 80}, {**bandwidth, "points": 20}]
    spec["benchmark"] = {"gpu": timed, "emulated": counted}
    (made / "spec.json").write_text(json.dumps(spec))
    (folder / "starter").symlink_to(ROOT / "starter")
    return made
