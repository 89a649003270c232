"""Executes the messages of a program: a function for each kind of message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from grader.cuda.channel import BadMessage, Message
from grader.cuda.launch_actions import execute, launch, library_call, link, load, unload
from grader.cuda.launches import Status
from grader.cuda.memory_actions import (
    allocate,
    copy,
    free,
    limit,
    peer,
    set_memory,
    texture,
    written,
)
from grader.cuda.ordering import Call
from grader.cuda.properties import describe_device
from grader.cuda.session import Session
from grader.cuda.timeline import SyncKind
from grader.cuda.wire import VERSION, Kind, ObjectFlag, Sort
from grader.emulator.run.memory import LIMIT, WINDOW
from grader.records import Frame, HostFinding

MOST_HOST_FINDINGS, MOST_NAMES, MOST_FRAMES = 1000, 10_000, 64
_KINDS: Mapping[int, SyncKind] = {
    Sort.DEVICE: SyncKind.DEVICE,
    Sort.STREAM: SyncKind.STREAM,
    Sort.EVENT: SyncKind.EVENT,
}


def serve(session: Session) -> None:
    """Executes messages until the connection ends; then writes the record."""
    try:
        while serve_one(session):
            pass
    except BadMessage as problem:
        session.ended.problem = str(problem)
    finally:
        session.finish()
        session.channel.connection.close()


def serve_one(session: Session) -> bool:
    """Executes a message; False at the end of the connection. Raises BadMessage."""
    with session.channel.receive() as message:
        if message is None:
            return False
        if (message.kind is Kind.HELLO) != (session.process == 0):
            raise BadMessage("HELLO is not the first message, or not the only one.")
        _ACTIONS[message.kind](session, message)
        return True


def hello(session: Session, message: Message) -> None:
    if message.number("version") != VERSION or message.number("process") == 0:
        raise BadMessage("The program's library has another version.")
    session.process = message.number("process")
    session.channel.answer(
        Kind.HELLO,
        describe_device(session.gpu).encode(),
        (session.window.descriptor,),
        devices=session.settings.devices,
        window=WINDOW << 32,
        window_bytes=LIMIT,
        check=session.settings.check,
        wall_clock=not session.settings.model,
        order_seed=session.settings.order_seed,
    )


def goodbye(session: Session, message: Message) -> None:
    session.answer_with_text(Kind.GOODBYE, session.status(0))


def synchronize(session: Session, message: Message) -> None:
    device = session.device(message.number("device"))
    if message.number("sort") != Sort.NOTHING:
        target = _target(session, message)
        session.ordering.wait(*target)
        session.note(partial(session.timeline.synchronize, *target))
    session.answer_with_text(Kind.SYNCHRONIZE, session.status(device))


def query(session: Session, message: Message) -> None:
    kind, handle, device = _target(session, message)
    session.catch_up()
    done = session.timeline.is_done(kind, handle, device)
    if done:
        session.ordering.wait(kind, handle, device)
    session.channel.answer(Kind.QUERY, status=session.status(device), done=done)


def _target(session: Session, message: Message) -> tuple[SyncKind, int, int]:
    kind = _KINDS.get(message.number("sort"))
    if kind is None:
        raise BadMessage(f"There is no kind {message.number('sort')} of objects.")
    return kind, message.number("handle"), session.device(message.number("device"))


def _event(session: Session, message: Message) -> tuple[int, int, int, bool]:
    """The event, the stream, the device, and whether it is an edge of a graph: it takes no time."""
    event, stream = message.number("event"), message.number("stream")
    return event, stream, session.device(message.number("device")), bool(message.number("mark"))


def record_event(session: Session, message: Message) -> None:
    event, stream, device, free = _event(session, message)
    session.ordering.record_event(event, stream, device)
    session.note(partial(session.timeline.record_event, event, stream, device, free=free))


def wait_for_event(session: Session, message: Message) -> None:
    event, stream, device, free = _event(session, message)
    session.ordering.wait_for_event(stream, event, device)
    session.note(partial(session.timeline.wait_for_event, stream, event, device, free=free))


def host_function(session: Session, message: Message) -> None:
    stream, device = message.number("stream"), session.device(message.number("device"))
    session.note(partial(session.timeline.host_function, stream, device))


def waited(session: Session, message: Message) -> None:
    session.ordering.wait(SyncKind.DEVICE, 0, session.device(message.number("device")))


def call(session: Session, message: Message) -> None:
    found = _parse_finding(message.text, 0, 0)
    session.ordering.call = Call(found.facts.get("call", ""), found.frames)


def elapsed(session: Session, message: Message) -> None:
    session.catch_up()
    found = session.timeline.elapsed(message.number("start"), message.number("end"))
    status = Status.INVALID_VALUE if found is None else 0
    session.channel.answer(Kind.ELAPSED, status=status, milliseconds=found or 0.0)


def host_finding(session: Session, message: Message) -> None:
    finding = _parse_finding(message.text, message.number("address"), message.number("bytes"))
    if finding.kind == "early_managed_read" and session.launches.waited:
        return  # host and kernel communicate by this memory
    if len(session.ended.host_findings) < MOST_HOST_FINDINGS:
        session.ended.host_findings.append(finding)


def name_object(session: Session, message: Message) -> None:
    handle, flags = message.number("handle"), message.number("flags")
    if message.number("sort") == Sort.STREAM and flags & ObjectFlag.NON_BLOCKING:
        session.ordering.non_blocking(handle)
        session.note(partial(session.timeline.non_blocking, handle))
    sort = message.number("sort")
    if sort not in tuple(Sort):
        raise BadMessage(f"There is no kind {sort} of objects.")
    if message.rest and len(session.ended.objects) < MOST_NAMES:
        name = message.text
        session.ended.objects[f"{Sort(sort).name.lower()} {handle}"] = name


def _parse_finding(text: str, address: int, size: int) -> HostFinding:
    """A finding in host code from lines `name=value` and `frame OBJECT OFFSET`."""
    lines = text.splitlines()
    facts = dict(
        line.partition("=")[::2] for line in lines if "=" in line and not line.startswith("frame ")
    )
    kind = facts.pop("kind", "unknown")
    frames: list[Frame] = []
    for line in lines:
        _, _, rest = line.partition("frame ")
        path, _, offset = rest.rpartition(" ")
        if line.startswith("frame ") and offset.isdecimal() and len(frames) < MOST_FRAMES:
            frames.append(Frame(path, int(offset)))
    return HostFinding(kind, address, size, facts, tuple(frames))


_ACTIONS: Mapping[Kind, Callable[[Session, Message], None]] = {
    Kind.HELLO: hello,
    Kind.ALLOCATE: allocate,
    Kind.FREE: free,
    Kind.UNLOAD: unload,
    Kind.LAUNCH: launch,
    Kind.EXECUTE: execute,
    Kind.COPY: copy,
    Kind.SET: set_memory,
    Kind.RECORD_EVENT: record_event,
    Kind.WAIT_FOR_EVENT: wait_for_event,
    Kind.HOST_FUNCTION: host_function,
    Kind.TEXTURE: texture,
    Kind.LIMIT: limit,
    Kind.WRITTEN: written,
    Kind.HOST_FINDING: host_finding,
    Kind.NAME_OBJECT: name_object,
    Kind.PEER: peer,
    Kind.LIBRARY: library_call,
    Kind.WAITED: waited,
    Kind.CALL: call,
    Kind.LOAD: load,
    Kind.SYNCHRONIZE: synchronize,
    Kind.QUERY: query,
    Kind.ELAPSED: elapsed,
    Kind.LINK: link,
    Kind.GOODBYE: goodbye,
}
