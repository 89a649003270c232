"""The script of docs/cluster.md on a Slurm cluster of two nodes, of which one is lost."""

from __future__ import annotations

import csv
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.instant import ROOT
from tests.support.slurm import start_slurm, why_not
from tests.support.transcripts import read_commands

STUDENTS = 16
LIMIT_S = 400.0


@pytest.mark.cluster
def test_a_job_and_a_node_are_killed_and_each_submission_is_graded_once(tmp_path: Path) -> None:
    if reason := why_not():
        pytest.skip(reason)
    pytest.importorskip("dask_jobqueue")
    found = read_commands(ROOT / "docs/cluster.md", ("python", "sh"))
    script, command = (each for each in found if each.when == "slurm")
    (tmp_path / "grade_on_slurm.py").write_text(script.words[-1])  # python -c TEXT
    source = (ROOT / "tests/submissions/transpose/failed--copies_the_input.cu").read_text()
    (tmp_path / "submissions").mkdir()
    for number in range(STUDENTS):
        text = f"{source}// {number}\n"  # equal files are graded once
        (tmp_path / f"submissions/student_{number}.cu").write_text(text)
    (tmp_path / "slurm").mkdir()
    with start_slurm(tmp_path / "slurm") as slurm:
        environment = {**slurm.environment, "DASK_JOBQUEUE__SLURM__INTERFACE": "lo"}
        with subprocess.Popen(command.text, shell=True, cwd=tmp_path, env=environment) as running:
            nodes = wait_for(lambda: by_node(slurm.running(), 2), running)
            wait_for(lambda: len(read_attempts(tmp_path)) >= 1, running)
            slurm.ask("scancel", nodes["n1"])
            wait_for(lambda: nodes["n1"] not in slurm.running(), running)
            wait_for(lambda: len(read_attempts(tmp_path)) >= 4, running)
            slurm.kill_node("n2")
            assert running.wait(LIMIT_S) == 0
    with (tmp_path / "results/gradebook.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert Counter(row["transpose status"] for row in rows) == {"failed": STUDENTS}
    attempts = read_attempts(tmp_path)
    assert len(attempts) == STUDENTS
    assert sum(attempts) <= STUDENTS + 2  # only the two that were lost began again


def by_node(jobs: dict[str, str], count: int) -> dict[str, str] | None:
    """The jobs by their nodes, once that many run."""
    found = {node: job for job, node in jobs.items()}
    return found if len(found) == count else None


def read_attempts(folder: Path) -> list[int]:
    """The number of gradings of each submission that has a result."""
    journal = folder / "results/journal.sqlite"
    if not journal.exists():
        return []
    with closing(sqlite3.connect(f"file:{journal}?mode=ro", uri=True)) as file:
        return [number for (number,) in file.execute("SELECT attempts FROM results")]


def wait_for(ready: Callable[[], object], running: subprocess.Popen[bytes]) -> object:
    """The first true result of `ready`."""
    deadline = time.monotonic() + LIMIT_S
    while not (found := ready()):
        assert running.poll() is None, "the script has ended"
        assert time.monotonic() < deadline
        time.sleep(0.3)
    return found
