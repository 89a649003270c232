"""kill -9 of the server and of its workers: no attempt is lost, and each gets its verdict."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Engine

from grader.server.attempts import read_attempts
from grader.server.database import open_database
from grader.server.people import add_person, open_session
from grader.server.records import Attempt, Role, State
from tests.support.served import make_course

DEADLINE_S = 240.0


@contextlib.contextmanager
def serving(folder: Path, port: int, database: str) -> Iterator[subprocess.Popen[str]]:
    command = ["-m", "grader", "serve", "--course", str(folder / "course"), "--no-model"]
    options = ["--data", str(folder / "data"), "--port", str(port), "--workers", "1"]
    options += ["--database", database]
    with subprocess.Popen(
        [sys.executable, *command, *options], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert "The server runs at" in process.stdout.readline()
        try:
            yield process
        finally:
            process.kill()


def children_of(pid: int) -> list[int]:
    path = Path(f"/proc/{pid}/task/{pid}/children")
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(each) for thread in (path, *threads) for each in thread.read_text().split()]


def wait_for(engine: Engine, fits: object) -> list[Attempt]:
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        with engine.connect().execution_options(writes=False) as connection:
            found = read_attempts(connection)
        if fits(found):  # type: ignore[operator]
            return found
        time.sleep(0.1)
    raise AssertionError([(each.id, each.state, each.status) for each in found])


def test_no_attempt_is_lost_when_server_and_workers_are_killed(
    tmp_path: Path, database: str | None
) -> None:
    import httpx2 as httpx

    make_course(tmp_path / "course")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    starter = (tmp_path / "course/starter/vector_add.cu").read_text()
    url = database or f"sqlite:///{tmp_path}/data/course.sqlite"
    engine = open_database(url)

    def send(number: int) -> None:
        address = f"http://localhost:{port}"
        with httpx.Client(base_url=address, cookies={"grade_session": cookie}) as client:
            token = client.get("/exercises").text.split('name="form_token" value="')[1][:64]
            form = {"form_token": token, "source": f"// {number}\n{starter}", "submit": "yes"}
            accept = {"accept": "application/json"}
            answer = client.post("/exercises/vector_add/attempts", json=form, headers=accept)
            assert answer.status_code == 200, answer.text

    with serving(tmp_path, port, url) as process:
        with engine.begin() as connection:
            ada = add_person(connection, "Ada", "ada@example.org", role=Role.STUDENT)
            cookie = open_session(connection, ada, time.time())
        for number in range(2):
            send(number)
        wait_for(engine, lambda found: found[0].state is State.RUNNING)
        (dispatcher,) = set(children_of(process.pid))
        until = time.monotonic() + DEADLINE_S
        while not (workers := children_of(dispatcher)) and time.monotonic() < until:
            time.sleep(0.02)  # the state is kept before the worker starts
        (worker, *_) = workers
        os.kill(worker, signal.SIGKILL)
        time.sleep(0.5)
        os.kill(dispatcher, signal.SIGKILL)
        wait_for(engine, lambda found: State.RUNNING in [each.state for each in found])
        send(2)
        process.kill()
    with serving(tmp_path, port, url):
        found = wait_for(engine, lambda found: all(each.is_done for each in found))
    assert [each.status for each in found] == ["passed"] * 3
    assert all(each.submitted_s for each in found)
