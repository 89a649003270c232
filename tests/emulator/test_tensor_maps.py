"""Boxes of tensors by tensor maps: places of their elements, also outside of the tensor, and errors
in maps and places. The corpus has more."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.emulator import FaultKind, make_tensor_map
from grader.records import DeviceBuffer, Execution, Role, RunLimits, TensorMap
from tests.support.device_plans import make_ready

LIMITS = RunLimits(10**8, 60.0)
ROOM = 4096
UNTOUCHED = 0x5A
HEAD = """#include <cuda.h>
__device__ unsigned address_of(const void* p) { return __cvta_generic_to_shared(p); }
#define COPY(text, ...) asm volatile(text :: __VA_ARGS__ : "memory")
extern __shared__ __align__(1024) unsigned char s[];
"""
LOAD = """
__global__ void k(unsigned char* y, const __grid_constant__ CUtensorMap m, int place, int bytes,
                  {coordinates}) {{
    __shared__ unsigned long long object;
    for (int i = threadIdx.x; i < 4096; i += 32) s[i] = 0x5a;
    if (threadIdx.x == 0) {{
        COPY("mbarrier.init.shared.b64 [%0], 1;", "r"(address_of(&object)));
        COPY("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;",
             "r"(address_of(&object)), "r"(bytes));
    }}
    __syncwarp();
    if (threadIdx.x == 0)
        COPY("cp.async.bulk.tensor.{axes}d.shared::cluster.global.tile"
             ".mbarrier::complete_tx::bytes [%0], [%1, {{{numbers}}}], [%2];",
             "r"(address_of(s) + place), "l"(&m), "r"(address_of(&object)), {values});
    COPY("{{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra again; }}",
         "r"(address_of(&object)));
    for (int i = threadIdx.x; i < 4096; i += 32) y[i] = s[i];
}}
"""
STORE = """
__global__ void k(unsigned char* y, const __grid_constant__ CUtensorMap m, int place, int bytes,
                  {coordinates}) {{
    for (int i = threadIdx.x; i < 4096; i += 32) s[i] = y[i] = i * 7 + 3 * (i / 256);
    __syncwarp();
    if (threadIdx.x == 0) {{
        COPY("{name}.tile.bulk_group [%0, {{{numbers}}}], [%1];",
             "l"(&m), "r"(address_of(s) + place), "r"(0), {values});
        COPY("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;", "r"(0));
    }}
}}
"""
COPY_OUT = "cp.async.bulk.tensor.{axes}d.global.shared::cta"


@dataclass(frozen=True)
class Box:
    """A copy: the tensor's type, shape and map, the corner (the slowest axis first), and the place
    in shared memory."""

    dtype: str
    shape: tuple[int, ...]
    map: TensorMap
    corner: tuple[int, ...]
    place: int = 0

    @property
    def taken(self) -> tuple[int, ...]:
        """Elements of a box along each axis; the fastest axis has no steps."""
        counts = [-(-each // step) for each, step in zip(self.map.box, self.map.steps, strict=True)]
        return (*counts[:-1], self.map.box[-1])

    @property
    def size_bytes(self) -> int:
        return int(np.prod(self.taken)) * np.dtype(self.dtype).itemsize


def boxed(
    shape: tuple[int, ...],
    box: tuple[int, ...],
    corner: tuple[int, ...],
    *,
    dtype: str = "int32",
    steps: tuple[int, ...] = (),
    swizzle: int = 0,
    place: int = 0,
    nan: bool = False,
) -> Box:
    map_ = TensorMap(box, steps or (1,) * len(box), swizzle, fills_with_nan=nan)
    return Box(dtype, shape, map_, corner, place)


NUMBERS = (
    "3f800001 1 7fffffff ff812345 3f801000 3f803000 bf800fff 3f802fff"
    " 3000 80200000 7f7fffff 7f801000 7f801fff ff800001 3f801001 407fffff"
)
ROUNDED = (
    "3f800000 0 7fffe000 7fffe000 3f800000 3f804000 bf800000 3f802000"
    " 4000 80200000 7f800000 7fffe000 7fffe000 7fffe000 3f802000 40800000"
)
RAGGED = boxed((62,), (16,), (52,))
"""A box whose size is no multiple of 16 bytes."""
BOXES = [
    boxed((64,), (16,), (8,)),
    boxed((64,), (16,), (-4,)),
    RAGGED,
    boxed((9, 24), (4, 8), (7, 20)),
    boxed((9, 24), (4, 8), (-2, -8), dtype="uint16"),
    boxed((9, 32), (3, 32), (2, 16), dtype="uint8"),
    boxed((9, 32), (16, 32), (-4, 4), dtype="float32", swizzle=128, nan=True),
    boxed((9, 32), (16, 16), (2, 4), dtype="float32", swizzle=64),
    boxed((9, 32), (20, 16), (2, 8), dtype="float16", swizzle=32, nan=True),
    boxed((9, 32), (16, 8), (2, 28), swizzle=128, place=384),
    boxed((6, 10, 12), (2, 6, 8), (3, -1, 8), steps=(1, 3, 1)),
    boxed((6, 10, 12), (5, 6, 8), (2, 5, -2), steps=(2, 4, 1), dtype="float64"),
    boxed((3, 4, 5, 8), (2, 2, 3, 4), (2, -1, 3, 4)),
    boxed((2, 3, 4, 5, 16), (2, 2, 2, 2, 16), (1, 1, -1, 2, 0), dtype="uint8"),
]


STORED = [box for box in BOXES if box != RAGGED and min(box.corner) >= 0] + [
    boxed((9, 24), (4, 8), (0, 0), dtype="uint16"),
    boxed((6, 10, 12), (2, 6, 8), (3, 5, 8), steps=(1, 3, 1)),
    boxed((2, 3, 4, 5, 16), (2, 2, 2, 2, 16), (1, 1, 3, 2, 0), dtype="uint8"),
]


def run(text: str, box: Box, tensor: np.ndarray) -> tuple[Execution, np.ndarray, np.ndarray]:
    """The contents of `y`, and of the tensor, after the kernel."""
    device, axes = EmulatedDevice(threads=1), len(box.shape)
    names = [f"c{axis}" for axis in range(axes)]
    source = text.format(
        axes=axes,
        coordinates=", ".join(f"int {name}" for name in names),
        numbers=", ".join(f"%{3 + axis}" for axis in range(axes)),
        values=", ".join(f'"r"({name})' for name in names),
        name=COPY_OUT.format(axes=axes),
    )
    sizes = dict(
        zip(("place", "bytes", *names), (box.place, box.size_bytes, *box.corner[::-1]), strict=True)
    )
    line = f"// launch: k<<<1, 32, {ROOM}>>>(y, m, {', '.join(sizes)})\n"
    buffers = (
        DeviceBuffer("y", "uint8", (ROOM,), Role.OUTPUT),
        DeviceBuffer("m", box.dtype, box.shape, Role.OUTPUT, tensor_map=box.map),
    )
    program = make_ready(line + HEAD + source, buffers, sizes, device.info).as_program()
    execution, arrays = device.run(program, {"m": tensor}, limits=LIMITS)
    if execution.failure is not None:
        return execution, tensor, tensor
    return execution, arrays["y"], arrays["m"]


def make_tensor(box: Box) -> np.ndarray:
    numbers = np.arange(1, np.prod(box.shape) + 1).reshape(box.shape)
    return (numbers % 251 if box.dtype == "uint8" else numbers).astype(box.dtype)


def places(box: Box) -> list[tuple[int, tuple[int, ...] | None]]:
    """For each element of the box: the byte of shared memory, and its index in the tensor, None
    outside of it."""
    found = []
    mask, size = max(box.map.swizzle_bytes // 16 - 1, 0), np.dtype(box.dtype).itemsize
    row_bytes = box.taken[-1] * size
    pitch = box.map.swizzle_bytes or row_bytes
    for number, at in enumerate(itertools.product(*map(range, box.taken))):
        steps = (*box.map.steps[:-1], 1)
        index = tuple(c + a * step for c, a, step in zip(box.corner, at, steps, strict=True))
        inside = all(0 <= i < extent for i, extent in zip(index, box.shape, strict=True))
        row, column = divmod(number * size, row_bytes)
        byte = box.place + row * pitch + column
        found.append((byte ^ (byte >> 7 & mask) << 4, index if inside else None))
    return found


@pytest.mark.parametrize("box", BOXES, ids=str)
def test_a_box_is_loaded(box: Box) -> None:
    tensor = make_tensor(box)
    execution, got, _ = run(LOAD, box, tensor)
    assert execution.failure is None
    want = np.full(ROOM, UNTOUCHED, dtype=np.uint8)
    size = np.dtype(box.dtype).itemsize
    nan = int.from_bytes(b"\xf7\x7f" * (size // 2), "little") if box.map.fills_with_nan else 0
    for byte, index in places(box):
        element = nan.to_bytes(size, "little") if index is None else tensor[index].tobytes()
        want[byte : byte + size] = np.frombuffer(element, dtype=np.uint8)
    assert (got == want).all()


@pytest.mark.parametrize("box", STORED, ids=str)
def test_a_box_is_stored(box: Box) -> None:
    tensor = make_tensor(box)
    execution, shared, got = run(STORE, box, tensor)
    assert execution.failure is None
    want, size = tensor.copy(), np.dtype(box.dtype).itemsize
    for byte, index in places(box):
        if index is not None:
            want[index] = shared[byte : byte + size].view(box.dtype)[0]
    assert got.tobytes() == want.tobytes()


def test_words_are_rounded_to_tfloat32() -> None:
    """As on an H200."""
    words = np.array([int(word, 16) for word in NUMBERS.split()], dtype=np.uint32)
    map_ = TensorMap((16,), (1,), element="tfloat32")
    _, got, _ = run(LOAD, Box("float32", (16,), map_, (0,)), words.view(np.float32))
    assert [f"{word:x}" for word in got[:64].view(np.uint32)] == ROUNDED.split()


def test_a_copy_counts_as_one_instruction_and_as_no_access() -> None:
    """As Nsight Compute counts on an H200."""
    box = BOXES[2]
    execution, _, _ = run(STORE, box, make_tensor(box))
    counters = execution.launches[0].counters
    assert counters.shared_load_instructions == 0
    assert counters.global_store_bytes == ROOM


def test_a_misaligned_place_is_reported() -> None:
    box = boxed((9, 24), (4, 8), (1, 4), place=64)
    execution, _, _ = run(LOAD, box, make_tensor(box))
    assert FaultKind.MISALIGNED.value in str(execution.failure)


def test_a_misaligned_corner_is_reported() -> None:
    """An H200 reports an illegal instruction."""
    box = boxed((9, 24), (4, 8), (1, 3))
    execution, _, _ = run(LOAD, box, make_tensor(box))
    assert FaultKind.MISALIGNED.value in str(execution.failure)


def test_a_store_before_a_tensor_is_reported() -> None:
    """An H200 reports an illegal instruction, although the box overlaps the tensor."""
    box = boxed((9, 24), (4, 8), (-1, 4))
    execution, _, _ = run(STORE, box, make_tensor(box))
    assert FaultKind.OUT_OF_BOUNDS.value in str(execution.failure)


def test_a_store_ends_with_16_bytes_behind_a_tensors_end() -> None:
    """As on an H200, which reports no error."""
    execution, _, _ = run(STORE, RAGGED, make_tensor(RAGGED))
    assert FaultKind.OUT_OF_BOUNDS.value in str(execution.failure)


def test_a_place_behind_the_blocks_memory_is_reported() -> None:
    box = boxed((9, 24), (4, 8), (1, 4), place=ROOM)
    execution, _, _ = run(STORE, box, make_tensor(box))
    assert FaultKind.OUT_OF_BOUNDS.value in str(execution.failure)


BASE = "34567800 7f12 3a0 10 200 0 0 0 3f 1f 7 0 0 f000000 107 0 400 0 10"
ENCODED = [
    (BASE, "float32", (64, 32, 8), (256, 8192), (16, 8, 2), (1, 1, 1), 0, False),
    (BASE.replace("3a0", "83a0"), "float32", (64, 32, 8), (256, 8192), (16, 8, 2), (1, 1, 1), 0, True),
    (BASE.replace("3a0", "103a0"), "tfloat32", (64, 32, 8), (256, 8192), (16, 8, 2), (1, 1, 1), 0, False),
    (
        "34567800 7f12 3a0 23456789 87654321 0 0 91 3f 1f 7 0 0 f000000 107 0 400 0 10",
        *("float32", (64, 32, 8), (0x1234567890, 0x9876543210), (16, 8, 2), (1, 1, 1), 0, False),
    ),
    (
        "34567800 7f12 3a0 10 200 0 0 0 3f 1f 7 0 0 f000020 107 0 80 0 10",
        *("float32", (64, 32, 8), (256, 8192), (16, 8, 2), (1, 5, 1), 0, False),
    ),
    (
        "24802480 7fd5 61c0 12 1c5 38a 714 0 46 18 1 1 4 f000000 3020406 0 6900 0 400",
        *("int32", (71, 25, 2, 2, 5), (288, 7248, 14496, 28992), (16, 7, 5, 3, 4), (1,) * 5, 3, False),
    ),
    (
        "24803da0 7fd5 520 1b 32c 0 0 0 d3 1d 4 0 0 cf000000 20c 0 3f60 0 10",
        *("bfloat16", (212, 30, 5), (432, 12992), (208, 13, 3), (1, 1, 1), 0, False),
    ),
    (
        "24801450 7fd5 2130 1d 261 984 0 0 70 14 3 1 0 3000002 40107 0 140 0 100",
        *("uint32", (113, 21, 4, 2), (464, 9744, 38976), (4, 8, 2, 5), (3, 1, 1, 1), 1, False),
    ),
    (
        "24801a30 7fd5 40b0 1 13 26 0 0 6 10 1 2 0 f000600 40203 0 180 0 200",
        *("uint16", (7, 17, 2, 3), (16, 304, 608), (16, 4, 3, 5), (1, 1, 1, 4), 2, False),
    ),
]  # fmt: skip
"""The words of the driver's map of a tensor on an H200, followed by zeros; and the tensor."""


@pytest.mark.parametrize("number", range(len(ENCODED)))
def test_a_map_has_the_words_of_the_drivers(number: int) -> None:
    told, element, extents, strides, box, steps, swizzle, nan = ENCODED[number]
    words = [int(word, 16) for word in told.split()]
    made = make_tensor_map(
        words[0] | words[1] << 32,
        element,
        extents=extents,
        strides=strides,
        box=box,
        steps=steps,
        swizzle=swizzle,
        fills_with_nan=nan,
    )
    assert np.frombuffer(made, dtype="<u4").tolist() == words + [0] * (32 - len(words))
