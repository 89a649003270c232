"""Cost of the time model after a program has run: CPU seconds of the simulated SM.

    python benchmarks/simulation.py [--gpu h100] [--only PART] [--runs N]

Models each known transpose at the graded size, 8192 x 8192, or the jobs whose names contain PART, N
times from its cached work (kept_work.py), and prints the median and the maximum of the CPU seconds.
Exit code 0.
"""

from __future__ import annotations

import argparse
import statistics
import time

from jobs import choose, find_jobs
from kept_work import NotModelledError, model_works, works_of

from grader.devices.gpus import read_gpus

GRADED = ("transpose", "8192x8192")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gpu", default="h100", choices=sorted(read_gpus()))
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    gpu = read_gpus()[options.gpu]
    assert gpu.figures is not None
    for job in choose(find_jobs([]), options.only):
        if not options.only and (job.exercise, job.label) != GRADED:
            continue
        try:
            works = works_of(job, gpu)
        except NotModelledError as error:
            print(f"{job.exercise}/{job.name} {job.label}: not modelled: {error}")
            continue
        seconds = []
        for _ in range(options.runs):
            start = time.process_time()
            model_works(works, gpu.figures)
            seconds.append(time.process_time() - start)
        median, most = statistics.median(seconds), max(seconds)
        print(f"{job.exercise}/{job.name} {job.label}: median {median:.3f} s, most {most:.3f} s")


if __name__ == "__main__":
    main()
