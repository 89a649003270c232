"""Compiles whole programs with nvcc, and prepares the environment in which make and CMake do: a
folder like NVIDIA's toolkit, whose nvcc and libraries are those of the emulated device.

Its folder `include` has NVIDIA's headers, headers that its wheels lack, and names that CUDA 13
removed, so that programs of older toolkits compile without a change. The files of `headers/` take
the place of NVIDIA's, which they include from `toolkit/`.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.cuda import nvcc_options
from grader.cuda.nvcc_options import ARCH, OWN_FLAGS, fit_options
from grader.plumbing.cache import cache_key
from grader.toolchain.nvcc import Nvcc

_MAKE_NAMES = ("CUDA_PATH", "CUDA_HOME", "CUDA_DIR", "CUDA_ROOT", "CUDA_INSTALL_PATH")
"""The usual names of the toolkit's folder, for make also where the Makefile defines them."""
_SCRIPTS = {
    "libcudart.so": "GROUP(libcudart.so.13 AS_NEEDED(-lstdc++))\n",
    "libcudart_static.a": "INPUT(-lcudart)\n",
}
"""Linker scripts. A program that asks for the static runtime gets the shared library. Objects
of nvcc need the C++ library, also where a C compiler links them."""

OWN = Path(__file__).with_name("headers")
LACKING = ("cublas_v2.h", "cuda_profiler_api.h", "cudaProfiler.h", "curand.h")
"""Headers that NVIDIA's wheels lack; the headers of a toolkit are preferred."""
TYPES = "driver_types.h"
REMOVED_FIELDS = (
    *("clockRate", "deviceOverlap", "computeMode", "kernelExecTimeoutEnabled"),
    *("maxTexture1DLinear", "memoryClockRate", "singleToDoublePrecisionPerfRatio"),
    "cooperativeMultiDeviceLaunch",
)
"""Fields of cudaDeviceProp. They take the first elements of its field `reserved`, in this order, as
in cpp/property_fields.def; the other fields keep their places."""
_RESERVED = re.compile(r"\bint\s+reserved\[(\d+)\];")


@dataclass(frozen=True)
class Toolkit:
    """`folder` has bin/nvcc, include and lib64 like a toolkit of NVIDIA; `nvcc` is the real
    compiler."""

    folder: Path
    nvcc: Path

    @property
    def is_linked(self) -> bool:
        """Whether it has libraries, perhaps of an earlier version: good enough for the linker."""
        return (self.folder / "lib64" / "libcudart.so.13").exists()

    def link_to(self, libraries: Path) -> None:
        """Gives it the libraries of this folder."""
        for library in libraries.glob("lib*.so*"):
            link = self.folder / "lib64" / library.name
            if library.name not in _SCRIPTS and link.resolve() != library.resolve():
                new = link.with_name(f".{link.name}.{os.getpid()}")
                new.symlink_to(library)
                new.replace(link)

    def compile_command(
        self, files: Sequence[str], options: Sequence[str], arch: str, output: Path
    ) -> list[str]:
        """nvcc's command line for a program; files and options are relative to the working
        directory."""
        given = [*options, *files, "-o", str(output)]
        return [str(self.nvcc), *fit_options(given, arch, str(self.folder))]

    def environment(self, environ: Mapping[str, str], arch: str, libraries: Path) -> dict[str, str]:
        """The variables with which make, CMake, nvcc and g++ build for this toolkit, and with which
        programs find the libraries."""
        folder, linked = str(self.folder), str(self.folder / "lib64")
        names = dict.fromkeys(_MAKE_NAMES, folder)
        in_make = " ".join(f"{name}={_escape(folder)}" for name in _MAKE_NAMES)
        own = environ.get("NVCC_APPEND_FLAGS", "")
        flags = f"{own} -cudart=shared -lineinfo -g {shlex.quote(f'-L{linked}')}".lstrip()
        return {
            **environ,
            **names,
            ARCH: arch,
            OWN_FLAGS: own,
            "NVCC_APPEND_FLAGS": flags,
            "MAKEFLAGS": f"{environ.get('MAKEFLAGS', '')} -- {in_make}".lstrip(),
            "CUDACXX": f"{folder}/bin/nvcc",
            "CUDAARCHS": arch.removeprefix("sm_"),
            "CUDAToolkit_ROOT": folder,
            "PATH": _prepend(f"{folder}/bin", environ.get("PATH", os.defpath)),
            "CPATH": _append(environ.get("CPATH", ""), f"{folder}/include"),
            "LIBRARY_PATH": _prepend(linked, environ.get("LIBRARY_PATH", "")),
            "LD_LIBRARY_PATH": _prepend(str(libraries), environ.get("LD_LIBRARY_PATH", "")),
        }


def make_toolkit(nvcc: Nvcc, cache: Path) -> Toolkit:
    """The toolkit's folder in the cache, where the files of CMake can name it later."""
    script = Path(nvcc_options.__file__).resolve()
    texts = (*_SCRIPTS.values(), *(path.read_text("utf-8") for path in sorted(OWN.iterdir())))
    parts = (str(nvcc.path), sys.executable, str(script), nvcc.identity, *texts)
    folder = cache / f"cuda-toolkit-{cache_key(*parts)[:16]}"
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="cuda-toolkit-") as name:
            made = Path(name) / "toolkit"
            _fill(made, nvcc, script, folder)
            if not folder.is_dir():
                made.rename(folder)
    return Toolkit(folder, nvcc.path)


def _fill(made: Path, nvcc: Nvcc, script: Path, final: Path) -> None:
    """Makes the folder; `final` is its later place."""
    (made / "bin").mkdir(parents=True)
    (made / "lib64").mkdir()
    real = nvcc.path.resolve().parent
    for tool in real.iterdir():
        (made / "bin" / tool.name).symlink_to(tool)
    for name, script_text in _SCRIPTS.items():
        (made / "lib64" / name).write_text(script_text)
    for library in real.parent.glob("lib*/libcudadevrt.a"):
        (made / "lib64" / library.name).symlink_to(library)
    (made / "lib").symlink_to("lib64")
    headers = (root for root in nvcc.include_roots if (root / "cuda_runtime.h").exists())
    fill_headers(made / "include", next(headers, real.parent / "include"))
    (made / "nvvm").symlink_to(real.parent / "nvvm")
    wrapper = made / "bin" / "nvcc"
    wrapper.unlink()
    words = (sys.executable, "-I", "-S", str(script), str(nvcc.path), str(final))
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    wrapper.chmod(0o755)


def fill_headers(include: Path, real: Path) -> None:
    """Makes the folder. `real`: the folder with NVIDIA's cuda_runtime.h."""
    include.mkdir()
    (include / "toolkit").symlink_to(real)
    for path in OWN.iterdir():
        if path.name not in LACKING or not (real / path.name).exists():
            (include / path.name).write_bytes(path.read_bytes())
    for path in real.iterdir():
        if path.name != TYPES and not (include / path.name).exists():
            (include / path.name).symlink_to(path)
    types = (real / TYPES).read_text(encoding="utf-8")
    (include / TYPES).write_text(add_removed_fields(types), encoding="utf-8")


def add_removed_fields(types: str) -> str:
    """The text of driver_types.h with the fields that CUDA 13 removed from cudaDeviceProp."""
    if "clockRate" in types:
        return types
    start = types.index("cudaDeviceProp\n")
    return types[:start] + _RESERVED.sub(_with_fields, types[start:], count=1)


def _with_fields(reserved: re.Match[str]) -> str:
    count = int(reserved[1]) - len(REMOVED_FIELDS)
    return f"int {', '.join(REMOVED_FIELDS)}, reserved[{count}];"


def _escape(path: str) -> str:
    return path.replace(" ", "\\ ")


def _prepend(folder: str, folders: str) -> str:
    return f"{folder}:{folders}" if folders else folder


def _append(folders: str, folder: str) -> str:
    return f"{folders}:{folder}" if folders else folder


def native_command(
    nvcc: Path, files: Sequence[str], options: Sequence[str], arch: str, output: Path
) -> list[str]:
    """nvcc's command line for a GPU, with the lines of device and host code."""
    return [str(nvcc), f"-arch={arch}", "-lineinfo", "-g", *options, *files, "-o", str(output)]
