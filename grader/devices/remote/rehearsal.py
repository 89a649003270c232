"""A run of an empty kernel before the first submission: it loads and generates all code that runs
of submissions share. Forked workers then begin with it."""

from __future__ import annotations

import socket

from grader.devices.base import Device
from grader.devices.remote.protocol import Answer, Call, Channel
from grader.records import (
    Binary,
    BufferArgument,
    CheckedMode,
    DeviceBuffer,
    Dim3,
    Kernel,
    KernelParameter,
    Launch,
    ModelledMode,
    Program,
    Role,
    RunLimits,
    SassInstruction,
)

_CODE = bytes.fromhex("18790000000000000000000000c00f004d790000000000000000800300ea0f00")
"""The encodings of `NOP` and `EXIT`, which all architectures share."""
_ELEMENTS = 32
_SECONDS = 10.0


def rehearse(device: Device) -> None:
    """Sends the requests of a grading through a channel, and executes them on the device."""
    grader, worker = map(Channel, socket.socketpair())
    request = {
        "program": empty_program(device.info.arch),
        "arrays": {},
        "limits": RunLimits(1000, _SECONDS),
    }
    for mode in (CheckedMode(), ModelledMode(0)):
        grader.send(Call("run", {**request, "mode": mode}, _SECONDS))
        call = worker.receive(max_array_bytes=0)
        assert isinstance(call, Call)
        execution, outputs = device.run(**call.arguments)
        worker.send(Answer("run", (execution, outputs)))  # stays unread
    for end in (grader, worker):
        end.close()


def empty_program(arch: str) -> Program:
    """A launch of one warp that writes nothing; its output is `y`, of 32 floats."""
    kernel = Kernel(
        symbol="empty",
        name="empty",
        parameters=(KernelParameter(0, 8, "float*"),),
        parameter_base=0x210,
        registers=8,
        static_shared_bytes=0,
        local_bytes=0,
        max_threads_per_block=None,
        instructions=(
            SassInstruction(0, None, "NOP", "", 1),
            SassInstruction(16, None, "EXIT", "", 1),
        ),
        encoding=_CODE,
    )
    launch = Launch("empty", Dim3(1, 1, 1), Dim3(32, 1, 1), 0, (BufferArgument("y"),), 1, "")
    buffers = (DeviceBuffer("y", "float32", (_ELEMENTS,), Role.OUTPUT),)
    return Program("rehearsal", Binary(arch, "", b"", (kernel,)), (launch,), buffers)
