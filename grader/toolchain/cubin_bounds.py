"""Bounds that a cubin must keep before a kernel is taken from it."""

from __future__ import annotations

from grader.records import NoKernel, RunTool, Submission, TooLargeVariables, TooMuchStaticShared
from grader.toolchain.cubin import read_cubin
from grader.toolchain.demangle import demangle, parse_signature
from grader.toolchain.elf import Elf
from grader.toolchain.shared_arrays import list_takers
from grader.toolchain.variables import read_variable_bytes

_MOST_SHARED_BYTES = 48 << 10
"""ptxas 13.5 refuses more but for sm_90a; arrays of 4 GiB and more pass for all, for which nvdisasm
takes as much memory."""
_MOST_VARIABLE_BYTES = (4 << 30) - 1
"""nvdisasm 13.5 refuses a cubin with more (`Invalid symbol size`), and takes as much memory as the
variables do."""


def find_symbols(
    cubin: bytes, submission: Submission, *, arch: str, run: RunTool
) -> list[str] | NoKernel | TooMuchStaticShared | TooLargeVariables:
    """The symbols of the kernels of a submission's cubin, or the reason why it cannot be used.
    Raises GraderError if it is no cubin for `arch`."""
    elf = Elf(cubin)
    kernels = read_cubin(elf, arch=arch)
    if not kernels:
        return NoKernel(submission.name, written="__global__" in submission.text)
    largest = max(kernels, key=lambda kernel: kernel.static_shared_bytes)
    if (used := largest.static_shared_bytes) > _MOST_SHARED_BYTES:
        name = parse_signature(demangle([largest.symbol], run)[largest.symbol]).name
        arrays = list_takers(submission.text, used)
        return TooMuchStaticShared(name, used, _MOST_SHARED_BYTES, arrays)
    if (variable_bytes := read_variable_bytes(elf)) > _MOST_VARIABLE_BYTES:
        return TooLargeVariables(submission.name, variable_bytes, _MOST_VARIABLE_BYTES)
    return [kernel.symbol for kernel in kernels]
