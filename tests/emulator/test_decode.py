"""Instructions in nvdisasm's notation -> typed instructions; unknown forms raise an error with name
and source line."""

from __future__ import annotations

import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import Instruction, KernelCode, Unsupported, translate
from grader.emulator.codegen.opcodes import OPCODES
from grader.emulator.isa.decode import decode
from grader.emulator.isa.operands import Immediate, Predicate, Register
from tests.support.assembler import assemble
from tests.support.unsupported import find_unsupported


def what_is_unknown(line: str) -> str:
    """The unknown part of a kernel with a single instruction (at line 1) and EXIT."""
    return find_unknown(f"{line}\nEXIT", parameter_bytes=0)


def find_unknown(text: str, *, parameter_bytes: int) -> str:
    code = KernelCode("kernel", assemble(text), 0x210, parameter_bytes, 0)
    (unknown,) = find_unsupported(code)
    line, _, what = unknown.partition(": ")
    assert line == "line 1"
    return what


def test_an_opcode_is_its_base_and_its_modifiers() -> None:
    (found,) = decode((Instruction(0x30, "@!P1", "IMAD.WIDE.U32", "R2,R0.reuse,0x4,R2", 7),))
    assert (found.index, found.offset, found.line) == (0, 0x30, 7)
    assert (found.base, found.modifiers, found.opcode) == ("IMAD", ("WIDE", "U32"), "IMAD.WIDE.U32")
    assert found.has("U32")
    assert not found.has("U3")
    assert found.guard == Predicate(1, negated=True)
    assert found.operands == (Register(2), Register(0), Immediate(4, None), Register(2))


GUARDS = [
    (None, None),
    ("@PT", None),
    ("@P0", Predicate(0)),
    ("@!P6", Predicate(6, negated=True)),
    ("@UP0", Predicate(0, uniform=True)),
    ("@!UP2", Predicate(2, uniform=True, negated=True)),
    ("@!PT", Predicate(7, negated=True)),
]


@pytest.mark.parametrize(("text", "guard"), GUARDS)
def test_reads_guards(text: str | None, guard: Predicate | None) -> None:
    assert decode((Instruction(0, text, "NOP", "", None),))[0].guard == guard


def test_a_guard_that_is_no_predicate_is_refused() -> None:
    (found,) = decode((Instruction(0, "@R5", "NOP", "", 4),))
    assert found.unknown == "NOP with the guard '@R5'"
    assert found.guard is None


def test_an_operand_that_is_not_known_names_the_instruction() -> None:
    (found,) = decode((Instruction(0, "@P1", "LDS.64", "R4,[R2.X32]", 23),))
    assert found.unknown == "LDS.64 with the address '[R2.X32]'"
    assert (found.guard, found.operands, found.line) == (Predicate(1), (), 23)


UNKNOWN = [
    "SUATOM.2D.ADD PT,R0,[R2],R5",
    "ATOMS.ADD.U16 R0,[R2],R5",
    "HMMA.16816.F32.SPARSE R4,R8,R12,R4",
    "HGMMA.64x4x16.F32 R24,gdesc[UR4],R24",
    "HFMA2.F32 R0,R1,R2,R3",
    "MUFU.ACOS R0,R1",
    "FADD.RN R0,R1,R2",
    "PRMT.IDX R0,R1,R2,R3",
    "F2FP.SATFINITE.E2M1.F32.PACK_AB_MERGE_C R0,R1,R2,RZ",
    "LD.E.U4 R2,desc[UR4][R2.64]",
    "IMAD.WIDE.S16 R2,R3,R4,R6",
    "LOP3.FOO R0,R1,R2,R3,0xc0,!PT",
    "LDG.E.U4 R0,desc[UR4][R2.64]",
    "CALL.ABS.INC R2",
    "WARPSYNC.SOME R4",
    "BPT.PAUSE 0x0",
]


@pytest.mark.parametrize("line", UNKNOWN)
def test_an_unknown_opcode_or_modifier_is_named_with_its_line(line: str) -> None:
    opcode = line.partition(" ")[0]
    assert f"the instruction {opcode}" in what_is_unknown(line)


def test_all_that_a_kernel_lacks_is_listed() -> None:
    def missing_of(text: str) -> list[str]:
        return find_unsupported(KernelCode("kernel", assemble(f"{text}\nEXIT"), 0x210, 0, 0))

    assert missing_of("IADD3 R0,R1,R2,RZ") == []
    assert missing_of("FADD.RN R0,R1,R2\nIADD3 R0,|R1|,R2,R3\nFADD.RN R3,R1,R2\nPIXLD R0,R1") == [
        "line 1: the instruction FADD.RN (its modifier RN)",
        "line 2: IADD3 with |operand|",
        "line 3: the instruction FADD.RN (its modifier RN)",
        "line 4: the instruction PIXLD",
    ]
    assert missing_of("JMP 0x0\nFADD.RN R0,R1,R2") == ["line 1: the instruction JMP"]


HALF_KNOWN = [
    "HMMA.1684.F32 R4,R8,R12,R4",
    "HMMA.16816.F16.BF16 R4,R8,R12,R4",
    "HMMA.16816.F32 R4,R8,R12,-R4",
    "HGMMA.64x8x16.F16.BF16 R24,gdesc[UR4],R24",
    "HGMMA.64x8x8.F32 R24,gdesc[UR4],R24",
    "HGMMA.64x8x16.F32 R24,gdesc[UR4].tnspC,R24",
    "HGMMA.64x8x16.F32 R24,R28,R24",
    "HGMMA.64x8x16.F32 R24,gdesc[UR4],R24,P0",
    "QGMMA.64x8x32.F32.E4M3 R24,gdesc[UR4],R24",
    "IGMMA.64x8x32.S8 R24,gdesc[UR4],R24",
    "BGMMA.64x8x256.POPC R24,gdesc[UR4],R24",
    "WARPGROUP.LE gsb0,0x0",
    "HMMA.SP.1684.F32.TF32 R4,R8,R12,R4,R16,0x0",
    "HMMA.SP.16832.F32 R4,R8,R12,R4,0x0",
    "IMMA.SP.16816.S8.S8 R4,R8.ROW,R12.COL,R4,R16,0x0",
    "BMMA.88128.POPC R4,R8.ROW,R12.COL,R4",
    "MOVM.16 R4,R8",
    "IMMA.16832.S8.S8 R4,R8.COL,R12.COL,R4",
    "IMMA.16832.S8 R4,R8.ROW,R12.COL,R4",
    "DMMA R4,R8,R12,R4",
    "IADD3 R0,R1,R2,R3,P0,!PT",  # carries in without .X
    "IADD3 R0,|R1|,R2,R3",
    "IADD3 R0,R1.H0,R2,R3",
    "IADD3 R0,R1,2.5,R3",
    "IADD3 0x10,R1,R2,R3",
    "UIADD3 UR4,R4,UR5,UR6",  # a register of lanes in the uniform datapath
    "UISETP.EQ.AND UP0,UPT,UR4,UR5,P0",
    "USEL UR4,UR5,UR6,P0",
    "@P0 UMOV UR4,0x1",
    "IMAD R0,P0,R1,R2,R3",
    "IMAD.WIDE R2,R4,R5,~R6",
    "IMAD R0,R1,R2,c[0x3][0x0]",
    "IMAD R0,R1,R2,c[0x0][R4+0x10]",
    "LEA R0,R1,R2,R3,0x2",
    "LEA.HI R0,R1,R2,0x2",
    "ISETP.AND P0,PT,R1,R2,PT",
    "ISETP.EQ P0,PT,R1,R2,PT",
    "ISETP.EQ.AND !P0,PT,R1,R2,PT",
    "ISETP.EQ.AND R0,PT,R1,R2,PT",
    "ISETP.EQ.AND P0,PT,R1,R2,R3",
    "ISETP.EQ.AND P0,PT,R1,R2,PT,P1",  # low words without .EX
    "ISETP.EQ.AND.EX P0,PT,R1,R2,PT",
    "ISETP.T.AND P0,PT,R1,R2,PT",
    "LOP3.LUT R0,R1,R2,R3,R4,!PT",
    "FADD R0,~R1,R2",
    "FSETP.AND P0,PT,R1,R2,PT",
    "HFMA2.MMA R0,R1,R2,1",
    "HADD2 R0,R1.B1,R2",
    "HADD2 R0,R1,~R2",
    "HMUL2 R0,R1,1e5,1e5",
    "HFMA2 R0,R1,R2,+QNAN ,+QNAN ",
    "DSETP.MAX.AND P0,P1,R2,R4,P2",
    "F2F.F32 R0,R1",
    "F2FP.F16.F32 R0,R1,R2",
    "F2FP.F16.F32.MERGE_C R0,R1,R2",
    "F2FP.E4M3.F32.PACK_AB R0,R1,R2",
    "F2FP.BF16.E4M3.UNPACK_B R0,R1",
    "F2FP.F16.E4M3.UNPACK_B R0,-R1",
    "F2FP.E4M3.F32.PACK_AB_MERGE_C R0,R1,R2,RZ",  # not saturated
    "F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C R0,R1,R2,R3",
    "F2FP.TF32.F32.PACK_B.RP R0,R1",
    "FMNMX.XORSIGN R0,R1,R2,PT",  # not of |a| and |b|
    "F2IP.U8.F32 R0,R1,R2,R3",
    "I2I.S8.S32 R0,R1",
    "I2IP.U16.S32.SAT R0,R1,R2,R3",
    "VIMNMX.S16x2.RELU R0,P0,P1,R1,R2,PT",
    "IDP.2A.S16.S8 R0,R1,R2,R3",
    "PLOP3.LUT P0,PT,R1.H0,PT,PT,0x80,0x0",
    "MUFU R0,R1",
    "MOV R0,SR_TID.X",
    "S2R R0,R1",
    "S2UR UR4,SR_TID.X",
    "S2UR UR4,SR_LANEID",
    "LDC R0,c[0x3][0x0]",
    "LDC R0,c[0x4][R2+0x10]",
    "LDC R0,R1",
    "LDG.E R0,R2",
    "LDG.E UP0,desc[UR4][R2.64]",
    "LDG.E R0,desc[UR4][R2.64],P0",
    "STG.E desc[UR4][R2.64],UR5",
    "STS [R0],-R1",
    "STS [R0],0x1",
    "STS R0,R1",
    "BAR.SYNC.DEFER_BLOCKING R0,R1",
    "ATOMG.E.ADD.STRONG.GPU P0,R0,desc[UR4][R2.64],R5",
    "ATOMG.E.ADD.F32.RN.STRONG.GPU PT,R0,desc[UR4][R2.64],R5",
    "ATOMS.EXCH R0,[R2],R5,R6",
    "QSPC.E.S P0,R4,[R2]",
    "MATCH.ALL R4,R5",
    "REDUX.SUM R4,R5",
    "DEPBAR.LE SB0,R2",
    "BAR.DEFER_BLOCKING 0x0",
    "BAR.RED.AND.DEFER_BLOCKING 0x0",
    "BAR.SYNC.DEFER_BLOCKING 0x0,P0",
    "BREAK R0",
    "WARPSYNC",
    "WARPSYNC.ALL R4",
    "BSSY P0,0x10",
    "BSYNC R0",
    "BSYNC 0x1",
    "BRA R0,0x10",
    "SHFL PT,R0,R1,R2,0x1f",
    "SYNCS.EXCH.64 UR4,[UR8],UR6",
    "SYNCS.TRANS64 P0,[UR8],R7",
    "SYNCS.CCTL [UR8]",
    "@P0 ELECT P1,UR4,PT",
]


@pytest.mark.parametrize("line", HALF_KNOWN)
def test_a_form_that_is_only_half_known_is_not_executed(line: str) -> None:
    opcode = line.split()[1] if line.startswith("@") else line.split()[0]
    assert opcode in what_is_unknown(line)


@pytest.mark.parametrize("guarded", ["@P0 BSSY B0,0x10", "@P0 BSYNC B0"])
def test_a_guard_on_a_convergence_barrier_is_not_ignored(guarded: str) -> None:
    assert what_is_unknown(guarded) == f"{guarded.split()[1]} with a guard"


def test_code_that_runs_off_its_end_is_refused() -> None:
    with pytest.raises(Unsupported, match="IADD3"):
        translate(
            KernelCode("kernel", assemble("IADD3 R0,R1,R2,R3"), 0x210, 0, 0), emulator_runtime()
        )


def test_constants_outside_of_the_bank_are_refused() -> None:
    """Code of an `ld.param` beyond the parameters: it must not read the host's memory."""
    for line in ("LDC R0,c[0x0][0x8000]", "IADD3 R0,R1,c[0x0][0x8000],RZ"):
        assert "of c[0x0][0x8000]" in find_unknown(f"{line}\nEXIT", parameter_bytes=8)


def test_every_row_names_its_base_opcode_only() -> None:
    assert OPCODES
    assert not [name for name in OPCODES if "." in name or name != name.upper()]
