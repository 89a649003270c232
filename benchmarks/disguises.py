"""Changes that hide a copy: the disguises of `benchmarks/similar.py`.

A disguise maps a text and a source of random numbers to the disguised text. It preserves the
program's effect, but does not check that the text compiles.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Disguise = Callable[[str, random.Random], str]

_GIVEN_LIST = """
    asm auto bool break case char class const constexpr continue default define do double else enum
    extern false float for if include inline int long namespace operator pragma return scratch
    short signed sizeof size_t static struct switch template true typename unroll unsigned using
    void volatile while launch __global__ __device__ __host__ __shared__ __constant__ __restrict__
    __launch_bounds__ __align__ __forceinline__ __inline__ __syncthreads __syncwarp
    __shfl_down_sync __shfl_xor_sync __shfl_sync __ldg fmaf min max ceil ceil_div dim3 atomicAdd
    reinterpret_cast static_cast float2 float4 make_float4 int4 threadIdx blockIdx blockDim gridDim
    warpSize cooperative_groups once h sync
"""
_GIVEN = frozenset(_GIVEN_LIST.split())
"""Names that are not the student's and stay."""
_NAME = re.compile(r"(?<![\w.])(?<!->)[A-Za-z_]\w*")
_NEW_NAMES = "mine own part piece here there this_one other current left_end place value item"


def rename(text: str, draw: random.Random) -> str:
    """Renames everything that the student named."""
    names = sorted({name for name in _NAME.findall(text) if name not in _GIVEN})
    words = _NEW_NAMES.split()
    new = {name: f"{draw.choice(words)}_{number}" for number, name in enumerate(names)}
    return _NAME.sub(lambda name: new.get(name[0], name[0]), text)


def reorder(text: str, draw: random.Random) -> str:
    """Reverses the order of functions, swaps neighbouring declarations, the sides of comparisons,
    and plain names as operands of `+` and `*`."""
    pieces = re.split(r"(?<=\n\})\n", text)
    lines = "\n".join(reversed(pieces)).split("\n")
    for place in range(len(lines) - 1):
        if _are_independent(lines[place], lines[place + 1]):
            lines[place], lines[place + 1] = lines[place + 1], lines[place]
    turned = re.sub(r"\b(\w+) < (\w+)\b(?![\[(.])", r"\2 > \1", "\n".join(lines))
    return re.sub(
        r"(?<![\w.*/%+\]) -])( ?)\b([A-Za-z]\w*) ([*+]) ([A-Za-z]\w*)\b(?![\[(.\w])",
        lambda found: f"{found[1]}{found[4]} {found[3]} {found[2]}",
        turned,
    )


_DECLARED = re.compile(r"\s+(?:const )?(?:int|unsigned|unsigned int|float|auto) (\w+) = [^,;]*;")


def _are_independent(first: str, second: str) -> bool:
    """Whether both are single declarations that do not use each other's name."""
    one, other = _DECLARED.fullmatch(first), _DECLARED.fullmatch(second)
    if one is None or other is None:
        return False
    return not re.search(rf"\b{one[1]}\b", second) and not re.search(rf"\b{other[1]}\b", first)


def restyle(text: str, draw: random.Random) -> str:
    """Changes white space and comments, `i++` to `++i`, `x += y` to `x = x + y`; adds braces around
    single statements; splits declarations; removes const."""
    text = re.sub(r"//(?! launch| scratch)[^\n]*", "", text)
    text = re.sub(r"\b(\w+)\+\+(?=\))", r"\1 += 1", text)
    text = re.sub(r"\+\+(\w+)(?=\))", r"\1 += 1", text)
    text = re.sub(r"\b(\w+) \+= ([^;()]+);", r"\1 = \1 + \2;", text)
    text = re.sub(
        r"(\n +)(const |)(int|float|unsigned) (\w+) = ([^,;(]+), ", r"\1\3 \4 = \5;\1\3 ", text
    )
    text = re.sub(r"(\n +)const (int|unsigned|float|bool) ", r"\1\2 ", text)
    text = re.sub(r"(\n *(?:if|for) \([^\n{]*\))\s*\n?( +[^\n{};]+;)(?=\n)", r"\1 {\n\2\n}", text)
    text = re.sub(r"(?m)^#pragma unroll.*\n|^ +#pragma unroll.*\n", "", text)
    text = re.sub(r"\b0\.0f\b", "0", text)
    lines = [
        re.sub(r"^ +", lambda some: "\t" * (len(some[0]) // 2), line) for line in text.split("\n")
    ]
    return "// my own work\n\n" + "\n".join(line for line in lines if line.strip())


_MACROS: Sequence[tuple[str, str, str]] = (
    ("#define TX threadIdx.x", r"\bthreadIdx\.x\b", "TX"),
    ("#define TY threadIdx.y", r"\bthreadIdx\.y\b", "TY"),
    ("#define BX blockIdx.x", r"\bblockIdx\.x\b", "BX"),
    ("#define BY blockIdx.y", r"\bblockIdx\.y\b", "BY"),
    ("#define WAIT __syncthreads()", r"__syncthreads\(\)", "WAIT"),
    ("#define KERNEL __global__ void", r"__global__ void", "KERNEL"),
    ("#define LOCAL __shared__ float", r"__shared__ float", "LOCAL"),
    ("#define REAL float", r"\bfloat\b", "REAL"),
    (
        "#define UPTO(v, a, b, s) for (int v = a; v < b; v += s)",
        r"for \((?:unsigned )?int (\w+) = ([^;]+); \1 < ([^;]+); (?:\+\+\1|\1\+\+)\)",
        r"UPTO(\1, \2, \3, 1)",
    ),
    (
        "#define WHEN(a, b) if (a && b)",
        r"if \(([^()&\n]+) && ([^()&\n]+)\)(?= |\n)",
        r"WHEN(\1, \2)",
    ),
)


def hide_in_macros(text: str, draw: random.Random) -> str:
    """Hides indices, barriers, types, loops and conditions behind macros."""
    used = []
    for definition, pattern, name in _MACROS:
        changed = re.sub(pattern, name, text)
        if changed != text:
            used.append(definition)
        text = changed
    return "\n".join(used) + "\n" + text


def copy_half(text: str, other: str) -> str:
    """The first half of a file's lines and the second half of another file's."""
    lines, rest = text.split("\n"), other.split("\n")
    return "\n".join(lines[: len(lines) // 2] + rest[len(rest) // 2 :])


def disguise_all(text: str, draw: random.Random) -> str:
    """Applies all disguises."""
    for each in (reorder, restyle, hide_in_macros, rename):
        text = each(text, draw)
    return text


DISGUISES: dict[str, Disguise] = {
    "renamed": rename,
    "reordered": reorder,
    "restyled": restyle,
    "hidden in macros": hide_in_macros,
    "all of them": disguise_all,
}
