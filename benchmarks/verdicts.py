"""What a real GPU says of every known submission: status, points and the values of its checks.

    python benchmarks/verdicts.py --json tests/data/verdicts_h200.json [--jobs N] [--seconds S]
    [PATTERN ...]

Grades the files of tests/submissions on this machine's GPU and writes the JSON file, which
tests/test_submissions.py compares the emulated device's points with. Files that are in it already,
unchanged, are left out: run it again to go on. PATTERN (`transpose/*_when_timed`) chooses files.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grader
from grader.report.files import write_file

ROOT = Path(__file__).resolve().parents[1]
SUBMISSIONS = ROOT / "tests" / "submissions"
SEED = 11


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--json", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--jobs", type=int, default=6, help="gradings side by side; one at a time is timed"
    )
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="begin no grading after so long"
    )
    options = parser.parse_args()
    known = json.loads(options.json.read_text()) if options.json.exists() else {}
    start = time.monotonic()

    def record(file: Path) -> None:
        if time.monotonic() - start < options.seconds:
            known[name_of(file)] = grade(file)
            print(
                f"{name_of(file)}: {known[name_of(file)]['status']}"
                f" {known[name_of(file)]['score']}",
                flush=True,
            )

    todo = [
        file
        for file in find_files(options.patterns)
        if known.get(name_of(file), {}).get("sha256") != digest(file)
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(record, todo))
    write_file(
        options.json,
        (json.dumps(dict(sorted(known.items())), indent=1) + "\n").encode(),
        "the verdicts",
    )
    print(f"{len(known)} files, {time.monotonic() - start:.0f} s")


def find_files(patterns: list[str]) -> list[Path]:
    files = sorted(SUBMISSIONS.glob("*/*.cu"))
    return [
        file
        for file in files
        if not patterns or any(fnmatch.fnmatch(name_of(file), pattern) for pattern in patterns)
    ]


def grade(file: Path) -> dict[str, object]:
    score = grader.grade(ROOT / "exercises" / file.parent.name, file, device="gpu", seed=SEED)
    return {
        "sha256": digest(file),
        "device": score.device.name if score.device is not None else None,
        "status": score.status.value,
        "score": score.score,
        "message": score.message,
        "checks": {check.name: [check.points, check.value] for check in score.checks},
    }


def name_of(file: Path) -> str:
    return f"{file.parent.name}/{file.stem}"


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    main()
