"""Fixes that move four floats at a time: a loop over single elements becomes a loop over float4,
followed by the original loop for the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.cpp.lexer import Kind
from grader.cpp.signatures import read_parameters
from grader.fixes.text import FixText, Span
from grader.records import Fix, FixKind

_LANES = "xyzw"
_LONGEST_HEADER = 100
"""Tokens of the longest loop header."""


@dataclass(frozen=True)
class _Loop:
    """`for (int i = start; i < count; i += step) body`, whose body uses `i` as a subscript of float
    arrays only. `places` are the reads, each with its array."""

    whole: Span
    type: str
    variable: str
    start: str
    count: str
    step: str
    body: Span
    places: tuple[tuple[Span, str], ...]


def loads_of_four(text: FixText) -> Iterator[Fix]:
    """Loops of launched kernels that read single elements, with reads of float4."""
    parameters = read_parameters(text.source)
    for kernel in text.launched:
        body = text.kernels[kernel]
        floats = frozenset(
            each.name
            for each in parameters.get(kernel, ())
            if each.is_pointer and each.is_const and each.dtype == "float32" and each.lanes == 1
        )
        for index in range(body.first, body.end):
            loop = _read_loop(text, index, floats) if text.tokens[index].text == "for" else None
            if loop is not None:
                edit = text.replace(loop.whole, _write_loops(text, loop))
                yield Fix(FixKind.VECTORS, kernel, (edit,), line=text.tokens[index].line)


def _read_loop(text: FixText, index: int, floats: frozenset[str]) -> _Loop | None:
    opened = index + 1
    closed = text.closing.get(opened)
    if closed is None or closed - opened > _LONGEST_HEADER:
        return None
    marks = [at for at in range(opened, closed) if text.tokens[at].text == ";"]
    if len(marks) != 2:
        return None
    start = Span(opened + 1, marks[0])
    texts = [token.text for token in text.tokens[start.first : start.end]]
    if "=" not in texts[:5] or "," in texts:
        return None
    equals = start.first + texts.index("=")
    variable = text.tokens[equals - 1].text
    type_ = text.text_of(Span(start.first, equals - 1))
    condition, step = Span(marks[0] + 1, marks[1]), Span(marks[1] + 1, closed)
    compared = [token.text for token in text.tokens[condition.first : condition.first + 2]]
    advanced = [token.text for token in text.tokens[step.first : step.first + 2]]
    if not type_ or compared != [variable, "<"] or advanced != [variable, "+="]:
        return None
    end = _end_of_body(text, closed + 1)
    if end is None:
        return None
    body = Span(closed + 1, end)
    places = _find_reads(text, body, variable, floats)
    if not places:
        return None
    return _Loop(
        Span(index, end),
        type_,
        variable,
        text.text_of(Span(equals + 1, start.end)),
        text.text_of(Span(condition.first + 2, condition.end)),
        text.text_of(Span(step.first + 2, step.end)),
        body,
        places,
    )


def _end_of_body(text: FixText, first: int) -> int | None:
    """Behind a block in braces, or a single statement without nested statements."""
    if text.tokens[first].text == "{":
        end = text.closing.get(first)
        return None if end is None else end + 1
    if text.tokens[first].text in ("for", "while", "if", "do"):
        return None
    at = first
    while at < len(text.tokens) and text.tokens[at].text != ";":
        at = text.closing.get(at, at) + 1
    return at + 1


def _find_reads(
    text: FixText, body: Span, variable: str, floats: frozenset[str]
) -> tuple[tuple[Span, str], ...]:
    """The reads `array[i]` of the body, with the array's name; none where it uses the loop's
    variable in another way, or leaves the loop."""
    found = []
    for index in range(body.first, body.end):
        if text.tokens[index].text in ("break", "continue", "return", "goto", "__syncthreads"):
            return ()
    for index in text.uses_of(variable, body):
        name = text.tokens[index - 2]
        around = (text.tokens[index - 1].text, text.tokens[index + 1].text)
        if around != ("[", "]") or name.kind is not Kind.NAME or name.text not in floats:
            return ()
        found.append((Span(index - 2, index + 2), name.text))
    return tuple(found)


def _write_loops(text: FixText, loop: _Loop) -> str:
    """The loop over groups of four, and the loop for the rest."""
    i, count = loop.variable, f"({loop.count})"
    loads = " ".join(
        f"const float4 four_{name} = reinterpret_cast<const float4*>({name})[{i}];"
        for name in sorted({name for _, name in loop.places})
    )
    bodies = " ".join(_write_body(text, loop, lane) for lane in _LANES)
    header = f"for ({loop.type} {i} = {{}}; {i} < {{}}; {i} += {loop.step})"
    fours = header.format(loop.start, f"{count} / 4")
    rest = header.format(f"{count} / 4 * 4 + ({loop.start})", loop.count)
    return f"{fours} {{ {loads} {bodies} }}\n    {rest} {text.text_of(loop.body)}"


def _write_body(text: FixText, loop: _Loop, lane: str) -> str:
    written, at = "", text.tokens[loop.body.first].start
    for place, name in loop.places:
        start, end = text.tokens[place.first].start, text.tokens[place.end - 1].end
        written += f"{text.source[at:start]}four_{name}.{lane}"
        at = end
    return written + text.source[at : text.tokens[loop.body.end - 1].end]
