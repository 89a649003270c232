"""CUDA C++ as a sequence of tokens that renaming, formatting and comments do not change.

Names that a student gives are all one token; the language's own words, CUDA's variables and
functions, and operators stay what they are.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grader.cpp.declarations import directive_of
from grader.cpp.lexer import Kind, Token, read_lines

_LEFT_OUT = frozenset({"include", "pragma", "line", "error", "warning"})
"""Directives that are no code."""
_COMPARED = {
    Kind.NUMBER: "number",
    Kind.STRING: "string",
    Kind.RAW: "string",
    Kind.CHARACTER: "string",
}
_WORD_LIST = """
    alignas alignof auto bool break case catch char class const constexpr const_cast continue
    decltype default define delete do double dynamic_cast else elif endif enum explicit extern
    false float for friend goto if ifdef ifndef inline int long mutable namespace new noexcept
    nullptr operator private protected public register reinterpret_cast restrict return short
    signed sizeof static static_assert static_cast struct switch template this throw true try
    typedef typename undef union unsigned using virtual void volatile while __global__
    __device__ __host__ __shared__ __constant__ __restrict__ __launch_bounds__ __forceinline__
    __noinline__ __syncthreads __syncwarp __shfl_sync __shfl_up_sync __shfl_down_sync
    __shfl_xor_sync __ldg __fmaf_rn __popc __ballot_sync __any_sync __all_sync __activemask
    __threadfence __threadfence_block asm fma fmaf sqrtf rsqrtf min max atomicAdd atomicMax
    atomicMin atomicCAS atomicExch float2 float3 float4 int2 int3 int4 uint2 uint4 double2 half
    half2 __half __half2 size_t dim3 uint32_t uint64_t int32_t threadIdx blockIdx blockDim
    gridDim warpSize x y z w make_float2 make_float4 make_int2 make_int4
"""
WORDS = frozenset(_WORD_LIST.split())
"""What a student does not name. Shorter lists find the same copies; longer ones tell independent
solutions better apart."""

_SAME = {
    "register": "",
    "inline": "",
    "__forceinline__": "",
    "__noinline__": "",
    "__restrict__": "",
    "restrict": "",
}
"""Words that change no meaning, which a copy may gain or lose."""


@dataclass(frozen=True)
class TokenText:
    """The tokens of a file: `codes` are 32-bit hashes of them, `lines` the 1-based lines where they
    stand."""

    codes: NDArray[np.uint32]
    lines: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)


def read_tokens(source: str) -> TokenText:
    """The normalised tokens of a source text. What is no C++ at all still gives tokens: nothing is
    refused."""
    codes, lines = [], []
    for line in read_lines(source):
        for token in line if directive_of(line) not in _LEFT_OUT else ():
            if text := _normalise(token):
                codes.append(_code(text))
                lines.append(token.line)
    return TokenText(np.array(codes, np.uint32), np.array(lines, np.int32))


def _normalise(token: Token) -> str:
    """A token as it is compared; empty for what is left out."""
    if token.kind is Kind.NAME:
        return _SAME.get(token.text, token.text) if token.text in WORDS else "name"
    return _COMPARED.get(token.kind, token.text)


def _code(text: str) -> int:
    return zlib.crc32(text.encode("utf-8", "surrogatepass"))
