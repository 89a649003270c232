"""The galleries: small kernels that read memory in all the ways of a course, executed and counted
on the emulated device.

A file of `gallery/` holds the kernels of one gallery. Its reads, addresses and counters come from
the same run: each kernel keeps the addresses of its access in `place`, and no other access of the
kernel reads the gallery's memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from grader.cpp.cursor import did_you_mean
from grader.cpp.types import size_of
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.errors import GraderError, UsageError
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import find_toolchain
from grader.messages.hidden import describe_mistake
from grader.records import (
    SECTOR_BYTES,
    Binary,
    Counters,
    DeviceBuffer,
    Launch,
    LaunchResult,
    Memory,
    Program,
    Role,
    RunLimits,
    Submission,
    ToolLimits,
)
from grader.report.access_layout import LANES, LINE_BYTES
from grader.report.access_pictures import Exhibit, Gallery
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.resolve import ResolvedPlan, resolve_plan
from grader.toolchain.compile import compile_submission

GALLERIES: Mapping[str, tuple[Memory, str]] = {
    "coalescing": (Memory.GLOBAL, "the sectors of global memory that a warp's read moves"),
    "banks": (Memory.SHARED, "the wavefronts that a warp's read of shared memory takes"),
}
"""The galleries: the file of that name in `gallery/`, its memory, and its subject."""

LIMITS = RunLimits(warp_instructions=10**6, wall_seconds=60.0)
WORDS = 1 << 16
"""Number of floats, and of doubles, that the kernels may read."""
MOST_THREADS = 1024
BUFFERS = (
    DeviceBuffer("in", "float32", (WORDS,), Role.INPUT),
    DeviceBuffer("in64", "float64", (WORDS,), Role.INPUT),
    DeviceBuffer("out", "float32", (4 * MOST_THREADS,), Role.OUTPUT),
    DeviceBuffer("out64", "float64", (MOST_THREADS,), Role.OUTPUT),
    DeviceBuffer("place", "uint64", (MOST_THREADS,), Role.OUTPUT),
)

KERNEL = re.compile(
    r"^// (?P<title>.+)\n(?P<code>// launch: (?P<name>\w+)<<<.*\n__global__ (?:.*\n)*?\})$",
    re.MULTILINE,
)
_ACCESS = re.compile(r"^ *const (?P<type>\w+) \*p = (?P<pointer>.+);$", re.MULTILINE)


@dataclass(frozen=True)
class Sketch:
    """A kernel of a gallery's file: its source text with its launch line, the read of a thread as
    code, and the bytes of its element."""

    name: str
    title: str
    kernel: str
    access: str
    element_bytes: int


def read_sketches(gallery: str) -> dict[str, Sketch]:
    """The kernels of a gallery by name. UsageError where there is no such gallery."""
    if gallery not in GALLERIES:
        message = f"there is no gallery {gallery!r}{did_you_mean(gallery, GALLERIES)}"
        advice = f"There are: {', '.join(GALLERIES)}. `grade gallery` shows their kernels."
        raise UsageError(message, advice)
    text = read_gallery_file(gallery)
    return {match["name"]: _read_sketch(match) for match in KERNEL.finditer(text)}


def _read_sketch(kernel: re.Match[str]) -> Sketch:
    access = _ACCESS.search(kernel["code"])
    assert access is not None, kernel["name"]
    pointer, size_bytes = access["pointer"], size_of(access["type"])
    assert size_bytes is not None, kernel["name"]
    read = pointer[1:] if pointer.startswith("&") else f"*{pointer}"
    return Sketch(kernel["name"], kernel["title"], kernel["code"], read, size_bytes)


def run_gallery(gallery: str, name: str | None = None, *, gpu: str, cache: Path) -> Gallery:
    """Executes the kernels of a gallery, or the named kernel, on the emulated GPU with this id.
    UsageError for an unknown gallery or kernel; GraderError if a kernel does not run."""
    sketches = read_sketches(gallery)
    if name is not None and name not in sketches:
        message = f"there is no {name!r} in the gallery {gallery}{did_you_mean(name, sketches)}"
        raise UsageError(message, f"`grade gallery` lists all: {', '.join(sketches)}.")
    device, memory = EmulatedDevice(gpu, threads=1), GALLERIES[gallery][0]
    binary, launches = compile_gallery(gallery, device, cache)
    names = {kernel.symbol: kernel.name for kernel in binary.kernels}
    exhibits = tuple(
        _run(device, sketches[names[launch.symbol]], binary, launch, memory)
        for launch in launches
        if name in (None, names[launch.symbol])
    )
    info = device.info.description
    return Gallery(gallery, memory, info, _read_helpers(gallery), exhibits)


def _read_helpers(gallery: str) -> str:
    """The functions of all kernels: the text between first comment and first kernel."""
    text = read_gallery_file(gallery)
    first = KERNEL.search(text)
    assert first is not None, gallery
    return text[: first.start()].partition("\n\n")[2].strip()


def read_gallery_file(name: str) -> str:
    """The text of a file of `gallery/`."""
    file = resources.files("grader.explore") / "gallery" / f"{name}.cu"
    return file.read_text(encoding="utf-8")


def compile_gallery(
    gallery: str, device: EmulatedDevice, cache: Path, *, buffers: Sequence[DeviceBuffer] = BUFFERS
) -> tuple[Binary, tuple[Launch, ...]]:
    """The machine code of a file of `gallery/`, and the launches of its launch lines. GraderError
    if it does not compile."""
    tools = find_toolchain(prefer_wheel=True, cache=cache, isolated=False)
    source = Submission(f"{gallery}.cu", "", read_gallery_file(gallery))
    binary = compile_submission(
        source,
        nvcc=tools.nvcc,
        nvdisasm=tools.nvdisasm,
        arch=device.info.arch,
        run=tools.run,
        limits=ToolLimits(),
        cache=cache,
    )
    if not isinstance(binary, Binary):
        failure = describe_mistake(binary)
        reason = f"{failure.message}\n{failure.detail}"
        raise GraderError(f"the gallery {gallery} does not compile: {reason}")
    plan = read_plan(source)
    assert isinstance(plan, Plan), plan
    resolved = resolve_plan(
        plan,
        sizes={},
        macros={},
        buffers=buffers,
        kernels=binary.kernels,
        limits=device.info.limits,
        source=source.text,
    )
    assert isinstance(resolved, ResolvedPlan), resolved
    return binary, resolved.launches


def _run(
    device: EmulatedDevice, sketch: Sketch, binary: Binary, launch: Launch, memory: Memory
) -> Exhibit:
    program = Program(sketch.name, binary, (launch,), BUFFERS)
    # No thread is at address 0, which marks threads that read nothing.
    contents = {buffer.name: np.zeros(buffer.shape, buffer.dtype) for buffer in BUFFERS}
    execution, outputs = device.run(program, contents, limits=LIMITS)
    if execution.failure is not None:
        reason = SubmissionError(execution.failure)
        raise GraderError(f"the kernel {sketch.name} does not run: {reason}")
    places = outputs["place"][: launch.block.volume].tolist()
    addresses = tuple(place or None for place in places)
    requests, passes, ideal = _COUNT[memory](execution.launches[0])
    starts = range(0, len(addresses), len(LANES))
    warps = [addresses[start : start + len(LANES)] for start in starts]
    read = [set(_bytes_of(warp, sketch.element_bytes)) for warp in warps]
    return Exhibit(
        sketch.name,
        sketch.title,
        sketch.access,
        sketch.kernel,
        (launch.block.x, launch.block.y, launch.block.z),
        sketch.element_bytes,
        addresses,
        requests,
        passes,
        ideal,
        bytes_used=sum(map(len, read)),
        bytes_moved=passes * (SECTOR_BYTES if memory is Memory.GLOBAL else LINE_BYTES),
        lines_touched=sum(len({byte // LINE_BYTES for byte in each}) for each in read) / requests,
    )


def _bytes_of(warp: tuple[int | None, ...], element_bytes: int) -> Iterator[int]:
    for address in warp:
        if address is not None:
            yield from range(address, address + element_bytes)


def _count_global(launch: LaunchResult) -> tuple[int, int, int]:
    counters = launch.counters
    return (
        counters.global_load_requests,
        counters.global_load_sectors,
        counters.global_load_sectors_ideal,
    )


def _count_shared(launch: LaunchResult) -> tuple[int, int, int]:
    """The counters of the reading line: stores that fill the tile have the same counter."""
    reading = (line.counters for line in launch.lines if line.counters.shared_load_instructions)
    counters = sum(reading, Counters())
    return (
        counters.shared_load_instructions,
        counters.shared_load_wavefronts,
        counters.shared_wavefronts_ideal,
    )


_COUNT = {Memory.GLOBAL: _count_global, Memory.SHARED: _count_shared}
