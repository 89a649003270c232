"""The functions of libcudart and libcuda: rows of the supported functions, and C++ from the headers
of the toolkit.

A row of `cpp/runtime/functions.tsv` describes one function: documented name, first version of
CUDA, the call that is its whole body (`-` for functions written in C++), behaviour.

A row of `cpp/driver/functions.tsv` describes a function written in C++: name, behaviour. A row of
another table, such as `cpp/driver/graphs.tsv`, is a function that uses `graphs.cpp`: name, guards,
body, behaviour. The headers know parameters and first versions. Guards are the `Need` of the
function (`-`: none) and the arguments to check. The body is an expression of type CUresult, or
statements that end with `;`, or a value for the program: `*flags = ctx->flags`.
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
    """`since`: None if the headers know it. `body`: None for functions written in C++."""

    name: str
    behaviour: str
    since: str | None = None
    guards: str = ""
    body: str | None = None


RUNTIME = Library(
    "cudart", "Runtime", HERE / "cpp" / "runtime", ("cuda_runtime_api.h",), "cudaError_t", "cuda"
)
DRIVER = Library("cuda", "Driver", HERE / "cpp" / "driver", ("cuda.h",), "CUresult", "cu")
LIBRARIES = (RUNTIME, DRIVER)

HANDWRITTEN = "-"
STREAMED = "streamed"

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
    found = (row for table in library.folder.glob("*.tsv") for row in read_table(table))
    return tuple(sorted(found, key=lambda row: row.name))


def read_table(path: Path) -> tuple[Function, ...]:
    return tuple(_read_row(line.split("\t")) for line in path.read_text("utf-8").splitlines())


def _read_row(cells: list[str]) -> Function:
    match cells:
        case [name, behaviour]:
            return Function(name, behaviour)
        case [name, since, call, behaviour] if since[0].isdigit():
            return Function(name, behaviour, since, body=None if call == HANDWRITTEN else call)
        case [name, guards, body, behaviour]:
            return Function(name, behaviour, guards=guards, body=body)
    raise ValueError(cells)


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
    """The functions of the runtime whose row contains a call."""
    declared = _declarations(RUNTIME, include)
    variants = _per_thread(RUNTIME, include)
    known = [row for row in read_functions(RUNTIME) if row.name in declared]  # fewer in old headers
    rows = [row for row in known if row.body is not None]
    once = [row for row in rows if row.name not in variants]
    twice = [row for row in rows if row.name in variants]
    parts = [_FORWARDS]
    parts += [_write_forward(row, declared[row.name]) for row in twice]
    parts.append("#ifndef CUDA_API_PER_THREAD_DEFAULT_STREAM\n")
    parts += [_write_forward(row, declared[row.name]) for row in once]
    return "".join([*parts, "#endif\n"])


def write_sources(library: Library, include: Path) -> dict[str, str]:
    """The written files of a library by name. Each follows the file of its name: `graphs.cpp`.
    The functions of `streamed-copies.tsv` follow `cpp/driver/streamed/copies.cpp`."""
    texts = {"stubs.cpp": write_stubs(library, include)}
    if library is RUNTIME:
        return texts | {f"{STREAMED}/forwards.cpp": write_forwards(include)}
    declared = _declarations(library, include)
    for table in library.folder.glob("*.tsv"):
        known = [row for row in read_table(table) if row.name in declared]  # fewer in old headers
        texts[f"{table.stem.replace('-', '/')}.cpp"] = "".join(
            _write_guarded(row, declared[row.name]) for row in known if row.body is not None
        )
    return texts


def write_errors(include: Path) -> str:
    """Rows of errors.def: number of an error, name in the runtime, name in the driver (0 where the
    library has none), text. The headers know the names."""
    types, driver = ((include / name).read_text("utf-8") for name in ("driver_types.h", "cuda.h"))
    names, driver_names = (
        {number: name for name, number in re.findall(pattern, text)}
        for pattern, text in (
            (r"\b(cuda(?:Success|Error\w+))\s*=\s*(\d+)", types),
            (r"\b(CUDA_(?:SUCCESS|ERROR_\w+))\s*=\s*(\d+)", driver),
        )
    )
    return "".join(
        f'ERROR({number}, {names.get(number, 0)}, {driver_names.get(number, 0)}, "{text}")\n'
        for number, text in _read_pairs("error_texts.def")
    )


def write_properties(_: Path) -> str:
    """Rows of properties.def: field of cudaDeviceProp, attribute of the device."""
    return "".join(
        f"FIELD({name}, {value})\n" for name, value in _read_pairs("property_fields.def")
    )


def _read_pairs(name: str) -> list[list[str]]:
    lines = (HERE / "cpp" / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines]


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
    assert row.body is not None
    function, _, arguments = row.body.removesuffix(")").partition("(")
    names = arguments or ", ".join(_name_of(parameter) for parameter in parameters)
    called = f"{function}, {names}" if names else function
    of_driver = function.startswith(DRIVER.prefix) and not function.startswith(RUNTIME.prefix)
    return _write_function(row, parameters, f"call({called})" if of_driver else row.body)


def _write_guarded(row: Function, parameters: tuple[str, ...]) -> str:
    assert row.body is not None
    need, *checked = row.guards.split()
    opening = f"    ENTER({need});\n" if need != HANDWRITTEN else ""
    body = row.body
    if body.startswith("*") and not body.endswith(";"):
        checked.append(body[1:].partition(" ")[0])
        body += ";"
    opening += "".join(f"    CHECK({argument});\n" for argument in checked)
    return _write_function(row, parameters, body, opening)


def _write_function(
    row: Function, parameters: tuple[str, ...], body: str, opening: str = ""
) -> str:
    """A parameter without use has no name."""
    used = {*re.findall(r"\w+", opening + body)}
    given = [each if _name_of(each) in used else _type_of(each) for each in parameters]
    if body.endswith(";"):
        body = f"{body}\n    return CUDA_SUCCESS;"
    else:
        body = f"return {body or 'CUDA_SUCCESS'};"
    return f"API {row.name}({', '.join(given)})\n{{\n{opening}    {body}\n}}\n\n"


def _type_of(parameter: str) -> str:
    return parameter.removesuffix(_name_of(parameter))


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
