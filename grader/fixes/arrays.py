"""Fixes of a shared array's layout in the banks: another row length, a swizzle, rows and columns
exchanged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader.cpp.lexer import Kind
from grader.fixes.text import FixText, Span
from grader.records import Edit, Fix, FixKind

BANKS = 32
_LENGTHENED_BY = (1, 2, 4)
"""Elements by which rows grow: an odd length in words for single floats, 2 and 4 for accesses to
pairs and fours."""
_MOST_ARRAYS = 2
"""The arrays with most conflicts."""
_ASSIGNS = frozenset({"=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^="})


@dataclass(frozen=True)
class SharedArray:
    """A declared array: the index of its name, its extents, and its uses."""

    name: str
    declared: int
    extents: tuple[Span, ...]
    scope: Span
    is_extern: bool


def other_row_lengths(text: FixText) -> Iterator[Fix]:
    """Longer rows for arrays of two and more dimensions, and for arrays whose subscripts all have
    the same pitch."""
    for array in _worst_arrays(text):
        if len(array.extents) > 1:
            places: Sequence[Span] = array.extents[-1:]
        else:
            places = _find_pitch(text, array)
        was = text.value_of(places[0]) if places else None
        if was is None:
            continue
        launch = _lengthen_launches(text, was) if array.is_extern else {}
        for more in _LENGTHENED_BY:
            if array.is_extern and more not in launch:
                continue
            edits = [text.replace(place, _longer(text, place, more)) for place in places]
            edits += launch.get(more, ())
            yield Fix(FixKind.ROW_LENGTH, array.name, tuple(edits), (was,), (was + more,))


def swizzles(text: FixText) -> Iterator[Fix]:
    """The column of each access combined with its row by an exclusive or, where the row length is a
    power of two."""
    for array in _worst_arrays(text):
        uses = _whole_uses(text, array)
        length = text.value_of(array.extents[-1])
        if uses is None or len(array.extents) < 2 or length is None:
            continue
        if length < 2 or length & (length - 1):
            continue
        mask = min(length, BANKS) - 1
        edits = [
            text.replace(
                subscripts[-1],
                f"({text.text_of(subscripts[-1])}) ^ (({text.text_of(subscripts[-2])}) & {mask})",
            )
            for subscripts in uses
        ]
        yield Fix(FixKind.SWIZZLE, array.name, tuple(edits), (), (mask,))


def exchanged_subscripts(text: FixText) -> Iterator[Fix]:
    """Rows and columns of the array exchanged, in its declaration and in all accesses."""
    for array in _worst_arrays(text):
        uses = _whole_uses(text, array)
        if uses is None or len(array.extents) < 2:
            continue
        edits: list[Edit] = []
        for row, column in (each[-2:] for each in (array.extents, *uses)):
            edits.append(text.replace(row, text.text_of(column)))
            edits.append(text.replace(column, text.text_of(row)))
        yield Fix(FixKind.ARRAY_AXES, array.name, tuple(edits))


# --- declarations and uses ------------------------------------------------------------------------


def find_shared(text: FixText) -> list[SharedArray]:
    """The arrays that are declared `__shared__`, without arrays that have no extents."""
    found = []
    for index, token in enumerate(text.tokens):
        if token.text != "__shared__":
            continue
        is_extern = "extern" in (each.text for each in text.tokens[max(0, index - 1) : index + 2])
        at = index + 1
        while at < len(text.tokens) and text.tokens[at].text not in (";", "=", "{"):
            extents = text.subscripts_at(at)
            if extents and text.tokens[at].kind is Kind.NAME:
                name = text.tokens[at].text
                scope = _scope_of(text, index)
                found.append(SharedArray(name, at, extents, scope, is_extern))
                at = extents[-1].end
            at = text.closing.get(at, at) + 1
    return found


def _scope_of(text: FixText, index: int) -> Span:
    """The tokens of the scope of a name that is declared at a token: up to the end of the innermost
    braces around it."""
    brace = text.around[index][1]
    return Span(index, len(text.tokens) if brace is None else text.closing[brace])


def _worst_arrays(text: FixText) -> list[SharedArray]:
    """The arrays with conflicts on their lines, the largest number first; all arrays where no line
    has conflicts."""
    arrays = find_shared(text)
    names = [array.name for array in arrays]
    weights = text.conflicts_by_name(names)
    ranks = {name: -weight for name, weight in weights.items()} or dict.fromkeys(names, 0)
    ranked = (array for array in arrays if array.name in ranks)
    return sorted(ranked, key=lambda array: ranks[array.name])[:_MOST_ARRAYS]


def _whole_uses(text: FixText, array: SharedArray) -> list[tuple[Span, ...]] | None:
    """The subscripts of each use; None where a use is not an element with all of its subscripts, or
    where a subscript has side effects."""
    found = []
    for index in text.uses_of(array.name, array.scope):
        if index == array.declared:
            continue
        subscripts = text.subscripts_at(index)
        if len(subscripts) != len(array.extents) or text.tokens[index - 1].text == "&":
            return None
        if any(_does_something(text, span) for span in subscripts):
            return None
        found.append(subscripts)
    return found or None


def _does_something(text: FixText, span: Span) -> bool:
    """Whether a second evaluation of an expression may have an effect: it assigns, or calls an
    unknown function. A comma is not a subscript of one dimension."""
    tokens = text.tokens[span.first : span.end]
    calls = any(
        before.kind is Kind.NAME and after.text == "(" for before, after in pairwise(tokens)
    )
    return calls or any(token.text in _ASSIGNS or token.text == "," for token in tokens)


def _longer(text: FixText, span: Span, more: int) -> str:
    """An expression plus a number: `32 + 1`, `(y * 8) + 1` in a product."""
    written = text.text_of(span)
    single = span.end - span.first == 1
    after = text.tokens[span.end].text
    before = text.tokens[span.first - 1].text
    longer = f"{written} + {more}" if single else f"({written}) + {more}"
    return longer if (before, after) == ("[", "]") else f"({longer})"


# --- arrays of one dimension ----------------------------------------------------------------------


def _find_pitch(text: FixText, array: SharedArray) -> Sequence[Span]:
    """The pitch in the subscripts and in the extent of an array of one dimension that is read as
    rows: each use is `name[y * pitch + x]`. Empty where the uses have no common pitch."""
    uses = _whole_uses(text, array)
    if uses is None:
        return ()
    candidates = [_factors(text, subscripts[0]) for subscripts in uses]
    common = set.intersection(*({text.text_of(span) for span in each} for each in candidates))
    for first in candidates[0]:
        written = text.text_of(first)
        if written not in common or (text.value_of(first) or 0) < 2:
            continue
        places = [
            next(span for span in each if text.text_of(span) == written) for each in candidates
        ]
        if array.is_extern:
            return places
        factors = _factors(text, array.extents[0])
        extent = [span for span in factors if text.text_of(span) == written]
        if extent:
            return [*places, extent[-1]]
    return ()


def _factors(text: FixText, span: Span) -> list[Span]:
    """The factors of the products in a sum: `T` and `y` of `y * T + x`; expressions in parentheses
    stay whole."""
    parts: list[list[Span]] = [[]]
    at = span.first
    start = at
    while at <= span.end:
        mark = text.tokens[at].text if at < span.end else "+"
        if mark in ("+", "-", "*") and at > start:
            parts[-1].append(Span(start, at))
            if mark != "*":
                parts.append([])
            start = at + 1
        elif mark in ("/", "%", "^", "|", "&", "<<", ">>", "?"):
            return []
        at = text.closing.get(at, at) + 1 if at < span.end else at + 1
    return [factor for product in parts if len(product) > 1 for factor in product]


def _lengthen_launches(text: FixText, was: int) -> dict[int, tuple[Edit, ...]]:
    """The edits of launch lines that give a dynamic array its longer rows; none where a launch line
    does not state the size in one piece."""
    found: dict[int, tuple[Edit, ...]] = {}
    for more in _LENGTHENED_BY:
        edits = [
            text.replace_expression(
                launch.shared_bytes,
                f"({launch.shared_bytes.text}) / {was} * {was + more}",
            )
            for launch in text.launches
            if launch.shared_bytes is not None
        ]
        whole = tuple(edit for edit in edits if edit is not None)
        if whole and len(whole) == len(edits):
            found[more] = whole
    return found
