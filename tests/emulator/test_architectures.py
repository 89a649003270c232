"""Differences from sm_75 to sm_120: constant bank 0, the window of shared memory, forms of
addresses and instructions."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator import FaultKind
from grader.emulator.layouts.execution import LOCAL_WINDOW
from tests.support.assembler import build, launch

OLDER = ("sm_75", "sm_80", "sm_86", "sm_89")
THREAD_AND_OUTPUT = """
    S2R R0,SR_TID.X
    MOV R2,c[0x0][0x160]
    MOV R3,c[0x0][0x164]
    IMAD.WIDE.U32 R2,R0,0x4,R2
"""


def outputs(body: str, arch: str, *, shared_bytes: int = 0) -> np.ndarray:
    """The words that a warp stores: R4 of each thread."""
    address = "[R2]" if arch == "sm_75" else "[R2.64]"
    kernel = build(
        f"{THREAD_AND_OUTPUT}{body}\n STG.E {address},R4\n EXIT",
        arch=arch,
        shared_bytes=shared_bytes,
    )
    return launch(kernel, {"out": np.zeros(32, dtype=np.uint32)}).arrays["out"]


@pytest.mark.parametrize("arch", OLDER)
def test_parameters_start_at_0x160(arch: str) -> None:
    assert (outputs("MOV R4,R0", arch) == np.arange(32)).all()


@pytest.mark.parametrize("arch", OLDER)
def test_shared_memory_starts_at_0(arch: str) -> None:
    exchanged = "STS [R0.X4],R0\n IADD3 R5,-R0,0x1f,RZ\n LDS R4,[R5.X4]"
    assert (outputs(exchanged, arch, shared_bytes=128) == np.arange(32)[::-1]).all()


def test_a_scaled_address_beyond_shared_memory_is_a_fault() -> None:
    kernel = build("S2R R0,SR_TID.X\n LDS R4,[R0.X8+0x10]\n EXIT", arch="sm_80", shared_bytes=256)
    fault = launch(kernel, {}, check=False).outcome.fault
    assert fault is not None
    assert (fault.kind, fault.address, fault.thread) == (FaultKind.OUT_OF_BOUNDS, 256, (30, 0, 0))


@pytest.mark.parametrize("arch", OLDER)
def test_generic_addresses_of_shared_memory_begin_at_the_constant_banks_address(arch: str) -> None:
    address = "[R6]" if arch == "sm_75" else "[R6.64]"
    body = (
        "STS [R0.X4],R0\n MOV R6,c[0x0][0x18]\n MOV R7,c[0x0][0x1c]\n IMAD.WIDE.U32 R6,R0,0x4,R6\n"
        f" LD.E R4,{address}"
    )
    assert (outputs(body, arch, shared_bytes=128) == np.arange(32)).all()


@pytest.mark.parametrize(
    ("arch", "place"),
    [
        ("sm_75", 0x118),
        ("sm_80", 0x208),
        ("sm_90", 0x118),
        ("sm_90", 0x18),
        ("sm_100", 0x28),
        ("sm_120", 0x0),
    ],
)
def test_words_of_the_system_that_only_other_architectures_have_are_not_known(
    arch: str, place: int
) -> None:
    kernel = build(f"LDC R0,c[0x0][{place:#x}]\nEXIT", arch=arch, shared_bytes=4)
    assert kernel.unknown == {0: f"LDC of c[0x0][{place:#x}]"}


@pytest.mark.parametrize("arch", ["sm_100", "sm_120"])
@pytest.mark.parametrize(
    ("place", "word"), [(0x360, 32), (0x364, 1), (0x370, 1), (0x2FC, LOCAL_WINDOW), (0x37C, 48)]
)
def test_the_system_keeps_its_words_elsewhere_since_sm_100(
    arch: str, place: int, word: int
) -> None:
    text = f"""
    S2R R0,SR_TID.X
    LDCU.64 UR4,c[0x0][0x358]
    LDC.64 R2,c[0x0][0x380]
    IMAD.WIDE.U32 R2,R0,0x4,R2
    LDC R4,c[0x0][{place:#x}]
    STG.E desc[UR4][R2.64],R4
    EXIT
    """
    kernel = build(text, arch=arch, local_bytes=40)
    assert set(launch(kernel, {"out": np.zeros(32, dtype=np.uint32)}).arrays["out"]) == {word}


def test_sm_75_adds_a_narrow_register_to_a_wide_uniform_one() -> None:
    body = (
        "ULDC.64 UR4,c[0x0][0x160]\n IMAD.SHL.U32 R5,R0,0x4,RZ\n LDG.E R4,[R5.U32+UR4]\n IADD3"
        " R4,R4,R0,RZ"
    )
    assert (outputs(body, "sm_75") == np.arange(32)).all()


def test_an_address_of_two_registers_of_unknown_widths_is_unsupported() -> None:
    (what,) = build("LDG.E R4,[R5+UR4]\nEXIT", arch="sm_75").unknown.values()
    assert what == "LDG.E with an address of two registers of unknown widths"


def test_lepc_without_an_operand_is_its_own_address() -> None:
    assert (outputs("LEPC R4", "sm_75") == 0x40).all()


def test_sm_75_truncates_to_half_with_hadd2() -> None:
    body = "MOV R6,0x477fffff\n HADD2 R4,R6.F32,-RZ.H0_H0"
    assert (
        outputs(body, "sm_75") == 0x7BFF7BFF
    ).all()  # 65535.99...; to nearest it would be infinite


@pytest.mark.parametrize(("branch", "together"), [("BRA.DIV", True), ("BRA.CONV", False)])
def test_branches_on_convergence_without_named_lanes_ask_for_all(
    branch: str, together: bool
) -> None:
    split = f"""
    MOV R4,0x0
    {branch} other
    MOV R4,0x1
    other: NOP
    """
    assert (outputs(split, "sm_75") == together).all()


def test_a_guarded_warpsync_is_skipped_where_the_guard_fails() -> None:
    body = """
    ISETP.GE.U32.AND P0,PT,R0,0x10,PT
    ISETP.GE.U32.AND P1,PT,R0,0x20,PT
    MOV R4,0x1
    BSSY B0,joined
    @P0 BRA upper
    @P1 WARPSYNC 0xffffffff
    MOV R4,0x2
    upper: BSYNC B0
    joined: IADD3 R4,R4,0x1,RZ
    """
    assert outputs(body, "sm_80").tolist() == [3] * 16 + [2] * 16
