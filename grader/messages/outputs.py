"""Describes wrong outputs of a case.

For a hidden case no total, no share and no number of rows or columns appears: the case's size could
follow from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.records.diagnoses import Diagnosis, Holds, Move, Span

_WIDEST_EDGE = 64
"""Most rows or columns that count as an edge; more are named by their numbers."""
_ASKS_FOR_THE_EDGE = ": is the edge handled?"


def describe_wrong(
    buffer: str,
    *,
    wrong: int,
    unwritten: int,
    total: int,
    modified: Sequence[str],
    diagnosis: Diagnosis,
    hidden: bool,
) -> str:
    """The number of wrong elements and their explanation: the message of a wrong case in which the
    inputs `modified` were written to."""
    if modified and unwritten == total:
        return (
            f"{describe_modified(modified)}, and never to its output `{buffer}`: are the two"
            " exchanged in the launch line?"
        )
    count = _count_hidden if hidden else _count_wrong
    counted = f"`{buffer}` was never written"
    if unwritten != total:
        counted = count(buffer, wrong, unwritten, total)
    wrote = describe_modified(modified) if modified else ""
    return _join((wrote, counted, describe_diagnosis(diagnosis, hidden=hidden)))


def describe_modified(inputs: Sequence[str]) -> str:
    """The message of a case in which inputs were written to."""
    return f"the kernel wrote to its input {_quote_names(inputs)}"


def describe_other_values(outputs: Sequence[str]) -> str:
    """The message where two runs left different outputs."""
    return f"{_quote_names(outputs)} {'holds' if len(outputs) == 1 else 'hold'} other values"


def _quote_names(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def describe_endless_order(message: str) -> str:
    """The reason why a run is not verified that did not end in the opposite order."""
    return f"not verified in the opposite order of blocks and warps: {message}"


def describe_raced(message: str, race: str) -> str:
    """The message of a wrong case in which threads raced: the places of wrong elements depend on
    chance."""
    return f"{race.removesuffix('.')}; so {message}"


def _count_wrong(buffer: str, wrong: int, unwritten: int, total: int) -> str:
    if unwritten == wrong:
        return f"{wrong:,} of {total:,} elements of `{buffer}` were never written"
    share = "every element" if wrong == total else f"{wrong:,} of {total:,} elements"
    text = f"{share} of `{buffer}` {'is' if wrong == total else 'are'} wrong"
    return f"{text} ({unwritten:,} were never written)" if unwritten else text


def _count_hidden(buffer: str, wrong: int, unwritten: int, total: int) -> str:
    text = f"{'all' if wrong == total else 'some'} of the elements of `{buffer}` are wrong"
    return f"{text} (some were never written)" if unwritten else text


def describe_diagnosis(found: Diagnosis, *, hidden: bool = False) -> str:
    """One clause, or "" where no simple rule explains the output."""
    held = ""
    if found.holds is not None:
        subject = "every element" if found.all_wrong else "every wrong element"
        held = f"{subject} {_HOLDS[found.holds]}"
    if found.move is not None:
        return _join((held, _MOVES[found.move].format(tile=f"{found.tile}x{found.tile}")))
    if (tile := found.off_diagonal) is not None:
        return _join((held, f"the wrong elements form whole {tile}x{tile} tiles off the diagonal"))
    return _join((held, _describe_place(found, hidden=hidden)))


def _describe_place(found: Diagnosis, *, hidden: bool) -> str:
    down, across = (
        _describe_span(noun, span, hidden=hidden)
        for noun, span in (("row", found.rows), ("column", found.columns))
    )
    places = [text for text in (down, across) if text]
    if not places:
        return ""
    at_edge = found.ragged or any(text.startswith("the last ") for text in places)
    joined = (" and " if found.ragged else " of ").join(places)
    return f"the wrong elements all lie in {joined}{_ASKS_FOR_THE_EDGE if at_edge else ''}"


def _describe_span(noun: str, span: Span | None, *, hidden: bool) -> str:
    """Words for some of the rows or columns; "" for all of them."""
    if span is None or span.is_all:
        return ""
    end = "last" if span.last == span.size - 1 else "first" if span.first == 0 else None
    if hidden:
        return f"the {end} {noun}s" if end else f"some {noun}s"
    if span.first == span.last < span.size - 1:
        return f"{noun} {span.first}"
    count = span.last - span.first + 1
    if end and count <= _WIDEST_EDGE:
        return f"the {end} {noun}" if count == 1 else f"the {end} {count} {noun}s"
    return f"{noun}s {span.first} " + ("and up" if end == "last" else f"to {span.last}")


def _join(parts: Sequence[str]) -> str:
    return "; ".join(part for part in parts if part)


_HOLDS: Mapping[Holds, str] = {Holds.ZERO: "is 0", Holds.NOT_FINITE: "is NaN or infinite"}

_MOVES: Mapping[Move, str] = {
    Move.UNTRANSPOSED: (
        "the output holds the transpose of the expected output (an untransposed copy)"
    ),
    Move.BLOCKS_UNSWAPPED: (
        "each {tile} tile lies where its mirror image belongs: are the block indices swapped for"
        " the output?"
    ),
    Move.TILES_IN_PLACE: "each {tile} tile is in its place, but is not transposed inside",
    Move.FROM_THE_RIGHT: (
        "every wrong element holds its right neighbour's value: is a column index off by one?"
    ),
    Move.FROM_THE_LEFT: (
        "every wrong element holds its left neighbour's value: is a column index off by one?"
    ),
    Move.FROM_BELOW: (
        "every wrong element holds the value that belongs one row below: is a row index off by one?"
    ),
    Move.FROM_ABOVE: (
        "every wrong element holds the value that belongs one row above: is a row index off by one?"
    ),
}
