"""The last hour before a deadline, in a few minutes: many students grade and submit on a server.

    python benchmarks/server_load.py                     200 students, 120 seconds
    python benchmarks/server_load.py --students 20 --seconds 30
    python benchmarks/server_load.py --keen 50           one student sends 50 attempts at the start

It starts `grade serve` on this machine alone, with a new database. Each student opens a page every
few seconds and sends attempts; a fraction of them is graded in the time, the rest waits. It then
compares the attempts that were accepted with those in the database, and prints the times of the
pages and the waiting times. It ends after `--seconds`, and uses only the loopback interface.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import httpx2 as httpx  # noqa: E402
from sqlalchemy import select  # noqa: E402

from grader.server.database import open_database  # noqa: E402 - found by the line above
from grader.server.people import add_person, open_session  # noqa: E402
from grader.server.records import Role  # noqa: E402
from grader.server.tables import ATTEMPTS, GRADINGS  # noqa: E402

EXERCISE = "vector_add"
MOST_STUDENTS, MOST_SECONDS = 500, 900.0
GOAL_MS = 100.0
PAGES = ("/exercises", f"/exercises/{EXERCISE}")


@dataclass
class Seen:
    """The times of pages in ms by kind, the accepted attempts by student, and the faults."""

    times_ms: dict[str, list[float]] = field(default_factory=dict)
    accepted: Counter[int] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str, seconds: float) -> None:
        self.times_ms.setdefault(kind, []).append(seconds * 1000)


@dataclass(frozen=True)
class Student:
    """A student's cookie and the pause between two actions."""

    person_id: int
    cookie: str
    pause_s: float

    @property
    def headers(self) -> dict[str, str]:
        return {"cookie": f"grade_session={self.cookie}", "accept-encoding": "identity"}


async def attend(
    client: httpx.AsyncClient, student: Student, source: str, until: float, seen: Seen
) -> None:
    """Reads pages and sends attempts until the end."""
    chance = random.Random(student.person_id)
    await asyncio.sleep(chance.uniform(0, min(student.pause_s, until - time.monotonic())))
    number = 0
    while time.monotonic() < until:
        try:
            token = ""
            for page in PAGES:
                began = time.monotonic()
                answer = await client.get(page, headers=student.headers)
                seen.add(page, time.monotonic() - began)
                token = answer.text.split('name="form_token" value="')[1][:64]
            await send(client, student, token, f"// {number}\n{source}", seen)
            number += 1
        except (httpx.HTTPError, IndexError) as error:
            seen.faults[type(error).__name__] += 1
        await asyncio.sleep(chance.uniform(0.5, 1.5) * student.pause_s)


async def send(
    client: httpx.AsyncClient, student: Student, token: str, source: str, seen: Seen
) -> None:
    """Sends an attempt, which is also submitted."""
    began = time.monotonic()
    form = {"form_token": token, "source": f"// {student.person_id}\n{source}", "submit": "yes"}
    headers = {"accept": "application/json", **student.headers}
    answer = await client.post(f"/exercises/{EXERCISE}/attempts", json=form, headers=headers)
    seen.add("send an attempt", time.monotonic() - began)
    if answer.status_code == 200:
        seen.accepted[student.person_id] += 1
    else:
        seen.faults[f"status {answer.status_code}"] += 1


async def attend_all(
    students: list[Student], url: str, source: str, *, seconds: float, keen: int
) -> Seen:
    """All students at the same time; the first sends `keen` attempts at the start."""
    seen, until = Seen(), time.monotonic() + seconds
    first = students[0]
    # One client: each has TLS certificates of its own, which take 30 ms to load.
    limits = httpx.Limits(max_connections=len(students), max_keepalive_connections=len(students))
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        page = await client.get("/exercises", headers=first.headers)
        token = page.text.split('name="form_token" value="')[1][:64]
        for number in range(keen):
            await send(client, first, token, f"// keen {number}\n{source}", seen)
        await asyncio.gather(*(attend(client, each, source, until, seen) for each in students[1:]))
    return seen


def report(seen: Seen, folder: Path, keen_id: int) -> bool:
    """Prints the figures; returns whether every accepted attempt was kept."""
    engine = open_database(f"sqlite:///{folder}/data/course.sqlite")
    with engine.connect().execution_options(writes=False) as connection:
        kept = Counter(connection.scalars(select(ATTEMPTS.c.person_id)))
        query = select(GRADINGS.c.person_id, GRADINGS.c.queued_s, GRADINGS.c.started_s)
        started = connection.execute(query.where(GRADINGS.c.started_s.is_not(None))).all()
    every = [ms for times in seen.times_ms.values() for ms in times]
    for kind, times in [*seen.times_ms.items(), ("all", every)]:
        p50, p95 = (statistics.quantiles(times, n=100)[place] for place in (49, 94))
        print(f"{kind:32} {len(times):6,} times  p50 {p50:6.1f} ms  p95 {p95:6.1f} ms")
    sent = sum(seen.accepted.values())
    same = kept == seen.accepted
    print(f"attempts: {sent:,} accepted, {kept.total():,} kept: {'all' if same else 'NOT ALL'}")
    print(f"faults: {dict(seen.faults) or 'none'}")
    served = Counter(person for person, _, _ in started)
    waits = [begun - queued for person, queued, begun in started if person != keen_id]
    if waits:
        print(
            f"gradings begun: {len(started):,}, of {len(served):,} students; of the student with"
            f" many attempts: {served[keen_id]}; of another: at most"
            f" {max((n for person, n in served.items() if person != keen_id), default=0)}"
        )
        print(f"waiting times of the others: median {statistics.median(waits):.1f} s,", end=" ")
        print(f"longest {max(waits):.1f} s")
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--pause", type=float, default=20.0, help="seconds between two actions")
    parser.add_argument("--keen", type=int, default=50)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    students = min(max(options.students, 2), MOST_STUDENTS)
    seconds = min(options.seconds, MOST_SECONDS)
    with tempfile.TemporaryDirectory(prefix="server-load-") as name:
        folder = Path(name)
        for kind in ("exercises", "starter"):
            (folder / "course" / kind).mkdir(parents=True)
        shutil.copytree(ROOT / "exercises" / EXERCISE, folder / "course/exercises" / EXERCISE)
        starter = ROOT / "starter" / f"{EXERCISE}.cu"
        shutil.copy(starter, folder / "course/starter")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "grader", "serve", "--course", str(folder / "course")]
        command += ["--data", str(folder / "data"), "--port", str(port)]
        command += ["--workers", str(options.workers), "--no-model"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                server.stdout.readline()
                engine = open_database(f"sqlite:///{folder}/data/course.sqlite")
                with engine.begin() as connection:
                    ids = [
                        add_person(connection, f"S {n}", f"s{n}@example.org", role=Role.STUDENT)
                        for n in range(students)
                    ]
                    people = [
                        Student(each, open_session(connection, each, time.time()), options.pause)
                        for each in ids
                    ]
                seen = asyncio.run(
                    attend_all(
                        people,
                        f"http://localhost:{port}",
                        starter.read_text(),
                        seconds=seconds,
                        keen=options.keen,
                    )
                )
            finally:
                server.kill()
        return 0 if report(seen, folder, ids[0]) else 1


if __name__ == "__main__":
    raise SystemExit(main())
