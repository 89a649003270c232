"""Messages about modules and launches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf

from grader.cuda.channel import BadMessage, Message, file_of
from grader.cuda.images import BadImage, parse_jit, read_image
from grader.cuda.images import link as link_images
from grader.cuda.launch_groups import Request
from grader.cuda.launches import Done, Failed, Status
from grader.cuda.modules import Module
from grader.cuda.ordering import Operation
from grader.cuda.session import TEXT_BYTES, Held, Session
from grader.cuda.wire import Arithmetic, Kind
from grader.emulator import TAIL_LAUNCH, DeviceLaunch, join_touched

MOST_MODULES = 10_000
MOST_HELD = 4096
"""Launches that wait for their execution."""


def load(session: Session, message: Message) -> None:
    device = session.device(message.number("device"))
    image = message.read_files(1)[0]
    try:
        if len(session.modules) >= MOST_MODULES:
            raise BadImage(Status.OUT_OF_MEMORY, "There are too many modules.")
        jit = parse_jit(message.text)
        cubin, log = read_image(image, jit, arch=session.gpu.arch, tools=session.tools)
        module = Module(session.loaded, cubin, device, session.window, session.tools)
    except BadImage as problem:
        log = "".join(f"log {line}\n" for line in problem.log.splitlines())
        text = log.encode("utf-8", "replace")[:TEXT_BYTES]
        session.channel.answer(Kind.LOAD, text, status=problem.status, text_bytes=len(text))
        return
    session.modules[session.loaded] = module
    lines = [*module.describe(), *(f"log {line}" for line in log.splitlines())]
    text = "".join(f"{line}\n" for line in lines).encode()
    session.loaded += 1
    session.note(session.timeline.call)
    if len(text) <= TEXT_BYTES:
        session.channel.answer(Kind.LOAD, text, module=module.number, text_bytes=len(text))
        return
    with file_of(text) as file:
        session.channel.answer(
            Kind.LOAD, b"", (file,), attached=1, module=module.number, text_bytes=len(text)
        )


def link(session: Session, message: Message) -> None:
    images = message.read_files(message.number("count"))
    try:
        jit = parse_jit(message.text)
        cubin, log = link_images(images, jit, arch=session.gpu.arch, tools=session.tools)
    except BadImage as problem:
        text = problem.log.encode()[:TEXT_BYTES]
        session.channel.answer(Kind.LINK, text, status=problem.status, text_bytes=len(text))
        return
    text = log.encode()[:TEXT_BYTES]
    with file_of(cubin) as file:
        session.channel.answer(Kind.LINK, text, (file,), text_bytes=len(text))


def library_call(session: Session, message: Message) -> None:
    """A function of cuBLAS or cuRAND, which the program has computed."""
    stream, device = message.number("stream"), session.device(message.number("device"))
    operations, size = float(message.record["operations"]), float(message.record["bytes"])
    arithmetic, name = message.number("arithmetic"), message.text
    if arithmetic not in tuple(Arithmetic) or not (0 <= operations < inf and 0 <= size < inf):
        raise BadMessage("A library's function has no time.")
    act = partial(session.timeline.library, stream, device, name, Arithmetic(arithmetic))
    session.note(partial(act, operations, size))


def unload(session: Session, message: Message) -> None:
    module = session.modules.pop(message.number("module"), None)
    if module is None:
        raise BadMessage(f"There is no module {message.number('module')}.")
    module.unload()


def launch(session: Session, message: Message) -> None:
    module = session.modules.get(message.number("module"))
    device, index = session.device(message.number("device")), message.number("kernel")
    if module is None or index >= len(module.kernels) or module.device != device:
        raise BadMessage(f"There is no kernel {index} in this module of device {device}.")
    if message.number("parameter_bytes") != len(message.rest):
        raise BadMessage("The parameters of a launch have a wrong size.")
    if device in session.stickies:
        return
    operation = session.ordering.issue(
        message.number("stream"), device, lambda: f"kernel {module.name(index)}"
    )
    request = Request(
        module,
        index,
        message.number("stream"),
        message.site,
        message.triple("grid"),
        message.triple("block"),
        message.triple("cluster"),
        message.number("dynamic_shared"),
        bool(message.number("cooperative")),
        message.rest,
        session.arrived,
        operation is not None,
    )
    session.arrived += 1
    if len(message.rest) > module.parameter_bytes(index):
        raise BadMessage("The parameters of a launch are larger than the kernel's.")
    if number := message.number("number"):
        if number in session.held or len(session.held) >= MOST_HELD:
            raise BadMessage(f"The launch {number} cannot wait.")
        session.hold(number, Held(request, operation))
    elif act := _run(session, request, operation):
        session.note(act)


def execute(session: Session, message: Message) -> None:
    held = session.held.pop(message.number("number"), None)
    if held is None:
        return  # its device had an error before the call
    request = held.request
    if request.module.device not in session.stickies and (
        act := _run(session, request, held.operation)
    ):
        held.note = act
        if not session.settings.model:
            act()
    held.executed = True


def _run(
    session: Session, request: Request, operation: Operation | None
) -> Callable[[], None] | None:
    """Runs a launch, and then those by its device code, each before those that it launches itself.
    Returns the act that passes them to the timeline."""
    ran: list[Done] = []
    acts: list[Callable[[], None]] = []
    waiting, last = deque([request]), deque[Request]()
    try:
        while waiting or last:
            done = session.launches.run((waiting or last).popleft())
            ran.append(done)
            acts.append(_ran(session, done))
            for each in done.launched:
                later = last if each.stream == TAIL_LAUNCH else waiting
                later.append(_follow(done.request, each))
    except Failed as failed:
        _failed(session, request, failed)
    session.ordering.complete(operation, join_touched([done.touched for done in ran]))

    def pass_on() -> None:
        for act in acts:
            act()

    return pass_on if acts else None


def _follow(parent: Request, launch: DeviceLaunch) -> Request:
    """The request of a launch by device code. Raises Failed."""
    try:
        index = parent.module.find_kernel(launch.kernel)
    except KeyError:
        raise Failed(Status.INVALID_VALUE, sticky=False) from None
    return replace(
        parent,
        index=index,
        grid=launch.grid,
        block=launch.block,
        cluster=(0, 0, 0),
        dynamic_shared=launch.dynamic_shared_bytes,
        cooperative=False,
        parameters=launch.parameters[: parent.module.parameter_bytes(index)],
    )


def _ran(session: Session, done: Done) -> Callable[[], None]:
    request, group = done.request, done.group
    if done.printed:
        session.printed.append(done.printed.encode("utf-8", "replace"))
    number, name = session.launches.count - 1, group.ready.kernel.name
    stream, device = request.stream, request.module.device
    if session.settings.model:
        find_ms: Callable[[], float | None] = partial(group.ms, done.instructions)
    else:
        find_ms = partial(float, done.wall_ms)
    act = partial(session.timeline.launch, stream, device, find_ms, name, number)
    return partial(act, share=group.share)


def _failed(session: Session, request: Request, failed: Failed) -> None:
    if failed.printed:
        session.printed.append(failed.printed.encode("utf-8", "replace"))
    if failed.text:
        session.complaints.append(failed.text.encode("utf-8", "replace"))
    if failed.sticky:
        session.stickies[request.module.device] = failed.status
    else:
        session.error = failed.status
    if failed.stop is not None:
        message = session.ended.keep_failure(failed.stop)
        if session.settings.folder is None or failed.status == Status.NOT_SUPPORTED:
            session.complaints.append(f"{message}\n".encode("utf-8", "replace"))
