"""Mistakes in host code as sentences, each with its next step: a row per kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from grader.records.programs import Frame, HostFinding, HostMistake, HostPlace


class HostRow(NamedTuple):
    """`message` is filled with the facts; `advice` is the next step. For the documentation: the
    mistake in few words (`cause`), its `meaning`, and an example."""

    message: str
    advice: str
    cause: str
    meaning: str
    code: str


ROWS: Mapping[str, HostRow] = {
    "leak": HostRow(
        "{bytes} bytes of {call} are never freed",
        "Free the memory before the program ends.",
        "memory that is never freed",
        "The program ends without a call that frees the memory.",
        "cudaMalloc(&x, bytes);\nreturn 0;                      // cudaFree(x) is missing",
    ),
    "double_free": HostRow(
        "{call} frees memory that is freed already",
        "Free each pointer once.",
        "memory that is freed twice",
        "A second call frees memory that a first call has freed.",
        "cudaFree(x);\ncudaFree(x);                   // x is freed already",
    ),
    "invalid_free": HostRow(
        "{call} gets a pointer that no allocation returned",
        "Free the pointer that the allocation returned, by the function that belongs to it.",
        "free of a pointer that no allocation returned",
        "The pointer is not the start of an allocation of the same kind.",
        "cudaMalloc(&x, bytes);\ncudaFree(x + 1);               // x itself is the allocation",
    ),
    "use_after_free": HostRow(
        "{call} uses memory that is freed already",
        "Free the memory after its last use.",
        "use of memory that is freed already",
        "A copy or a launch gets memory after the call that frees it.",
        "cudaFree(x);\ncudaMemset(x, 0, bytes);       // x is freed already",
    ),
    "copy_beyond_allocation": HostRow(
        "{call} touches {bytes} bytes, and the allocation has {available} there",
        "Compare the size with that of the allocation: elements times sizeof(type)?",
        "copy beyond the end of an allocation",
        "A copy or memset has more bytes than the allocation has from there on.",
        "cudaMalloc(&x, n);             // bytes, not elements\n"
        "cudaMemcpy(x, host, n * sizeof(float), cudaMemcpyHostToDevice);",
    ),
    "wrong_direction": HostRow(
        "{call} copies {real}, and the call names {given}",
        "Name the real direction, or use cudaMemcpyDefault.",
        "copy with a wrong direction",
        "The direction that the call names is not that between its pointers.",
        "cudaMemcpy(device, host, bytes, cudaMemcpyDeviceToHost);",
    ),
    "early_read": HostRow(
        "host code {access}s the destination of {call} before the copy is complete",
        "Synchronise the stream before the host reads.",
        "host reads before a copy is complete",
        "Host code reads the destination of an asynchronous copy that may still run.",
        "cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream);\n"
        'printf("%f", host[0]);         // no cudaStreamSynchronize(stream)',
    ),
    "early_write": HostRow(
        "host code changes the source of {call} before the copy is complete",
        "Synchronise the stream before the host writes to the source again.",
        "host writes before a copy is complete",
        "Host code changes the source of an asynchronous copy that may still run.",
        "cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, stream);\n"
        "host[0] = 1;                   // no cudaStreamSynchronize(stream)",
    ),
    "early_managed_read": HostRow(
        "host code reads managed memory before the kernel that writes it is complete",
        "Call cudaDeviceSynchronize between the launch and the read.",
        "host reads managed memory too early",
        "Host code reads managed memory that a kernel may still write.",
        'fill<<<16, 256>>>(managed);\nprintf("%d", managed[0]);      // no cudaDeviceSynchronize()',
    ),
    "unsynchronized": HostRow(
        "the program ends before {call} is complete, and no call waits for it",
        "Call cudaDeviceSynchronize, and check its result.",
        "program ends before its work is complete",
        "No call waits for the last kernel or copy before the program ends.",
        "fill<<<16, 256>>>(x);\nreturn 0;                      // no cudaDeviceSynchronize()",
    ),
    "unchecked_error": HostRow(
        "{call} returned {error}, and the program did not check it",
        "Compare the result of each call with cudaSuccess; after a launch, call cudaGetLastError.",
        "error that the program does not check",
        "A call returned an error, and the program went on.",
        "cudaMalloc(&x, 1ull << 50);    // returns cudaErrorMemoryAllocation\n"
        "fill<<<16, 256>>>(x);",
    ),
    "missing_dependency": HostRow(
        "nothing orders {call} after {other}{other_place}, and both use the same {bytes} bytes",
        "Record an event after the first in its stream, and let the second's stream wait for it:"
        " cudaEventRecord, cudaStreamWaitEvent.",
        "nothing orders two operations of streams",
        "Two operations of different streams use the same bytes, at least one of them writes,"
        " and no event or synchronisation orders them.",
        "fill<<<16, 256, 0, first>>>(x);\n"
        "cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, second);",
    ),
    "device_pointer_on_host": HostRow(
        "host code {access}s memory of the device at {address}",
        "Copy the data to the host by cudaMemcpy first, or use managed memory.",
        "host code uses device memory",
        "Host code reads or writes through a pointer to memory of the device.",
        "cudaMalloc(&x, bytes);\nx[0] = 1;                      // only kernels may use x",
    ),
}
_TOOLKIT_PARTS = ("/nvidia/cu", "/cuda-toolkit-", "/usr/include/", "/usr/lib/", "/usr/local/cuda")
_C_START = ("libc-start.c", "libc_start_call_main.h", "pthread_create.c", "clone3.S")
_OWN_LIBRARIES = ("libcuda.so", "libcudart.so", "libc.so", "libstdc++.so", "ld-linux")
_GENERATED = (".stub.c", "crt/link.stub", "cuda_runtime.h")


def describe_host_findings(
    found: Iterable[HostFinding], places: Mapping[Frame, Sequence[HostPlace]]
) -> tuple[HostMistake, ...]:
    """The findings as sentences, equal findings of the same place together."""
    mistakes: dict[HostMistake, int] = defaultdict(int)
    for finding in found:
        stack = _stack_of(finding.frames, places)
        other = _own_place(_stack_of(finding.other_frames, places))
        where = "" if other is None else f" of line {other.line}"
        message, advice = _describe(finding, where)
        place = _own_place(stack)
        mistakes[HostMistake(finding.kind, message, advice, place, stack)] += 1
    return tuple(replace(mistake, count=count) for mistake, count in mistakes.items())


def _stack_of(
    frames: Iterable[Frame], places: Mapping[Frame, Sequence[HostPlace]]
) -> tuple[HostPlace, ...]:
    return tuple(place for frame in frames for place in places.get(frame, ()))


def _own_place(stack: Sequence[HostPlace]) -> HostPlace | None:
    return next(filter(is_own, _skip_stubs(stack)), None)


def _skip_stubs(stack: Sequence[HostPlace]) -> Sequence[HostPlace]:
    """The places from the launch on: nvcc's stubs have the line of the kernel."""
    stubs = [n for n, place in enumerate(stack) if "device_stub" in (place.function or "")]
    return stack[stubs[-1] + 2 :] if stubs else stack


def is_own(place: HostPlace) -> bool:
    """Whether a place is in the program's own code: it has a line outside the headers and libraries
    of the toolkit and the host compiler."""
    outside = (*_TOOLKIT_PARTS, *_OWN_LIBRARIES, *_C_START, *_GENERATED)
    return place.line is not None and not any(part in place.file for part in outside)


def _describe(finding: HostFinding, other_place: str) -> tuple[str, str]:
    numbers = {"bytes": f"{finding.bytes:,}", "address": f"{finding.address:#x}"}
    facts = {**numbers, "other_place": other_place, **finding.facts}
    if "LaunchKernel" in facts.get("call", ""):
        facts["call"] = "the launch"
    row = ROWS.get(finding.kind)
    if row is None:
        listed = ", ".join(f"{name} {value}" for name, value in facts.items())
        return f"{finding.kind.replace('_', ' ')} ({listed})", ""
    return row.message.format_map(defaultdict(lambda: "the call", facts)), row.advice


MOST_SHOWN = 3
"""Mistakes that a hint names."""


def describe_mistakes(mistakes: Sequence[HostMistake]) -> str:
    """The first mistakes with their places and advice; empty where there is none."""
    shown = [describe_mistake(each).removesuffix(".") for each in mistakes]
    more = len(shown) - MOST_SHOWN
    return "; ".join(shown[:MOST_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def describe_mistake(mistake: HostMistake) -> str:
    """Place, mistake and advice."""
    return f"{describe_host_place(mistake)}{mistake.message}. {mistake.advice}"


def describe_host_place(mistake: HostMistake) -> str:
    """`main.cu, line 12: `, or empty where the place is unknown."""
    place = mistake.place
    if place is None or place.line is None:
        return ""
    return f"{place.file.rpartition('/')[2]}, line {place.line}: "
