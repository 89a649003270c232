"""Server-sent events: the place and the step of a grading while a student waits.

All listeners share the places that one of them has read from the database; so two hundred listeners
cost as much as one.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from grader.report.moments import format_place, format_stage
from grader.server import queue
from grader.server.records import Place, State
from grader.server.web.site import Site
from grader.server.web.visits import Visit, open_visit
from grader.server.web.work_pages import find_attempt

POLL_SECONDS = 0.5
BEAT_SECONDS = 15.0
MOST_OF_PERSON = 8
"""Open streams of a person: a page has one."""


@dataclass
class Board:
    """The places of all gradings, and the open streams of each person."""

    site: Site
    places: Mapping[int, Place] = field(default_factory=dict)
    read_s: float = -math.inf
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    listeners: Counter[int] = field(default_factory=Counter)

    async def read(self, since_s: float) -> Mapping[int, Place]:
        """The places at most `POLL_SECONDS` ago, and not before `since_s`. If the database does not
        answer, the stream ends, and the browser opens it again."""
        async with self.reading:
            if self.read_s < max(since_s, time.monotonic() - POLL_SECONDS):
                started_s = time.monotonic()
                self.places = await run_in_threadpool(self._read)
                self.read_s = started_s
        return self.places

    def _read(self) -> Mapping[int, Place]:
        with self.site.reading() as connection:
            return queue.read_places(connection)


async def stream_attempt(request: Request) -> Response:
    """The events of an attempt until its verdict."""
    visit = await open_visit(request)
    board: Board = request.app.state.board
    person = visit.person
    if person is None:
        return Response(status_code=401)
    grading_id = await run_in_threadpool(_find_grading, visit)
    if board.listeners[person.id] >= MOST_OF_PERSON:
        return Response(status_code=429)
    events = _send_places(board, person.id, grading_id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)


def _find_grading(visit: Visit) -> int:
    """The latest grading of an attempt that this person may see."""
    with visit.site.reading() as connection:
        return find_attempt(visit, connection).grading_id


async def _send_places(board: Board, person_id: int, grading_id: int) -> AsyncIterator[str]:
    """An event for each change, and a comment now and then, so that proxies keep the line open."""
    board.listeners[person_id] += 1
    began_s = sent_s = time.monotonic()
    sent = ""
    try:
        yield "retry: 2000\n\n"
        while True:
            place = (await board.read(began_s)).get(grading_id)
            text = json.dumps(_describe(place))
            if text != sent or time.monotonic() > sent_s + BEAT_SECONDS:
                yield f"data: {text}\n\n" if text != sent else ": waiting\n\n"
                sent, sent_s = text, time.monotonic()
            if place is None:
                return
            await asyncio.sleep(POLL_SECONDS)
    finally:
        board.listeners[person_id] -= 1


def _describe(place: Place | None) -> dict[str, object]:
    if place is None:
        return {"state": State.DONE.value, "text": ""}
    text = format_stage(place.stage) if place.state is State.RUNNING else ""
    return {"state": place.state.value, "text": text or format_place(place.ahead, place.wait_s)}
