"""Formats text like printf, from arguments in the memory of device code (CUDA C++ Programming
Guide, "Formatted Output")."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import lru_cache

ReadBytes = Callable[[int, int], bytes]
"""(address, size) -> bytes of the thread's memory."""

_FORMAT = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?"
    r"(?P<size>hh|h|ll|l|z|j|t)?(?P<type>[a-zA-Z%])"
)
_LONG = frozenset({"l", "ll", "z", "j", "t"})
_LONGEST, _PIECE = 4096, 64
"""Longest width, precision and string; longer output is cut off. Bytes per read of a string."""


class BadAddressError(Exception):
    """A host function was to read memory that the thread must not access."""


class Arguments:
    """Consecutive arguments, each aligned to its size, in nvcc's layout for vprintf."""

    def __init__(self, read: ReadBytes, address: int) -> None:
        self._read = read
        self._address = address
        self.taken = 0

    def take(self, form: str) -> int | float:
        """The next argument, as a `struct` format such as `i` or `d`."""
        size = struct.calcsize(form)
        self._address += -self._address % size
        (value,) = struct.unpack(f"<{form}", self._read(self._address, size))
        self._address += size
        self.taken += 1
        return value  # type: ignore[no-any-return]


def read_string(read: ReadBytes, address: int) -> str:
    """The characters up to a zero byte, at most 4096. Reads pieces, and single bytes near the end
    of the memory."""
    found, step = b"", _PIECE
    while len(found) < _LONGEST and b"\0" not in found:
        try:
            found += read(address + len(found), step)
        except BadAddressError:
            if step == 1:
                raise
            step = 1
    return found[:_LONGEST].partition(b"\0")[0].decode("utf-8", errors="replace")


def format_text(template: str, arguments: Arguments, read: ReadBytes) -> str:
    """The template with its arguments; unknown formats are unchanged."""
    return _FORMAT.sub(lambda match: _format_one(match, arguments, read), template)


@lru_cache(maxsize=64)
def count_arguments(template: str) -> int:
    """Number of arguments that `format_text` reads for the template."""
    forms = [match for match in _FORMAT.finditer(template) if match["type"] in _FORMATS]
    return len(forms) + sum((match["width"], match["precision"]).count("*") for match in forms)


def _format_one(match: re.Match[str], arguments: Arguments, read: ReadBytes) -> str:
    kind = match["type"]
    if kind == "%":
        return "%"
    if kind not in _FORMATS:
        return match[0]
    width, precision = (_number(match[name], arguments) for name in ("width", "precision"))
    flags = match["flags"] + ("-" if width is not None and width < 0 else "")
    spec = f"%{flags}{'' if width is None else min(abs(width), _LONGEST)}"
    if precision is not None and precision >= 0:
        spec += f".{min(precision, _LONGEST)}"
    return _FORMATS[kind](spec, kind, match["size"] or "", arguments, read)


def _number(text: str | None, arguments: Arguments) -> int | None:
    if text == "*":
        return int(arguments.take("i"))
    return None if text is None else int(text) if text else None


def _integer(spec: str, kind: str, size: str, arguments: Arguments, read: ReadBytes) -> str:
    signed = kind in "di"
    form = ("q" if size in _LONG else "i") if signed else ("Q" if size in _LONG else "I")
    value = int(arguments.take(form))
    narrow = {"hh": 8, "h": 16}.get(size)
    if narrow is not None:
        value %= 1 << narrow
        value -= (signed and value >> narrow - 1) << narrow
    if kind == "o" and "#" in spec:  # Python's format would give 0o17
        return (spec.replace("#", "") + "s") % (f"0{value:o}" if value else "0")
    return (spec + ("d" if kind == "u" else kind)) % value


def _real(spec: str, kind: str, size: str, arguments: Arguments, read: ReadBytes) -> str:
    value = float(arguments.take("d"))
    if kind in "aA":
        return value.hex().upper() if kind == "A" else value.hex()
    return (spec + kind) % value


def _character(spec: str, kind: str, size: str, arguments: Arguments, read: ReadBytes) -> str:
    return (spec.partition(".")[0] + "s") % chr(int(arguments.take("i")) & 0xFF)


def _string(spec: str, kind: str, size: str, arguments: Arguments, read: ReadBytes) -> str:
    address = int(arguments.take("Q"))
    return (spec + "s") % (read_string(read, address) if address else "(null)")


def _pointer(spec: str, kind: str, size: str, arguments: Arguments, read: ReadBytes) -> str:
    address = int(arguments.take("Q"))
    return (spec.partition(".")[0] + "s") % (f"{address:#x}" if address else "(nil)")


_FORMATS: dict[str, Callable[[str, str, str, Arguments, ReadBytes], str]] = {
    **dict.fromkeys("diuoxX", _integer),
    **dict.fromkeys("fFeEgGaA", _real),
    "c": _character,
    "s": _string,
    "p": _pointer,
}
