"""Python children: they answer, they end with their parent, and how they ended is told."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from grader.plumbing.children import Child, python_environment

ROOT = Path(__file__).resolve().parents[2]


def add(more: int, connection: Connection) -> None:
    while True:
        connection.send(connection.recv() + more)


def exit_at_once(connection: Connection) -> None:
    os._exit(9)


def sleep(connection: Connection) -> None:
    connection.send(os.getpid())
    time.sleep(1000)


def test_a_child_answers_until_it_is_ended() -> None:
    child = Child(partial(add, 2))
    for number in (1, 40):
        child.connection.send(number)
        assert child.connection.recv() == number + 2
    assert not child.has_ended
    child.kill()
    assert child.has_ended


def test_the_end_of_a_child_is_told() -> None:
    child = Child(exit_at_once, quiet=True)
    with pytest.raises(EOFError):
        child.connection.recv()
    assert child.wait() == 9


def test_a_child_ends_with_its_parent_whatever_it_does() -> None:
    text = (
        "import os; from grader.plumbing.children import Child; from tests.plumbing import"
        " test_children; child = Child(test_children.sleep); print(child.connection.recv(),"
        " flush=True); os._exit(0)"
    )
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, check=True)
    pid, deadline = int(done.stdout), time.monotonic() + 30
    while Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not Path(f"/proc/{pid}").exists()


def test_of_the_environment_a_python_child_gets_what_chooses_its_gpus_only() -> None:
    environ = {"CUDA_VISIBLE_DEVICES": "1", "A_SECRET": "1", "PYTHONPATH": "/elsewhere"}
    child = python_environment(environ)
    assert set(child) == {"CUDA_VISIBLE_DEVICES", "PYTHONPATH", "PYTHONSAFEPATH"}
    assert child["PYTHONPATH"].split(os.pathsep)[0] == str(ROOT)
