"""Images of modules: cubins, PTX text, and the fat binaries that nvcc puts in programs.

NVIDIA does not document the fat binary's format; `fatbinary` of CUDA 13 writes it as read here. Its
compressed entries are frames of zstd or blocks of LZ4; the system's libraries decompress them.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import re
import struct
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.grading.tools import Toolchain
from grader.plumbing.cache import cache_key, keep_entry, read_entry
from grader.records import ToolLimits

FAT_MAGIC = 0xBA55ED50
_FAT_HEADER = struct.Struct("<IHHQ")
_ENTRY_BYTES, _ARCH_AT, _FLAGS_AT, _PLAIN_SIZE_AT = 64, 28, 40, 56
_ENTRY_HEAD = struct.Struct("<HHIQI")
_PTX, _ELF = 1, 2
_LZ4, _ZSTD = 0x2000, 0x8000
_CUBIN_MACHINE, _MACHINE_AT = 190, 18
_ELF_MAGIC, _ARCHIVE_MAGIC = b"\x7fELF", b"!<arch>\n"
MOST_BYTES = 512 << 20
_LIMITS = ToolLimits(wall_seconds=120.0)
_UNCOMPRESSED = "Compile with `nvcc -no-compress`, or install lib{}."


class Status:
    """CUresult of images and links."""

    INVALID_VALUE, OUT_OF_MEMORY = 1, 2
    INVALID_IMAGE, NO_BINARY, INVALID_PTX = 200, 209, 218
    UNKNOWN = 999


class BadImage(Exception):  # noqa: N818 - a property of the program
    """An image that cannot be loaded: a CUresult, and the text of the log."""

    def __init__(self, status: int, log: str) -> None:
        super().__init__(log)
        self.status, self.log = status, log


@dataclass(frozen=True)
class Jit:
    """Options of the compilation of PTX: the largest number of registers, the optimisation level;
    None for ptxas's own."""

    max_registers: int | None = None
    level: int | None = None

    @property
    def arguments(self) -> list[str]:
        registers = [] if self.max_registers is None else [f"-maxrregcount={self.max_registers}"]
        return registers + ([] if self.level is None else [f"-O{self.level}"])


@dataclass(frozen=True)
class _Entry:
    """An entry of a fat binary; `payload` may be compressed."""

    kind: int
    arch: int
    flags: int
    plain_bytes: int
    payload: bytes


def parse_jit(text: str) -> Jit:
    """Options from lines `name=number`. Raises BadImage."""
    found = dict(line.partition("=")[::2] for line in text.splitlines() if "=" in line)
    numbers = {name: found.get(name) for name in ("max_registers", "level")}
    if any(each is not None and not re.fullmatch(r"\d{1,4}", each) for each in numbers.values()):
        raise BadImage(Status.INVALID_VALUE, "An option of the compilation is not a number.")
    return Jit(**{name: None if each is None else int(each) for name, each in numbers.items()})


def read_image(image: bytes, jit: Jit, *, arch: str, tools: Toolchain) -> tuple[bytes, str]:
    """The cubin of an image for a GPU of this architecture, and ptxas's log. Raises BadImage."""
    if len(image) >= 4 and struct.unpack_from("<I", image)[0] == FAT_MAGIC:
        entry = _choose(list(_read_entries(image)), int(arch.removeprefix("sm_")))
        image = _unpack(entry)
    if image.startswith(_ELF_MAGIC):
        return image, ""
    return compile_ptx(image, jit, arch=arch, tools=tools)


def _read_entries(image: bytes) -> Iterator[_Entry]:
    """The entries of a fat binary. Raises BadImage."""
    _, _, at, size = _FAT_HEADER.unpack_from(image.ljust(_FAT_HEADER.size, b"\0"))
    end = min(len(image), at + size)
    while at + _ENTRY_BYTES <= end:
        kind, _, header, payload, compressed = _ENTRY_HEAD.unpack_from(image, at)
        (arch,) = struct.unpack_from("<I", image, at + _ARCH_AT)
        flags, plain = (
            struct.unpack_from("<Q", image, at + place)[0] for place in (_FLAGS_AT, _PLAIN_SIZE_AT)
        )
        start = at + header
        if header < _ENTRY_BYTES or start + payload > end:
            raise BadImage(Status.INVALID_IMAGE, "The fat binary is damaged.")
        own = compressed if flags & (_LZ4 | _ZSTD) and compressed <= payload else payload
        if kind in (_PTX, _ELF):
            yield _Entry(kind, arch, flags, plain, image[start : start + own])
        at = start + payload


def _choose(entries: Sequence[_Entry], number: int) -> _Entry:
    """The machine code for this compute capability, or for the highest lower minor version of the
    same major version; else the newest usable PTX. Raises BadImage."""
    fitting = [each for each in entries if each.arch <= number]
    code = [each for each in fitting if each.kind == _ELF and each.arch // 10 == number // 10]
    texts = [each for each in fitting if each.kind == _PTX]
    found = max(code, key=lambda each: each.arch, default=None)
    found = found or max(texts, key=lambda each: each.arch, default=None)
    if found is None:
        names = ", ".join(sorted({f"sm_{each.arch}" for each in entries})) or "no code"
        raise BadImage(
            Status.NO_BINARY,
            f"The program has no code for sm_{number}: it has {names}. Compile with"
            f" `nvcc -arch=sm_{number}`.",
        )
    return found


def _unpack(entry: _Entry) -> bytes:
    """The entry's contents. Raises BadImage."""
    if not entry.flags & (_LZ4 | _ZSTD):
        return entry.payload
    if entry.plain_bytes > MOST_BYTES:
        raise BadImage(Status.INVALID_IMAGE, "The fat binary is damaged.")
    name = "lz4" if entry.flags & _LZ4 else "zstd"
    library = _find_library(name)
    if library is None:
        advice = _UNCOMPRESSED.format(name)
        raise BadImage(Status.INVALID_IMAGE, f"The program's code is compressed. {advice}")
    plain, packed = ctypes.create_string_buffer(int(entry.plain_bytes) or 1), entry.payload
    sizes = ctypes.c_size_t(entry.plain_bytes), ctypes.c_size_t(len(packed))
    if entry.flags & _LZ4:
        read = library.LZ4_decompress_safe(packed, plain, len(packed), int(entry.plain_bytes))
    else:
        library.ZSTD_decompress.restype = ctypes.c_size_t
        read = library.ZSTD_decompress(plain, sizes[0], packed, sizes[1])
    if read != entry.plain_bytes:
        raise BadImage(Status.INVALID_IMAGE, "The fat binary is damaged.")
    return plain.raw


@cache
def _find_library(name: str) -> ctypes.CDLL | None:
    for path in (f"lib{name}.so.1", ctypes.util.find_library(name)):
        try:
            return ctypes.CDLL(path) if path else None
        except OSError:
            continue
    return None


def compile_ptx(
    text: bytes, jit: Jit, *, arch: str, tools: Toolchain, linkable: bool = False
) -> tuple[bytes, str]:
    """The cubin of a PTX text and ptxas's log, from the cache if it is there. `linkable`: it is an
    input of a link. Raises BadImage with the log."""
    text = text.partition(b"\0")[0]
    if b".version" not in text:
        raise BadImage(Status.INVALID_IMAGE, "The image is neither a cubin nor PTX.")
    arguments = [f"-arch={_target(text, arch)}", "-lineinfo", *jit.arguments]
    arguments += ["-c"] if linkable else []
    key = cache_key("ptxas", tools.nvcc.version, *arguments, text.decode("utf-8", "replace"))
    known = tools.cache and read_entry(tools.cache, key)
    if known:
        return known, ""
    cubin, log = _run_tool("ptxas", arguments, {"module.ptx": text}, tools, Status.INVALID_PTX)
    if tools.cache:
        keep_entry(tools.cache, key, cubin)
    return cubin, log


def link(images: Sequence[bytes], jit: Jit, *, arch: str, tools: Toolchain) -> tuple[bytes, str]:
    """The cubin of a link of relocatable images, and nvlink's log. Raises BadImage."""
    inputs: dict[str, bytes] = {}
    for number, image in enumerate(images):
        ending = _ending(image)
        if ending == "ptx":
            image, _ = compile_ptx(image, jit, arch=arch, tools=tools, linkable=True)
        inputs[f"input{number}.{'cubin' if ending == 'ptx' else ending}"] = image
    if len(images) == 1 and _ending(images[0]) == "ptx":
        return compile_ptx(images[0], jit, arch=arch, tools=tools)
    return _run_tool("nvlink", [f"-arch={arch}"], inputs, tools, Status.UNKNOWN)


def _ending(image: bytes) -> str:
    """The ending of the file's name by which nvlink recognises its kind."""
    if image.startswith(_ELF_MAGIC):
        machine = int.from_bytes(image[_MACHINE_AT : _MACHINE_AT + 2], "little")
        return "cubin" if machine == _CUBIN_MACHINE else "o"
    if image.startswith(_ARCHIVE_MAGIC):
        return "a"
    return "fatbin" if image.startswith(FAT_MAGIC.to_bytes(4, "little")) else "ptx"


def _target(text: bytes, arch: str) -> str:
    """The architecture for ptxas: `sm_90a` for a text of that target on an `sm_90`."""
    found = re.search(rb"^\s*\.target\s+(sm_\d+[af]?)", text, re.MULTILINE)
    named = found.group(1).decode() if found else arch
    return named if named.rstrip("af") == arch else arch


def _run_tool(
    name: str,
    arguments: Sequence[str],
    inputs: Mapping[str, bytes],
    tools: Toolchain,
    status: int,
) -> tuple[bytes, str]:
    """The output of ptxas or nvlink for these files, and its messages. Raises BadImage."""
    folders = (
        tools.nvcc.path.parent,
        *tools.nvcc.toolkit,
        *(f / "bin" for f in tools.nvcc.toolkit),
    )
    program = next((f / name for f in folders if (f / name).is_file()), None)
    if program is None:
        raise BadImage(Status.UNKNOWN, f"There is no {name} beside {tools.nvcc.path}.")
    with tempfile.TemporaryDirectory(prefix="grader-jit-") as folder:
        for file, content in inputs.items():
            (Path(folder) / file).write_bytes(content)
        command = [str(program), *arguments, *inputs, "-o", "out.cubin"]
        done = tools.run(command, cwd=Path(folder), limits=_LIMITS)
        log = f"{done.stdout}{done.stderr}".strip()
        made = Path(folder) / "out.cubin"
        if done.returncode != 0 or done.limit or not made.is_file():
            raise BadImage(status, log or f"{name} ended with {done.returncode}")
        return made.read_bytes(), log
