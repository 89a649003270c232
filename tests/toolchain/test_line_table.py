"""The lines that the cubin's own table gives are those that nvdisasm prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.errors import GraderError
from grader.records import Binary
from grader.sandbox.process import run_tool
from grader.toolchain.elf import Elf
from grader.toolchain.line_table import LineTable, read_lines
from grader.toolchain.nvcc import Nvdisasm
from grader.toolchain.workspace import SOURCE_NAME

from .conftest import Compile

TEXT = """#include <cooperative_groups.h>
#include <cuda_fp16.h>
__device__ float twice(float x) { return x * 2 + 1; }
__device__ __noinline__ float apart(float x) { return x * sinf(x); }
__global__ void divide(float* out, const float* in) {
    out[threadIdx.x] = twice(in[threadIdx.x]) / in[threadIdx.x + 32];
}
template <int N> __global__ void groups(float* out, const float* in) {
    auto tile = cooperative_groups::tiled_partition<N>(cooperative_groups::this_thread_block());
    float x = apart(in[0]);
    x += tile.shfl_xor(x, 1);
    if (tile.thread_rank() == 0)
        x = twice(x) * twice(in[2]);
    out[threadIdx.x] = __half2float(__float2half(x)) / sqrtf(in[threadIdx.x]);
}
template __global__ void groups<8>(float*, const float*);
template __global__ void groups<16>(float*, const float*);
"""
_SECTION = re.compile(r"\s*\.section\s+\.text\.([^,\s]+),")
_PLACE = re.compile(r'\s*//## File "([^"]*)", line (\d+)( inlined at)?')
_INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/")


def print_lines(cubin: bytes, nvdisasm: Nvdisasm, folder: Path) -> dict[str, dict[int, int | None]]:
    """The lines as nvdisasm prints them: each place of an instruction is followed by the one that
    it was inlined at."""
    (folder / "k.cubin").write_bytes(cubin)
    printed = run_tool([str(nvdisasm.path), "-gi", "-c", "k.cubin"], cwd=folder).stdout
    found: dict[str, dict[int, int | None]] = {}
    line: int | None = None
    section, chained = "", False
    for row in printed.splitlines():
        if place := _PLACE.match(row):
            if not chained or line is None:
                line = int(place[2]) if Path(place[1]).name == SOURCE_NAME else None
            chained = place[3] is not None
        elif instruction := _INSTRUCTION.match(row):
            found[section][int(instruction[1], 16)] = line
        elif (named := _SECTION.match(row)) or "@function" in row:
            section = named[1] if named else section
            found.setdefault(section, {})
            line, chained = None, False
    return found


def compile_lines(compile_text: Compile, text: str) -> tuple[Binary, dict[str, LineTable]]:
    binary = compile_text(text)
    assert isinstance(binary, Binary)
    return binary, read_lines(Elf(binary.cubin), SOURCE_NAME)


def test_they_are_those_that_nvdisasm_prints(
    compile_text: Compile, nvdisasm: Nvdisasm, tmp_path: Path
) -> None:
    binary, tables = compile_lines(compile_text, TEXT)
    printed = print_lines(binary.cubin, nvdisasm, tmp_path)
    assert len(printed) == len(binary.kernels) == 3
    for kernel in binary.kernels:
        starts = (0, *kernel.functions)
        mine = {
            offset: tables[kernel.symbol].line_at(
                offset, since=max(start for start in starts if start <= offset)
            )
            for offset in printed[kernel.symbol]
        }
        assert mine == printed[kernel.symbol]
        assert None in mine.values()  # of division, which stands apart
        assert len(set(mine.values())) > 2


def test_a_line_belongs_to_its_function_only() -> None:
    table = LineTable((0, 32), (4, 5))
    assert [table.line_at(offset) for offset in (0, 16, 32, 48)] == [4, 4, 5, 5]
    assert table.line_at(48, since=48) is None
    assert LineTable((16,), (4,)).line_at(0) is None


def test_a_table_of_another_version_is_told(compile_text: Compile) -> None:
    binary, _ = compile_lines(compile_text, TEXT)
    elf = Elf(binary.cubin)
    data = bytearray(elf.named[".debug_line"].data())
    data[4] = 9
    elf.named[".debug_line"].data = lambda: bytes(data)
    with pytest.raises(GraderError, match="version 9"):
        read_lines(elf, SOURCE_NAME)
