"""CUDA C++ as a sequence of tokens that stays the same if a copy is renamed, reformatted,
commented, hidden behind macros or slightly rewritten.

All names that a student gives are the same token; keywords, CUDA's variables and functions, and
operators stay. Equivalent spellings become equal:

- macros and type names of the file are expanded;
- types of numbers, `const` and braces are left out, and a comma is a semicolon: `int a = 1, b;` is
  `const int a = 1; unsigned b;`;
- `i++`, `++i` and `i += 1` are equal, and `s += v` and `s = s + v`;
- `a < b` and `b > a` are equal if the operands are.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grader.cpp.lexer import Kind, Token
from grader.similar.macros import read_expanded

_COMPARED = {
    Kind.NUMBER: "number",
    Kind.STRING: "string",
    Kind.RAW: "string",
    Kind.CHARACTER: "string",
}
_WORD_LIST = """
    alignas alignof break case catch class const_cast continue decltype default define delete do
    elif else endif enum explicit false for friend goto if ifdef ifndef mutable namespace new
    noexcept nullptr operator private protected public reinterpret_cast return sizeof static_assert
    static_cast struct switch template this throw true try typedef typename undef union using
    virtual void while __global__ __device__ __host__ __shared__ __constant__ __launch_bounds__ asm
    float2 float3 float4 int2 int3 int4 uint2 uint4 double2 dim3 warpSize
"""
_WORDS = frozenset(_WORD_LIST.split())
"""Names that a student does not choose, in any position."""
_CALL_LIST = """
    __syncthreads __syncwarp __shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __ldg
    __fmaf_rn __popc __ballot_sync __any_sync __all_sync __activemask __threadfence
    __threadfence_block fma fmaf sqrtf rsqrtf min max atomicAdd atomicMax atomicMin atomicCAS
    atomicExch make_float2 make_float4 make_int2 make_int4
"""
_CALLS = frozenset(_CALL_LIST.split())
"""Functions of CUDA and C: words where they are called. A variable may have their names."""
_INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
"""CUDA's variables, whose members keep their names; members of other variables may be renamed."""
_LEFT_OUT_LIST = """
    auto bool char const constexpr double extern float inline int long register restrict short
    signed size_t static uint32_t uint64_t int32_t int64_t unsigned volatile __forceinline__
    __inline__ __noinline__ __restrict__ { }
"""
_LEFT_OUT = frozenset(_LEFT_OUT_LIST.split())
"""Tokens that a copy may add, drop or exchange without a change of its effect."""
_SAME = {",": ";", ">": "<", ">=": "<=", "--": "-=", "++": "+="}
_STEPS = frozenset({"++", "--"})
_OPERATORS = frozenset("+-*/%&|^")
_NAME = "name"


@dataclass(frozen=True)
class TokenText:
    """The tokens of a file: `codes` are 32-bit hashes of them, `lines` the 1-based lines where they
    stand."""

    codes: NDArray[np.uint32]
    lines: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)


def read_tokens(source: str) -> TokenText:
    """The normalised tokens of a source text. A text that is not C++ gives tokens too: nothing is
    refused."""
    known: dict[str, int] = {}
    codes, lines = [], []
    for text, line in _normalise([*read_expanded(source)]):
        if text not in known:
            known[text] = zlib.crc32(text.encode("utf-8", "surrogatepass"))
        codes.append(known[text])
        lines.append(line)
    return TokenText(np.array(codes, np.uint32), np.array(lines, np.int32))


def _normalise(tokens: Sequence[Token]) -> Iterator[tuple[str, int]]:
    """The tokens as they are compared, each with its line."""
    texts = [token.text for token in tokens] + [""] * 3
    place = 0
    while place < len(tokens):
        kind, text = tokens[place].kind, texts[place]
        if text in _LEFT_OUT:
            place += 1
            continue
        if kind is Kind.NAME:
            compared, read = _compare_name(*texts[place : place + 4])
        elif text in _STEPS and (texts[place + 1][:1].isalpha() or texts[place + 1][:1] == "_"):
            compared, read = (_NAME, _SAME[text], "number"), 2
        else:
            compared, read = (_COMPARED.get(kind) or _SAME.get(text, text),), 1
        line = tokens[place].line
        for each in compared:
            yield each, line
        place += read


def _compare_name(name: str, second: str, third: str, fourth: str) -> tuple[tuple[str, ...], int]:
    """The token for a name and for the tokens read behind it, up to three; and how many tokens were
    read."""
    if name in _INDICES and second == ".":
        return (name, third), 3
    if name in _WORDS or name in _INDICES or (name in _CALLS and second == "("):
        return (name,), 1
    if second in _STEPS:
        return (_NAME, _SAME[second], "number"), 2
    if second == "=" and third == name and fourth in _OPERATORS:
        return (_NAME, f"{fourth}="), 4
    return (_NAME,), 1
