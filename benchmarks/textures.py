"""Modelled times of kernels with textures and surfaces, beside an H200's (textures_h200.txt).

    python benchmarks/textures.py
    nvcc -arch=sm_90 -o textures benchmarks/textures.cu && ./textures 1024 && ./textures 4096

prints a table; takes a quarter of an hour. The second line measures the times again on a GPU.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

PROGRAM = Path(__file__).with_suffix(".cu")
MEASURED = PROGRAM.parents[1] / "tests" / "data" / "textures_h200.txt"
COMMAND = (sys.executable, "-m", "grader", "exec", "--device", "emulated:h200", str(PROGRAM), "--")


def read_times(text: str) -> Iterator[tuple[str, float]]:
    """The kernels of the program's output, with their widths, and their milliseconds."""
    for line in text.splitlines():
        name, width, ms = line.split()
        yield f"{name} {width}", float(ms)


def main() -> None:
    measured = dict(read_times(MEASURED.read_text()))
    errors = []
    for width in ("1024", "4096"):
        ran = subprocess.run([*COMMAND, width], capture_output=True, text=True, check=True)
        for name, modelled in read_times(ran.stdout):
            errors.append(modelled / measured[name] - 1)
            print(f"{name:26}{measured[name]:10.5f}{modelled:10.5f}{errors[-1]:+8.1%}", flush=True)
    sizes = [abs(error) for error in errors]
    print(f"mean {sum(sizes) / len(sizes):.1%}, median {median(sizes):.1%}, worst {max(sizes):.1%}")


if __name__ == "__main__":
    main()
