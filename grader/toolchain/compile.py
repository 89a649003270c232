"""Compiles a submission to machine code: nvcc, nvdisasm and c++filt, or the cache in place of all
three."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import replace
from pathlib import Path

from grader.plumbing.cache import cache_key
from grader.records import (
    Binary,
    CompileMistake,
    ForeignFile,
    Kernel,
    KernelParameter,
    NoKernel,
    RunTool,
    Submission,
    TooLargeVariables,
    ToolLimits,
    TooMuchStaticShared,
)
from grader.toolchain.artifacts import Artifacts, keep_artifacts, read_artifacts
from grader.toolchain.callers import give_to_callers
from grader.toolchain.cubin import (
    CubinKernel,
    read_code,
    read_cubin,
    read_labels,
)
from grader.toolchain.demangle import Signature, demangle, parse_signature
from grader.toolchain.dependencies import check_failed_run, check_files, read_dependencies
from grader.toolchain.diagnostics import clean_warnings, explain_failed_run
from grader.toolchain.elf import Elf
from grader.toolchain.nvcc import Nvcc, Nvdisasm
from grader.toolchain.nvdisasm import Disassembly, disassemble, parse_disassembly
from grader.toolchain.shared_arrays import fitting_arrays, read_shared_arrays
from grader.toolchain.shared_uses import read_shared_uses
from grader.toolchain.variables import read_variable_bytes, read_variables
from grader.toolchain.workspace import (
    SOURCE_NAME,
    Compiler,
    compile_options,
    open_workspace,
    run_nvcc,
)

NotCompiled = CompileMistake | ForeignFile
"""What a compilation leads to where there is no machine code."""
_OUTPUT_NAME = "submission.cubin"
_MOST_SHARED_BYTES = 48 << 10
"""ptxas 13.5 refuses more, but lets arrays of 4 GiB and more pass, for which nvdisasm takes as much
memory."""
_MOST_VARIABLE_BYTES = (4 << 30) - 1
"""nvdisasm 13.5 refuses a cubin with more (`Invalid symbol size`), and takes as much memory as the
variables do."""


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
    """The submission's kernels for `arch` (`sm_90`), from `cache` (a folder, or None for no cache)
    where it has them.

    Else the student's mistake: a compile error, a limit, no kernel, or (rejected) a file that the
    compilation read and must not. Raises ToolMissing, and GraderError where a tool fails on what
    another one made.
    """
    compiler = Compiler(nvcc, arch, run, limits)
    artifacts = _find_artifacts(submission, compiler, nvdisasm, cache)
    if not isinstance(artifacts, Artifacts):
        return artifacts
    return _read_binary(artifacts, submission, nvcc_version=nvcc.version, arch=arch)


def compile_cubin(
    submission: Submission,
    *,
    nvcc: Nvcc,
    nvdisasm: Nvdisasm,
    arch: str,
    run: RunTool,
    limits: ToolLimits,
    cache: Path,
) -> bytes | NotCompiled:
    """As `compile_submission`, the cubin alone: that of the cache where it has one, byte for
    byte."""
    compiler = Compiler(nvcc, arch, run, limits)
    artifacts = _find_artifacts(submission, compiler, nvdisasm, cache)
    return artifacts.cubin if isinstance(artifacts, Artifacts) else artifacts


def is_cached(
    submission: Submission, *, nvcc: Nvcc, nvdisasm: Nvdisasm, arch: str, cache: Path
) -> bool:
    """Whether there is an entry of the cache for the submission."""
    key = artifacts_key(submission.text, nvcc=nvcc, nvdisasm=nvdisasm, arch=arch)
    return (cache / key).is_file()


def artifacts_key(text: str, *, nvcc: Nvcc, nvdisasm: Nvdisasm, arch: str) -> str:
    """The name of the cache's entry for a source text that these tools compile."""
    return cache_key(text, nvcc.identity, nvdisasm.version, *compile_options(arch))


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
    GraderError where it is no such cubin."""
    artifacts = list_cubin(cubin, nvdisasm=nvdisasm, arch=arch, run=run, cache=cache)
    return _read_binary(artifacts, submission, nvcc_version=nvcc_version, arch=arch)


def listing_key(cubin: bytes, nvdisasm: Nvdisasm) -> str:
    """The name of the cache's entry for a cubin that was made elsewhere."""
    return cache_key(hashlib.sha256(cubin).hexdigest(), nvdisasm.version)


def list_cubin(
    cubin: bytes, *, nvdisasm: Nvdisasm, arch: str, run: RunTool, cache: Path | None
) -> Artifacts:
    """What the tools say of a cubin that was made elsewhere. Raises GraderError where it is none
    for `arch`."""
    key = listing_key(cubin, nvdisasm)
    if cache and (known := read_artifacts(cache, key)):
        return known
    symbols = [kernel.symbol for kernel in read_cubin(Elf(cubin), arch=arch)]
    with tempfile.TemporaryDirectory(prefix="grader-cubin-") as folder:
        path = Path(folder) / _OUTPUT_NAME
        path.write_bytes(cubin)
        listing = disassemble(path, nvdisasm=nvdisasm, run=run)
    artifacts = Artifacts(
        cubin, listing.instructions, listing.lines, demangle(symbols, run), warnings=""
    )
    return keep_artifacts(cache, key, artifacts) if cache else artifacts


def _find_artifacts(
    submission: Submission, compiler: Compiler, nvdisasm: Nvdisasm, cache: Path | None
) -> Artifacts | NotCompiled:
    key = artifacts_key(submission.text, nvcc=compiler.nvcc, nvdisasm=nvdisasm, arch=compiler.arch)
    if cache and (artifacts := read_artifacts(cache, key)):
        return artifacts
    made = _make_artifacts(submission, compiler, nvdisasm)
    if cache is None or not isinstance(made, Artifacts):
        return made
    return keep_artifacts(cache, key, made)


def _make_artifacts(
    submission: Submission, compiler: Compiler, nvdisasm: Nvdisasm
) -> Artifacts | NotCompiled:
    nvcc, run = compiler.nvcc, compiler.run
    with open_workspace(submission.text) as workspace:
        completed = run_nvcc(compiler, workspace, "-cubin", output=_OUTPUT_NAME)
        if completed.limit or completed.returncode != 0:
            return check_failed_run(compiler, workspace) or explain_failed_run(
                completed, submission, nvcc=nvcc, limits=compiler.limits, run=run
            )
        # The files that this very compilation read, whatever an earlier look at them said.
        if rejected := check_files(read_dependencies(workspace), nvcc):
            return rejected
        cubin = workspace.out / _OUTPUT_NAME
        content = cubin.read_bytes()
        elf = Elf(content)
        kernels = read_cubin(elf, arch=compiler.arch)
        symbols = [kernel.symbol for kernel in kernels]
        if not symbols:
            return NoKernel(submission.name, written="__global__" in submission.text)
        largest = max(kernels, key=lambda kernel: kernel.static_shared_bytes)
        if (used := largest.static_shared_bytes) > _MOST_SHARED_BYTES:
            return TooMuchStaticShared(largest.symbol, used, _MOST_SHARED_BYTES)
        if (variable_bytes := read_variable_bytes(elf)) > _MOST_VARIABLE_BYTES:
            return TooLargeVariables(submission.name, variable_bytes, _MOST_VARIABLE_BYTES)
        listing = disassemble(cubin, nvdisasm=nvdisasm, run=run)
    # Under the name that every submission has here: an entry of the cache serves equal files of
    # different names.
    warnings = clean_warnings(completed, replace(submission, name=SOURCE_NAME), nvcc=nvcc, run=run)
    return Artifacts(content, listing.instructions, listing.lines, demangle(symbols, run), warnings)


def _read_binary(
    artifacts: Artifacts, submission: Submission, *, nvcc_version: str, arch: str
) -> Binary:
    listing = Disassembly(artifacts.instructions, artifacts.lines)
    elf = Elf(artifacts.cubin)
    functions = parse_disassembly(listing, read_labels(elf), read_code(elf))
    read = read_cubin(elf, arch=arch)
    laid_out = read_shared_arrays(elf, submission.text)
    arrays = {
        found.symbol: fitting_arrays(laid_out.get(found.symbol, ()), found.static_shared_bytes)
        for found in read
    }
    uses = read_shared_uses(elf, arrays, functions)
    kernels = (
        Kernel(
            symbol=found.symbol,
            name=signature.name,
            parameters=_parameters(found, signature),
            parameter_base=found.parameter_base,
            registers=found.registers,
            static_shared_bytes=found.static_shared_bytes,
            local_bytes=found.local_bytes,
            max_threads_per_block=found.max_threads_per_block,
            instructions=give_to_callers(functions[found.symbol], found.functions),
            constants=found.constants,
            pointers=found.pointers,
            functions=found.functions,
            encoding=found.encoding,
            shared_arrays=arrays[found.symbol],
            shared_uses=uses.get(found.symbol, {}),
        )
        for found in read
        for signature in (parse_signature(artifacts.demangled[found.symbol]),)
    )
    return Binary(
        arch,
        nvcc_version,
        artifacts.cubin,
        tuple(kernels),
        artifacts.warnings.replace(SOURCE_NAME, submission.name),
        read_variable_bytes(elf),
        read_variables(elf),
    )


def _parameters(found: CubinKernel, signature: Signature) -> tuple[KernelParameter, ...]:
    """Places from the cubin, types from the symbol; without types where the two do not count the
    same."""
    types: tuple[str | None, ...] | None = signature.types
    if types is None or len(types) != len(found.parameters):
        types = (None,) * len(found.parameters)
    return tuple(
        KernelParameter(offset, size, type_)
        for (offset, size), type_ in zip(found.parameters, types, strict=True)
    )
