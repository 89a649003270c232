"""Costs of a batch apart from the grading: an artificial class with a grader that takes no time.

    python benchmarks/batch.py [--submissions N] [--keep DIR]

Journal, score files, gradebook, summary and report.html are those of a real batch. Only the grader
is replaced: it gives each submission a real score (graded before the clock starts) with its own
points. Prints seconds and peak memory in MB. Needs no GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from grader.records import Options

sys.path.insert(0, str(Path(__file__).parents[1]))

import grader
from grader.batch.collect import HandIn
from grader.batch.journal import open_journal
from grader.batch.pool import Outcome
from grader.batch.run import Reports, Settings, run_batch
from grader.batch.tasks import Answer, Task
from grader.cli.batch import _make_failed, _write_report
from grader.records import BatchSummary
from grader.report.json import format_score
from grader.spec.reader import read_exercise

ROOT = Path(__file__).parents[1]
GOAL_SECONDS, GOAL_MB = 60, 500
MODELS = (
    "solutions/transpose.cu",
    "starter/transpose.cu",
    "tests/submissions/transpose/failed--copies_the_input.cu",
)


@dataclass
class InstantPool:
    """Answers immediately, with a score from `scores`."""

    scores: list[dict[str, object]]
    waiting: list[Task] = field(default_factory=list)

    @property
    def free(self) -> int:
        return 16 - len(self.waiting)

    def submit(self, task: Task) -> None:
        self.waiting.append(task)

    def wait(self, seconds: float) -> list[Outcome]:
        done, self.waiting = self.waiting, []
        return [Outcome(task, 1.0, Answer(self._answer(task))) for task in done]

    def _answer(self, task: Task) -> str:
        draw = random.Random(task.key)
        score = dict(draw.choice(self.scores))
        score["submission"] = {"name": "transpose.cu", "sha256": task.sha256}
        score["score"] = round(draw.uniform(0.0, float(str(score["judged_points"]))), 1)
        return json.dumps(score, indent=2) + "\n"

    def close(self) -> None:
        return


def grade_model(file: str) -> str:
    return format_score(
        grader.grade(ROOT / "exercises" / "transpose", ROOT / file, device="emulated")
    )


def make_class(folder: Path, count: int) -> list[HandIn]:
    folder.mkdir()
    text = (ROOT / "starter" / "transpose.cu").read_text()
    found = []
    for number in range(count):
        path = folder / f"student{number:05}.cu"
        path.write_text(f"// {hashlib.sha256(str(number).encode()).hexdigest()}\n{text}")
        found.append(HandIn(path.stem, files={path.name: path}))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submissions", type=int, default=10_000)
    parser.add_argument("--keep", type=Path, help="leave the class and its results here")
    options = parser.parse_args()
    with ProcessPoolExecutor(
        1, multiprocessing.get_context("spawn")
    ) as other:  # a separate process, whose memory does not count
        scores = [json.loads(text) for text in other.map(grade_model, MODELS)]
    exercise = read_exercise(ROOT / "exercises" / "transpose")
    if options.keep:
        options.keep.mkdir(parents=True)
    with nullcontext(str(options.keep)) if options.keep else tempfile.TemporaryDirectory() as name:
        found = make_class(Path(name) / "submissions", options.submissions)
        out = Path(name) / "results"
        settings = Settings(
            out,
            (exercise,),
            options=Options("emulated"),
            device_name="emulated:h100",
            grader="benchmark",
        )
        times: dict[str, float] = {}

        def report(summary: BatchSummary) -> None:
            times["journal, scores, gradebook"] = time.perf_counter() - start
            _write_report(out, summary)
            times["with report.html"] = time.perf_counter() - start

        for run in ("first run", "again, all reused"):
            start, processor_start = time.perf_counter(), time.process_time()
            with open_journal(out) as journal:
                reports = Reports(lambda _: None, report)
                start_pool = partial(InstantPool, scores)
                run_batch(
                    settings,
                    found,
                    journal,
                    start_pool,
                    make_failed=_make_failed(settings),
                    reports=reports,
                )
            memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            processor = time.process_time() - processor_start
            words = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in times.items())
            print(f"{run}: {words}; of a processor {processor:.1f} s; peak {memory_mb:.0f} MB")
        html = out / "report.html"
        size = f"{html.stat().st_size / 1e6:.1f} MB" if html.exists() else "is not there"
        print(f"{options.submissions} submissions; report.html {size}")
        print(f"goals: {GOAL_SECONDS} s, {GOAL_MB} MB")


if __name__ == "__main__":
    main()
