"""The functions of libcudart and libcuda: rows of the supported functions, and C++ from the headers
of the toolkit.

A row of `cpp/runtime/functions.tsv` describes one function: documented name, first version of
CUDA, the call of the driver that is its whole body (`-` for functions written in C++), behaviour.
A row of `cpp/driver/functions.tsv`: name, behaviour. The headers know its first version.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.toolchain.nvcc import Nvcc

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Library:
    """`headers` declare the functions of the library; `result` is their result's type."""

    name: str
    title: str
    folder: Path
    headers: tuple[str, ...]
    result: str
    prefix: str


@dataclass(frozen=True)
class Function:
    """`since`: None if the headers know it."""

    name: str
    behaviour: str
    since: str | None
    call: str


RUNTIME = Library(
    "cudart", "Runtime", HERE / "cpp" / "runtime", ("cuda_runtime_api.h",), "cudaError_t", "cuda"
)
DRIVER = Library("cuda", "Driver", HERE / "cpp" / "driver", ("cuda.h",), "CUresult", "cu")
LIBRARIES = (RUNTIME, DRIVER)

HANDWRITTEN = "-"

_FORWARDS = """\
// Written by functions.py from functions.tsv and the headers: functions that are one call of the
// driver. Compiled twice, for both kinds of default streams.
#include "runtime/descriptors.h"

"""
_STUBS = """\
// Written by functions.py from the headers: every function that is not written in C++. Each prints
// its name at its first call and is not supported.
#include <cstdio>

namespace
{

int refuse(const char *name)
{
    std::fprintf(stderr, "grader: %s is not supported on the emulated device\\n", name);
    return 801;
}

} // namespace

#define STUB(name) \\
    extern "C" __attribute__((weak)) int name() \\
    { \\
        static const int status = refuse(#name); \\
        return status; \\
    }

"""


def header_folder(nvcc: Nvcc) -> Path:
    return next(root for root in nvcc.include_roots if (root / "cuda.h").exists())


def read_functions(library: Library) -> tuple[Function, ...]:
    path = library.folder / "functions.tsv"
    return tuple(_read_row(line) for line in path.read_text(encoding="utf-8").splitlines())


def _read_row(line: str) -> Function:
    name, *middle, behaviour = line.split("\t")
    since, call = middle or (None, HANDWRITTEN)
    return Function(name, behaviour, since, call)


def unsupported_names(library: Library, include: Path) -> list[str]:
    """The documented names without a row."""
    return sorted(declared_names(library, include) - {row.name for row in read_functions(library)})


def declared_names(library: Library, include: Path) -> set[str]:
    """The documented names: without versions and variants of the default stream."""
    return {base_name(name) for name in _declarations(library, include)}


def base_name(symbol: str) -> str:
    """`cuMemcpyHtoD_v2_ptds` → `cuMemcpyHtoD`."""
    return re.sub(r"(_v\d+)?(_pt[ds][sz])?$", "", symbol)


def write_stubs(library: Library, include: Path) -> str:
    """Weak definitions of all symbols that the headers declare: strong definitions replace them."""
    declared = set(_declarations(library, include)) | _renamed(library, include)
    return _STUBS + "".join(f"STUB({name})\n" for name in sorted(declared))


def write_forwards(include: Path) -> str:
    """The functions of the runtime whose row contains a call of the driver."""
    declared = _declarations(RUNTIME, include)
    variants = _per_thread(RUNTIME, include)
    known = [row for row in read_functions(RUNTIME) if row.name in declared]  # fewer in old headers
    rows = [row for row in known if row.call != HANDWRITTEN]
    once = [row for row in rows if row.name not in variants]
    twice = [row for row in rows if row.name in variants]
    parts = [_FORWARDS]
    parts += [_write_forward(row, declared[row.name]) for row in twice]
    parts.append("#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM\n")
    parts += [_write_forward(row, declared[row.name]) for row in once]
    return "".join([*parts, "#endif\n"])


def write_attributes(include: Path) -> str:
    """Rows of attributes.def: number and name of each attribute of a device, without prefix."""
    found = re.findall(r"CU_DEVICE_ATTRIBUTE_(\w+)\s*=\s*(\d+)\s*,", _text(DRIVER, include))
    return "".join(f"ATTRIBUTE({number}, {name})\n" for name, number in found)


def write_symbols(include: Path) -> str:
    """Rows of symbols.def: name, first version of CUDA, symbol. NVIDIA's headers name a
    type for each form of a function; the second form has the suffix _v2."""
    rows = []
    for name, found in read_versions(include).items():
        for index, since in enumerate(found, 1):
            suffix = f"_v{index}" if index > 1 else ""
            rows.append(f"SYMBOL({name}, {since}, {name}{suffix})\n")
    return "".join(rows)


def read_versions(include: Path) -> dict[str, list[int]]:
    """The versions of CUDA (12030: 12.3) that brought forms of a function of the driver."""
    headers = ("cudaTypedefs.h", "cudaProfilerTypedefs.h")
    text = "".join((include / header).read_text(encoding="utf-8") for header in headers)
    versions: dict[str, set[int]] = {}
    for name, since in re.findall(r"\*PFN_(cu\w+?)_v(\d+)\)", text):
        versions.setdefault(name, set()).add(int(since))
    return {name: sorted(found) for name, found in versions.items()}


def _write_forward(row: Function, parameters: tuple[str, ...]) -> str:
    function, _, arguments = row.call.removesuffix(")").partition("(")
    names = arguments or ", ".join(_name_of(parameter) for parameter in parameters)
    called = f"{function}, {names}" if names else function
    return f"API {row.name}({', '.join(parameters)})\n{{\n    return call({called});\n}}\n\n"


def _name_of(parameter: str) -> str:
    found = re.search(r"(\w+)\s*$", parameter)
    assert found, parameter
    return found[1]


def _declarations(library: Library, include: Path) -> dict[str, tuple[str, ...]]:
    """Parameters by the declared name of a function, without default values."""
    pattern = (
        rf"{library.result}\s+(?:CUDARTAPI\s+|CUDAAPI\s+)?({library.prefix}\w+)\s*\(([^;]*)\)\s*;"
    )
    declared: dict[str, tuple[str, ...]] = {}
    for name, parameters in re.findall(pattern, _text(library, include)):
        declared.setdefault(name, tuple(_parameters(parameters)))
    return declared


def _parameters(text: str) -> Iterator[str]:
    plain = re.sub(r"__dv\([^)]*\)|=[^,]*", "", text)
    for parameter in plain.split(","):
        if parameter.strip() not in {"", "void"}:
            yield " ".join(parameter.split())


def _renamed(library: Library, include: Path) -> set[str]:
    """The symbols that macros of the headers put in the place of documented names."""
    symbols = set()
    for symbol, variant in _macros(library, include).values():
        symbols |= {symbol, symbol + variant}
    return symbols


def _per_thread(library: Library, include: Path) -> set[str]:
    return {name for name, (_, variant) in _macros(library, include).items() if variant}


def _macros(library: Library, include: Path) -> dict[str, tuple[str, str]]:
    """Symbol and suffix of the variant for per-thread default streams ("" for none), by name."""
    pattern = (
        rf"#\s*define\s+({library.prefix}[A-Z]\w+)\s+"
        r"(?:__CUDA(?:RT)?_API_PT(DS|SZ)\(\s*(\w+)\s*\)|(\w+)[ \t]*\n)"
    )
    found = re.findall(pattern, _text(library, include))
    return {
        name: (renamed or plain, f"_pt{variant.lower()}" if variant else "")
        for name, variant, renamed, plain in found
        if (renamed or plain).startswith(library.prefix)
    }


def _text(library: Library, include: Path) -> str:
    text = "".join((include / header).read_text(encoding="utf-8") for header in library.headers)
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
