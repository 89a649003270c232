"""Translation of real kernels: cells, and the steps that they share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.devices.emulated.machine_code import kernel_code
from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import translate
from grader.emulator.codegen.shapes import shape_key
from grader.emulator.codegen.steps import Step, Steps, source_files
from grader.emulator.isa.decode import decode
from tests.support.assembler import assemble, build, launch
from tests.support.truth import find_kernel, kernel_names


@pytest.mark.parametrize("name", kernel_names())
def test_every_cell_of_a_truth_kernel_has_a_step_of_each_kind(name: str) -> None:
    kernel = translate(kernel_code(find_kernel(name)), emulator_runtime())
    assert len(kernel.entries) == len(kernel.flow.blocks)
    whole, split = (
        [int(cells[place // 4]) | int(cells[place // 4 + 1]) << 32 for place in kernel.entries]
        for cells in (kernel.converged, kernel.diverged)
    )
    assert len(set(whole)) == len(set(split)) == 1  # every block begins with its counting step
    assert 0 not in (whole[0], split[0])
    assert whole != split


def test_counts_name_every_reachable_instruction_once() -> None:
    kernel = build("S2R R0,SR_TID.X\nISETP.EQ.AND P0,PT,R0,RZ,PT\n@P0 EXIT\nNOP\nEXIT\nNOP\n")
    ran = launch(kernel, {})
    assert [(counts.line, counts.executed, counts.threads) for counts in ran.outcome.counts] == [
        (1, 1, 32),
        (2, 1, 32),
        (3, 1, 32),
        (4, 1, 31),
        (5, 1, 31),
    ]


def test_kept_steps_depend_on_the_sources_of_layouts_and_codegen() -> None:
    names = {"/".join(path.parts[-2:]) for path in source_files()}
    assert {"layouts/execution.py", "codegen/emitter.py", "opcodes/move.py"} <= names


def key_of(line: str) -> str:
    return shape_key(decode(assemble(line))[0])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IADD3 R4,R2,0x10,RZ", "IADD3 R9,R7,0x8,RZ"),
        ("@P1 LDG.E R2,desc[UR4][R2.64+0x4]", "@P0 LDG.E R9,desc[UR6][R4.64+-0x8]"),
        ("FFMA R1,R2,c[0x0][0x210],R3", "FFMA R5,R5,c[0x0][0x218],R5"),
        ("ISETP.LT.AND P0,PT,R4,0x3,PT", "ISETP.LT.AND P2,PT,R6,0x7,PT"),
    ],
)
def test_registers_literals_and_offsets_are_no_part_of_a_shape(one: str, other: str) -> None:
    assert key_of(one) == key_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IADD3 R4,R2,0x10,RZ", "IADD3 R4,R2,0x10,R3"),
        ("IADD3 R4,R2,R3,RZ", "IADD3 R4,-R2,R3,RZ"),
        ("@P1 MOV R2,R3", "@!P1 MOV R2,R3"),
        ("MOV R2,R3", "MOV R2,UR3"),
        ("FFMA R1,R2,c[0x0][0x210],R3", "FFMA R1,R2,c[0x3][0x210],R3"),
        ("LDS R1,[R2+0x4]", "LDS R1,[R2+UR4+0x4]"),
        ("LDG.E R2,desc[UR4][R2.64]", "LDG.E R2,desc[UR4][R2.U32+UR4.64]"),
        ("ISETP.LT.AND P0,PT,R4,0x3,PT", "ISETP.LT.AND P0,P1,R4,0x3,PT"),
    ],
)
def test_kinds_of_operands_are_part_of_a_shape(one: str, other: str) -> None:
    assert key_of(one) != key_of(other)


LOGIC = "LOP3.LUT R4,R4,R5,RZ,{:#x},!PT"
"""The table determines the code, so the shape contains it."""


def one_step(steps: Steps, line: str) -> Step:
    return steps.find_one(*decode(assemble(line)))


def test_another_process_finds_kept_steps(tmp_path: Path) -> None:
    emulator_runtime()
    made = [one_step(Steps(tmp_path), LOGIC.format(table)) for table in (0xC0, 0xFC)]
    files = {path.name: path.read_bytes() for path in tmp_path.glob("[!.]*")}
    assert len(files) == 3  # two tables, and the fact that the shape contains the table
    assert made[0].holes == made[1].holes
    one_step(Steps(tmp_path), LOGIC.format(0xC0))
    assert {path.name: path.read_bytes() for path in tmp_path.glob("[!.]*")} == files


@pytest.mark.parametrize("damage", [b"", b"damaged", None])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    one_step(Steps(tmp_path), LOGIC.format(0xC0))
    files = {path: path.read_bytes() for path in tmp_path.glob("[!.]*")}
    for path, content in files.items():
        path.write_bytes(content[:-1] if damage is None else damage)
    assert one_step(Steps(tmp_path), LOGIC.format(0xC0)).converged
    assert {path: path.read_bytes() for path in tmp_path.glob("[!.]*")} == files


def test_a_folder_that_cannot_be_written_costs_time_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    steps = Steps(tmp_path / "file" / "folder")
    assert one_step(steps, LOGIC.format(0xC0)).diverged
    assert steps.unkept == 2
    again = one_step(steps, LOGIC.format(0xC0))
    assert steps.unkept == 2
    assert again.converged != again.diverged


def test_a_thousand_instructions_of_one_shape_have_one_step() -> None:
    text = "".join(f"    IADD3 R{4 + n % 100},R{n % 7},{n:#x},RZ\n" for n in range(1000))
    ran = launch(build(f"{text}    EXIT"), {"out": np.zeros(1)})
    assert ran.executed == 1001
