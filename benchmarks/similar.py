"""What `grade similar` takes for a class: files made of two known submissions each, time of the
processor."""

from __future__ import annotations

import argparse
import random
import resource
import time
from pathlib import Path

from grader.similar.winnowing import compare_files

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=1000)
    count = parser.parse_args().files
    known = [
        path.read_text(errors="replace")
        for path in sorted((ROOT / "tests" / "submissions").rglob("*.cu"))
    ]
    draw = random.Random(1)
    texts = {str(number): draw.choice(known) + draw.choice(known) for number in range(count)}
    starters = {path.stem: path.read_text() for path in (ROOT / "starter").glob("*.cu")}
    start = time.process_time()
    found = compare_files(texts, starters=starters)
    seconds, megabytes = (
        time.process_time() - start,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )
    print(
        f"{count} files, {sum(map(len, texts.values())) / 1e6:.1f} MB: {seconds:.1f} s,"
        f" {megabytes:.0f} MB, {len(found.pairs)} pairs"
    )


if __name__ == "__main__":
    main()
