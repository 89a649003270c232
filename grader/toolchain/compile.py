"""Compiles a submission to machine code, and reads the kernels off it."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path

from grader.plumbing.cache import cache_key
from grader.records import (
    Binary,
    Kernel,
    KernelParameter,
    RunTool,
    Submission,
    ToolLimits,
)
from grader.toolchain.artifacts import Artifacts, keep_artifacts, read_artifacts
from grader.toolchain.callers import give_to_callers
from grader.toolchain.compilation import CUBIN_NAME, NotCompiled, Order, find_artifacts
from grader.toolchain.cubin import (
    CubinKernel,
    read_cubin,
    read_labels,
)
from grader.toolchain.demangle import Signature, demangle, parse_signature
from grader.toolchain.elf import Elf
from grader.toolchain.line_table import LineTable, read_lines, read_source_lines
from grader.toolchain.linked_functions import Linker
from grader.toolchain.nvcc import Nvcc, Nvdisasm
from grader.toolchain.nvdisasm import disassemble, parse_disassembly
from grader.toolchain.shared_arrays import fitting_arrays, read_shared_arrays
from grader.toolchain.shared_uses import read_shared_uses
from grader.toolchain.variables import (
    read_constant_variables,
    read_variable_bytes,
    read_variables,
)
from grader.toolchain.workspace import SOURCE_NAME, Compiler


def compile_submission(
    submission: Submission,
    *,
    nvcc: Nvcc,
    nvdisasm: Nvdisasm,
    arch: str,
    run: RunTool,
    limits: ToolLimits,
    cache: Path | None,
) -> Binary | NotCompiled:
    """The submission's kernels for `arch` (`sm_90`), from `cache` (a folder, or None) if it has
    them.

    Else the student's mistake: a compile error, a limit, no kernel, or (rejected) a forbidden file
    that the compilation read. Raises ToolMissing, and GraderError if a tool fails on another tool's
    output.
    """
    order = Order(submission, Compiler(nvcc, arch, run, limits), nvdisasm, cache)
    artifacts = find_artifacts(order)
    return artifacts if not isinstance(artifacts, Artifacts) else read_ordered(artifacts, order)


def read_ordered(artifacts: Artifacts, order: Order) -> Binary:
    """The kernels of an order's artifacts."""
    nvcc, arch = order.compiler.nvcc, order.compiler.arch
    return _read_binary(artifacts, order.submission, nvcc_version=nvcc.version, arch=arch)


def read_compiled(
    cubin: bytes,
    submission: Submission,
    *,
    nvcc_version: str,
    nvdisasm: Nvdisasm,
    arch: str,
    run: RunTool,
    cache: Path | None = None,
) -> Binary:
    """The kernels of a cubin that an nvcc of this version made of the submission. Raises
    GraderError if it is no such cubin."""
    artifacts = list_cubin(cubin, nvdisasm=nvdisasm, arch=arch, run=run, cache=cache)
    return _read_binary(artifacts, submission, nvcc_version=nvcc_version, arch=arch)


def listing_key(cubin: bytes, nvdisasm: Nvdisasm) -> str:
    """The name of the cache's entry for a cubin that was made elsewhere."""
    return cache_key(hashlib.sha256(cubin).hexdigest(), nvdisasm.version)


def list_cubin(
    cubin: bytes, *, nvdisasm: Nvdisasm, arch: str, run: RunTool, cache: Path | None
) -> Artifacts:
    """The artifacts of a cubin that other tools compiled. Raises GraderError if it is no cubin for
    `arch`."""
    key = listing_key(cubin, nvdisasm)
    if cache and (known := read_artifacts(cache, key)):
        return known
    symbols = [kernel.symbol for kernel in read_cubin(Elf(cubin), arch=arch)]
    with tempfile.TemporaryDirectory(prefix="grader-cubin-") as folder:
        path = Path(folder) / CUBIN_NAME
        path.write_bytes(cubin)
        listing = disassemble(path, nvdisasm=nvdisasm, run=run, cache=cache)
    artifacts = Artifacts(cubin, listing, demangle(symbols, run), warnings="")
    return keep_artifacts(cache, key, artifacts) if cache else artifacts


def _read_binary(
    artifacts: Artifacts, submission: Submission, *, nvcc_version: str, arch: str
) -> Binary:
    elf = Elf(artifacts.cubin)
    kernels = _read_kernels(artifacts, elf, arch, read_lines(elf, SOURCE_NAME), submission.text)
    return Binary(
        arch,
        nvcc_version,
        artifacts.cubin,
        kernels,
        artifacts.warnings.replace(SOURCE_NAME, submission.name),
        read_variable_bytes(elf),
        read_variables(elf),
        constants=read_constant_variables(elf),
    )


def read_program_kernels(
    artifacts: Artifacts, linker: Linker, addresses: Mapping[str, int]
) -> tuple[tuple[Kernel, ...], dict[str, str]]:
    """The kernels of a program's cubin, each with the lines of its own source file; and the paths
    of these files, by the kernels' symbols. `linker` and `addresses` join kernels with functions of
    other files."""
    elf = Elf(artifacts.cubin)
    tables = read_source_lines(elf)
    lines = {name: table for name, (_, table) in tables.items()}
    kernels = _read_kernels(artifacts, elf, elf.arch, lines, "", (linker, addresses))
    return kernels, {name: path for name, (path, _) in tables.items()}


def _read_kernels(
    artifacts: Artifacts,
    elf: Elf,
    arch: str,
    lines: Mapping[str, LineTable],
    source: str,
    link: tuple[Linker, Mapping[str, int]] | None = None,
) -> tuple[Kernel, ...]:
    """The kernels with these lines; `source`: the text that declares their shared arrays, or
    nothing. `link`: kernels are joined with functions in other sections."""
    functions = parse_disassembly(artifacts.instructions, read_labels(elf), elf.code, lines)
    linked = {} if link is None else link[0].link(functions, link[1])
    read = read_cubin(elf, arch=arch)
    laid_out = read_shared_arrays(elf, source)
    arrays = {
        found.symbol: fitting_arrays(laid_out.get(found.symbol, ()), found.static_shared_bytes)
        for found in read
    }
    uses = read_shared_uses(elf, arrays, functions)
    return tuple(
        Kernel(
            symbol=found.symbol,
            name=signature.name,
            parameters=_parameters(found, signature),
            parameter_base=found.parameter_base,
            registers=found.registers,
            static_shared_bytes=found.static_shared_bytes,
            local_bytes=found.local_bytes,
            stack_unknown=found.stack_unknown,
            max_threads_per_block=found.max_threads_per_block,
            cluster=found.cluster,
            instructions=(
                joined.instructions
                if joined
                else give_to_callers(functions[found.symbol], found.functions)
            ),
            constants=found.constants,
            pointers=found.pointers,
            functions=(*found.functions, *(joined.functions if joined else ())),
            encoding=joined.encoding if joined else found.encoding,
            shared_arrays=arrays[found.symbol],
            shared_uses=uses.get(found.symbol, {}),
        )
        for found in read
        for signature in (parse_signature(artifacts.demangled[found.symbol]),)
        for joined in (linked.get(found.symbol),)
    )


def _parameters(found: CubinKernel, signature: Signature) -> tuple[KernelParameter, ...]:
    """Offsets from the cubin, types from the symbol; without types if the two have different
    numbers of parameters."""
    types: tuple[str | None, ...] | None = signature.types
    if types is None or len(types) != len(found.parameters):
        types = (None,) * len(found.parameters)
    return tuple(
        KernelParameter(offset, size, type_)
        for (offset, size), type_ in zip(found.parameters, types, strict=True)
    )
