"""The queue: fair turns, lost workers, and places that students see."""

from __future__ import annotations

import asyncio
import time

from grader.server import queue
from grader.server.attempts import add_attempt, read_attempt, read_attempts
from grader.server.people import add_person
from grader.server.records import Role, State, Work
from grader.server.web.events import Board, _describe, _send_places
from grader.server.web.site import Site
from tests.support.served import finish_all, worth

EXERCISE = "vector_add"


def add_student(site: Site, name: str, count: int) -> int:
    """A student with this number of waiting attempts."""
    with site.engine.begin() as connection:
        person = add_person(connection, name, name, role=Role.STUDENT)
        for number in range(count):
            add_attempt(connection, person, EXERCISE, f"{name} {number}", now=time.time())
    return person


def take(site: Site, now: float) -> Work | None:
    with site.engine.begin() as connection:
        return queue.take(connection, now)


def test_fifty_attempts_do_not_block_other_students(site: Site) -> None:
    busy = add_student(site, "busy", 50)
    calm = [add_student(site, f"calm {number}", 2) for number in range(3)]
    order = finish_all(site, lambda _: worth(1))
    assert len(order) == 56
    assert sorted(order[:4]) == sorted([busy, *calm])
    assert sorted(order[4:8]) == sorted([busy, *calm])
    assert set(order[8:]) == {busy}


def test_a_student_who_comes_later_is_not_behind_the_queue_of_another(site: Site) -> None:
    busy = add_student(site, "busy", 20)
    for _ in range(5):
        work = take(site, time.time())
        assert work is not None
        with site.engine.begin() as connection:
            queue.finish(connection, work, worth(1), time.time())
    late = add_student(site, "late", 1)
    assert late in finish_all(site, lambda _: worth(1))[:2]
    assert busy


def test_a_waiting_student_is_not_overtaken_for_ever(site: Site) -> None:
    """Others who send again and again get later turns."""
    patient = add_student(site, "patient", 3)
    others = [add_student(site, f"other {number}", 1) for number in range(2)]
    order = []
    for _ in range(9):
        with site.engine.begin() as connection:
            for other in others:
                add_attempt(connection, other, EXERCISE, "again", now=time.time())
        work = take(site, time.time())
        assert work is not None
        order.append(work.source.split()[0])
        with site.engine.begin() as connection:
            queue.finish(connection, work, worth(1), time.time())
    assert order.count("patient") == 3
    assert patient


def test_a_lost_worker_s_grading_is_taken_again_and_its_late_verdict_is_ignored(site: Site) -> None:
    add_student(site, "ada", 1)
    now = time.time()
    first = take(site, now)
    assert first is not None
    assert take(site, now + queue.LEASE_S / 2) is None
    with site.engine.begin() as connection:
        queue.renew(connection, [first], now + queue.LEASE_S / 2)
    assert take(site, now + queue.LEASE_S + 1) is None
    second = take(site, now + 2 * queue.LEASE_S)
    assert second is not None
    assert (second.grading_id, second.tries) == (first.grading_id, 2)
    with site.engine.begin() as connection:
        queue.finish(connection, first, worth(1), now)
        queue.put_back(connection, first)
        queue.renew(connection, [first], now + queue.DAY_S)
        attempt = read_attempt(connection, 1)
        assert attempt is not None
        assert attempt.state is State.RUNNING
        assert not queue.has_work(connection, now + 2 * queue.LEASE_S)
        assert queue.has_work(connection, now + 4 * queue.LEASE_S)
        queue.finish(connection, second, worth(2), now)
        assert [each.points for each in read_attempts(connection)] == [2]


def test_a_student_sees_the_place_and_the_time(site: Site) -> None:
    add_student(site, "first", 1)
    work = take(site, time.time() - 120)
    assert work is not None
    with site.engine.begin() as connection:
        queue.finish(connection, work, worth(1), time.time())
    add_student(site, "ada", 3)
    running = take(site, time.time())
    assert running is not None
    with site.engine.begin() as connection:
        queue.keep_stage(connection, running.grading_id, "checking cases (2 of 9)")
    with site.reading() as connection:
        places = queue.read_places(connection)
    texts = [_describe(place)["text"] for place in places.values()]
    assert texts == [
        "Grading: checking cases (2 of 9)",
        "Waiting: 1 before you, about 4 minutes",
        "Waiting: 2 before you, about 6 minutes",
    ]


def test_a_listener_hears_its_place_the_step_and_the_end(site: Site) -> None:
    add_student(site, "ada", 2)
    with site.reading() as connection:
        last = read_attempts(connection)[-1].grading_id
    board = Board(site)

    async def listen() -> list[str]:
        heard = []
        async for event in _send_places(board, 1, last):
            heard.append(event)
            if "before you" in event:
                finish_all(site, lambda _: worth(1))
        return heard

    heard = asyncio.run(listen())
    assert [event.partition(": ")[0] for event in heard] == ["retry", "data", "data"]
    assert "1 before you" in heard[1]
    assert '"done"' in heard[2]
    assert not +board.listeners
