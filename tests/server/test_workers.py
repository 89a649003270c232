"""Workers on other machines: they follow the server, and the commands of docs/server.md start them as
jobs of Slurm and tasks of Dask, of which some are killed."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, text

from grader.cli import main
from grader.errors import UsageError
from grader.server import people
from grader.server.attempts import add_attempt, read_attempts
from grader.server.course import find_lessons
from grader.server.database import open_database
from grader.server.launch import follow_server, open_site
from grader.server.records import Queue, State
from grader.server.tables import GRADINGS
from tests.support.served import ROOT, make_course, make_site
from tests.support.slurm import start_slurm, why_not
from tests.support.transcripts import read_commands

STUDENTS, EACH = 4, 3
LIMIT_S = 200.0
DOCUMENTED = "postgresql+psycopg://grader@server/grader"
COUNT_VERDICTS = """
CREATE TABLE verdicts (grading_id integer);
CREATE FUNCTION count_verdict() RETURNS trigger AS $$
    BEGIN INSERT INTO verdicts VALUES (NEW.id); RETURN NULL; END
$$ LANGUAGE plpgsql;
CREATE TRIGGER counted AFTER UPDATE ON gradings
    FOR EACH ROW WHEN (NEW.state = 'done') EXECUTE FUNCTION count_verdict();
"""
"""A verdict that is written twice is counted twice."""


@pytest.mark.cluster
def test_a_job_and_a_node_are_killed_and_each_attempt_is_graded_once(
    tmp_path: Path, make_postgres: Callable[[], str]
) -> None:
    if reason := why_not():
        pytest.skip(reason)
    make_course(tmp_path / "course")
    url = make_postgres()
    found = read_commands(ROOT / "docs/server.md", ("sh",))
    serve, batch = (each.text.replace(DOCUMENTED, url) for each in found if each.when == "slurm")
    engine = open_database(url)
    (tmp_path / "slurm").mkdir()
    with start_slurm(tmp_path / "slurm") as slurm:
        slurm.environment["PATH"] = path_with_grade()
        here: dict[str, Any] = {"shell": True, "cwd": tmp_path, "env": slurm.environment}
        command = f"exec {serve} --no-model --port {_free_port()}"
        with subprocess.Popen(command, **here, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            assert any("The server runs at" in line for line in server.stdout)
            _send_attempts(engine, (tmp_path / "course/starter/vector_add.cu").read_text())
            subprocess.run(batch, **here, check=True)
            wait_for(lambda: len(slurm.running()) == 2)
            wait_for(lambda: read_states(engine)[State.RUNNING] == 2)
            (first,) = (job for job, node in slurm.running().items() if node == "n1")
            slurm.ask("scancel", first)
            wait_for(lambda: first not in slurm.running())
            wait_for(lambda: read_states(engine)[State.DONE] >= 3)
            slurm.kill_node("n2")
            wait_for(lambda: read_states(engine)[State.DONE] == STUDENTS * EACH)
            server.send_signal(signal.SIGTERM)
    check_verdicts(engine)


@pytest.mark.cluster
def test_a_lost_dask_worker_s_command_starts_again(
    tmp_path: Path, make_postgres: Callable[[], str]
) -> None:
    distributed = pytest.importorskip("distributed")
    site = make_site(tmp_path, database=make_postgres())
    (script,) = read_commands(ROOT / "docs/server.md", ("python",))
    _send_attempts(site.engine, site.lessons["vector_add"].starter)
    environment = {**os.environ, "PATH": path_with_grade()}
    local = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(**local, env=environment) as cluster,
        cluster.get_client() as client,
    ):
        here = script.words[-1].replace(DOCUMENTED, site.settings.database)
        here = here.replace("tcp://HOST:8786", cluster.scheduler_address)
        here = here.replace('"course/"', f'"{site.settings.course}"')
        (tmp_path / "start.py").write_text(here)
        started = subprocess.Popen([sys.executable, "start.py"], cwd=tmp_path)
        try:
            wait_for(lambda: read_states(site.engine)[State.RUNNING] == 2)
            before = set(client.run(os.getpid).values())
            os.kill(min(before), signal.SIGKILL)
            wait_for(
                lambda: len(set(client.run(os.getpid, on_error="ignore").values()) - before) == 1
            )
            wait_for(lambda: read_states(site.engine)[State.DONE] == STUDENTS * EACH)
        finally:
            started.kill()
            started.wait()
    check_verdicts(site.engine)


def check_verdicts(engine: Engine) -> None:
    """Each attempt has one verdict, and only those that were lost began again."""
    with engine.connect() as connection:
        attempts = read_attempts(connection)
        counted = Counter(connection.scalars(text("SELECT grading_id FROM verdicts")))
        tries = list(connection.scalars(select(GRADINGS.c.tries)))
    assert [each.status for each in attempts] == ["passed"] * (STUDENTS * EACH)
    assert counted == dict.fromkeys((each.grading_id for each in attempts), 1)
    assert len(tries) + 1 <= sum(tries) <= len(tries) + 3


def test_a_worker_has_the_server_s_exercises_and_device(
    tmp_path: Path, make_postgres: Callable[[], str]
) -> None:
    site = make_site(tmp_path, database=make_postgres())
    own = replace(site.settings, queue=Queue.SERVER, device="", model=True)
    followed = follow_server(own, site.engine, site.lessons)
    assert (followed.device, followed.model) == ("emulated:h100", False)
    oracle = tmp_path / "course/exercises/vector_add/oracle.py"
    oracle.write_text(f"{oracle.read_text()}# changed")
    with pytest.raises(UsageError, match=r"or missing: vector_add$"):
        follow_server(own, site.engine, find_lessons(own.course))


def test_a_worker_without_the_server_s_gpu_refuses_to_start(
    tmp_path: Path, make_postgres: Callable[[], str], capsys: pytest.CaptureFixture[str]
) -> None:
    site = make_site(tmp_path, database=make_postgres())
    open_site(replace(site.settings, device="gpu:99")).engine.dispose()  # no machine has so many
    own = ["--course", str(site.settings.course), "--database", site.settings.database]
    assert main(["worker", "--queue", "server", *own]) == 2
    message = " ".join(capsys.readouterr().err.split())
    assert "the server grades on gpu:99, which this machine does not have" in message
    assert "Start the worker on a machine with this GPU" in message


def test_a_worker_waits_for_no_server(
    tmp_path: Path, make_postgres: Callable[[], str], capsys: pytest.CaptureFixture[str]
) -> None:
    for url, message in (
        (make_postgres(), "Start `grade serve` first"),
        (f"sqlite:///{tmp_path}/course.sqlite", "Use PostgreSQL"),
    ):
        assert main(["worker", "--queue", "server", "--database", url]) == 2
        assert message in capsys.readouterr().err


def path_with_grade() -> str:
    return f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"


def _send_attempts(engine: Engine, source: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(COUNT_VERDICTS))
        for student in range(STUDENTS):
            person = people.add_person(connection, f"Student {student}", f"{student}@example.org")
            for number in range(EACH):
                own = f"{source}// {student}.{number}\n"
                add_attempt(connection, person, "vector_add", own, now=time.time())


def read_states(engine: Engine) -> Counter[State]:
    with engine.connect() as connection:
        return Counter(connection.scalars(select(GRADINGS.c.state)))


def wait_for(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
