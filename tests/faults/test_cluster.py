"""A cluster that dies under a batch: the batch reports it at once, and ends with exit code 3 and
what was graded."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.batch.cluster import ClusterPool, open_cluster, pack_exercise
from grader.batch.journal import open_journal
from grader.batch.run import Reports, Settings, run_batch
from grader.batch.tasks import GradeTask, Task
from grader.cli.batch import _make_failed
from grader.errors import GraderError
from grader.records import Options
from tests.support.instant import ROOT, hand_ins, instant, read_transpose

needs = importlib.util.find_spec
pytestmark = [
    pytest.mark.faults,
    pytest.mark.skipif(needs("distributed") is None, reason="needs the extra `cluster`"),
]


def takes_a_moment(task: Task) -> str:
    time.sleep(0.5)
    return instant(task)


class Processes:
    """A scheduler and workers, each a process that can be killed."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", port)
        options = ("--nthreads", "1", "--no-nanny")
        self.workers = [self._start("worker", self.address, *options) for _ in range(2)]

    def _start(self, kind: str, *options: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options, "--no-dashboard"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def kill_workers(self) -> None:
        for worker in self.workers:
            worker.kill()

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def processes() -> Iterator[Processes]:
    started = Processes()
    try:
        yield started
    finally:
        started.close()


def run_until_dead(processes: Processes, tmp_path: Path, kill: Callable[[], None]) -> list[str]:
    """The notices of a batch whose cluster is killed after the first result."""
    exercise, said = read_transpose(), list[str]()
    settings = Settings(
        tmp_path / "out",
        (exercise,),
        Options("emulated:h100"),
        device_name="emulated:h100",
        grader="test",
    )
    files = {"transpose": pack_exercise(exercise)}
    killed = threading.Event()

    def kill_once(progress: object) -> None:
        if getattr(progress, "done", 0) and not killed.is_set():
            killed.set()
            kill()

    with open_cluster(processes.address) as client, open_journal(settings.out) as journal:
        client.wait_for_workers(2)
        grade: GradeTask = takes_a_moment
        with pytest.raises(GraderError, match=r"has no (worker|scheduler) any more") as caught:
            run_batch(
                settings,
                hand_ins(tmp_path / "subs", 40),
                journal,
                lambda: ClusterPool(
                    client, grade, files, needs_gpu=False, seconds=60.0, notice=said.append
                ),
                make_failed=_make_failed(settings),
                reports=Reports(kill_once, lambda summary: None),
            )
    assert caught.value.exit_code == 3
    assert "repeat the command" in caught.value.advice
    assert ",compile_error," in (settings.out / "gradebook.csv").read_text()
    assert "grader_error" not in (settings.out / "gradebook.csv").read_text()
    return said


def test_a_batch_without_workers_says_so_again_and_again_and_stops(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.batch.cluster.LOST_SECONDS", 3.0)
    monkeypatch.setattr("grader.batch.cluster._REPORT_SECONDS", 1.0)
    said = run_until_dead(processes, tmp_path, processes.kill_workers)
    waiting = [each for each in said if "the cluster has no worker any more: waiting" in each]
    assert len(waiting) >= 2


def test_a_batch_without_a_scheduler_says_so_and_stops(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.batch.cluster.LOST_SECONDS", 3.0)
    said = run_until_dead(processes, tmp_path, processes.scheduler.kill)
    assert "the cluster has no scheduler any more: waiting" in said[0]


def read_script() -> str:
    """The documented script for Slurm, with a cluster of this machine's processes in its place."""
    page = (ROOT / "docs" / "cluster.md").read_text()
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    script = script.replace("dask_jobqueue import", "dask_jobqueue.local import LocalCluster as")
    script = re.sub(
        r"^ +(queue|account|walltime|job_extra|job_script|worker_extra).*\n",
        "",
        script,
        flags=re.MULTILINE,
    )
    script = script.replace('"exercises/transpose"', repr(str(ROOT / "exercises" / "transpose")))
    script = script.replace('"--device", "gpu"', '"--device", "emulated", "--no-model"')
    return script.replace('["grade", ', f'[{sys.executable!r}, "-m", "grader", ')


@pytest.mark.skipif(needs("dask_jobqueue") is None, reason="needs dask_jobqueue")
def test_ctrl_c_of_the_script_for_slurm_ends_it_with_results(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(read_script())
    for number in range(4):
        (tmp_path / "submissions").mkdir(exist_ok=True)
        text = (ROOT / "solutions" / "transpose.cu").read_text()
        (tmp_path / "submissions" / f"kim{number}.cu").write_text(f"{text}// {number}\n")
    (tmp_path / "submissions" / "jane.cu").write_text("")
    script = subprocess.Popen(
        ["env", "--default-signal=INT", sys.executable, "script.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert script.stderr is not None
    try:
        for line in script.stderr:
            if "compile_error" in line or "passed" in line:
                break
        os.killpg(script.pid, signal.SIGINT)
        _, said = script.communicate(timeout=120)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(script.pid, signal.SIGKILL)
    assert script.returncode == 128 + signal.SIGINT
    assert "the same command continues" in said
    assert "jane" in (tmp_path / "results" / "gradebook.csv").read_text()
