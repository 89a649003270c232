"""Loads and stores: widths, order of conflicting stores, requests and sectors, and shared memory
between launches and blocks."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator import GlobalMemory
from grader.emulator.run.memory import ALIGNMENT, RED_ZONE
from tests.support.assembler import build, launch

HEAD = """S2R R0,SR_TID.X
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    LDC.64 R4,c[0x0][0x218]
    ISETP.LT.U32.AND P0,PT,R0,{active:#x},PT
"""
WIDTHS = {".U8": 1, ".S8": 1, ".U16": 2, ".S16": 2, "": 4, ".64": 8, ".128": 16}
CACHE_HINTS = [
    "CONSTANT",
    "STRONG.GPU",
    "STRONG.SM",
    "STRONG.SYS",
    "EF",
    "EL",
    "NA",
    "LTC128B",
    "EFL2",
    "ELL2",
]


def program(body: str, *, active: int = 32) -> str:
    """R0 thread, R2 address of `out`, R4 address of `in`, P0 true in the first `active` threads."""
    return HEAD.format(active=active) + body + "\n    EXIT\n"


def random_bytes(count: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 256, count, dtype=np.uint8)


# --- widths ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", [False, True], ids=["together", "apart"])
@pytest.mark.parametrize("through_shared", [False, True], ids=["global", "shared"])
@pytest.mark.parametrize("name", WIDTHS)
def test_a_copy_of_each_width_moves_every_byte(
    name: str, through_shared: bool, split: bool
) -> None:
    """Copies 32 elements, in reverse order, directly or through shared memory; diverged warps copy
    only the first 20."""
    width = WIDTHS[name]
    stored = name.replace("S", "U")
    reverse = (
        f"IADD3 R1,-R0,0x1f,RZ\n    IMAD.WIDE.U32 R2,R0,{width:#x},R2\n    IMAD.WIDE.U32"
        f" R4,R1,{width:#x},R4\n"
    )
    shared = (
        f"LEA R6,R0,0x400,{width.bit_length() - 1:#x}\n    STS{stored} [R6],R8\n    LDS{name}"
        " R8,[R6]\n"
        if through_shared
        else ""
    )
    copy = (
        f"    LDG.E{name} R8,desc[UR4][R4.64]\n    {shared}    STG.E{stored} desc[UR4][R2.64],R8\n"
    )
    branch = "BSSY B0,join\n    @!P0 BRA meet\n" if split else ""
    body = f"    {reverse}    {branch}{copy}{'meet: BSYNC B0' if split else ''}\njoin: NOP"
    data, copied = random_bytes(32 * width), 20 if split else 32
    ran = launch(
        build(program(body, active=20), shared_bytes=512), {"out": np.zeros_like(data), "in": data}
    )
    want = data.reshape(32, width)[::-1].copy()
    want[copied:] = 0
    assert np.array_equal(ran.arrays["out"].reshape(32, width), want)


@pytest.mark.parametrize("threads", [32, 20])
@pytest.mark.parametrize("stride", [32, 0])
def test_32_bytes_are_moved_through_two_groups_of_registers(stride: int, threads: int) -> None:
    """Loads name the upper group first, stores the lower group."""
    body = f"""
    IMAD.WIDE.U32 R2,R0,0x20,R2
    IMAD.WIDE.U32 R4,R0,{stride:#x},R4
    @P0 LDG.E.ENL2.256 R12,R20,desc[UR4][R4.64]
    @P0 STG.E.ENL2.256 desc[UR4][R2.64],R20,R12"""
    data = random_bytes(32 * 32)
    ran = launch(build(program(body, active=threads)), {"out": np.zeros_like(data), "in": data})
    want = np.zeros((32, 32), dtype=np.uint8)
    want[:threads] = data.reshape(32, 32)[:threads] if stride else data[:32]
    assert np.array_equal(ran.arrays["out"].reshape(32, 32), want)
    loads, stores = (
        next(each for each in ran.outcome.counts if each.space == "global" and each.load is load)
        for load in (True, False)
    )
    assert (loads.requests, loads.passes) == (1, threads if stride else 1)
    assert (stores.requests, stores.passes, stores.bytes) == (1, threads, 32 * threads)


NARROW = [("U8", np.uint8), ("S8", np.int8), ("U16", np.uint16), ("S16", np.int16)]


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(("name", "dtype"), NARROW)
def test_narrow_loads_extend_to_32_bits(name: str, dtype: type[np.integer], space: str) -> None:
    width = np.dtype(dtype).itemsize
    shared = (
        f"LEA R6,R0,0x400,{width - 1:#x}\n    STS.U{8 * width} [R6],R8\n    MOV R8,RZ\n   "
        f" LDS.{name} R8,[R6]"
    )
    through = shared if space == "shared" else "NOP"
    body = f"""    IMAD.WIDE.U32 R4,R0,{width:#x},R4
    IMAD.WIDE.U32 R2,R0,0x4,R2
    LDG.E.{name} R8,desc[UR4][R4.64]
    {through}
    STG.E desc[UR4][R2.64],R8"""
    data = random_bytes(32 * width).view(dtype)
    ran = launch(
        build(program(body), shared_bytes=64), {"out": np.zeros(32, dtype=np.int32), "in": data}
    )
    assert ran.arrays["out"].tolist() == data.astype(np.int64).astype(np.int32).tolist()


def test_lanes_that_do_not_load_keep_their_registers() -> None:
    body = """    IMAD.WIDE.U32 R4,R0,0x10,R4
    IMAD.WIDE.U32 R2,R0,0x10,R2
    MOV R8,0x1
    MOV R9,0x2
    MOV R10,0x3
    MOV R11,0x4
    @P0 LDG.E.128 R8,desc[UR4][R4.64]
    STG.E.128 desc[UR4][R2.64],R8"""
    data = np.arange(100, 228, dtype=np.int32)
    ran = launch(build(program(body, active=7)), {"out": np.zeros_like(data), "in": data})
    assert ran.arrays["out"].reshape(32, 4).tolist() == [
        *data.reshape(32, 4)[:7].tolist(),
        *[[1, 2, 3, 4]] * 25,
    ]


@pytest.mark.parametrize("hint", CACHE_HINTS)
def test_cache_hints_change_no_result(hint: str) -> None:
    body = f"""    IMAD.WIDE.U32 R4,R0,0x4,R4
    IMAD.WIDE.U32 R2,R0,0x4,R2
    LDG.E.{hint} R8,desc[UR4][R4.64]
    STG.E.{hint} desc[UR4][R2.64],R8"""
    data = random_bytes(128)
    ran = launch(build(program(body)), {"out": np.zeros_like(data), "in": data})
    assert np.array_equal(ran.arrays["out"], data)


ADDRESSES = [
    ("desc[UR4][R4.64]", "IMAD.WIDE.U32 R4,R0,0x4,R4"),
    ("desc[UR4][R4.64+0x40]", "IADD3 R1,R0,-0x10,RZ\n    IMAD.WIDE R4,R1,0x4,R4"),
    ("desc[UR4][R4.64+-0x40]", "IADD3 R1,R0,0x10,RZ\n    IMAD.WIDE R4,R1,0x4,R4"),
    ("desc[UR4][R4.U32+UR6]", "ULDC.64 UR6,c[0x0][0x218]\n    IMAD.SHL.U32 R4,R0,0x4,RZ"),
    (
        "desc[UR4][R4.64+UR6]",
        "UMOV UR6,0x40\n    UMOV UR7,URZ\n    IADD3 R1,R0,-0x10,RZ\n    IMAD.WIDE R4,R1,0x4,R4",
    ),
]


@pytest.mark.parametrize(("address", "setup"), ADDRESSES, ids=[address for address, _ in ADDRESSES])
def test_global_addresses_of_every_form(address: str, setup: str) -> None:
    body = (
        f"    IMAD.WIDE.U32 R2,R0,0x4,R2\n    {setup}\n    LDG.E R8,{address}\n    STG.E"
        " desc[UR4][R2.64],R8"
    )
    data = random_bytes(128)
    if "U32" in address:
        body = body.replace("R4.U32+UR6", "R4.U32+UR6.64")
    ran = launch(build(program(body)), {"out": np.zeros_like(data), "in": data})
    assert np.array_equal(ran.arrays["out"], data)


SHARED_ADDRESSES = ["[R6+0x400]", "[R6+UR6]", "[R7]", "[R7+UR7+-0x10]"]


@pytest.mark.parametrize("address", SHARED_ADDRESSES)
def test_shared_addresses_of_every_form(address: str) -> None:
    body = f"""    IMAD.WIDE.U32 R2,R0,0x4,R2
    IMAD.SHL.U32 R6,R0,0x4,RZ
    IADD3 R7,R6,0x400,RZ
    UMOV UR6,0x400
    UMOV UR7,0x10
    STS {address},R0
    MOV R8,0x63
    LDS R8,[R7]
    STG.E desc[UR4][R2.64],R8"""
    ran = launch(
        build(program(body), shared_bytes=128),
        {"out": np.zeros(32, dtype=np.int32), "in": np.zeros(1)},
    )
    assert ran.arrays["out"].tolist() == list(range(32))


LOCAL = """    LDC R1,c[0x0][0x28]
    S2R R7,SR_CTAID.X
    LEA R7,R7,R0,0x6
    IADD3 R1,R1,-0x40,RZ
    MOV R8,R7
    IADD3 R9,R7,0x100,RZ
    IADD3 R10,R7,0x200,RZ
    IADD3 R11,R7,0x300,RZ
    BSSY B0,join
    @!P0 BRA meet
    STL.128 [R1+0x10],R8
    STL.U8 [R1+0x23],R7
    STL.64 [R1+0x28],R10
meet: BSYNC B0
join: STL [R1],R7
    LDL R12,[R1]
    LDL.64 R14,[R1+0x10]
    LDL R16,[R1+0x1c]
    LDL.S8 R17,[R1+0x23]
    MOV R13,R14
    MOV R14,R15
    MOV R15,R16
    IMAD.WIDE.U32 R2,R7,0x14,R2
    STG.E desc[UR4][R2.64],R12
    STG.E desc[UR4][R2.64+0x4],R13
    STG.E desc[UR4][R2.64+0x8],R14
    STG.E desc[UR4][R2.64+0xc],R15
    STG.E desc[UR4][R2.64+0x10],R17"""


def test_every_thread_has_local_memory_of_its_own() -> None:
    """The first 40 of 64 threads of each block fill it, on a separate path."""
    kernel = build(program(LOCAL, active=40), local_bytes=64)
    ran = launch(
        kernel,
        {"out": np.zeros((192, 5), dtype=np.int32), "in": np.zeros(1)},
        block=(64, 1, 1),
        grid=(3, 1, 1),
    )
    got = ran.arrays["out"].reshape(3, 64, 5)
    thread = np.arange(192).reshape(3, 64)
    assert np.array_equal(got[..., 0], thread)
    filled = np.stack(
        [thread, thread + 0x100, thread + 0x300, thread.astype(np.int8).astype(int)], axis=-1
    )
    assert np.array_equal(got[:, :40, 1:], filled[:, :40])


# --- who wins -------------------------------------------------------------------------------------


WINNERS = {"": 0, ".U8": 0, ".U16": 0, ".64": 16, ".128": 24}
"""For 32 lanes that store to one address: the lane whose value an H100 keeps, the lowest of the
last phase."""


@pytest.mark.parametrize("width", WINNERS)
def test_the_lowest_lane_of_the_last_phase_wins_in_global_memory(width: str) -> None:
    body = (
        f"    IADD3 R8,R0,0x40,RZ\n    MOV R9,R8\n    MOV R10,R8\n    MOV R11,R8\n    STG.E{width}"
        " desc[UR4][R2.64],R8"
    )
    ran = launch(build(program(body)), {"out": np.zeros(4, dtype=np.int32), "in": np.zeros(1)})
    words = {".64": 2, ".128": 4}.get(width, 1)
    assert ran.arrays["out"].tolist() == [0x40 + WINNERS[width]] * words + [0] * (4 - words)


@pytest.mark.parametrize("width", WINNERS)
def test_the_lowest_lane_of_the_last_phase_wins_in_shared_memory(width: str) -> None:
    body = f"""    IMAD.WIDE.U32 R2,R0,0x4,R2
    MOV R6,RZ
    MOV R7,R0
    MOV R8,R0
    MOV R9,R0
    MOV R10,R0
    STS [R6+0x400],RZ
    STS{width} [R6+0x400],R7
    LDS R8,[R6+0x400]
    STG.E desc[UR4][R2.64],R8"""
    ran = launch(
        build(program(body), shared_bytes=64),
        {"out": np.zeros(32, dtype=np.int32), "in": np.zeros(1)},
    )
    assert ran.arrays["out"].tolist() == [WINNERS[width]] * 32


def test_only_active_lanes_can_win() -> None:
    body = "    ISETP.GT.U32.AND P1,PT,R0,0x4,PT\n    @P1 STG.E desc[UR4][R2.64],R0"
    ran = launch(build(program(body)), {"out": np.zeros(1, dtype=np.int32), "in": np.zeros(1)})
    assert ran.arrays["out"].tolist() == [5]


def test_a_broadcast_reads_one_word_for_all() -> None:
    body = (
        "    IMAD.WIDE.U32 R2,R0,0x10,R2\n    LDG.E.128 R8,desc[UR4][R4.64+0x20]\n    STG.E.128"
        " desc[UR4][R2.64],R8"
    )
    data = np.arange(16, dtype=np.int32)
    ran = launch(build(program(body)), {"out": np.zeros((32, 4), dtype=np.int32), "in": data})
    assert ran.arrays["out"].tolist() == [[8, 9, 10, 11]] * 32


# --- what is counted ------------------------------------------------------------------------------

SECTORS = [
    # elements between lanes, first element, active lanes, width -> sectors, fewest sectors,
    # distinct bytes
    (1, 0, 32, "", 4, 4, 128),
    (1, 1, 32, "", 5, 4, 128),
    (1, 7, 32, "", 5, 4, 128),
    (1, 0, 17, "", 3, 3, 68),
    (1, 0, 1, "", 1, 1, 4),
    (2, 0, 32, "", 8, 4, 128),
    (8, 0, 32, "", 32, 4, 128),
    (100, 3, 32, "", 32, 4, 128),
    (0, 5, 32, "", 1, 1, 4),
    (1, 0, 32, ".64", 8, 8, 256),
    (1, 1, 32, ".64", 9, 8, 256),
    (2, 0, 16, ".64", 8, 4, 128),
    (1, 0, 32, ".128", 16, 16, 512),
    (1, 0, 32, ".U8", 1, 1, 32),
    (1, 3, 32, ".U8", 2, 1, 32),
    (16, 0, 32, ".U16", 32, 2, 64),
]


@pytest.mark.parametrize(
    ("stride", "first", "active", "width", "sectors", "fewest", "distinct"), SECTORS
)
@pytest.mark.parametrize("load", [True, False], ids=["load", "store"])
def test_requests_sectors_and_bytes(
    stride: int,
    first: int,
    active: int,
    width: str,
    sectors: int,
    fewest: int,
    distinct: int,
    load: bool,
) -> None:
    size = WIDTHS[width]
    access = (
        f"LDG.E{width} R8,desc[UR4][R4.64+{first * size:#x}]"
        if load
        else f"STG.E{width} desc[UR4][R4.64+{first * size:#x}],R8"
    )
    body = f"    IMAD.WIDE.U32 R4,R0,{stride * size:#x},R4\n    @P0 {access}"
    ran = launch(
        build(program(body, active=active)),
        {"out": np.zeros(1), "in": np.zeros(16384, dtype=np.uint8)},
    )
    counts = next(counts for counts in ran.outcome.counts if counts.space == "global")
    assert counts.load is load
    assert (counts.executed, counts.threads, counts.requests) == (1, 32, 1)
    assert (counts.passes, counts.passes_ideal, counts.bytes) == (sectors, fewest, distinct)


def test_an_access_without_active_lanes_is_executed_but_is_no_request() -> None:
    body = "    @P0 LDG.E R8,desc[UR4][R4.64]\n    @P0 LDS R9,[R0+0x400]"
    ran = launch(build(program(body, active=0)), {"out": np.zeros(1), "in": np.zeros(1)})
    for counts in ran.outcome.counts:
        if counts.space:
            assert (counts.executed, counts.requests, counts.passes, counts.passes_ideal) == (
                1,
                0,
                0,
                0,
            )


def test_counts_add_up_over_warps_and_blocks_that_touch_different_patterns() -> None:
    """Even blocks load consecutive words, odd blocks every eighth: 4 and 32 sectors per warp."""
    body = """    S2R R1,SR_CTAID.X
    LOP3.LUT R6,R1,0x1,RZ,0xc0,!PT
    IMAD R6,R6,0x7,RZ
    IADD3 R6,R6,0x1,RZ
    IMAD R6,R6,R0,RZ
    IMAD.WIDE.U32 R4,R6,0x4,R4
    LDG.E R8,desc[UR4][R4.64]"""
    for host_threads in (1, 3):
        ran = launch(
            build(program(body)),
            {"out": np.zeros(1), "in": np.zeros(1024, dtype=np.int32)},
            grid=(10, 1, 1),
            block=(64, 1, 1),
            threads=host_threads,
        )
        counts = next(counts for counts in ran.outcome.counts if counts.space == "global")
        assert (counts.requests, counts.passes, counts.passes_ideal) == (20, 10 * 4 + 10 * 32, 80)


# --- shared memory of blocks ----------------------------------------------------------------------


def test_shared_memory_of_every_block_starts_as_nan() -> None:
    body = """    S2R R1,SR_CTAID.X
    LEA R1,R1,R0,0x5
    IMAD.WIDE.U32 R2,R1,0x4,R2
    IMAD.SHL.U32 R6,R0,0x4,RZ
    LDS R8,[R6+0x400]
    STS [R6+0x400],R0
    STG.E desc[UR4][R2.64],R8"""
    ran = launch(
        build(program(body), shared_bytes=128),
        {"out": np.zeros(320, dtype=np.float32), "in": np.zeros(1)},
        grid=(10, 1, 1),
    )
    assert np.isnan(ran.arrays["out"]).all()


# --- the address space ----------------------------------------------------------------------------


def test_buffers_are_aligned_and_apart() -> None:
    memory = GlobalMemory({"a": 1, "b": 513, "c": 4096})
    a, b, c = (memory.regions[name] for name in "abc")
    assert all(region.address % ALIGNMENT == 0 for region in (a, b, c))
    assert all(memory.view(name).ctypes.data % ALIGNMENT == 0 for name in "abc")
    assert b.address - a.address >= 1 + RED_ZONE
    assert c.address - b.address >= 513 + RED_ZONE


def test_the_nearest_buffer_has_the_least_distance_from_the_address() -> None:
    memory = GlobalMemory({"a": 1000, "b": 1000})
    a, b = memory.regions["a"], memory.regions["b"]
    assert memory.nearest(a.address) == (a, 0)
    assert memory.nearest(a.address - 4) == (a, -4)
    assert memory.nearest(a.address + 1000) == (a, 1000)
    assert memory.nearest(b.address - 1) == (b, -1)
    assert memory.nearest(0) is None
    assert memory.nearest(a.address + (1 << 40)) is None


def test_buffers_beyond_the_window_are_refused() -> None:
    with pytest.raises(MemoryError, match="emulated device has"):
        GlobalMemory({"a": 3 << 30, "b": 3 << 30})


def test_bytes_of_a_generic_access_count_as_global_wherever_they_lie() -> None:
    """As in Nsight Compute: 16 lanes store 64 bytes to global memory, 16 others share 8 words of
    shared memory."""
    body = """    LOP3.LUT R8,R0,0x7,RZ,0xc0,!PT
    SHF.L.U32 R9,R8,0x2,RZ
    IMAD.WIDE.U32 R6,R0,0x4,R2
    @!P0 IADD3 R6,R9,0x400,RZ
    @!P0 MOV R7,0x7f10
    ST.E desc[UR4][R6.64],R0"""
    text = program(body, active=16)
    ran = launch(
        build(text, shared_bytes=64),
        {"out": np.zeros(32, dtype=np.uint32), "in": np.zeros(1, dtype=np.uint32)},
    )
    assert ran.arrays["out"].tolist() == [*range(16), *[0] * 16]
    line = next(number for number, line in enumerate(text.splitlines(), start=1) if "ST.E" in line)
    counts = ran.at_line(line)
    assert (counts.space, counts.requests, counts.bytes) == ("global", 1, 64 + 32)
