"""Basic blocks: their starts and ends, reachable code, refused code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import KernelCode, Unsupported, translate
from grader.emulator.codegen.opcodes import find_opcode
from grader.emulator.isa.decode import decode
from grader.emulator.isa.flow import Flow, find_blocks, target_index
from tests.support.assembler import assemble


def blocks_of(text: str) -> Flow:
    return find_blocks(decode(assemble(text)), lambda each: find_opcode(each).flow)


def shape(flow: Flow) -> list[tuple[list[int], int | None]]:
    """Per block, the source lines of its instructions and the block that follows."""
    return [
        ([instruction.line or 0 for instruction in block.instructions], block.following)
        for block in flow.blocks
    ]


def test_straight_code_is_one_block() -> None:
    assert shape(blocks_of("NOP\nNOP\nEXIT")) == [([1, 2, 3], None)]


def test_a_loop_is_entered_at_its_label_and_left_after_its_branch() -> None:
    flow = blocks_of("NOP\nloop: NOP\n@P0 BRA loop\nEXIT")
    assert shape(flow) == [([1], 1), ([2, 3], 2), ([4], None)]
    assert flow.target(flow.blocks[1].instructions[-1]) == 1


def test_guarded_exits_and_barriers_end_a_block() -> None:
    assert shape(blocks_of("@P0 EXIT\nBAR.SYNC 0x0\nNOP\nEXIT")) == [
        ([1], 1),
        ([2], 2),
        ([3, 4], None),
    ]


def test_a_convergence_barrier_names_a_block_without_ending_its_own() -> None:
    flow = blocks_of("BSSY B0,join\n@P0 BRA inner\ninner: NOP\nBSYNC B0\njoin: EXIT")
    assert shape(flow) == [([1, 2], 1), ([3, 4], 2), ([5], None)]
    assert flow.target(flow.blocks[0].instructions[0]) == 2


def test_padding_after_the_last_exit_is_left_out() -> None:
    flow = blocks_of("NOP\nEXIT\nspin: BRA spin\nNOP\nNOP")
    assert shape(flow) == [([1, 2], None)]


def test_code_that_only_a_jump_skips_is_left_out() -> None:
    flow = blocks_of("BRA end\nNOP\nNOP\nend: EXIT")
    assert shape(flow) == [([1], None), ([4], None)]
    assert flow.block_at == {0: 0, 3: 1}


def test_a_branch_with_a_predicate_operand_may_fall_through() -> None:
    assert shape(blocks_of("BRA P0,end\nNOP\nend: EXIT")) == [([1], 1), ([2], 2), ([3], None)]


@pytest.mark.parametrize("target", ["R4", "`(.L_x)", "0x18", "-0x10", "0x1000", "2.5"])
def test_a_branch_that_leads_to_no_instruction_is_refused_with_its_line(target: str) -> None:
    code = assemble(f"NOP\nBRA {target}\nEXIT")
    with pytest.raises(Unsupported) as caught:
        translate(KernelCode("kernel", code, 0x210, 0, 0), emulator_runtime())
    assert "BRA" in caught.value.what
    assert caught.value.line == 2


def test_functions_outside_of_the_code_are_no_targets() -> None:
    code = KernelCode("k", assemble("NOP\nEXIT"), 0x210, 0, 0, functions=(16, 8, 32, 1600))
    assert code.jump_targets == {16}


def test_a_branch_without_operands_is_refused() -> None:
    branch = replace(decode(assemble("EXIT"))[0], base="BRA")
    with pytest.raises(Unsupported, match="BRA with a computed target"):
        target_index(branch, 1)
