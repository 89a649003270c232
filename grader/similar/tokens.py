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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grader.cpp.declarations import directive_of
from grader.cpp.lexer import Kind, Token, read_lines

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
MOST_ADDED = 20_000
"""Tokens that the macros of a file may add, and that may be looked at as their arguments."""
_DEEPEST = 16
_LONGEST_TYPE = 12
_OPEN, _CLOSE = frozenset("([{"), frozenset(")]}")


@dataclass(frozen=True)
class TokenText:
    """The tokens of a file: `codes` are 32-bit hashes, `lines` their 1-based lines."""

    codes: NDArray[np.uint32]
    lines: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)


def read_tokens(source: str) -> TokenText:
    """The normalised tokens of any text, also of a text that is not C++."""
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


class _Macro(NamedTuple):
    """`parameters`: the parameters of a macro with arguments, maybe empty; None for a macro without
    parentheses."""

    parameters: Mapping[str, int] | None
    body: Sequence[Token]


@dataclass
class _Names:
    """The definitions so far, and how many more tokens may be added."""

    macros: dict[str, _Macro] = field(default_factory=dict)
    tokens_left: int = MOST_ADDED


def read_expanded(source: str) -> Iterator[Token]:
    """The code without directives, macros expanded; a token has the line of its use."""
    names = _Names()
    code: list[Token] = []
    for line in read_lines(source):
        directive = directive_of(line)
        if directive is None:
            code += line
            continue
        yield from _read_code(code, names)
        code = []
        if directive == "define":
            _define(line, names)
        elif directive == "undef" and len(line) > 2:
            names.macros.pop(line[2].text, None)
    yield from _read_code(code, names)


def _read_code(code: Sequence[Token], names: _Names) -> Iterator[Token]:
    _define_types(code, names)
    if not names.macros:
        return iter(code)
    return _expand(code, names, frozenset())


# --- definitions ----------------------------------------------------------------------------------


def _define(line: Sequence[Token], names: _Names) -> None:
    if len(line) < 3 or line[2].kind is not Kind.NAME:
        return
    name, rest = line[2], line[3:]
    if not rest or rest[0].text != "(" or rest[0].start != name.end:
        names.macros[name.text] = _Macro(None, rest)
        return
    end = next((place for place, token in enumerate(rest) if token.text == ")"), len(rest))
    given = [token.text for token in rest[1:end] if token.kind is Kind.NAME]
    parameters = {parameter: number for number, parameter in enumerate(given)}
    names.macros[name.text] = _Macro(parameters, rest[end + 1 :])


def _define_types(code: Sequence[Token], names: _Names) -> None:
    """`using real = float;` and `typedef float real;`, as if they were macros."""
    for place, token in enumerate(code):
        if token.text not in ("using", "typedef"):
            continue
        ahead = code[place + 1 : place + 1 + _LONGEST_TYPE]
        end = next((at for at, each in enumerate(ahead) if each.text in (";", "{", "(")), 0)
        if end < 2 or ahead[end].text != ";":
            continue
        if token.text == "typedef" and ahead[end - 1].kind is Kind.NAME:
            names.macros[ahead[end - 1].text] = _Macro(None, ahead[: end - 1])
        elif token.text == "using" and ahead[1].text == "=":
            names.macros[ahead[0].text] = _Macro(None, ahead[2:end])


# --- uses -----------------------------------------------------------------------------------------


def _expand(code: Sequence[Token], names: _Names, within: frozenset[str]) -> Iterator[Token]:
    """`within`: the macros whose text this is, which are not expanded again."""
    place = 0
    while place < len(code):
        token, place = code[place], place + 1
        macro = names.macros.get(token.text) if token.kind is Kind.NAME else None
        is_over = len(within) >= _DEEPEST or names.tokens_left <= 0
        if macro is None or token.text in within or is_over:
            yield token
            continue
        arguments: Sequence[Sequence[Token]] = ()
        if macro.parameters is not None:
            arguments, end = _read_arguments(code, place, names)
            if end == place:
                yield token
                continue
            place = end
        body = [*_fill(macro, arguments)]
        names.tokens_left -= len(body)
        if names.tokens_left > 0:
            moved = [each._replace(line=token.line) for each in body]
            yield from _expand(moved, names, within | {token.text})


def _read_arguments(
    code: Sequence[Token], place: int, names: _Names
) -> tuple[list[list[Token]], int]:
    """The arguments that begin at `place`, and the place behind them, or `place` itself."""
    if place >= len(code) or code[place].text != "(":
        return [], place
    depth, found = 0, [[]]  # type: tuple[int, list[list[Token]]]
    for end in range(place, min(len(code), place + names.tokens_left)):
        token = code[end]
        names.tokens_left -= 1
        if token.text in _OPEN:
            depth += 1
        elif token.text in _CLOSE:
            depth -= 1
            if depth == 0:
                return found, end + 1
        if token.text == "," and depth == 1:
            found.append([])
        elif end > place:
            found[-1].append(token)
    return [], place


def _fill(macro: _Macro, arguments: Sequence[Sequence[Token]]) -> Iterable[Token]:
    """The macro's text with the arguments in it; of names that are pasted, the first."""
    parameters = macro.parameters or {}
    pasted = False
    for token in macro.body:
        if token.text == "##":
            pasted = True
            continue
        number = parameters.get(token.text, len(arguments))
        if not pasted:
            yield from arguments[number] if number < len(arguments) else (token,)
        pasted = False
