"""Element types: their names in C++ and CUDA on 64-bit Linux and in NumPy, and their sizes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

NUMPY_NAMES: Mapping[str, str] = {
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "long": "int64",
    "unsigned long": "uint64",
    "long long": "int64",
    "unsigned long long": "uint64",
    "int8_t": "int8",
    "uint8_t": "uint8",
    "int16_t": "int16",
    "uint16_t": "uint16",
    "int32_t": "int32",
    "uint32_t": "uint32",
    "int64_t": "int64",
    "uint64_t": "uint64",
    "size_t": "uint64",
    "half": "float16",
    "__half": "float16",
    "float": "float32",
    "double": "float64",
}
"""By the C++ name of a type, NumPy's."""

CPP_NAMES: Mapping[str, str] = {
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
    "float16": "__half",
    "float32": "float",
    "float64": "double",
}
"""By NumPy's name of a type, the C++ name that a program of ours gives it."""

TYPE_WORDS = frozenset(word for name in NUMPY_NAMES for word in name.split())
LIBRARY_TYPES = frozenset(
    {"half", "__half", *(name for name in NUMPY_NAMES if name.endswith("_t"))}
)
"""Names in `TYPE_WORDS` that are no keywords of C++: a variable may have such a name."""

_LONG = {"int64": "long", "uint64": "unsigned long"}
DEMANGLED_NAMES: Mapping[str, str] = {
    name: _LONG.get(dtype, CPP_NAMES[dtype])
    for name, dtype in NUMPY_NAMES.items()
    if name.endswith("_t") or name in ("half", "unsigned")
} | {"half2": "__half2"}
"""Types as a student may write them, and as the demangler prints them."""

_INTEGER_WORDS = ("unsigned", "signed", "char", "short", "long", "int")
_VECTOR = re.compile(
    r"(?P<u>u?)(?P<base>char|short|int|long|longlong|float|double|(?:__)?half)[1-4]"
)


def normal_integer_type(words: Sequence[str]) -> str:
    """The words of a type in the order of `NUMPY_NAMES`: `long unsigned int` and `unsigned long
    int` give `unsigned long`."""
    if len(words) == 1 or any(word not in _INTEGER_WORDS for word in words):
        return " ".join(words)
    kept = sorted(words, key=_INTEGER_WORDS.index)
    if "char" not in kept:
        kept = [word for word in kept if word != "signed"]
        kept = [word for word in kept if word != "int" or kept in (["int"], ["unsigned", "int"])]
    return " ".join(kept) or "int"


def element_of(name: str) -> str | None:
    """NumPy's name of the type, and of the elements of a vector type (`float4`); None if the
    type is not known."""
    if (vector := _VECTOR.fullmatch(name)) is None:
        return NUMPY_NAMES.get(name)
    base = vector["base"].replace("longlong", "long long")
    return NUMPY_NAMES.get(f"unsigned {base}" if vector["u"] else base)


def size_of(name: str) -> int | None:
    """Bytes of a value of the type; None if unknown."""
    if name == "__nv_bfloat16":
        return 2
    if (dtype := element_of(name)) is None:
        return None
    count = int(name[-1]) if _VECTOR.fullmatch(name) else 1
    return count * (1 if dtype == "bool" else int(re.sub(r"\D", "", dtype)) // 8)
