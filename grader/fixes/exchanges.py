"""Fixes that exchange x and y: in a kernel and its launch, among a kernel's threads, in one
statement, and in the division of a thread's number into row and column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from grader.cpp.declarations import evaluate
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Kind
from grader.fixes.text import FixText, Span
from grader.records import Counters, Edit, Fix, FixKind

_THREADS = frozenset({"threadIdx"})
_ALL = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_OTHER = {"x": "y", "y": "x"}
_MOST_STATEMENTS = 3
"""The statements with the largest waste."""


def exchanged_axes(text: FixText) -> Iterator[Fix]:
    """x and y exchanged wherever a kernel uses them, and in its launches: other threads do the same
    work. If the block is not square, once with its shape exchanged and once with the same shape."""
    for kernel, launches in text.launched.items():
        body = text.kernels[kernel]
        inside = _exchange(text, body, _ALL)
        if not inside or not all(len(each.grid) > 1 and len(each.block) > 1 for each in launches):
            continue
        grids = _exchange_sizes(text, ((each.grid[0], each.grid[1]) for each in launches))
        blocks = _exchange_sizes(text, ((each.block[0], each.block[1]) for each in launches))
        if grids is None or blocks is None:
            continue
        was = tuple(evaluate(size.text, text.values) or 0 for size in launches[0].block[:2])
        shape = was if all(was) else ()
        yield Fix(FixKind.AXES, kernel, (*inside, *grids, *blocks), shape, shape[::-1])
        if blocks:
            yield Fix(FixKind.AXES, kernel, (*inside, *grids), shape, shape)


def exchanged_threads(text: FixText) -> Iterator[Fix]:
    """threadIdx.x and threadIdx.y exchanged in a kernel, which keeps its launch."""
    for kernel in text.launched:
        body = text.kernels[kernel]
        edits = _exchange(text, body, _THREADS)
        axes = {text.tokens[index + 2].text for index in _builtins(text, body, _THREADS)}
        if axes == {"x", "y"}:
            yield Fix(FixKind.THREAD_AXES, kernel, tuple(edits))


def exchanged_divisions(text: FixText) -> Iterator[Fix]:
    """`/` and `%` exchanged where they compute row and column from a thread's number: from
    threadIdx.x itself, or from a variable that holds it."""
    for kernel in text.launched:
        body = text.kernels[kernel]
        numbers = {name for name, axis in _thread_variables(text, body).items() if axis == "x"}
        edits, signs = [], set()
        for index in range(body.first, body.end):
            sign = text.tokens[index].text
            if sign in ("/", "%") and _ends_number(text, index, numbers):
                edits.append(text.replace_token(index, "%" if sign == "/" else "/"))
                signs.add(sign)
        if len(signs) == 2:
            yield Fix(FixKind.DIVISION_AXES, kernel, tuple(edits))


def exchanged_statements(text: FixText) -> Iterator[Fix]:
    """x and y of the thread exchanged in one statement that wastes sectors or wavefronts:
    threadIdx.x and .y, or the variables that hold them."""
    seen = set()
    for line in _worst_lines(text):
        span = text.statement_around(line)
        if span is None or span in seen:
            continue
        seen.add(span)
        kernel = next((k for k in text.kernels.values() if k.first < span.first < k.end), None)
        if kernel is None:
            continue
        edits = _exchange(text, span, _THREADS) + _exchange_variables(text, span, kernel)
        if edits:
            yield Fix(FixKind.STATEMENT_AXES, "", tuple(edits), line=line)


def _builtins(text: FixText, span: Span, names: frozenset[str]) -> Iterator[int]:
    """The places of `threadIdx.x` and the like."""
    for index in range(span.first, span.end - 2):
        texts = [token.text for token in text.tokens[index : index + 3]]
        if texts[0] in names and texts[1] == "." and texts[2] in _OTHER:
            yield index


def _exchange(text: FixText, span: Span, names: frozenset[str]) -> list[Edit]:
    return [
        text.replace_token(index + 2, _OTHER[text.tokens[index + 2].text])
        for index in _builtins(text, span, names)
    ]


def _exchange_sizes(
    text: FixText, pairs: Iterable[tuple[Expression, Expression]]
) -> list[Edit] | None:
    """The edits that exchange two sizes of launch lines; none where they are equal, None where the
    text does not contain them."""
    edits: list[Edit] = []
    for x, y in pairs:
        if x.text == y.text:
            continue
        both = (text.replace_expression(x, y.text), text.replace_expression(y, x.text))
        if both[0] is None or both[1] is None:
            return None
        edits += [each for each in both if each is not None]
    return edits


def _thread_variables(text: FixText, body: Span) -> dict[str, str]:
    """The variables of a kernel that hold only threadIdx.x or .y, by name."""
    found: dict[str, str] = {}
    for index in _builtins(text, body, _THREADS):
        name, equals = text.tokens[index - 2], text.tokens[index - 1]
        alone = text.tokens[index + 3].text in (",", ";")
        if alone and equals.text == "=" and name.kind is Kind.NAME:
            found[name.text] = text.tokens[index + 2].text
    return found


def _exchange_variables(text: FixText, span: Span, body: Span) -> list[Edit]:
    axes = _thread_variables(text, body)
    names = {axis: name for name, axis in axes.items()}
    if len(axes) != 2 or len(names) != 2:
        return []
    return [
        text.replace_token(index, names[_OTHER[axis]])
        for name, axis in axes.items()
        for index in text.uses_of(name, span)
        if text.tokens[index + 1].text != "="
    ]


def _ends_number(text: FixText, index: int, numbers: set[str]) -> bool:
    """Whether the thread's number is directly before a token."""
    before = text.tokens[index - 1]
    if before.kind is Kind.NAME and before.text in numbers:
        return text.tokens[index - 2].text not in (".", "->", "*", "/", "%")
    return [token.text for token in text.tokens[index - 3 : index]] == ["threadIdx", ".", "x"]


def _worst_lines(text: FixText) -> list[int]:
    weights = {line.line: _waste(line.counters) for line in text.lines if line.line is not None}
    worst = sorted(weights, key=lambda line: -weights[line])
    return [line for line in worst if weights[line]][:_MOST_STATEMENTS]


def _waste(counters: Counters) -> int:
    """Wasted bytes: a wavefront counts as 128, since it takes as long."""
    moved = counters.global_reads.wasted_bytes + counters.global_writes.wasted_bytes
    return moved + 128 * counters.shared_wavefronts_excessive
