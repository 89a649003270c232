"""Indexed constant memory, banks with fixed contents, and jump tables in them."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from grader.emulator import FaultKind
from tests.support.assembler import build, launch

STORE_RESULT = """
    LDC.64 R2,c[0x0][0x210]
    ULDC.64 UR4,c[0x0][0x208]
    IMAD.WIDE.U32 R2,R0,0x4,R2
    STG.E desc[UR4][R2.64],R8
    EXIT
"""


def run(
    body: str,
    *,
    constants: tuple[tuple[int, bytes], ...] = (),
    scalars: tuple[int, ...] = (),
    check: bool = True,
) -> list[int]:
    """R8 of 32 lanes after the body, which starts with the lane's index in R0."""
    kernel = build(f"    S2R R0,SR_TID.X\n{body}{STORE_RESULT}", constants=constants)
    return (
        launch(kernel, {"out": np.zeros(32, dtype=np.int32)}, scalars, check=check)
        .arrays["out"]
        .tolist()
    )


def test_parameters_are_read_with_an_index() -> None:
    got = run(
        "    LOP3.LUT R4,R0,0x1,RZ,0xc0,!PT\n    IMAD R4,R4,0x8,RZ\n    LDC R8,c[0x0][R4+0x218]",
        scalars=(7, 9),
    )
    assert got == [9 if lane % 2 else 7 for lane in range(32)]


def test_block_dimensions_are_at_offset_zero() -> None:
    assert run("    LDC R8,c[0x0][RZ]") == [32] * 32


@pytest.mark.parametrize(
    ("load", "stride", "expected"),
    [
        (
            "LDC R8",
            4,
            lambda lane: int.from_bytes(
                bytes([4 * lane, 4 * lane + 1, 4 * lane + 2, 4 * lane + 3]), "little", signed=True
            ),
        ),
        ("LDC.U8 R8", 1, lambda lane: 128 + lane if lane >= 32 else lane),
        ("LDC.U16 R8", 2, lambda lane: 2 * lane | (2 * lane + 1) << 8),
    ],
)
def test_a_bank_with_contents_is_read_at_every_width(
    load: str, stride: int, expected: object
) -> None:
    body = f"    IMAD R4,R0,{stride:#x},RZ\n    {load},c[0x3][R4]"
    assert callable(expected)
    assert run(body, constants=((3, bytes(range(128))),)) == [expected(lane) for lane in range(32)]


TABLE = ((3, struct.pack("<32I", *range(1000, 1032))),)
"""The words 1000, 1001 ... in bank 3."""


def test_a_warp_reads_constants_at_a_uniform_index() -> None:
    body = "    UMOV UR6,0x18\n    LDCU.64 UR6,c[0x3][UR6+0x10]\n    IADD3 R8,R0,UR6,UR7"
    assert run(body, constants=TABLE) == [1010 + 1011 + lane for lane in range(32)]


def test_a_guarded_load_at_a_uniform_index_keeps_its_register_and_looks_at_none() -> None:
    body = (
        "    UMOV UR6,0x1000\n    UMOV UR8,0x5\n    UISETP.NE.AND UP0,UPT,URZ,URZ,UPT\n"
        "    @UP0 LDCU UR8,c[0x3][UR6]\n    MOV R8,UR8"
    )
    assert run(body, constants=TABLE) == [5] * 32


@pytest.mark.parametrize("index", [0x80, 0x7E, 0xFFFFFFFC])
def test_a_uniform_index_beyond_the_bank_is_a_fault(index: int) -> None:
    kernel = build(f"    UMOV UR6,{index:#x}\n    LDCU UR6,c[0x3][UR6]\n    EXIT", constants=TABLE)
    fault = launch(kernel, {}, check=False).outcome.fault
    assert fault is not None
    assert fault.kind is FaultKind.OUT_OF_BOUNDS


def test_words_that_depend_on_the_cluster_size_are_known_or_unsupported() -> None:
    """%dynamic_smem_size, and the number of blocks in a cluster."""
    text = "CS2R.32 R4,SR_CgaSize\n IMAD R4,R4,-0xa0,RZ\n LDC R5,c[0x0][R4+{place}]\n EXIT"
    assert build(text.format(place="0x2ac"), arch="sm_120").unknown == {}
    assert build(text.format(place="0x2cc"), arch="sm_120").unknown == {2: "LDC of c[0x0][0x2cc]"}


def test_a_narrow_constant_keeps_its_sign() -> None:
    body = "    LDC.S8 R8,c[0x3][R0+0x60]"
    assert run(body, constants=((3, bytes(range(96, 224)) + bytes(32)),)) == [
        value - 256 if value > 127 else value for value in range(192, 224)
    ]


def test_lanes_that_take_no_part_keep_their_register() -> None:
    body = (
        "    MOV R8,0x63\n    ISETP.GE.AND P0,PT,R0,0x10,PT\n    IMAD R4,R0,0x4,RZ\n    @!P0 LDC"
        " R8,c[0x3][R4]"
    )
    bank = struct.pack("<16i", *range(16))
    assert run(body, constants=((3, bank),)) == [*range(16), *[0x63] * 16]


def test_a_constant_beyond_its_bank_is_a_fault() -> None:
    kernel = build(
        "    S2R R0,SR_TID.X\n    IMAD R4,R0,0x4,RZ\n    LDC R8,c[0x3][R4]\n    EXIT",
        constants=((3, bytes(64)),),
    )
    fault = launch(kernel, {"out": np.zeros(1)}, check=False).outcome.fault
    assert fault is not None
    assert (fault.kind, fault.space, fault.line, fault.thread, fault.address) == (
        FaultKind.OUT_OF_BOUNDS,
        "constant",
        3,
        (16, 0, 0),
        64,
    )


@pytest.mark.parametrize(
    ("line", "width", "address"),
    [
        ("FADD R8,R8,c[0x3][0x40]", 4, 64),
        ("ULDC UR8,c[0x3][0x60]", 4, 96),
        ("ULDC.64 UR8,c[0x3][0x3c]", 8, 64),
    ],
)
def test_a_fixed_place_beyond_the_variables_is_a_fault(line: str, width: int, address: int) -> None:
    kernel = build(f"    {line}\n    EXIT", constants=((3, bytes(64)),))
    fault = launch(kernel, {"out": np.zeros(1)}, check=False).outcome.fault
    assert fault is not None
    assert (fault.kind, fault.space, fault.line) == (FaultKind.OUT_OF_BOUNDS, "constant", 1)
    assert (fault.width, fault.address, fault.message) == (width, address, "")


def test_a_bank_without_known_contents_is_unsupported() -> None:
    kernel = build("LDC R8,c[0x4][0x8]\nEXIT")
    assert kernel.unknown == {0: "LDC with constant bank 4"}


JUMPS = """
    LOP3.LUT R4,R0,0x3,RZ,0xc0,!PT
    IMAD R4,R4,0x4,RZ
    LDC R6,c[0x2][R4]
    MOV R7,RZ
    BRX R6,-0x60
    MOV R8,0xa
    BRA 0xb0
    MOV R8,0xb
    BRA 0xb0
    MOV R8,0xc
"""
"""Lines 2 to 11 of the program, offsets 0x10 to 0xa0; the store of the result starts at 0xb0."""


def test_an_indirect_branch_follows_the_jump_table() -> None:
    table = struct.pack("<4I", 0x60, 0x80, 0xA0, 0x60)
    assert run(JUMPS.removeprefix("\n"), constants=((2, table),)) == [
        (10, 11, 12, 10)[lane % 4] for lane in range(32)
    ]


def test_an_indirect_branch_to_where_no_table_points_is_unsupported() -> None:
    body = JUMPS.removeprefix("\n").replace("-0x60", "-0x70")
    kernel = build(
        f"    S2R R0,SR_TID.X\n{body}{STORE_RESULT}",
        constants=((2, struct.pack("<32I", *[0x60] * 32)),),
    )
    fault = launch(kernel, {"out": np.zeros(32, dtype=np.int32)}, check=False).outcome.fault
    assert fault is not None
    assert fault.kind is FaultKind.UNSUPPORTED
