"""Operand text of nvdisasm -> typed operands. Unknown text raises `Unsupported`."""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass, replace
from functools import lru_cache

from grader.emulator.isa.program import Unsupported

ZERO_REGISTER = 255
"""Index of RZ and URZ, which read as zero and ignore writes."""
TRUE_PREDICATE = 7
"""Index of PT and UPT, which read as true and ignore writes."""
DESCRIPTORS = "gdesc"
"""Prefix of the suffix of a uniform register, the first of four that hold the descriptors of two
matrices: `gdesc[UR4].tnspB`."""
LAST_REGISTER, LAST_UNIFORM_REGISTER = 254, 79
"""The highest registers that ptxas emits (up to sm_90: UR62). The record of a warp has no more."""


@dataclass(frozen=True)
class Register:
    """`R5`, `-R5`, `~R5`, `|R5|`, or with `uniform` `UR5`. `suffix` follows the number (`64`,
    `H0_H0`), without `reuse`."""

    index: int
    uniform: bool = False
    negated: bool = False
    inverted: bool = False
    absolute: bool = False
    suffix: str = ""

    @property
    def is_zero(self) -> bool:
        """Whether it is RZ or URZ, possibly with a sign."""
        return self.index == ZERO_REGISTER


@dataclass(frozen=True)
class Predicate:
    """`P0`, `!P0`, `PT`; `uniform` for `UP0`."""

    index: int
    uniform: bool = False
    negated: bool = False

    @property
    def is_true(self) -> bool:
        """Whether it is PT or UPT, possibly negated."""
        return self.index == TRUE_PREDICATE


@dataclass(frozen=True)
class Constant:
    """`c[bank][offset]` or, with `register`, `c[bank][R1+offset]`; the offset in bytes."""

    bank: int
    offset: int
    register: Register | None = None
    negated: bool = False
    inverted: bool = False
    absolute: bool = False
    suffix: str = ""


@dataclass(frozen=True)
class Immediate:
    """A literal: `bits` if written as an integer, `real` if written as a decimal float, both for a
    NaN, whose bits are those of a float32 or the upper half of a float64. The instruction decides
    which of them it reads."""

    bits: int | None
    real: float | None

    def integer(self) -> int:
        """The value as 32 bits, for integer instructions."""
        return self.integer64() & 0xFFFFFFFF

    def integer64(self) -> int:
        """The value as 64 bits, for instructions on 64-bit integers."""
        if self.bits is None:
            raise Unsupported(f"a floating-point literal {self.real} in an integer instruction")
        return self.bits & 0xFFFFFFFFFFFFFFFF

    def float32_bits(self) -> int:
        """The value as the bits of a float32. A float instruction reads a bare integer such as `2`
        as a decimal float."""
        if self.real is None:
            raise Unsupported(f"the literal {self.bits:#x} in a floating-point instruction")
        if self.real != self.real and self.bits is not None:
            return self.bits
        try:
            return int.from_bytes(struct.pack("<f", self.real), "little")
        except OverflowError:
            raise Unsupported(
                f"the literal {self.real} in a single-precision instruction"
            ) from None

    def float64_bits(self) -> int:
        if self.real is not None and self.real != self.real and self.bits is not None:
            return self.bits << 32
        if self.real is None or self.real != self.real:
            raise Unsupported(f"the literal {self.real} in a double-precision instruction")
        return int.from_bytes(struct.pack("<d", self.real), "little")


@dataclass(frozen=True)
class Address:
    """`[R2+UR4+0x10]`, `[R2.X4]` (times 4) or `desc[UR4][R2.64+0x10]`: base registers (64 bit when
    `wide`) plus a byte offset."""

    register: Register | None
    uniform: Register | None
    offset: int
    wide: bool


@dataclass(frozen=True)
class Special:
    """A special register (`SR_TID.X`), a convergence barrier (`B0`), the dimensions of a texture
    (`2D`) or another bare name; `desc`: a cache hint (`desc[UR4]`); `scoreboards`: a set of them
    (`{5,4}`)."""

    name: str


GROUP_END = Special("gsb0")
"""Operand of the last product in a group of products, and of the wait for groups."""

Operand = Register | Predicate | Constant | Immediate | Address | Special

_REGISTER = re.compile(
    r"(?P<sign>[-~!]?)(?P<bar>\|?)(?P<kind>UR|R)(?P<index>\d+|Z)(?P<suffix>(\.\w+)*)\|?(?P<after>(\.\w+)*)$"
)
_DESCRIPTORS = re.compile(rf"{DESCRIPTORS}\[(?P<register>UR(?:\d+|Z))\](?P<suffix>(?:\.\w+)*)$")
_PREDICATE = re.compile(r"(?P<sign>[!~]?)(?P<kind>UP|P)(?P<index>[0-6T])$")
_CONSTANT = re.compile(
    r"(?P<sign>[-~]?)(?P<bar>\|?)c\[(?P<bank>0x[0-9a-f]+)\]\[(?P<inside>[^\]]+)\]\|?(\.(?P<suffix>\w+))?$"
)
_TWO_ADDRESSES = re.compile(r"^(\[[^\]]*\])(\[)")
_INTEGER = re.compile(r"(?P<sign>[-~]?)(?P<digits>0x[0-9a-f]+|\d+)$")
_REAL = re.compile(r"[-+]?(\d+\.?\d*(e[-+]?\d+)?|\.\d+)$")
_NAN = re.compile(r"nan:(0x[0-9a-f]{8})$")
_SPECIAL = re.compile(r"(SR_[\w.]+|SRZ|B\d+|[123]D|[A-Za-z_][\w.]*)$")
_HINT = re.compile(r"desc\[UR(?:\d+|Z)\]$")
_SCOREBOARDS = re.compile(r"\{[\d,]+\}$")
_NAMED_REAL = re.compile(r"(?P<sign>[-+])(?P<name>INF|QNAN)$")


@lru_cache(maxsize=1 << 14)
def parse_operands(text: str) -> tuple[Operand, ...]:
    """Operands in order, separated by commas outside of brackets. Before sm_90, no comma separates
    the two addresses of LDGSTS."""
    text = _TWO_ADDRESSES.sub(r"\1,\2", text)
    return tuple(parse_operand(part) for part in _split(text))


@lru_cache(maxsize=1 << 14)
def parse_operand(text: str) -> Operand:
    """Raises Unsupported, with the text, for an unknown form."""
    text = text.strip()
    for pattern, build in _FORMS:
        match = pattern.match(text)
        if match:
            return build(match)
    if text.startswith(("[", "desc[")):
        return _address(text)
    raise Unsupported(f"the operand {text!r}")


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "[{") - (character in "]}")
        if character == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    tail = text[start:].strip()
    return [*parts, tail] if tail else parts


def _register(match: re.Match[str]) -> Register:
    uniform = match["kind"] == "UR"
    index = ZERO_REGISTER if match["index"] == "Z" else int(match["index"])
    if match["index"] != "Z" and index > (LAST_UNIFORM_REGISTER if uniform else LAST_REGISTER):
        raise Unsupported(f"the register {match[0]!r}")
    names = (match["suffix"] + match["after"]).split(".")
    return Register(
        index=index,
        uniform=uniform,
        negated=match["sign"] == "-",
        inverted=match["sign"] in ("~", "!"),
        absolute=bool(match["bar"]),
        suffix=".".join(name for name in names if name not in ("", "reuse")),
    )


def _descriptors(match: re.Match[str]) -> Register:
    register = parse_operand(match["register"])
    assert isinstance(register, Register)
    return replace(register, suffix=f"{DESCRIPTORS}{match['suffix']}")


def _predicate(match: re.Match[str]) -> Predicate:
    index = TRUE_PREDICATE if match["index"] == "T" else int(match["index"])
    return Predicate(index, uniform=match["kind"] == "UP", negated=match["sign"] != "")


def _constant(match: re.Match[str]) -> Constant:
    register, offset = None, 0
    for term in _terms(match["inside"]):
        if isinstance(term, int):
            offset += term
        elif term.index == ZERO_REGISTER:
            continue  # nvdisasm prints an LDC of offset 0 as `c[0x0][RZ]`
        elif register is None:
            register = term
        else:
            raise Unsupported(f"the operand {match.string!r}")
    return Constant(
        int(match["bank"], 16),
        offset,
        register,
        negated=match["sign"] == "-",
        inverted=match["sign"] == "~",
        absolute=bool(match["bar"]),
        suffix=match["suffix"] or "",
    )


def _integer(match: re.Match[str]) -> Immediate:
    value = int(match["digits"], 0)
    value = {"": value, "-": -value, "~": ~value}[match["sign"]]
    real = None if match["digits"].startswith("0x") else float(match[0].replace("~", ""))
    return Immediate(value, real)


def _named_real(match: re.Match[str]) -> Immediate:
    sign, bits = match["sign"] == "-", 0x7F800000 if match["name"] == "INF" else 0x7FFFFFFF
    bits |= sign << 31
    return Immediate(bits, struct.unpack("<f", struct.pack("<I", bits))[0])


def _address(text: str) -> Address:
    inside = re.fullmatch(r"(?:desc\[UR(?:\d+|Z)\])?\[([^\]]*)\]", text)
    if inside is None:
        raise Unsupported(f"the address {text!r}")
    register = uniform = None
    offset = 0
    for term in _terms(inside[1]):
        if isinstance(term, int):
            offset += term
        elif term.uniform and uniform is None:
            uniform = term
        elif not term.uniform and register is None:
            register = term
        else:
            raise Unsupported(f"the address {text!r}")
    suffixes = {term.suffix for term in (register, uniform) if term is not None}
    scaled = suffixes & {"X4", "X8", "X16"}
    if suffixes - scaled - {"", "64", "U32"}:
        raise Unsupported(f"the address {text!r}")
    wide = "64" in suffixes
    if wide and scaled:
        raise Unsupported(f"the scaled address {text!r}")
    return Address(register, uniform, offset, wide)


def _terms(text: str) -> list[Register | int]:
    terms: list[Register | int] = []
    for part in text.replace("+-", "-").replace("-", "+-").split("+"):
        if not part:
            continue
        integer = _INTEGER.match(part)
        register = _REGISTER.match(part)
        if integer:
            terms.append(_integer(integer).bits or 0)
        elif register and register["sign"] == "":
            terms.append(_register(register))
        else:
            raise Unsupported(f"the address term {part!r}")
    return terms


_FORMS = (
    (_REGISTER, _register),
    (_DESCRIPTORS, _descriptors),
    (_PREDICATE, _predicate),
    (_CONSTANT, _constant),
    (_INTEGER, _integer),
    (_REAL, lambda match: Immediate(None, float(match[0]))),
    (_NAMED_REAL, _named_real),
    (_NAN, lambda match: Immediate(int(match[1], 16), math.nan)),
    (_SPECIAL, lambda match: Special(match[0])),
    (_HINT, lambda match: Special("desc")),
    (_SCOREBOARDS, lambda match: Special("scoreboards")),
)
