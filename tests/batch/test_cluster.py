"""A Dask cluster of real processes: scores come back, a lost worker's tasks go to another, and no
folder is shared."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from grader.batch.cluster import ClusterPool, find_gpu_model, open_cluster, pack_exercise
from grader.batch.journal import open_journal
from grader.batch.run import Reports, Settings, run_batch
from grader.batch.tasks import GradeTask, Task
from grader.cli import main
from grader.cli.batch import _make_failed
from grader.errors import ToolMissing, UsageError
from grader.records import BatchSummary, Options, Status
from tests.support.instant import ROOT, hand_ins, instant, read_transpose

cluster = pytest.mark.cluster


def sees_only_what_was_sent(task: Task) -> str:
    """Grades in a second, unless it finds itself in the folder of the batch."""
    assert "exercises/transpose" in task.folder.as_posix()
    assert task.folder.parents[1] != ROOT
    assert sorted(path.name for path in task.folder.parents[1].iterdir()) == [
        "exercises",
        "solutions",
        "starter",
        "submission.cu",
    ]
    time.sleep(1.0)
    return instant(task)


def run_on(client: object, tmp_path: Path, grade: GradeTask, count: int) -> BatchSummary:
    exercise = read_transpose()
    settings = Settings(
        tmp_path / "out",
        (exercise,),
        Options("emulated:h100"),
        device_name="emulated:h100",
        grader="test",
    )
    files = {"transpose": pack_exercise(exercise)}
    with open_journal(settings.out) as journal:
        return run_batch(
            settings,
            hand_ins(tmp_path / "subs", count),
            journal,
            lambda: ClusterPool(client, grade, files, needs_gpu=False, seconds=60.0),  # type: ignore[arg-type]
            make_failed=_make_failed(settings),
            reports=Reports(lambda progress: None, lambda summary: None),
        )


@cluster
def test_a_worker_is_killed_in_the_middle(tmp_path: Path) -> None:
    with open_cluster("local:2") as client:
        pids = list(client.run(os.getpid).values())
        assert len(pids) == 2
        threading.Timer(4.0, os.kill, (pids[0], signal.SIGKILL)).start()
        summary = run_on(client, tmp_path, sees_only_what_was_sent, 12)
        assert pids[0] not in client.run(os.getpid).values()
    assert [entry.status for entry in summary.entries] == [Status.COMPILE_ERROR] * 12
    assert len({entry.message for entry in summary.entries}) == 12


@cluster
def test_the_command_grades_on_a_cluster(tmp_path: Path) -> None:
    subs, out = tmp_path / "subs", tmp_path / "out"
    subs.mkdir()
    for name in ("failed--copies_the_input", "compile_error--missing_brace"):
        (subs / f"{name}.cu").write_bytes(
            (ROOT / "tests" / "submissions" / "transpose" / f"{name}.cu").read_bytes()
        )
    arguments = [
        "batch",
        str(ROOT / "exercises" / "transpose"),
        str(subs),
        "--out",
        str(out),
        "--cluster",
        "local:2",
        "--quiet",
    ]
    assert main(arguments) == 0
    table = (out / "gradebook.csv").read_text()
    assert "failed--copies_the_input,,0,100,100,failed," in table
    assert "compile_error--missing_brace,,0,100,100,compile_error," in table


@cluster
def test_a_cluster_without_gpus_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_cluster("local:1") as client:
        assert find_gpu_model(client) is None
    (tmp_path / "jane.cu").write_text("// jane\n")
    arguments = [
        "batch",
        str(ROOT / "exercises" / "transpose"),
        str(tmp_path),
        "--out",
        str(tmp_path / "out"),
        "--cluster",
        "local:1",
    ]
    assert main([*arguments, "--device", "gpu"]) == 2
    assert "no worker of the cluster declares a GPU" in capsys.readouterr().err


def test_an_address_that_nobody_answers_at_is_bad_usage() -> None:
    with pytest.raises((UsageError, ToolMissing)) as caught, open_cluster("nonsense"):
        pass
    assert caught.value.advice
