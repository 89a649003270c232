"""Quality and speed of `grade similar`: copies that it finds, and its time for a class.

python benchmarks/similar.py                    recall on disguised copies, and false pairs of
                                                independent solutions (benchmarks/hands)
python benchmarks/similar.py --independents DIR the same on other files: TASK/AUTHOR-ANYTHING.cu;
                                                pairs of an author do not count
python benchmarks/similar.py --files 1000       the time for a class, of files that consist of two
                                                known submissions each
python benchmarks/similar.py --files 30 --lines 5000
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path

from disguises import DISGUISES, copy_half, rename

from grader.similar.winnowing import DEFAULT_THRESHOLD, compare_files

ROOT = Path(__file__).resolve().parents[1]
HANDS = Path(__file__).with_name("hands")
STARTERS = {path.stem: path.read_text() for path in sorted((ROOT / "starter").glob("*.cu"))}
THRESHOLDS = (0.4, 0.5, DEFAULT_THRESHOLD, 0.7, 0.8)
COPY = "~copy"
"""Name of the copy; the last in alphabetical order."""
HALF = "half copied"

Class = Mapping[str, str]
"""The texts of a task by name; names begin with the author's."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--independents", type=Path, default=HANDS, metavar="DIR")
    parser.add_argument("--files", type=int, default=0)
    parser.add_argument("--lines", type=int, default=0, help="of a file (default: as many as fit)")
    options = parser.parse_args()
    if options.files:
        print(measure_time(options.files, options.lines))
    else:
        print("\n".join(measure_recall(read_classes(options.independents))))


# --- recall ---------------------------------------------------------------------------------------


def read_classes(folder: Path) -> list[Class]:
    """A class per task."""
    return [
        {path.stem: path.read_text(errors="replace") for path in sorted(task.glob("*.cu"))}
        for task in sorted(folder.iterdir())
        if task.is_dir()
    ]


def measure_recall(classes: list[Class]) -> Iterator[str]:
    """A table: for each kind of copy, the number that reach a threshold if the copy is compared
    with all of its class; and the number of pairs of independent files that do."""
    head = " ".join(f"{100 * each:5.0f} %" for each in THRESHOLDS)
    yield f"{'at or above':24} {'pairs':>6} {head}"
    found: dict[str, list[float]] = {name: [] for name in (*DISGUISES, HALF)}
    for texts in classes:
        for name in texts:
            for kind, copy in make_copies(texts, name):
                found[kind].append(likeness({**texts, COPY: copy}).get((name, COPY), 0))
    for kind, likenesses in found.items():
        yield _row(kind, likenesses)
    yield _row("independent", [each for texts in classes for each in list_independent(texts)])


def make_copies(texts: Class, name: str) -> Iterator[tuple[str, str]]:
    """Every kind of copy of a file; for HALF, half of it before the second half of another file."""
    for kind, disguise in DISGUISES.items():
        yield kind, disguise(texts[name], random.Random(name))
    names = sorted(texts)
    other = names[(names.index(name) + 1) % len(names)]
    yield HALF, copy_half(rename(texts[name], random.Random(name)), texts[other])


def list_independent(texts: Class) -> Iterator[float]:
    """The similarity of each pair of files by different authors."""
    found = likeness(texts)
    for pair in combinations(sorted(texts), 2):
        if pair[0].split("-")[0] != pair[1].split("-")[0]:
            yield found.get(pair, 0)


def likeness(texts: Class) -> dict[tuple[str, str], float]:
    """The similarity of each pair with common code, by their names in order."""
    found = compare_files(texts, starters=STARTERS, threshold=0.01)
    names = [file.name for file in found.files]
    return {
        tuple(sorted((names[pair.left], names[pair.right]))): pair.similarity  # type: ignore[misc]
        for pair in found.pairs
    }


def _row(kind: str, likenesses: list[float]) -> str:
    counts = (sum(each >= least for each in likenesses) for least in THRESHOLDS)
    return f"{kind:24} {len(likenesses):6} " + " ".join(f"{count:7}" for count in counts)


# --- time -----------------------------------------------------------------------------------------


def measure_time(count: int, lines: int) -> str:
    """A summary with the CPU seconds for a class of `count` files."""
    known = [
        path.read_text(errors="replace")
        for path in sorted((ROOT / "tests" / "submissions").rglob("*.cu"))
    ]
    draw = random.Random(1)
    texts = {str(number): _make_text(known, lines, draw) for number in range(count)}
    start = time.process_time()
    found = compare_files(texts, starters=STARTERS)
    seconds, megabytes = (
        time.process_time() - start,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )
    return (
        f"{count} files, {sum(map(len, texts.values())) / 1e6:.1f} MB: {seconds:.1f} s,"
        f" {megabytes:.0f} MB, {len(found.pairs)} pairs"
    )


def _make_text(known: list[str], lines: int, draw: random.Random) -> str:
    """Two known submissions, or more until the text has `lines` lines."""
    text = draw.choice(known) + draw.choice(known)
    while text.count("\n") < lines:
        text += draw.choice(known)
    return text


if __name__ == "__main__":
    main()
