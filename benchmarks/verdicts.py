"""Verdicts of a real GPU for every known submission: status, points and the values of its checks.

    python benchmarks/verdicts.py --json tests/data/verdicts_h200.json [--jobs N] [--seconds S]
    [PATTERN ...]

Grades the files of tests/submissions on this machine's GPU and writes the JSON file, with which
tests/test_submissions.py compares the emulated device's points. The file is written after each
grading, so an interrupted run keeps its results. Omits unchanged files that it already contains:
run it again to continue. PATTERN (`transpose/*_when_timed`) selects files.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import grader
from grader.plumbing.atomic import write_file
from tests.support.known import KNOWN, ROOT, Known, digest

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
    writing = threading.Lock()

    def record(each: Known) -> None:
        if time.monotonic() - start > options.seconds:
            return
        verdict = grade(each)
        print(f"{each.name}: {verdict['status']} {verdict['score']}", flush=True)
        with writing:
            known[each.name] = verdict
            text = json.dumps(dict(sorted(known.items())), indent=1) + "\n"
            write_file(options.json, text.encode(), "the verdicts")

    todo = [
        each
        for each in find_known(options.patterns)
        if known.get(each.name, {}).get("sha256") != digest(each.file)
    ]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(record, todo))
    print(f"{len(known)} files, {time.monotonic() - start:.0f} s")


def find_known(patterns: list[str]) -> list[Known]:
    return [
        each
        for each in KNOWN
        if not patterns or any(fnmatch.fnmatch(each.name, pattern) for pattern in patterns)
    ]


def grade(known: Known) -> dict[str, object]:
    exercise = ROOT / "exercises" / known.file.parent.name
    score = grader.grade(exercise, known.file, device="gpu", seed=SEED)
    return {
        "sha256": digest(known.file),
        "device": score.device.name if score.device is not None else None,
        "status": score.status.value,
        "score": score.score,
        "message": score.message,
        "checks": {check.name: [check.points, check.value] for check in score.checks},
    }


if __name__ == "__main__":
    main()
