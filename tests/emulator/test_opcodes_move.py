"""Moves between register files, special registers, constants, lanes of a warp and predicates."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grader.emulator.codegen.opcodes.atomics import ATOMICS
from grader.emulator.codegen.opcodes.barriers import BARRIERS
from grader.emulator.codegen.opcodes.collective import COLLECTIVE
from grader.emulator.codegen.opcodes.control import CALLS, CONTROL
from grader.emulator.codegen.opcodes.copies import COPIES
from grader.emulator.codegen.opcodes.load_store import GENERIC, MEMORY
from grader.emulator.codegen.opcodes.move import MOVE
from tests.support.assembler import build, launch
from tests.support.opcode_rows import (
    CONSTANT,
    LANE_FORMS,
    MASK,
    UNIFORM,
    Lane,
    Row,
    Wrote,
    check_rows,
    groups,
    lanes_of,
    pair,
    run_rows,
    uncovered,
)

CONSTANT_BYTES = CONSTANT.to_bytes(8, "little")


def part(first: int, count: int, *, signed: bool = False) -> int:
    """Some bytes of the constant at c[0x0][0x220]."""
    return int.from_bytes(CONSTANT_BYTES[first : first + count], "little", signed=signed)


def load_part(name: str, at: int) -> Row:
    """A load of a part of a constant word; `name` is U8, S8, U16 or S16."""
    value = part(at, int(name[1:]) // 8, signed=name[0] == "S")
    return Row(f"LDC.{name} R12,c[0x0][{0x220 + at:#x}]", lambda x: value)


CONSTANTS = [
    *(load_part(name, at) for name in ("U8", "S8") for at in range(8)),
    *(load_part(name, at) for name in ("U16", "S16") for at in (0, 2, 4, 6)),
    Row("LDC R12,c[0x0][0x220]", lambda x: part(0, 4)),
    Row("LDC R12,c[0x0][0x224]", lambda x: part(4, 4)),
    Row("LDC R12,c[0x0][RZ+0x224]", lambda x: part(4, 4)),
    Row("LDC.64 R12,c[0x0][0x220]", lambda x: Wrote(part(0, 4), part(4, 4))),
    Row("LDC RZ,c[0x0][0x220]", lambda x: Wrote()),
]
"""Blocks have 32 threads (lanes) or 1 thread (uniform rows); the operands determine the number of
blocks."""

MOVES = [
    Row("MOV R12,R4", lambda x: x.a),
    Row("MOV R12,UR10", lambda x: UNIFORM),
    Row("MOV R12,-0x7fff8000", lambda x: 0x80008000),
    Row("MOV R12,c[0x0][0x224]", lambda x: part(4, 4)),
    Row("MOV R12,c[0x0][0x0]", lambda x: 32),
    Row("MOV.64 R12,R4", lambda x: pair(x.ab)),
    Row("MOV.64 R12,0xb3a73ce2ff2", lambda x: pair(0xB3A73CE2FF2)),
    Row("MOV.64 R12,UR10", lambda x: pair(UNIFORM)),
    Row("CS2R R12,SRZ", lambda x: Wrote(0, 0)),
    Row("CS2R R12,SR_PM0", lambda x: Wrote(0, 0)),
    Row("CS2R.32 R12,SR_PM7", lambda x: 0),
    Row("S2R R12,SR_SMEMSZ", lambda x: 1024),
    Row("CS2R.32 R12,SRZ", lambda x: 0),
    Row("S2R R12,SRZ", lambda x: 0),
    Row("S2R R12,SR_TID.Y", lambda x: 0),
    *CONSTANTS,
]


def gathered(x: Lane, mask: int, byte: int) -> int:
    """P0 and P1 in the bits that the mask names, the other bits from a."""
    chosen = mask << 8 * byte
    return x.a & ~chosen | (chosen & (x.p | x.q << 1) << 8 * byte)


def bit(word: int, index: int) -> bool:
    return bool(word >> index & 1)


def gather(byte: int) -> Row:
    return Row(f"P2R.B{byte} R12,PR,R4,0x3", lambda x: gathered(x, 3, byte))


def scatter(byte: int) -> Row:
    return Row(
        f"R2P PR,R4.B{byte},0xc",
        lambda x: Wrote(p=bit(x.a, 2 + 8 * byte), q=bit(x.a, 3 + 8 * byte)),
    )


def scatter_one(byte: int) -> Row:
    return Row(f"R2P.B{byte} PR,R4,0x4", lambda x: Wrote(p=bit(x.a, 2 + 8 * byte)))


PREDICATES = [
    Row("P2R R12,PR,R4,0x3", lambda x: gathered(x, 3, 0)),
    Row("P2R.B0 R12,PR,R4,0x2", lambda x: gathered(x, 2, 0)),
    *(gather(byte) for byte in (1, 2, 3)),
    Row("R2P PR,R4,0xc", lambda x: Wrote(p=bit(x.a, 2), q=bit(x.a, 3))),
    Row("R2P PR,R4,0x8", lambda x: Wrote(q=bit(x.a, 3))),
    *(scatter(byte) for byte in range(4)),
    *(scatter_one(byte) for byte in range(4)),
]
UNIFORM_MOVES = [
    Row("UMOV UR12,UR4", lambda x: x.a),
    Row("UMOV UR12,0x3f800000", lambda x: 0x3F800000),
    Row("UMOV.64 UR12,UR4", lambda x: pair(x.ab)),
    Row("UMOV.64 UR12,0xfffffffffffffffd", lambda x: pair(-3)),
    Row("CS2UR UR12,SRZ", lambda x: Wrote(0, 0)),
    Row("CS2UR.32 UR12,SRZ", lambda x: 0),
    Row("LDCU.128 UR12,c[0x0][0x220]", lambda x: Wrote(part(0, 4), part(4, 4))),
    Row("S2UR UR12,SR_CgaCtaId", lambda x: 0),
    Row("S2UR UR12,SR_CTAID.Z", lambda x: 0),
    *(
        Row(text.replace(" R", " UR").replace("[RZ+", "["), row.expected)
        for row in CONSTANTS
        for text in (f"U{row.text}", row.text.replace("LDC", "LDCU"))
    ),
]
EDGES = [0, 1, 2, 0xFF, 0x0C0C0C0C, 0x04080C00, 0x12345678, 0x7FFFFFFF, 0x80000000, MASK]
GROUPS = groups([*MOVES, *PREDICATES])
UNIFORM_GROUPS = groups(UNIFORM_MOVES)
LANES = lanes_of(EDGES)


@pytest.mark.parametrize("form", LANE_FORMS)
@pytest.mark.parametrize("base", GROUPS)
def test_lanes(base: str, form: str) -> None:
    check_rows(GROUPS[base], LANES, form)


@pytest.mark.parametrize("base", UNIFORM_GROUPS)
def test_uniform_values(base: str) -> None:
    check_rows(UNIFORM_GROUPS[base], LANES, "together" if base == "S2UR" else "guarded")


SPILLS = """
    S2R R0,SR_TID.X
    UMOV UR6,0x12345678
    UISETP.EQ.U32.AND UP1,UPT,UR6,0x12345678,UPT
    UP2UR.B3 UR6,UPR,UR6,0xff
    UISETP.EQ.U32.AND UP1,UPT,UR6,0x1,UPT
    UISETP.EQ.U32.AND UP2,UPT,UR6,UR6,UPT
    UR2UP UPR,UR6.B3
    UP2UR UR7,UPR,URZ,0x7f
    RPCMOV.32 Rpc.LO,R0
    RPCMOV.32 Rpc.HI,R1
    ISETP.NE.U32.AND P0,PT,R0,0x5,PT
    @P0 BRA others
    MOV R5,0x63
    RPCMOV.32 Rpc.LO,R5
    others: RPCMOV.32 R4,Rpc.LO
    MOV R5,UR6
    MOV R6,UR7
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R0,0xc,R2
    STG.E desc[UR4][R2.64],R4
    STG.E desc[UR4][R2.64+0x4],R5
    STG.E desc[UR4][R2.64+0x8],R6
    EXIT
"""


def test_uniform_predicates_and_words_are_put_aside() -> None:
    """UP1 in bits 24 to 31 with a true bit, and back; a word of each lane in the return-address
    register."""
    got = launch(build(SPILLS), {"out": np.zeros((32, 3), dtype=np.uint32)}).arrays["out"]
    assert got[:, 0].tolist() == [0x63 if lane == 5 else lane for lane in range(32)]
    assert set(got[:, 1].tolist()) == {0x82345678}
    assert set(got[:, 2].tolist()) == {2}


# --- special registers ----------------------------------------------------------------------------

WHO = """
    S2R R4,SR_TID.X
    S2R R5,SR_TID.Y
    S2R R6,SR_TID.Z
    S2R R7,SR_CTAID.X
    S2R R8,SR_CTAID.Y
    S2UR UR9,SR_CTAID.Z
    S2UR UR8,SR_CTAID.X
    S2R R10,SR_LANEID
    LDC R11,c[0x0][0x0]
    LDC R12,c[0x0][0x4]
    IMAD R13,R6,R12,R5
    IMAD R13,R13,R11,R4          # the thread in its block
    LDC R14,c[0x0][0xc]
    LDC R15,c[0x0][0x10]
    MOV R9,UR9
    IMAD R16,R9,R15,R8
    IMAD R16,R16,R14,R7          # the block in its grid
    LDC R17,c[0x0][0x8]
    IMAD R18,R11,R12,RZ
    IMAD R18,R18,R17,RZ
    IMAD R16,R16,R18,R13
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R16,0x20,R2
    STG.E.128 desc[UR4][R2.64],R4
    MOV R12,R8
    MOV R13,R9
    MOV R14,R10
    MOV R15,UR8
    STG.E.128 desc[UR4][R2.64+0x10],R12
    EXIT
"""


@pytest.mark.parametrize(
    ("block", "grid"), [((5, 3, 2), (3, 2, 2)), ((64, 1, 1), (2, 1, 3)), ((1, 1, 33), (1, 5, 1))]
)
def test_threads_know_their_place(block: tuple[int, int, int], grid: tuple[int, int, int]) -> None:
    threads, blocks = int(np.prod(block)), int(np.prod(grid))
    run = launch(
        build(WHO),
        {"who": np.zeros((blocks * threads, 8), dtype=np.uint32)},
        block=block,
        grid=grid,
    )
    z, y, x = np.meshgrid(*(np.arange(n) for n in reversed(block)), indexing="ij")
    bz, by, bx = np.meshgrid(*(np.arange(n) for n in reversed(grid)), indexing="ij")
    per_thread = [np.tile(axis.reshape(-1), blocks) for axis in (x, y, z)]
    per_block = [np.repeat(axis.reshape(-1), threads) for axis in (bx, by, bz)]
    lane = np.tile(np.arange(threads) % 32, blocks)
    want = np.stack(
        [*per_thread, per_block[0], per_block[1], per_block[2], lane, per_block[0]], axis=1
    )
    assert np.array_equal(run.arrays["who"], want)


LANE_MASKS = """
    S2R R0,SR_TID.X
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R0,0x14,R2
    S2R R4,SR_EQMASK
    S2R R5,SR_LTMASK
    S2R R6,SR_LEMASK
    S2R R7,SR_GTMASK
    S2R R8,SR_GEMASK
    STG.E desc[UR4][R2.64],R4
    STG.E desc[UR4][R2.64+0x4],R5
    STG.E desc[UR4][R2.64+0x8],R6
    STG.E desc[UR4][R2.64+0xc],R7
    STG.E desc[UR4][R2.64+0x10],R8
    EXIT
"""


def test_lane_masks() -> None:
    """PTX ISA, `%lanemask_eq` and related registers."""
    masks = (
        launch(build(LANE_MASKS), {"out": np.zeros((64, 5), dtype=np.uint32)}, block=(64, 1, 1))
        .arrays["out"]
        .tolist()
    )
    for thread, (equal, less, less_or_equal, greater, greater_or_equal) in enumerate(masks):
        assert equal == 1 << thread % 32
        assert less == equal - 1
        assert less_or_equal == less | equal
        assert greater == less_or_equal ^ MASK
        assert greater_or_equal == less ^ MASK


# --- between lanes --------------------------------------------------------------------------------

WARP = [
    Lane(0x100 + lane, (7 * lane + 3) % 40, 0, 0, lane * 5 % 4 | (4 if lane in (0, 3, 31) else 0))
    for lane in range(32)
]
FULL = 0x1F


def shuffled(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The source lane, and whether it is in the segment: `shfl.sync` of the PTX ISA, line by
    line."""
    bval, cval, mask = b & 31, c & 31, c >> 8 & 31
    highest, lowest = lane & mask | cval & ~mask, lane & mask
    match mode:
        case "UP":
            source, valid = lane - bval, lane - bval >= highest
        case "DOWN":
            source, valid = lane + bval, lane + bval <= highest
        case "BFLY":
            source, valid = lane ^ bval, lane ^ bval <= highest
        case _:
            source = lowest | bval & ~mask
            valid = source <= highest
    return (source if valid else lane), valid


SHUFFLES = [("UP", 0x0), ("DOWN", FULL), ("BFLY", FULL), ("IDX", FULL)]
SHUFFLES += [("UP", 0x1800), ("DOWN", 0x181F), ("BFLY", 0x101F), ("IDX", 0x1C1F), ("IDX", 0x0007)]


@pytest.mark.parametrize(("mode", "c"), SHUFFLES)
def test_shuffles(mode: str, c: int) -> None:
    rows = [
        Row(f"SHFL.{mode} P2,R12,R4,{b},{c:#x}", lambda x: 0) for b in ("R5", "0x1", "0x5", "0x10")
    ]
    for row, got in zip(rows, run_rows(rows, WARP, "together"), strict=True):
        for index, (lane, (word, _, valid, _)) in enumerate(zip(WARP, got, strict=True)):
            b = lane.b if ",R5," in row.text else int(row.text.split(",")[3], 16)
            source, inside = shuffled(mode, index, b, c)
            assert (word, valid) == (WARP[source].a, inside), (row.text, index)


@pytest.mark.parametrize("form", ["guarded", "apart"])
def test_a_shuffle_leaves_lanes_that_skip_it_alone(form: str) -> None:
    (got,) = run_rows([Row("SHFL.IDX P2,R12,R4,0x5,0x1f", lambda x: 0)], WARP, form)
    assert [word for word, *_ in got] == [0x5E5E5E5E if lane.skips else WARP[5].a for lane in WARP]
    assert [valid for _, _, valid, _ in got] == [not lane.skips for lane in WARP]


VOTES: dict[str, Callable[[Lane], bool]] = {
    "P0": lambda x: x.p,
    "!P0": lambda x: not x.p,
    "PT": lambda x: True,
    "!PT": lambda x: False,
}


@pytest.mark.parametrize("form", ["together", "apart"])
@pytest.mark.parametrize("source", VOTES)
def test_votes_count_the_lanes_that_take_part(source: str, form: str) -> None:
    holds = VOTES[source]
    here = [index for index, lane in enumerate(WARP) if form == "together" or not lane.skips]
    yes = [index for index in here if holds(WARP[index])]
    ballot = sum(1 << index for index in yes)
    results = {"ANY": bool(yes), "ALL": len(yes) == len(here), "EQ": len(yes) in (0, len(here))}
    rows = [Row(f"VOTE.{mode} R12,P2,{source}", lambda x: 0) for mode in results]
    for (mode, result), got in zip(results.items(), run_rows(rows, WARP, form), strict=True):
        assert {got[index][0] for index in here} == {ballot}, mode
        assert {got[index][2] for index in here} == {result}, mode


VOTE_UNIFORM = """
    S2R R0,SR_TID.X
    ISETP.GE.AND P0,PT,R0,0x1c,PT
    ISETP.GE.AND P1,PT,R0,0x4,PT
    @!P1 EXIT
    VOTEU.ANY UR6,UP0,P0
    VOTEU.ALL UP1,P0
    VOTEU.EQ UP2,P1
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R0,0x10,R2
    MOV R4,UR6
    SEL R5,RZ,0x1,!UP0
    SEL R6,RZ,0x1,!UP1
    SEL R7,RZ,0x1,!UP2
    STG.E.128 desc[UR4][R2.64],R4
    EXIT
"""


def test_a_uniform_vote_counts_living_lanes() -> None:
    run = launch(build(VOTE_UNIFORM), {"out": np.zeros((32, 4), dtype=np.uint32)})
    assert run.arrays["out"][4:].tolist() == [[0xF0000000, 1, 0, 1]] * 28


TO_UNIFORM = """
    S2R R0,SR_TID.X
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R0,0x4,R2
    ISETP.GE.AND P0,PT,R0,0x9,PT
    UMOV UR6,0x63
    BSSY B0,join
    @!P0 BRA skip
    R2UR UR6,R0
skip: BSYNC B0
join: MOV R4,UR6
    STG.E desc[UR4][R2.64],R4
    EXIT
"""


def test_a_register_becomes_uniform_by_its_lowest_lane_on_the_path() -> None:
    run = launch(build(TO_UNIFORM), {"out": np.zeros(32, dtype=np.uint32)})
    assert run.arrays["out"].tolist() == [9] * 32


# --- coverage -------------------------------------------------------------------------------------

ELSEWHERE = {
    *(f"VOTE{kind}" for kind in ("", ".ANY", ".ALL", ".EQ", "U", "U.ANY", "U.ALL", "U.EQ")),
    *(f"SHFL{mode}" for mode in ("", ".UP", ".DOWN", ".BFLY", ".IDX")),
    *("R2UR", "R2UR.OR", "R2UR.BROADCAST"),
    *("B2R", "B2R.RESULT", "RPCMOV", "RPCMOV.32"),
    *(f"{base}{byte}" for base in ("UP2UR", "UR2UP") for byte in ("", ".B0", ".B1", ".B2", ".B3")),
}
"""Tested in this file without rows, in test_barriers.py and test_barrier_objects.py; every uniform
row also starts with R2UR."""

CONTROL_AND_MEMORY = {
    "BRA",
    "CALL",
    "RET",
    "EXIT",
    "BSSY",
    "BSYNC",
    "BREAK",
    "WARPSYNC",
    "ENDCOLLECTIVE",
    "BAR",
    "UCGABAR_ARV",
    "UCGABAR_WAIT",
    "BPT",
}
CONTROL_AND_MEMORY |= {
    "NOP",
    "YIELD",
    "MEMBAR",
    "ERRBAR",
    "CGAERRBAR",
    "FENCE",
    "CCTL",
    "CCTLL",
    "ACQBULK",
    "PREEXIT",
    "PMTRIG",
    "NANOSLEEP",
    "BMOV",
    "BRX",
    "LEPC",
}
CONTROL_AND_MEMORY |= {
    "LDG",
    "STG",
    "LDS",
    "STS",
    "LDL",
    "STL",
    "LD",
    "ST",
    "QSPC",
    "LDGSTS",
    "LDGDEPBAR",
    "DEPBAR",
}
CONTROL_AND_MEMORY |= {"ATOMS", "ATOMG", "ATOM", "REDG", "RED", "MATCH", "REDUX", "CREDUX", "ELECT"}
"""Tested in test_divergence.py, test_warps.py, test_barriers.py, test_clusters.py,
test_constants.py, test_faults.py and test_memory.py, or in the corpus."""


def test_every_opcode_and_modifier_has_a_row() -> None:
    assert uncovered(MOVE, [*MOVES, *PREDICATES, *UNIFORM_MOVES], ELSEWHERE) == set()


def test_every_opcode_that_is_no_row_is_known_here() -> None:
    assert {
        *CONTROL,
        *BARRIERS,
        *CALLS,
        *COLLECTIVE,
        *MEMORY,
        *GENERIC,
        *ATOMICS,
        *COPIES,
    } == CONTROL_AND_MEMORY
