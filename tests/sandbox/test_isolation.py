"""What a confined program sees: its own folder and what it needs, in either layer."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from grader.devices.remote.remote_device import RemoteDevice
from grader.records import Completed
from grader.sandbox.isolation import Confinement, Layer, _bubblewrap, find_layer
from grader.sandbox.landlock import landlock_version
from grader.sandbox.process import run_tool

WORKS = {Layer.BUBBLEWRAP: _bubblewrap() is not None, Layer.LANDLOCK: landlock_version() > 0}


NOT_HERE = pytest.mark.skip(reason="this layer does not work here")


@pytest.fixture(
    params=[pytest.param(layer, marks=[] if works else NOT_HERE) for layer, works in WORKS.items()]
)
def layer(request: pytest.FixtureRequest) -> Layer:
    return Layer(request.param)


def run(layer: Layer, script: str, folder: Path, *readable: Path) -> Completed:
    (folder / "source").mkdir(exist_ok=True)
    return run_tool(
        ["/bin/sh", "-c", script], cwd=folder / "source", confinement=Confinement(layer, readable)
    )


def test_one_layer_works_here() -> None:
    assert WORKS[find_layer()]


@pytest.mark.parametrize(
    "file",
    ["/etc/passwd", "/proc/self/environ", str(Path(__file__)), "/dev/zero", "/usr/share/doc"],
)
def test_files_of_the_machine_cannot_be_read(layer: Layer, tmp_path: Path, file: str) -> None:
    completed = run(layer, f"head -c 1 {file} && echo read", tmp_path)
    assert completed.returncode != 0
    assert "read" not in completed.stdout


def test_bubblewrap_does_not_tell_what_exists(tmp_path: Path) -> None:
    if not WORKS[Layer.BUBBLEWRAP]:
        pytest.skip("not here")
    assert (
        run(
            Layer.BUBBLEWRAP, f"test -e /etc/passwd || test -e {Path(__file__)}", tmp_path
        ).returncode
        == 1
    )


def test_the_own_folder_and_the_private_one_can_be_written_and_readable_ones_read(
    layer: Layer, tmp_path: Path
) -> None:
    work, shared = tmp_path / "work", tmp_path / "shared"
    work.mkdir()
    shared.mkdir()
    (shared / "header.h").write_text("int x;\n")
    script = (
        f"cat {shared}/header.h && echo own > ../made && echo temporary > $TMPDIR/made && cat"
        " $TMPDIR/made"
    )
    completed = run(layer, script, work, shared)
    assert completed.stdout == "int x;\ntemporary\n", completed.stderr
    assert (work / "made").read_text() == "own\n"
    assert run(layer, f"echo no > {shared}/header.h", work, shared).returncode != 0
    assert (shared / "header.h").read_text() == "int x;\n"


def test_nothing_else_can_be_written(layer: Layer, tmp_path: Path) -> None:
    work, other = tmp_path / "work", tmp_path / "other"
    work.mkdir()
    other.mkdir()
    run(layer, f"touch {other}/evil", work)
    assert not (other / "evil").exists()


def test_there_is_no_network(layer: Layer, tmp_path: Path) -> None:
    code = "import socket; socket.create_connection(('127.0.0.1', 9), timeout=2)"
    python = Path(sys.executable)
    (tmp_path / "source").mkdir()
    readable = (Path(sys.prefix), Path(sys.base_prefix), python.resolve().parent)
    command = [str(python), "-I", "-c", code]
    completed = run_tool(command, cwd=tmp_path / "source", confinement=Confinement(layer, readable))
    assert completed.returncode != 0
    assert (
        "refused" not in completed.stderr or layer is Layer.BUBBLEWRAP
    )  # an empty namespace has a loopback of its own, or none


def test_the_grader_itself_stays_free(layer: Layer, tmp_path: Path) -> None:
    run(layer, "true", tmp_path)
    assert Path("/etc/passwd").read_text()
    assert subprocess.run(["cat", "/etc/passwd"], capture_output=True, check=False).returncode == 0


def test_the_emulated_devices_worker_is_confined_unless_told_otherwise() -> None:
    with RemoteDevice("emulated:h100") as device:
        assert device.isolation == ("Landlock" if WORKS[Layer.LANDLOCK] else "none")
    with RemoteDevice("emulated:h100", isolated=False) as device:
        assert device.isolation == "none"


def test_a_worker_ends_with_its_grader() -> None:
    code = (
        "from grader.devices.remote.remote_device import RemoteDevice; import os, time\ndevice ="
        " RemoteDevice('emulated:h100'); device.info; print(device._worker._process.pid,"
        " flush=True); time.sleep(60)"
    )
    grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert grader.stdout is not None
    worker = int(grader.stdout.readline())
    grader.kill()
    grader.wait()
    deadline = time.monotonic() + 10
    while _lives(worker) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _lives(worker)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
