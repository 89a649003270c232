"""Mistakes in host code as sentences, each with its next step: a row per kind."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from grader.records.programs import Frame, HostFinding, HostMistake, HostPlace


class _Row(NamedTuple):
    """`message` is filled with the facts; `advice` is the next step."""

    message: str
    advice: str


ROWS: Mapping[str, _Row] = {
    "leak": _Row(
        "{bytes} bytes of {call} are never freed",
        "Free the memory before the program ends.",
    ),
    "double_free": _Row("{call} frees memory that is freed already", "Free each pointer once."),
    "invalid_free": _Row(
        "{call} gets a pointer that no allocation returned",
        "Free the pointer that the allocation returned, by the function that belongs to it.",
    ),
    "use_after_free": _Row(
        "{call} uses memory that is freed already", "Free the memory after its last use."
    ),
    "copy_beyond_allocation": _Row(
        "{call} touches {bytes} bytes, and the allocation has {available} there",
        "Compare the size with that of the allocation: elements times sizeof(type)?",
    ),
    "wrong_direction": _Row(
        "{call} copies {real}, and the call names {given}",
        "Name the real direction, or use cudaMemcpyDefault.",
    ),
    "early_read": _Row(
        "host code {access}s the destination of {call} before the copy is complete",
        "Synchronise the stream before the host reads.",
    ),
    "early_write": _Row(
        "host code changes the source of {call} before the copy is complete",
        "Synchronise the stream before the host writes to the source again.",
    ),
    "early_managed_read": _Row(
        "host code reads managed memory before the kernel that writes it is complete",
        "Call cudaDeviceSynchronize between the launch and the read.",
    ),
    "unsynchronized": _Row(
        "the program ends before {call} is complete, and no call waits for it",
        "Call cudaDeviceSynchronize, and check its result.",
    ),
    "unchecked_error": _Row(
        "{call} returned {error}, and the program did not check it",
        "Compare the result of each call with cudaSuccess; after a launch, call cudaGetLastError.",
    ),
    "missing_dependency": _Row(
        "nothing orders {call} after {other}{other_place}, and both use the same {bytes} bytes",
        "Record an event after the first in its stream, and let the second's stream wait for it:"
        " cudaEventRecord, cudaStreamWaitEvent.",
    ),
    "device_pointer_on_host": _Row(
        "host code {access}s memory of the device at {address}",
        "Copy the data to the host by cudaMemcpy first, or use managed memory.",
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
