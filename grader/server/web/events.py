"""Server-sent events: the place and the step of a grading while a student waits.

One task reads all places from the database, and only while somebody listens; so two hundred
listeners cost as much as one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from grader.server import queue
from grader.server.records import Place, State
from grader.server.web.site import Site, format_wait
from grader.server.web.visits import Visit, open_visit
from grader.server.web.work_pages import find_attempt

POLL_SECONDS = 0.5
BEAT_SECONDS = 15.0
MOST_OF_PERSON = 8
"""Open streams of a person: a page has one."""


@dataclass
class Board:
    """The places of all gradings, and the listeners."""

    site: Site
    places: Mapping[int, Place] = field(default_factory=dict)
    version: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    listeners: dict[int, int] = field(default_factory=dict)

    async def watch(self) -> None:
        """Reads the places until it is cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if not self.listeners:
                continue
            try:
                self.places = await run_in_threadpool(self._read)
            except SQLAlchemyError:
                continue  # the next turn tries again; listeners keep the last places
            self.version += 1
            async with self.changed:
                self.changed.notify_all()

    def _read(self) -> Mapping[int, Place]:
        with self.site.reading() as connection:
            return queue.read_places(connection, self.site.settings.workers)


async def stream_attempt(request: Request) -> Response:
    """The events of an attempt until its verdict."""
    visit = await open_visit(request)
    board: Board = request.app.state.board
    person = visit.person
    if person is None:
        return Response(status_code=401)
    grading_id = await run_in_threadpool(_find_grading, visit)
    if board.listeners.get(person.id, 0) >= MOST_OF_PERSON:
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
    board.listeners[person_id] = board.listeners.get(person_id, 0) + 1
    seen, sent = board.version, ""
    try:
        yield "retry: 2000\n\n"
        while True:
            fresh = await _wait_for(board, seen)
            if not fresh:
                yield ": waiting\n\n"
                continue
            seen = board.version
            place = board.places.get(grading_id)
            text = json.dumps(_describe(place))
            if text != sent:
                sent = text
                yield f"data: {text}\n\n"
            if place is None:
                return
    finally:
        board.listeners[person_id] -= 1
        if not board.listeners[person_id]:
            del board.listeners[person_id]


async def _wait_for(board: Board, seen: int) -> bool:
    """Waits for places newer than `seen`; False after a while without any."""
    async with board.changed:
        try:
            wait = board.changed.wait_for(lambda: board.version > seen)
            return await asyncio.wait_for(wait, BEAT_SECONDS)
        except TimeoutError:
            return False


def _describe(place: Place | None) -> dict[str, object]:
    if place is None:
        return {"state": State.DONE.value, "text": ""}
    if place.state is State.RUNNING:
        return {"state": place.state.value, "text": f"Grading: {place.stage or 'starting'}"}
    number = f"{place.ahead} before you" if place.ahead else "you are next"
    wait = f", {format_wait(place.wait_s)}" if place.wait_s is not None else ""
    return {"state": place.state.value, "text": f"Waiting: {number}{wait}"}
