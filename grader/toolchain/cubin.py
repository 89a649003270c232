"""Reads a cubin's kernels from the ELF symbols and the `.nv.info` sections, which ptxas writes.

NVIDIA documents neither. Formats and attribute numbers are as `cuobjdump -elf` names them.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.records import DEFAULT_STACK_BYTES, Pointer
from grader.toolchain.elf import CODE, UNREADABLE, Elf, unreadable
from grader.toolchain.nvdisasm import Label
from grader.toolchain.variables import read_pointers

# st_other of a symbol that is a kernel: STO_CUDA_ENTRY.
_ENTRY = 0x10
# From sm_90 on, a block's static shared memory starts with what the system keeps for itself, and
# sections count it in.
_RESERVED_SHARED_BYTES, _RESERVED_FROM_ARCH = 1024, 90

# How an attribute of `.nv.info` holds its value: in the two bytes of its head, or in so many bytes
# after it.
_SIZED = 0x04

_LITERAL_BANK, _VARIABLE_BANK, _ADDRESS_BANK = 2, 3, 4

_UNKNOWN_STACK = 0xFFFFFFFF
"""ptxas writes this stack size if recursion, function pointers or alloca decide how much stack a
kernel needs."""

_MAX_THREADS = 0x05
_PARAM_CBANK = 0x0A
_FRAME_SIZE = 0x11
_MIN_STACK_SIZE = 0x12
_KPARAM_INFO = 0x17
_REGCOUNT = 0x2F
_CLUSTER = 0x3D
_LARGE_KPARAM_INFO = 0x45

_KPARAM = struct.Struct("<IHHI")


@dataclass(frozen=True)
class CubinKernel:
    """A kernel as the ELF file describes it. `parameters` are (offset, size) in bytes, in
    declaration order.

    `parameter_base` is the byte offset of the first parameter in constant bank 0; `stack_unknown`,
    `pointers`, `functions` and `encoding`: see `records.Kernel`.
    """

    symbol: str
    parameters: tuple[tuple[int, int], ...]
    parameter_base: int
    registers: int
    static_shared_bytes: int
    local_bytes: int
    stack_unknown: bool
    max_threads_per_block: int | None
    cluster: tuple[int, int, int]
    constants: dict[int, bytes]
    pointers: dict[int, tuple[Pointer, ...]]
    functions: tuple[int, ...]
    encoding: bytes


def read_cubin(elf: Elf, *, arch: str) -> tuple[CubinKernel, ...]:
    """The kernels of a cubin for `arch` (`sm_90`) in the order of their symbols. Raises GraderError
    for other files."""
    try:
        return tuple(_read_kernels(elf, _reserved_shared_bytes(arch)))
    except UNREADABLE as error:
        raise unreadable(error) from error


def read_labels(elf: Elf) -> dict[str, Label]:
    """The position of every function of a cubin: of kernels, and of functions inside their
    sections."""
    labels = {}
    for _, symbol in elf.functions():
        place = symbol["st_shndx"]  # a word where the function lies elsewhere
        name = elf.sections[place].name if isinstance(place, int) else ""
        if name.startswith(CODE):
            labels[symbol.name] = Label(name.removeprefix(CODE), int(symbol["st_value"]))
    return labels


def _read_kernels(elf: Elf, reserved: int) -> Iterator[CubinKernel]:
    if not elf.functions():  # nvcc links an empty cubin to every program
        return
    registers, frames, stacks = (
        _per_function(elf.named[".nv.info"].data(), kind)
        for kind in (_REGCOUNT, _FRAME_SIZE, _MIN_STACK_SIZE)
    )
    functions = elf.functions()
    for index, symbol in functions:
        if not elf.others[index] & _ENTRY:
            continue
        name, place = symbol.name, symbol["st_shndx"]
        info = dict[int, list[bytes]]()
        for attribute, value in _attributes(elf.named[f".nv.info.{name}"].data()):
            info.setdefault(attribute, []).append(value)
        shared = elf.named.get(f".nv.shared.{name}")
        constants = list(_constants(elf, name))
        stack = stacks.get(index, 0)
        endless = stack == _UNKNOWN_STACK
        beside = (each for _, each in functions if each["st_shndx"] == place)
        yield CubinKernel(
            symbol=name,
            parameters=_parameters(info.get(_KPARAM_INFO, []), info.get(_LARGE_KPARAM_INFO, [])),
            parameter_base=_parameter_base(info.get(_PARAM_CBANK, [])),
            registers=registers[index],
            static_shared_bytes=max(0, shared["sh_size"] - reserved) if shared else 0,
            local_bytes=max(frames.get(index, 0), DEFAULT_STACK_BYTES if endless else stack),
            stack_unknown=endless,
            max_threads_per_block=_max_threads(info.get(_MAX_THREADS, [])),
            cluster=_cluster(info.get(_CLUSTER, [])),
            constants={bank: data for bank, data, _ in constants},
            pointers={bank: pointers for bank, _, pointers in constants if pointers},
            functions=tuple(sorted({int(s["st_value"]) for s in beside if s.name != name})),
            encoding=elf.named[f"{CODE}{name}"].data(),
        )


def _constants(elf: Elf, symbol: str) -> Iterator[tuple[int, bytes, tuple[Pointer, ...]]]:
    """Constant banks whose contents the file holds, with the addresses that a loader fills in,
    unless it fills in anything else."""
    names = {
        _LITERAL_BANK: f".nv.constant{_LITERAL_BANK}.{symbol}",
        _VARIABLE_BANK: ".nv.constant3",
        _ADDRESS_BANK: ".nv.constant4",
    }
    for bank, name in names.items():
        pointers = read_pointers(elf, name)
        if name in elf.named and pointers is not None:
            yield bank, elf.named[name].data(), pointers


def _reserved_shared_bytes(arch: str) -> int:
    number = re.search(r"\d+", arch)
    return _RESERVED_SHARED_BYTES if number and int(number.group()) >= _RESERVED_FROM_ARCH else 0


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(attribute, value) of an `.nv.info` section. An entry has a byte for the format, a byte for
    the attribute, and two for the value or its length."""
    position = 0
    while position < len(data):
        kind, attribute, length = struct.unpack_from("<BBH", data, position)
        position += 4
        size = length if kind == _SIZED else 0
        yield attribute, data[position : position + size] if size else struct.pack("<H", length)
        position += size


def _per_function(data: bytes, wanted: int) -> dict[int, int]:
    """Symbol index to value, for an attribute that pairs them."""
    return dict(
        struct.unpack("<II", value) for attribute, value in _attributes(data) if attribute == wanted
    )


def _parameters(info: Sequence[bytes], large: Sequence[bytes]) -> tuple[tuple[int, int], ...]:
    """KPARAM_INFO: index (4 bytes), ordinal (2), offset (2), then flags whose bits from 18 on are
    the size; of a kernel with more than 4 KiB of parameters, in the other attribute, the size (2)
    and zeros."""
    found = [(ordinal, at, flags >> 18) for _, ordinal, at, flags in map(_KPARAM.unpack, info)]
    found += [(ordinal, at, word & 0xFFFF) for _, ordinal, at, word in map(_KPARAM.unpack, large)]
    return tuple((at, size) for _, at, size in sorted(found))


def _parameter_base(info: Sequence[bytes]) -> int:
    """PARAM_CBANK: symbol (4 bytes), then offset (2) and size (2) of all parameters together."""
    return int(struct.unpack("<IHH", info[0])[1]) if info else 0


def _max_threads(info: Sequence[bytes]) -> int | None:
    """MAX_THREADS, the x, y and z of `__launch_bounds__`, whose product is the bound."""
    return math.prod(struct.unpack("<III", info[0])) if info else None


def _cluster(info: Sequence[bytes]) -> tuple[int, int, int]:
    """CTA_PER_CLUSTER, the x, y and z of `__cluster_dims__`: (1, 1, 1) for a kernel without."""
    x, y, z = struct.unpack("<III", info[0]) if info else (1, 1, 1)
    return x, y, z
