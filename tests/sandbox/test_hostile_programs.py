"""Hostile host code: each attack of hostile.cu is refused, or ended by a limit."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.cuda.confined import Builder, ConfinedRun, RunOrder, make_builder, run_confined
from grader.grading.tools import find_toolchain
from grader.records import ToolLimits
from grader.sandbox.landlock import landlock_version
from grader.sandbox.system_calls import filter_known

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(
    landlock_version() == 0 or not filter_known(), reason="needs Landlock and seccomp"
)

REFUSED = (
    *("fork", "vfork", "clone", "shell", "setsid", "kill parent", "kill all", "kill thread"),
    *("queue signal", "network", "unix socket", "io_uring", "ptrace", "read memory"),
    *("memory file", "environment", "limit of parent", "own limit", "shared memory"),
    *("change itself", "private memory"),
)
LIMITED = {
    "output": "output",
    "threads": "threads",
    "files": "files",
    "memory": "memory",
    "sleep": "time",
    "endless loop": "processor time",
}
SECRET_FILES = (
    "/etc/passwd",
    "/etc/shadow",
    "/proc/1/cmdline",
    str(ROOT / "exercises" / "streams" / "oracle.py"),
    str(ROOT / "exercises" / "streams" / "spec.json"),
    str(ROOT / "solutions" / "streams.cu"),
    str(ROOT / "grader" / "metrics.py"),
    str(Path.home() / ".bashrc"),
)


@dataclass(frozen=True)
class Hostile:
    """The compiled program."""

    builder: Builder
    program: Path

    def run(
        self,
        *arguments: str,
        outputs: tuple[str, ...] = (),
        wall_seconds: float = 60.0,
        cpu_seconds: float = 20.0,
    ) -> ConfinedRun:
        order = RunOrder(
            self.program,
            self.builder.libraries,
            arguments,
            outputs=outputs,
            wall_seconds=wall_seconds,
            cpu_seconds=cpu_seconds,
        )
        return run_confined(order)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory, cache: Path) -> Hostile:
    folder = tmp_path_factory.mktemp("hostile") / "build"
    folder.mkdir()
    tools = find_toolchain(prefer_wheel=True, cache=cache)
    builder = make_builder(tools, "sm_90", cache=cache, isolated=True)
    text = Path(__file__).with_name("hostile.cu").read_text()
    done = builder.build({"hostile.cu": text}, ["hostile.cu"], [], folder, ToolLimits())
    assert done.returncode == 0, done.stderr
    return Hostile(builder, folder / "program")


@pytest.mark.parametrize("attack", REFUSED)
def test_an_attack_is_refused(hostile: Hostile, attack: str) -> None:
    ran = hostile.run(attack)
    assert (ran.limit, ran.found.exit_code, ran.found.stdout) == (None, 0, "refused\n")


@pytest.mark.parametrize("path", SECRET_FILES)
def test_files_of_the_grader_cannot_be_read(hostile: Hostile, path: str) -> None:
    assert hostile.run("read", path).found.stdout == "refused\n"


def test_a_program_writes_below_its_own_folder_only(hostile: Hostile, tmp_path: Path) -> None:
    assert hostile.run("write", "own.txt").found.stdout == "done\n"
    assert hostile.run("write", str(tmp_path / "other.txt")).found.stdout == "refused\n"
    assert hostile.run("write", "../records/session-1-1.json").found.stdout == "refused\n"
    assert not list(tmp_path.iterdir())


def test_a_link_is_no_output_file(hostile: Hostile) -> None:
    ran = hostile.run("link", "/etc/passwd", outputs=("out.txt",))
    assert ran.files == {"out.txt": None}


@pytest.mark.parametrize("attack", LIMITED)
def test_a_limit_ends_the_program(hostile: Hostile, attack: str) -> None:
    wall_seconds = 3.0 if attack == "sleep" else 60.0
    cpu_seconds = 2.0 if attack == "endless loop" else 20.0
    ran = hostile.run(attack, wall_seconds=wall_seconds, cpu_seconds=cpu_seconds)
    assert ran.limit == LIMITED[attack]


def test_a_program_may_abort(hostile: Hostile) -> None:
    assert hostile.run("abort").found.exit_code == 128 + signal.SIGABRT


def test_garbage_on_the_socket_ends_the_session_with_a_reason(hostile: Hostile) -> None:
    ran = hostile.run("garbage")
    assert ran.found.stdout == "done\n"
    assert any("ended early" in note for note in ran.found.notes)


def test_a_forged_answer_gives_no_record(hostile: Hostile) -> None:
    ran = hostile.run("forged answer")
    assert "done" not in (ran.found.stdout or "")
    assert not ran.found.kernels
    assert not ran.found.timeline


def test_no_process_is_left(hostile: Hostile) -> None:
    hostile.run("threads")
    names = (path / "cmdline" for path in Path("/proc").glob("[0-9]*"))
    assert not any(str(hostile.program).encode() in _read(path) for path in names)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_the_compiler_cannot_read_the_graders_files(hostile: Hostile, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    folder.mkdir()
    for path in (SECRET_FILES[3], os.path.relpath(SECRET_FILES[3], folder / "sources")):
        text = f'#include "{path}"\nint main() {{}}\n'
        done = hostile.builder.build({"a.cu": text}, ["a.cu"], [], folder, ToolLimits())
        assert done.returncode != 0
        assert "GROUP" not in done.stdout + done.stderr
