"""Compiles libcuda.so.1 and libcudart.so.13 at first use, into the user's cache folder.

A folder's name contains a digest of sources, compiler, options, headers of CUDA and interpreter; a
folder is complete when it exists. The folder streamed/ of a library is compiled twice: the headers
rename its functions to their variants for per-thread default streams.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from grader.cuda import wire
from grader.cuda.compile_program import OWN
from grader.cuda.functions import (
    LIBRARIES,
    Library,
    header_folder,
    write_attributes,
    write_errors,
    write_properties,
    write_sources,
    write_symbols,
)
from grader.cuda.window import CLIENT_OFFSET
from grader.devices.emulated.runtime import compile_with
from grader.emulator.cpp import WARNINGS, run_compiler
from grader.emulator.cpp.header import format_constants, format_enum, format_struct
from grader.emulator.layouts import textures
from grader.emulator.layouts.forms import ElementType
from grader.emulator.run.memory import ALIGNMENT, RED_ZONE
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import default_cache
from grader.plumbing.locks import hold_lock
from grader.toolchain.nvcc import Nvcc

SOURCES = Path(__file__).parent / "cpp"
FLAGS = (
    *("-fPIC", "-std=c++17", "-O2", "-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing"),
    # call_site() follows frame pointers through both libraries
    *("-fno-omit-frame-pointer", "-fno-optimize-sibling-calls"),
    "-pthread",
)
LINKING = ("-shared", "-pthread", "-static-libstdc++", "-static-libgcc", "-Wl,-z,now")
"""A program may bring another libstdc++."""
CHECKED = (
    # the headers of CUDA and their types decide about the others
    *(sorted({*WARNINGS} - {"-Wpedantic", "-Wold-style-cast", "-Wuseless-cast", "-Wcast-qual"})),
    "-Wno-deprecated-declarations",  # the functions before CUDA 4 call each other
)
STREAMED = "streamed/*.cpp"
PER_THREAD = "-DCUDA_API_PER_THREAD_DEFAULT_STREAM"
_LINKED = {
    "cuda": ("libcuda.so.1", "{ global: cu[A-Z]*; grader_*; local: *; };", ()),
    "cudart": (
        "libcudart.so.13",
        "libcudart.so.13 { global: cuda[A-Z]*; __cuda*; local: *; };",
        ("-lcuda",),
    ),
    "cublas": ("libcublas.so.13", "{ global: cublas*; local: *; };", ("-lcuda", "-lcudart")),
    "curand": ("libcurand.so.10", "{ global: curand*; local: *; };", ("-lcuda", "-lcudart")),
}
"""File, exported symbols and libraries of each library, in the order of linking."""
_EMULATORS = (textures.Texels, textures.Edge, ElementType)
"""Numbers of the emulator in wire.h."""
_TABLES = {
    "attributes": write_attributes,
    "errors": write_errors,
    "properties": write_properties,
    "symbols": write_symbols,
}


@dataclass(frozen=True)
class _Build:
    """`include`: the folder with cuda.h. `options` follow FLAGS."""

    compiler: str
    include: Path
    options: tuple[str, ...]

    def flags(self, folder: Path) -> list[str]:
        # the headers of CUDA give no warnings
        found = [f"-I{folder}", f"-I{SOURCES}", "-isystem", str(self.include)]
        return [*FLAGS, *self.options, *found, f'-DPYTHON="{sys.executable}"']


def library_folder(options: tuple[str, ...] = ()) -> Path:
    """The folder with both libraries, which are compiled if they are missing. Raises
    ToolMissing."""
    cache = default_cache(os.environ)
    nvcc = find_toolchain(prefer_wheel=True, cache=cache).nvcc
    return compile_with(lambda compiler: _find_or_build(cache / "cuda", compiler, nvcc, options))


def write_wire_header() -> str:
    """The text of wire.h: kinds of messages and their records, in the namespace wire. The answer to
    the message Load is LoadAnswer."""
    names = vars(wire) | {
        "ALIGNMENT": ALIGNMENT,
        "CLIENT_OFFSET": CLIENT_OFFSET,
        "RED_ZONE": RED_ZONE,
    }
    records = {"Texture": textures.TEXTURE, "Header": wire.HEADER}
    records |= {_name_of(kind): record for kind, record in wire.MESSAGES.items()}
    records |= {f"{_name_of(kind)}Answer": record for kind, record in wire.ANSWERS.items()}
    kinds = ((kind.__name__, kind.__members__) for kind in (wire.Kind, wire.Sort, wire.Arithmetic))
    enums = (*kinds, ("ObjectFlag", vars(wire.ObjectFlag)))
    parts = [
        "// Written by build.py from wire.py.\n#pragma once\n",
        "#include <cstddef>\n#include <cstdint>\n\nnamespace wire {\n",
        format_constants(names),
        *(format_enum(name, members) for name, members in enums),
        *(format_enum(kind.__name__, vars(kind)) for kind in _EMULATORS),
        *(format_struct(name, record) for name, record in records.items()),
        "template <class> struct KindOf;\ntemplate <class> struct AnswerTo;\n",
        *(_format_traits(kind) for kind in wire.MESSAGES),
        "} // namespace wire\n",
    ]
    return "\n".join(parts)


def _format_traits(kind: wire.Kind) -> str:
    """The kind of a record, and the record of its answer, for templates."""
    name = _name_of(kind)
    text = f"template <> struct KindOf<{name}> {{ enum {{ value = {kind.value} }}; }};\n"
    if kind in wire.ANSWERS:
        text += f"template <> struct AnswerTo<{name}> {{ using Type = {name}Answer; }};\n"
    return text


def _name_of(kind: wire.Kind) -> str:
    """`RECORD_EVENT` → `RecordEvent`. Texture is the emulator's record."""
    return "TextureObject" if kind is wire.Kind.TEXTURE else kind.name.title().replace("_", "")


def _find_or_build(cache: Path, compiler: str, nvcc: Nvcc, options: tuple[str, ...]) -> Path:
    build = _Build(compiler, header_folder(nvcc), options)
    folder = cache / _key(build, nvcc)
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        with hold_lock(cache / "lock", partial(time.sleep, 0.1)):
            if not folder.is_dir():
                _compile_into(folder, build)
    with suppress(OSError):
        os.utime(folder, (time.time(), time.time()))
    return folder


def _compile_into(folder: Path, build: _Build) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent) as name:
        made = Path(name) / "made"
        _compile(build, Path(name), made)
        made.rename(folder)


def _key(build: _Build, nvcc: Nvcc) -> str:
    files = sorted(path for path in SOURCES.rglob("*") if path.is_file())
    texts = [f"{path.relative_to(SOURCES)}\n{path.read_text('utf-8')}" for path in files]
    texts.append(Path(__file__).with_name("functions.py").read_text("utf-8"))
    version = run_compiler([build.compiler, "--version"])
    parts = [write_wire_header(), *texts, version, nvcc.identity, *build.flags(Path()), *LINKING]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def _compile(build: _Build, folder: Path, made: Path) -> None:
    """Fills the folder `made`; `folder` is for temporary files."""
    made.mkdir()
    (folder / "wire.h").write_text(write_wire_header(), "utf-8")
    for name, write in _TABLES.items():
        (folder / f"{name}.def").write_text(write(build.include), "utf-8")
    for name in ("cublas_v2.h", "curand.h"):
        (folder / name).write_bytes((OWN / name).read_bytes())
    jobs = {library.name: list(_jobs(build, library, folder)) for library in LIBRARIES}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(run_compiler, (command for each in jobs.values() for command in each)))
    for name in _LINKED:
        source = [str(SOURCES / "libraries" / f"{name}.cpp"), *build.flags(folder), "-O3"]
        _link(build, name, [job[-1] for job in jobs[name]] if name in jobs else source, made)


def _jobs(build: _Build, library: Library, folder: Path) -> Iterator[list[str]]:
    """The commands that compile a library; each ends with its object. Files that are compiled
    together read the headers, which take most of the time, only once."""
    own = folder / library.name
    for name, text in write_sources(library, build.include).items():
        (own / name).parent.mkdir(parents=True, exist_ok=True)
        (own / name).write_text(text, "utf-8")
    command = [build.compiler, *build.flags(folder), "-c"]
    plain = _names(library.folder, "*.cpp")
    stubs = ["stubs.cpp"]  # their names have other types than in the headers
    streamed = list(dict.fromkeys(_names(library.folder, STREAMED) + _names(own, STREAMED)))
    for index, names in enumerate((plain[::2], plain[1::2], stubs, streamed)):
        paths = [top / name for name in names for top in (library.folder, own)]
        unit = own / f"unit-{index}.cpp"
        unit.write_text("".join(f'#include "{path}"\n' for path in paths if path.exists()), "utf-8")
        yield [*command, str(unit), "-o", str(unit.with_suffix(".o"))]
    yield [*command, PER_THREAD, str(unit), "-o", str(own / "per-thread.o")]


def _names(folder: Path, pattern: str) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.glob(pattern))


def _link(build: _Build, name: str, inputs: list[str], made: Path) -> None:
    file, exports, libraries = _LINKED[name]
    script = made.with_name(f"{name}.map")
    script.write_text(exports, "utf-8")
    options = [*LINKING, *build.options, f"-Wl,--version-script={script}", f"-Wl,-soname,{file}"]
    if libraries:
        options += [f"-L{made}", *libraries, "-Wl,-rpath,$ORIGIN"]
    run_compiler([build.compiler, *inputs, *options, "-o", str(made / file)])
    (made / f"lib{name}.so").symlink_to(file)
