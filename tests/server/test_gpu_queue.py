"""Attempts that students send to a GPU: a queue of their own, and a quota."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import pytest
from sqlalchemy import update

from grader.batch.pool import LocalPool
from grader.cli import main
from grader.report.verdicts import make_failed_verdict
from grader.server import queue
from grader.server.attempts import read_attempt, read_attempts
from grader.server.dispatcher import Dispatcher, grade_attempt
from grader.server.records import Attempt, Queue, Role, State
from grader.server.tables import GRADINGS
from grader.server.web.site import Site
from tests.support.served import JSON, Visitor, enter, finish_all, worth


@pytest.fixture
def gpu_site(site: Site) -> Site:
    return Site(**{**vars(site), "settings": replace(site.settings, gpu_quota=2)})


def send(visitor: Visitor, attempt: int) -> tuple[int, str]:
    """The status and the error of a request for the GPU."""
    form = {"form_token": visitor.token()}
    answer = visitor.client.post(f"/attempts/{attempt}/gpu", json=form, headers=JSON)
    return answer.status_code, answer.json().get("error", "")


def finish_gpu(site: Site, points: float) -> None:
    with site.engine.begin() as connection:
        work = queue.take(connection, time.time(), Queue.GPU)
        assert work is not None
        queue.finish(connection, work, worth(points), time.time())


def read(site: Site, attempt: int) -> Attempt:
    with site.reading() as connection:
        found = read_attempt(connection, attempt)
    assert found is not None
    return found


def test_a_gpu_has_its_own_queue(gpu_site: Site) -> None:
    ada, bob = enter(gpu_site, "ada@example.org"), enter(gpu_site, "bob@example.org")
    first = ada.grade("x")
    finish_all(gpu_site, lambda _: worth(60))
    assert send(ada, first) == (200, "")
    assert "earlier verdict" in ada.client.get(f"/attempts/{first}.json").json()["html"]
    bob.grade("y")
    with gpu_site.reading() as connection:
        places = queue.read_places(connection)
        assert [place.ahead for place in places.values()] == [0, 0]
        assert queue.has_work(connection, time.time(), Queue.GPU)
    assert finish_all(gpu_site, lambda _: worth(10)) == [bob.person_id]
    finish_gpu(gpu_site, 80)
    assert read(gpu_site, first).points == 80


def test_a_student_sends_as_many_attempts_as_the_quota(gpu_site: Site) -> None:
    ada, bob = enter(gpu_site, "ada@example.org"), enter(gpu_site, "bob@example.org")
    own = [ada.grade(f"{number}") for number in range(3)]
    other = bob.grade("y")
    finish_all(gpu_site, lambda _: worth(60))

    def shown() -> str:
        return str(ada.client.get(f"/attempts/{own[2]}.json").json()["html"])

    assert "2 of 2 left today" in shown()
    assert send(ada, own[0]) == (200, "")
    assert send(ada, own[0])[0] == 400  # it waits
    assert "1 of 2 left today" in shown()
    assert send(ada, own[1]) == (200, "")
    message = "You sent 2 attempts to the GPU in the last 24 hours."
    assert send(ada, own[2]) == (400, message)
    assert message in shown()
    assert "/gpu" not in shown()
    assert send(bob, other) == (200, "")
    with gpu_site.engine.begin() as connection:
        gpu = update(GRADINGS).where(GRADINGS.c.queue == Queue.GPU)
        connection.execute(gpu.values(queued_s=time.time() - queue.DAY_S - 1))
    assert send(ada, own[2]) == (200, "")


def test_a_fault_of_the_machine_costs_nothing_of_the_quota(gpu_site: Site) -> None:
    ada = enter(gpu_site, "ada@example.org")
    attempt = ada.grade("x")
    finish_all(gpu_site, lambda _: worth(60))
    for _ in range(3):
        assert send(ada, attempt) == (200, "")
        with gpu_site.engine.begin() as connection:
            work = queue.take(connection, time.time(), Queue.GPU)
            assert work is not None
            queue.finish(connection, work, make_failed_verdict("the GPU is lost"), time.time())
    assert "2 of 2 left" in ada.client.get(f"/attempts/{attempt}.json").json()["html"]
    assert send(ada, attempt) == (200, "")
    finish_gpu(gpu_site, 80)
    assert "1 of 2 left" in ada.client.get(f"/attempts/{attempt}.json").json()["html"]


def test_an_instructor_grades_again_on_the_same_device(gpu_site: Site) -> None:
    ada, teacher = enter(gpu_site, "a@x.org"), enter(gpu_site, "t@x.org", Role.INSTRUCTOR)
    attempt = ada.grade("x")
    finish_all(gpu_site, lambda _: worth(60))
    send(ada, attempt)
    finish_gpu(gpu_site, 80)
    assert "1 of 2 left" in ada.client.get(f"/attempts/{attempt}.json").json()["html"]
    teacher.post(f"/attempts/{attempt}/again")
    assert (read(gpu_site, attempt).queue, read(gpu_site, attempt).state) == (
        Queue.GPU,
        State.WAITING,
    )
    finish_gpu(gpu_site, 80)
    assert "1 of 2 left" in ada.client.get(f"/attempts/{attempt}.json").json()["html"]


def test_fixes_on_a_gpu_count(gpu_site: Site) -> None:
    lesson = replace(gpu_site.lessons["vector_add"], may_try_fixes=True)
    gpu_site = Site(**{**vars(gpu_site), "lessons": {"vector_add": lesson}})
    ada, teacher = enter(gpu_site, "a@x.org"), enter(gpu_site, "t@x.org", Role.INSTRUCTOR)
    attempt = ada.grade("x")
    finish_all(gpu_site, lambda _: worth(60))
    send(ada, attempt)
    finish_gpu(gpu_site, 80)

    def try_fixes(visitor: Visitor) -> int:
        form = {"form_token": visitor.token()}
        answer = visitor.client.post(f"/attempts/{attempt}/what-if", json=form, headers=JSON)
        return answer.status_code

    assert [try_fixes(ada), try_fixes(ada)] == [200, 400]  # it waits
    finish_gpu(gpu_site, 80)
    assert try_fixes(ada) == 400  # the quota is used
    assert try_fixes(teacher) == 200
    finish_gpu(gpu_site, 80)


def test_only_the_owner_sends_an_attempt(gpu_site: Site, site: Site) -> None:
    ada, eve = enter(gpu_site, "ada@example.org"), enter(gpu_site, "eve@example.org")
    teacher = enter(gpu_site, "t@example.org", Role.INSTRUCTOR)
    attempt = ada.grade("x")
    finish_all(gpu_site, lambda _: worth(60))
    assert [send(each, attempt)[0] for each in (eve, teacher)] == [404, 404]
    without = enter(site, "without@example.org")
    own = without.grade("x")
    finish_all(site, lambda _: worth(60))
    assert send(without, own)[0] == 404
    assert "GPU" not in without.client.get(f"/attempts/{own}.json").json()["html"]


@pytest.mark.parametrize(
    ("device", "status"),
    [("emulated:a100", "passed"), pytest.param("gpu", "failed", marks=pytest.mark.gpu)],
)
def test_the_worker_of_a_queue_grades_its_attempts_alone(
    gpu_site: Site, device: str, status: str
) -> None:
    """Without a GPU, the emulated device of another one stands for it. The starter is right, and
    too slow where a time is measured: this course models none."""
    ada = enter(gpu_site, "ada@example.org")
    first = ada.grade(gpu_site.lessons["vector_add"].starter)
    finish_all(gpu_site, lambda _: worth(60))
    send(ada, first)
    second = ada.grade("second")
    settings = replace(gpu_site.settings, queue=Queue.GPU, device=device)
    grade = functools.partial(grade_attempt, database=settings.database)
    with closing(LocalPool(grade, [settings.device], jobs=1, seconds=300)) as pool:
        dispatcher = Dispatcher(settings, gpu_site.engine, gpu_site.lessons, pool)
        while dispatcher.step():
            pass
    assert (read(gpu_site, first).state, read(gpu_site, first).status) == (State.DONE, status)
    assert read(gpu_site, second).state is State.WAITING
    shown = ada.client.get(f"/attempts/{first}.json").json()["html"]
    assert ("emulated NVIDIA A100" in shown) == ("emulated NVIDIA" in shown) == (device != "gpu")


def test_a_new_worker_leaves_the_gradings_of_the_server(gpu_site: Site) -> None:
    ada = enter(gpu_site, "ada@example.org")
    attempt = ada.grade("x")
    with gpu_site.engine.begin() as connection:
        assert queue.take(connection, time.time()) is not None
        queue.release_all(connection, Queue.GPU)
    assert read(gpu_site, attempt).state is State.RUNNING
    with gpu_site.engine.begin() as connection:
        queue.release_all(connection, Queue.SERVER)
    assert read(gpu_site, attempt).state is State.WAITING


def test_the_command_grades_until_a_signal(gpu_site: Site) -> None:
    ada = enter(gpu_site, "ada@example.org")
    attempt = ada.grade(gpu_site.lessons["vector_add"].starter)
    finish_all(gpu_site, lambda _: worth(60))
    send(ada, attempt)
    settings = gpu_site.settings
    command = [sys.executable, "-m", "grader", "worker", "--device", "emulated:a100"]
    command += ["--database", settings.database, "--course", str(settings.course)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "takes the attempts for the GPU" in process.stdout.readline()
        until = time.monotonic() + 240
        while not read(gpu_site, attempt).is_done and time.monotonic() < until:
            time.sleep(0.2)
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(30) == 143
    with gpu_site.reading() as connection:
        (found,) = read_attempts(connection)
    assert (found.queue, found.state, found.status) == (Queue.GPU, State.DONE, "failed")


def test_a_worker_needs_a_database(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["worker"]) == 2
    assert "--database" in capsys.readouterr().err
