"""Compares the references of exercises with the best libraries on a GPU.

    python benchmarks/libraries/compare.py [EXERCISE ...]

Each program of this folder compares one exercise, at the size at which the grader times it:
EXERCISE.cu includes harness.cuh and is compiled by nvcc; a line `// nvcc: -lNAME` of the file adds
options. EXERCISE.py uses PyTorch. Each prints

    EXERCISE: reference MS ms (GB/s), LIBRARY MS ms (GB/s), ratio R, right

where a ratio above 0.9 is the goal: the reference then needs at most a ninth more time than the
library. Prints these lines as a table in Markdown. Exit code 0, or 1 if a program failed, an output
was wrong, or a ratio is below the goal.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
GOAL = 0.9
HARNESS = ("compare", "beside_torch")

LINE = re.compile(
    r"^(?P<exercise>[\w/-]+).*?: reference (?P<reference>[\d.]+) ms(?: \([^)]*\))?,"
    r" (?P<library>.+?) (?P<ms>[\d.]+) ms(?: \([^)]*\))?, ratio (?P<ratio>[\d.]+), (?P<right>\w+)$",
    re.MULTILINE,
)
OPTIONS = re.compile(r"^// nvcc: (.+)$", re.MULTILINE)
HEAD = "| program | ms | library | library ms | ratio | output |\n|---|---:|---|---:|---:|---|"


def main(names: Sequence[str]) -> int:
    print(HEAD, flush=True)
    good = True
    for path in sorted([*FOLDER.glob("*.cu"), *FOLDER.glob("*.py")]):
        if path.stem in HARNESS or (names and path.stem not in names):
            continue
        ended = run(path)
        rows = [match.groupdict() for match in LINE.finditer(ended.stdout)]
        for row in rows:
            print(format_row(row), flush=True)
        if ended.returncode or not rows:
            print(f"{path.name}:\n{ended.stdout}{ended.stderr}", file=sys.stderr)
        good = good and ended.returncode == 0 and bool(rows)
        good = good and all(map(is_good, rows))
    return 0 if good else 1


def run(path: Path) -> subprocess.CompletedProcess[str]:
    """The program's output; for a file that nvcc does not compile, nvcc's."""
    if path.suffix == ".py":
        return _run(sys.executable, str(path))
    options = [word for line in OPTIONS.findall(path.read_text("utf-8")) for word in line.split()]
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / path.stem)
        command = (find_nvcc(), "-O3", "-std=c++17", "-arch=native", "-o", program, str(path))
        built = _run(*command, *options)
        return built if built.returncode else _run(program)


def is_good(row: dict[str, str]) -> bool:
    return row["right"] == "right" and float(row["ratio"]) >= GOAL


def find_nvcc() -> str:
    return shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def format_row(row: dict[str, str]) -> str:
    keys = ("exercise", "reference", "library", "ms", "ratio", "right")
    return f"| {' | '.join(row[key] for key in keys)} |"


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
