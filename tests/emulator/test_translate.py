"""Translation of real kernels: both forms, and that the second one is only made when a warp
splits."""

from __future__ import annotations

import pytest
from llvmlite import binding

from grader.devices.emulated.machine_code import kernel_code
from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import translate
from tests.support.assembler import build, launch
from tests.support.truth import find_kernel, kernel_names


@pytest.mark.parametrize("name", kernel_names())
def test_both_forms_of_every_truth_kernel_are_valid(name: str) -> None:
    kernel = translate(kernel_code(find_kernel(name)), emulator_runtime())
    module = binding.parse_assembly(str(kernel.diverged._emit()))
    module.verify()
    assert not module.get_function("form").is_declaration
    assert kernel.diverged.error is None


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
