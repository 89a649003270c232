from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.devices.gpu.gpu_lock import hold_gpu, lock_folder
from grader.errors import GraderError
from grader.records import Progress

UUID = "GPU-00000000-1111-2222-3333-444444444444"
HOLDER = """
import sys, time
from pathlib import Path
from grader.devices.gpu.gpu_lock import hold_gpu
with hold_gpu(sys.argv[1], show=print, folder=Path(sys.argv[2])):
    print("held", flush=True)
    time.sleep(float(sys.argv[3]))
"""


def hold_elsewhere(folder: Path, seconds: float, uuid: str = UUID) -> subprocess.Popen[str]:
    """Another process that holds the GPU for so long; it does when this returns."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, uuid, str(folder), str(seconds)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    return holder


def hold(
    folder: Path, shown: list[Progress], *, uuid: str | None = UUID, wait_seconds: float = 10.0
) -> None:
    with hold_gpu(uuid, show=shown.append, folder=folder, wait_seconds=wait_seconds):
        pass


def test_a_batch_with_temporary_files_of_its_own_shares_the_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "own"))
    monkeypatch.setenv("GRADER_LOCKS", str(tmp_path))
    assert lock_folder() == tmp_path


def test_a_free_gpu_is_held_at_once_and_again(tmp_path: Path) -> None:
    shown: list[Progress] = []
    hold(tmp_path, shown)
    hold(tmp_path, shown)
    assert shown == []


def test_a_held_gpu_is_waited_for_and_says_so(tmp_path: Path) -> None:
    shown: list[Progress] = []
    with hold_elsewhere(tmp_path, 1.0):
        began = time.monotonic()
        hold(tmp_path, shown)
        assert time.monotonic() - began > 0.3
    assert "waiting for the GPU" in shown[0].stage


def test_waiting_has_an_end(tmp_path: Path) -> None:
    with hold_elsewhere(tmp_path, 60.0) as holder:
        with pytest.raises(GraderError, match=r"in use by another grading for 0\.5 s") as caught:
            hold(tmp_path, [], wait_seconds=0.5)
        assert "--device gpu:N" in caught.value.advice
        holder.kill()


def test_a_holder_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    with hold_elsewhere(tmp_path, 60.0) as holder:
        holder.kill()
    shown: list[Progress] = []
    hold(tmp_path, shown)
    assert shown == []


def test_gpus_are_held_one_by_one(tmp_path: Path) -> None:
    shown: list[Progress] = []
    with hold_elsewhere(tmp_path, 60.0, uuid="GPU-another") as holder:
        hold(tmp_path, shown)
        hold(tmp_path, shown, uuid=None)
        holder.kill()
    assert shown == []


def test_another_users_lock_file_serves_as_well(tmp_path: Path) -> None:
    path = tmp_path / f"cuda-exercise-grader-{UUID}.lock"
    path.touch(mode=0o444)
    hold(tmp_path, [])


def test_a_link_in_place_of_the_lock_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / f"cuda-exercise-grader-{UUID}.lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(GraderError, match="cannot be opened"):
        hold(tmp_path, [])
    assert not (tmp_path / "elsewhere").exists()
