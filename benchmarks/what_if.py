"""Counts the known submissions with lost points for which a fix is found, and measures the time.

    python benchmarks/what_if.py [--seconds 20] [--only REGEX] [--all] [--json FILE]

Grades the starters, and the files of tests/submissions that lose points by conflicts, sectors, or
the shape of their blocks, on the emulated H100, and tries fixes like `grade --what-if`. With
`--all`: every correct submission that loses points by its figures, including attacks.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from grader.grading.grade import grade_with
from grader.grading.what_if import Trial, lost_checks, try_fixes
from grader.messages.what_if import name_fix
from grader.records import Options, Score, Submission, WhatIf, WhatIfMode
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission

ROOT = Path(__file__).resolve().parents[1]
SEED = 11
USUAL = re.compile(
    r"starter/(transpose|gemm_coalesced|gemm_tiled|reduction)"
    r"|transpose/.*(conflicting_tile|padding_of|padded_block_rows_16|padded_one_element|xor_swizzle\."
    r"|--dynamic_shared_memory|naive_coalesced_writes)"
    r"|gemm_coalesced/.*(rows_of_sixteen|remapped_the_wrong_way|block_of_8)"
    r"|gemm_tiled/.*(tile_read_by_col|tile_written_by_col|uncoalesced_tile|tile_of_8)"
    r"|gemm_register_blocked/.*(transposed_tile_unpadded|uncoalesced_4x4|coalesced_4x4)"
    r"|reduction/.*(grid_stride_one_float|interleaved_strided|sequential_addressing)"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--only", default="", help="only files whose path matches")
    parser.add_argument("--all", action="store_true", help="include attacks and others")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    found = []
    for exercise, path in list_files(options.only if options.all or options.only else USUAL):
        score = grade_with(Options("emulated:h100", SEED, reuse=True), exercise, path)
        if not lost_checks(score):
            continue
        text = read_submission(path)
        assert isinstance(text, Submission)
        began = time.monotonic()
        trial = Trial(Options(), seconds=options.seconds)
        allowing = replace(read_exercise(exercise), what_if=WhatIfMode.FULL)
        what_if = try_fixes(allowing, text, score, trial)
        found.append(describe(path, score, what_if, time.monotonic() - began))
        print(format_line(found[-1]), flush=True)
    print(summarise(found))
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


def list_files(only: str | re.Pattern[str]) -> list[tuple[Path, Path]]:
    """Exercise and file of each submission that may be correct."""
    files = [*ROOT.glob("starter/*.cu"), *ROOT.glob("tests/submissions/*/failed--*.cu")]
    named = [
        (path.stem if path.parent.name == "starter" else path.parent.name, path)
        for path in sorted(files)
        if re.search(only, str(path.relative_to(ROOT)))
    ]
    return [(ROOT / "exercises" / name, path) for name, path in named]


def describe(path: Path, score: Score, what_if: WhatIf | None, seconds: float) -> dict[str, object]:
    best = what_if.fixes[0] if what_if is not None and what_if.fixes else None
    return {
        "file": str(path.relative_to(ROOT)),
        "lost": [check.metric for check in lost_checks(score)],
        "points": score.score,
        "tried": what_if is not None,
        "fixes": len(what_if.fixes) if what_if is not None else 0,
        "untried": what_if.untried if what_if is not None else 0,
        "best": name_fix(best) if best is not None else "",
        "kind": best.kind.value if best is not None else "",
        "gain": best.gain if best is not None else 0.0,
        "passes": best is not None and all(e.status == "passed" for e in best.effects),
        "seconds": round(seconds, 1),
    }


def format_line(row: dict[str, object]) -> str:
    what = f"{row['best']} (+{row['gain']:g})" if row["best"] else "no fix is better"
    if not row["tried"]:
        what = "no fix applies"
    return f"{row['seconds']:>6} s  {row['file']}  {row['points']:g} points: {what}"


def summarise(rows: list[dict[str, object]]) -> str:
    better = [row for row in rows if row["fixes"]]
    whole = [row for row in better if row["passes"]]
    kinds = Counter(str(row["kind"]) for row in better)
    seconds = [float(str(row["seconds"])) for row in rows if row["tried"]]
    times = f"{statistics.median(seconds):.0f} s, at most {max(seconds):.0f} s" if seconds else "-"
    return (
        f"{len(rows)} submissions lost points by figures; for {len(better)} a fix brings a check"
        f" closer to its goal, for {len(whole)} a fix makes all such checks pass."
        f"\nBest fixes by kind: {dict(kinds)}\nTime for submissions with trials: median {times}"
    )


if __name__ == "__main__":
    sys.exit(main())
