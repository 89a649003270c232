"""What nvdisasm prints, in the ways in which its versions print it."""

import itertools
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.errors import GraderError
from grader.records import Binary, Completed, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.cubin import read_labels
from grader.toolchain.elf import Elf
from grader.toolchain.nvcc import Nvdisasm
from grader.toolchain.nvdisasm import INSTRUCTION_BYTES, disassemble, parse_disassembly
from grader.toolchain.tool_answers import ANSWER_LIMITS

from .conftest import Compile

CALLS = """__device__ __noinline__ float apart(float x) { return x * sinf(x); }
__global__ void divide(float* out, const float* in) { out[threadIdx.x] = in[threadIdx.x] / in[threadIdx.x + 32]; }
__global__ void both(float* out, const float* in) { out[threadIdx.x] = apart(in[0]) / sqrtf(in[threadIdx.x]); }
"""
"""Float division and square root call a slow path, which ptxas puts into the kernel's section."""


@pytest.fixture(scope="module")
def cubin(compile_text: Compile) -> bytes:
    binary = compile_text(CALLS)
    assert isinstance(binary, Binary)
    return binary.cubin


@pytest.fixture(scope="module")
def listing(cubin: bytes, nvdisasm: Nvdisasm, tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("cubin") / "submission.cubin"
    path.write_bytes(cubin)
    return disassemble(path, nvdisasm=nvdisasm, run=run_tool)


def test_code_that_was_listed_before_is_not_listed_again(
    compile_text: Compile, listing: str, nvdisasm: Nvdisasm, tmp_path: Path
) -> None:
    """A comment moves the lines and keeps the code; other code, with the same names, does not."""
    runs = list[Sequence[str]]()

    def run(
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        limits: ToolLimits = ANSWER_LIMITS,
        env: dict[str, str] | None = None,
    ) -> Completed:
        runs.append(argv)
        return run_tool(argv, cwd=cwd, limits=limits, env=env)

    def list_code(text: str) -> str:
        binary = compile_text(text)
        assert isinstance(binary, Binary)
        path = tmp_path / "submission.cubin"
        path.write_bytes(binary.cubin)
        return disassemble(path, nvdisasm=nvdisasm, run=run, cache=tmp_path / "cache")

    assert list_code(CALLS) == listing
    assert list_code(f"// A comment\n\n{CALLS}") == listing
    assert len(runs) == 1
    assert list_code(CALLS.replace("+ 32", "+ 64")) != listing
    assert len(runs) == 2


def list_apart(listing: str, cubin: bytes) -> str:
    """The listing as nvdisasm 13.4 and older print it: each function of a section by itself."""
    header, whole = json.loads(listing)
    apart = []
    for section in whole:
        starts = {
            label.offset: name
            for name, label in read_labels(Elf(cubin)).items()
            if label.section == section["function-name"]
        }
        rows, ends = (
            section["sass-instructions"],
            [
                *sorted(starts),
                len(section["sass-instructions"]) * INSTRUCTION_BYTES,
            ],
        )
        for start, end in itertools.pairwise(ends):
            own = rows[start // INSTRUCTION_BYTES : end // INSTRUCTION_BYTES]
            apart.append(
                {
                    "function-name": starts[start],
                    "start": start,
                    "length": end - start,
                    "sass-instructions": own,
                }
            )
    return json.dumps([header, apart])


def test_functions_may_be_listed_by_themselves(listing: str, cubin: bytes) -> None:
    labels, code = read_labels(Elf(cubin)), Elf(cubin).code
    apart = list_apart(listing, cubin)
    assert '"$__internal_0_$__cuda_sm' in json.dumps(
        [row["function-name"] for row in json.loads(apart)[1]]
    )
    sections = parse_disassembly(apart, labels, code, {})
    assert sections == parse_disassembly(listing, labels, code, {})
    assert sorted(sections) == ["_Z4bothPfPKf", "_Z6dividePfPKf"]
    calls = [
        one for section in sections.values() for one in section if one.opcode.startswith("CALL")
    ]
    assert {one.operands for one in calls} == {
        hex(label.offset) for label in labels.values() if label.offset
    }


def test_a_listing_that_leaves_instructions_out_is_refused(listing: str, cubin: bytes) -> None:
    header, functions = json.loads(list_apart(listing, cubin))
    short = json.dumps([header, functions[:-1]])
    with pytest.raises(GraderError, match="does not list all of"):
        parse_disassembly(short, read_labels(Elf(cubin)), Elf(cubin).code, {})


def test_commas_that_older_versions_leave_out_are_put_in(listing: str, cubin: bytes) -> None:
    header, functions = json.loads(listing)
    forms = {
        "R7[R4+0x10]": "R7,[R4+0x10]",
        "PT,R5[R16],R4,R5": "PT,R5,[R16],R4,R5",
        "P1,RZ[R2]": "P1,RZ,[R2]",
        "R1,c[0x0][0x28]": "R1,c[0x0][0x28]",
        "R2,desc[UR4][R2.64]": "R2,desc[UR4][R2.64]",
        "[R4+UR4],R7": "[R4+UR4],R7",
    }
    rows = functions[0]["sass-instructions"]
    for row, form in zip(rows, forms, strict=False):
        row["operands"] = form
    changed = json.dumps([header, functions])
    parsed = parse_disassembly(changed, read_labels(Elf(cubin)), Elf(cubin).code, {})
    name = functions[0]["function-name"]
    assert [instruction.operands for instruction in parsed[name][: len(forms)]] == list(
        forms.values()
    )


def test_ends_of_copies_stand_in_one_order(listing: str, cubin: bytes) -> None:
    header, functions = json.loads(listing)
    forms = {
        "desc[UR6][R4.64][R11]": "[R11],desc[UR6][R4.64]",
        "desc[UR6][R4.64+0x10],!P0[R7+UR4]": "[R7+UR4],desc[UR6][R4.64+0x10],!P0",
        "[R11],desc[UR6][R4.64],P1": "[R11],desc[UR6][R4.64],P1",
        "P0[R7][R4.64]": "[R7][R4.64],P0",
        "[R7+0x400][R4.64],P0": "[R7+0x400][R4.64],P0",
    }
    for row, form in zip(functions[0]["sass-instructions"], forms, strict=False):
        row.update(opcode="LDGSTS.E", operands=form)
    changed = json.dumps([header, functions])
    parsed = parse_disassembly(changed, read_labels(Elf(cubin)), Elf(cubin).code, {})
    read = parsed[functions[0]["function-name"]][: len(forms)]
    assert [instruction.operands for instruction in read] == list(forms.values())
