"""Lists the kernels of source files and cubins: their resources, and the instructions that the
emulated device cannot execute."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.cpp.cursor import did_you_mean
from grader.devices.choose import EMULATED
from grader.devices.emulated.machine_code import Code, kernel_code
from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.gpus import read_gpus
from grader.devices.remote.remote_device import RemoteDevice
from grader.emulator import ARCHITECTURES, variable_addresses
from grader.emulator.codegen.unsupported import find_unsupported
from grader.errors import GraderError, ToolMissing, UsageError
from grader.explore.kernel_job import COMPILE_LIMITS
from grader.grading.building import compile_source
from grader.grading.grade import choose_device
from grader.grading.mistakes import SubmissionError, refuse, value_of
from grader.grading.tools import Toolchain, find_toolchain
from grader.judging.machine_work import list_kernel
from grader.plumbing.cache import default_cache
from grader.records import (
    Binary,
    Kernel,
    KernelList,
    ListedKernel,
    Submission,
    UnknownInstruction,
    UnlistedFile,
)
from grader.submission.lookups import check_lookups
from grader.submission.source_file import read_submission
from grader.toolchain.compile import read_compiled
from grader.toolchain.elf import Elf

MAX_CUBIN_BYTES = 64 << 20


def inspect(
    files: Sequence[Path | str],
    *,
    device: str = "emulated:h100",
    arch: str | None = None,
    isolated: bool = True,
    code: bool = False,
) -> KernelList:
    """The kernels of `.cu` files, compiled for `arch` (`sm_90`) or else for the device, and of
    `.cubin` files; `code`: with their machine code. No kernel runs. A file that does not compile,
    or cannot be read, is among the `errors`. UsageError for an unknown device or architecture;
    ToolMissing."""
    arch = _check_arch(arch or _find_arch(device))
    tools = find_toolchain(prefer_wheel=True, cache=default_cache(os.environ), isolated=isolated)
    kernels: list[ListedKernel] = []
    errors: list[UnlistedFile] = []
    for file in files:
        try:
            kernels += _list_file(file, tools, arch, code=code)
        except ToolMissing:
            raise
        except (SubmissionError, GraderError) as error:
            errors.append(UnlistedFile(str(file), str(error), error.detail, error.advice))
    return KernelList(tuple(kernels), tuple(errors))


def _list_file(
    file: Path | str, tools: Toolchain, arch: str, *, code: bool
) -> Iterator[ListedKernel]:
    path = Path(file)
    binary = _read_cubin(path, tools) if path.suffix == ".cubin" else _compile(path, tools, arch)
    known = Code(binary, binary.arch)
    for kernel in binary.kernels:
        yield ListedKernel(
            str(file),
            kernel.name,
            kernel.registers,
            kernel.static_shared_bytes,
            kernel.local_bytes,
            len(kernel.instructions),
            _find_unknown(kernel, known),
            list_kernel(kernel) if code else None,
        )


def _compile(path: Path, tools: Toolchain, arch: str) -> Binary:
    source = value_of(read_submission(path))
    refuse(check_lookups(source.text))
    return compile_source(source, tools, arch=arch, limits=COMPILE_LIMITS)


def _read_cubin(path: Path, tools: Toolchain) -> Binary:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_CUBIN_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}", "Name a cubin of nvcc.") from error
    if len(content) > MAX_CUBIN_BYTES:
        raise UsageError(f"{path} is larger than {MAX_CUBIN_BYTES >> 20} MiB", "Name a cubin.")
    arch = _check_arch(Elf(content).arch)
    return read_compiled(
        content,
        Submission(path.name, "", ""),
        nvcc_version="",
        nvdisasm=tools.nvdisasm,
        arch=arch,
        run=tools.run,
        cache=tools.cache,
    )


def _find_unknown(kernel: Kernel, code: Code) -> tuple[UnknownInstruction, ...]:
    taken = kernel_code(kernel, variable_addresses(code.variables), arch=code.binary.arch)
    return tuple(
        UnknownInstruction(each.what, each.line, each.avoidable)
        for each in find_unsupported(taken, emulator_runtime())
    )


def _find_arch(device: str) -> str:
    """The architecture of a device; a GPU reports its own."""
    choice = choose_device(device)
    if choice.kind == EMULATED:
        return read_gpus()[choice.id].arch
    with RemoteDevice(str(choice)) as gpu:
        return gpu.info.arch


def _check_arch(arch: str) -> str:
    if arch not in ARCHITECTURES:
        raise UsageError(
            f"the emulated device does not know the architecture {arch!r}"
            f"{did_you_mean(arch, ARCHITECTURES)}",
            f"It knows {', '.join(ARCHITECTURES)}.",
        )
    return arch
