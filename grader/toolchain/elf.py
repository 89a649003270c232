"""A cubin as the ELF file that it is: its sections and symbols, read once."""

from __future__ import annotations

import io
import struct
from functools import cached_property
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from grader.errors import GraderError

UNREADABLE = (ELFError, struct.error, KeyError, AttributeError, OverflowError, ValueError)
"""The exceptions that pyelftools raises for damaged or unknown files."""
CODE = ".text."
"""The prefix of a code section's name; the rest names a function."""
_FLAGS_SHIFTED_FROM = 8
"""The version of the ABI."""


class Elf:
    """The sections and the symbols of a cubin in order, as pyelftools, which has no types, gives
    them. Raises GraderError for other files."""

    def __init__(self, cubin: bytes) -> None:
        try:
            file: Any = ELFFile(io.BytesIO(cubin))
            self.arch = _read_arch(file)
            self.sections: list[Any] = list(file.iter_sections())
            self.named: dict[str, Any] = {section.name: section for section in self.sections}
            self.table: Any = self.named[".symtab"]
            self.symbols: list[Any] = list(self.table.iter_symbols())
            # st_other of every symbol as a number: pyelftools splits it into ELF's own fields,
            # which CUDA uses otherwise.
            self.others: bytes = self.table.data()[5 :: self.table["sh_entsize"]]
        except UNREADABLE as error:
            raise unreadable(error) from error

    @cached_property
    def names(self) -> list[str]:
        """The names of the symbols. A name that several local symbols share (`$str` of linked
        files) is made unique by the symbol's index."""
        found, names = set[str](), []
        for index, symbol in enumerate(self.symbols):
            names.append(f"{symbol.name}#{index}" if symbol.name in found else symbol.name)
            found.add(symbol.name)
        return names

    @cached_property
    def code(self) -> dict[str, bytes]:
        """The machine code of every section of functions, by the function that the section is
        named after."""
        return {
            name.removeprefix(CODE): section.data()
            for name, section in self.named.items()
            if name.startswith(CODE)
        }

    @property
    def has_relocated_code(self) -> bool:
        """Whether a linker or loader writes addresses into machine code."""
        return any(
            section.num_relocations() > 0
            for name, section in self.named.items()
            if name.startswith((f".rel{CODE}", f".rela{CODE}"))
        )

    @property
    def undefined_functions(self) -> list[str]:
        """The functions that the system provides."""
        return [symbol.name for _, symbol in self.functions() if symbol["st_shndx"] == "SHN_UNDEF"]

    def functions(self) -> list[tuple[int, Any]]:
        """The symbols of functions, kernels and others, each with its index."""
        return [
            (index, symbol)
            for index, symbol in enumerate(self.symbols)
            if symbol["st_info"]["type"] == "STT_FUNC"
        ]

    def symbols_in(self, *sections: str) -> list[tuple[Any, Any]]:
        """Each symbol in a section with one of these names, and the section."""
        held = {
            index: section
            for index, section in enumerate(self.sections)
            if section.name in sections
        }
        found = [(symbol, held.get(symbol["st_shndx"])) for symbol in self.symbols]
        return [(symbol, section) for symbol, section in found if section is not None]


def _read_arch(file: Any) -> str:  # noqa: ANN401 - pyelftools has no types
    """The architecture of a cubin, for example `sm_90`: the second byte of its flags, or the first
    byte up to CUDA 12.6."""
    shift = 8 if file.header["e_ident"]["EI_ABIVERSION"] >= _FLAGS_SHIFTED_FROM else 0
    return f"sm_{file.header['e_flags'] >> shift & 0xFF}"


def unreadable(error: Exception) -> GraderError:
    """The error for a cubin that cannot be read."""
    return GraderError(
        f"The cubin cannot be read: {error}", "Is this nvcc newer than the grader knows?"
    )
