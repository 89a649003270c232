"""Unknown instructions: a launch that reaches such an instruction ends there, others run."""

from __future__ import annotations

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import Fault, FaultKind, KernelCode, Unsupported, translate
from grader.emulator.codegen.unsupported import Unknown, find_unsupported
from tests.support.assembler import assemble, build, launch
from tests.support.lane_programs import STORE, run

START = """\
S2R R0,SR_TID.X
MOV R4,R0
ISETP.GE.AND P0,PT,R0,{first:#x},PT
"""
LINE = 4

UNKNOWN = {
    "UTCHMMA.2CTA R4,R8,R12,R4": "the instruction UTCHMMA.2CTA",
    "MUFU.ACOS R4,R1": "the instruction MUFU.ACOS (its modifier ACOS)",
    "LDS.64 R4,[R2.X32]": "LDS.64 with the address '[R2.X32]'",
    "IADD3 R4,|R1|,R2,R3": "IADD3 with |operand|",
    "LDC R4,c[0x3][0x0]": "LDC with constant bank 3",
    "BSYNC R4": "BSYNC with this barrier",
}
"""Instructions, and their unknown part."""


def stop(line: str, *, first: int) -> Fault:
    """The fault of threads from `first` on that reach an instruction."""
    out = np.zeros(32, dtype=np.int32)
    kernel = build(f"{START.format(first=first)}{line}\n{STORE}")
    fault = launch(kernel, {"out": out}, check=False).outcome.fault
    assert fault is not None
    return fault


@pytest.mark.parametrize("line", UNKNOWN)
def test_the_thread_that_reaches_it_ends_the_launch(line: str) -> None:
    fault = stop(line, first=0)
    assert (fault.kind, fault.message) == (FaultKind.UNSUPPORTED, UNKNOWN[line])
    assert (fault.line, fault.thread) == (LINE, (0, 0, 0))


@pytest.mark.parametrize("line", UNKNOWN)
def test_its_guard_counts(line: str) -> None:
    assert stop(f"@P0 {line}", first=20).thread == (20, 0, 0)
    passed = run(f"{START.format(first=32)}@P0 {line}\n{STORE}")
    assert passed.arrays["out"].tolist() == list(range(32))


def test_words_behind_the_constants_of_the_file_are_reported_as_such() -> None:
    line = "ULDC UR4,c[0x3][0x14]"
    code = KernelCode("kernel", assemble(f"{line}\nEXIT"), 0x210, 0, 0, constants={3: bytes(20)})
    (unknown,) = find_unsupported(code, emulator_runtime())
    assert unknown.what == "ULDC of c[0x3][0x14], behind the 20 bytes of __constant__ variables"


def test_a_branch_goes_past_it() -> None:
    around = f"{START.format(first=0)}@P0 BRA end\nUTCHMMA.2CTA R4,R8,R12,R4\nend: {STORE.strip()}"
    assert run(around).arrays["out"].tolist() == list(range(32))


def test_lanes_that_are_apart_reach_it() -> None:
    apart = "BSSY B0,end\n@!P0 BRA end\nHMMA R4,R8\nend: BSYNC B0"
    fault = stop(apart, first=7)
    assert (fault.line, fault.thread) == (LINE + 2, (7, 0, 0))


@pytest.mark.parametrize("line", ["JMP 0x10", "@P0 BRA.FOO 0x10", "BRA R0,0x10", "RET.ABS R2"])
def test_an_unknown_branch_prevents_translation(line: str) -> None:
    code = KernelCode("kernel", assemble(f"NOP\n{line}\nEXIT"), 0x210, 0, 0)
    with pytest.raises(Unsupported) as caught:
        translate(code, emulator_runtime())
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("UTCHMMA R0\nEXIT", [("UTCHMMA", 1, False)]),
        ("@P0 EXIT\nUTCHMMA R0\nEXIT", [("UTCHMMA", 2, True)]),
        ("@P0 BRA end\nUTCHMMA R0\nend: EXIT", [("UTCHMMA", 2, True)]),
        ("@P0 BRA end\nNOP\nend: UTCHMMA R0\nEXIT", [("UTCHMMA", 3, False)]),
        ("loop: UTCHMMA R0\n@P0 BRA loop\nEXIT", [("UTCHMMA", 1, False)]),
        (
            "@P0 UTCHMMA R0\nBSYNC R4\nEXIT",
            [("UTCHMMA", 1, True), ("BSYNC with this barrier", 2, False)],
        ),
        ("EXIT\nUTCHMMA R0\nEXIT", [("UTCHMMA", 2, True)]),
        ("JMP 0x20\n@P0 UTCHMMA R0\nEXIT", [("JMP", 1, False), ("UTCHMMA", 2, False)]),
        ("BRA R0,0x10\nEXIT", [("BRA with this operand", 1, False)]),
    ],
)
def test_lists_everything_unknown_and_whether_a_launch_may_avoid_it(
    text: str, found: list[tuple[str, int, bool]]
) -> None:
    code = KernelCode("kernel", assemble(text), 0x210, 0, 0)
    assert find_unsupported(code, emulator_runtime()) == tuple(Unknown(*each) for each in found)
