"""Mutants of a kernel's source: the usual mistakes of students, put into a correct program.

Each mutant changes one place. Places are found in the text, with comments, strings and preprocessor
lines blanked out (launch and scratch lines stay). A change that breaks the syntax does not compile,
and then it proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from grader.cpp.brackets import split_outside
from grader.cpp.declarations import HASHES
from grader.cpp.lexer import Kind, read_tokens


class Mistake(StrEnum):
    """The kinds of mistake that are tried."""

    DROPPED_BARRIER = "dropped barrier"
    OFF_BY_ONE = "off-by-one bound"
    SWAPPED_INDEX = "swapped index"
    SKIPPED_TAIL = "skipped tail"
    MISSING_GUARD = "missing guard"
    LOST_SUM = "lost sum"
    MISSING_FREE = "missing free"
    MISSING_WAIT = "missing synchronisation"
    WRONG_DIRECTION = "wrong direction"


@dataclass(frozen=True)
class Mutant:
    """A source with a mistake in its 1-based `line`: its text `before` and `after`."""

    mistake: Mistake
    line: int
    before: str
    after: str
    text: str


@dataclass(frozen=True)
class Edit:
    """Replace the source from offset `start` to `end`."""

    start: int
    end: int
    replacement: str


SWAPPED_NAMES = (
    ("row", "col"),
    ("rows", "cols"),
    ("x", "y"),
    ("tx", "ty"),
    ("bx", "by"),
    ("M", "N"),
    ("N", "K"),
    ("M", "K"),
)
"""Pairs of names that are exchanged in a line that has both. Loop counters are not in the table:
after an exchange the line often means the same."""

_OFF_BY_ONE = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_COMPARISON = re.compile(r"(?<![<>=\-])(?:<=|>=|<|>)(?![<>=])")
_BARRIER = re.compile(
    r"\b(?:__syncthreads\s*\(\s*\)|\w+\s*\.\s*sync\s*\(\s*\)|(?:cg|cooperative_groups)::sync\s*\(\s*\w+\s*\))"
)
_THREAD_INDEX = re.compile(r"\b(?P<base>threadIdx|blockIdx)\s*\.\s*(?P<axis>[xy])\b")
_ROUNDED_UP = re.compile(
    r"\(\s*(?P<total>\w+)\s*\+\s*\(?(?P<part>\w+)\s*-\s*1\s*\)?\s*\)\s*/\s*(?P=part)\b"
)
_CEIL_DIV = re.compile(r"\bceil_div\s*\(")
_HEADER = re.compile(r"\b(?P<word>if|for|while)\s*(?:constexpr\s*)?\(")
_QUESTION = re.compile(r"\?")
_FREE = re.compile(r"\bcuda(?:Free\w*|HostUnregister|StreamDestroy)\s*\(")
_WAIT = re.compile(r"\bcuda(?:Device|Stream|Event)(?:Synchronize|WaitEvent)\s*\(")
_DIRECTION = re.compile(r"\bcudaMemcpy(?:HostToDevice|DeviceToHost)\b")
_SUM = re.compile(r"(?<![<>+])\+=")
_PLAN_LINE = re.compile(r"//\s*(?:launch|scratch)\b")
_OPENING, _CLOSING = "([{", ")]}"


def make_mutants(source: str) -> tuple[Mutant, ...]:
    """All mutants in the order of their lines, without equal texts and the source itself."""
    code = blank_out(source)
    found: dict[str, Mutant] = {}
    for mistake, find in _FINDERS.items():
        for edit in find(code):
            mutant = _apply(source, edit, mistake)
            if mutant.text != source:
                found.setdefault(mutant.text, mutant)
    return tuple(sorted(found.values(), key=lambda mutant: mutant.line))


def blank_out(source: str) -> str:
    """The source with spaces for all comments except launch and scratch lines, for strings, and for
    preprocessor lines."""
    code, starts_line, is_directive = "", True, False
    for token in read_tokens(source):
        if token.kind is Kind.NEWLINE:
            starts_line, is_directive = True, False
        elif starts_line and token.kind not in (Kind.SPACE, Kind.BLOCK):
            starts_line, is_directive = False, token.text in HASHES
        blank = is_directive or token.kind in (Kind.BLOCK, Kind.STRING, Kind.RAW)
        if blank or (token.kind is Kind.COMMENT and not _PLAN_LINE.match(token.text)):
            code += re.sub(r"[^\n]", " ", token.text)
        else:
            code += token.text
    return code


def _apply(source: str, edit: Edit, mistake: Mistake) -> Mutant:
    text = source[: edit.start] + edit.replacement + source[edit.end :]
    line = source.count("\n", 0, edit.start) + 1
    return Mutant(mistake, line, _line_of(source, line), _line_of(text, line), text)


def _line_of(text: str, line: int) -> str:
    return text.split("\n")[line - 1].strip()


# --- one function for each mistake ----------------------------------------------------------------


def _drop_barriers(code: str) -> Iterator[Edit]:
    yield from (Edit(match.start(), match.end(), "") for match in _BARRIER.finditer(code))


def _move_bounds(code: str) -> Iterator[Edit]:
    """Comparisons in the headers of if, for and while; elsewhere only with spaces around them,
    since template brackets have none."""
    headers = [(match.end(), _closing(code, match.end() - 1)) for match in _HEADER.finditer(code)]
    for match in _COMPARISON.finditer(code):
        start, end = match.span()
        in_header = any(first <= start < last for first, last in headers)
        if in_header or code[start - 1] == code[end] == " ":
            yield Edit(start, end, _OFF_BY_ONE[match[0]])


def _swap_indices(code: str) -> Iterator[Edit]:
    used = {match.groups() for match in _THREAD_INDEX.finditer(code)}
    for match in _THREAD_INDEX.finditer(code):
        other = "y" if match["axis"] == "x" else "x"
        if (match["base"], other) in used:
            yield Edit(*match.span("axis"), other)
    start = 0
    for line in code.split("\n"):
        for pair in SWAPPED_NAMES:
            swapped = _exchange(line, pair)
            if swapped is not None:
                yield Edit(start, start + len(line), swapped)
        start += len(line) + 1


def _exchange(line: str, pair: tuple[str, str]) -> str | None:
    """The line with the two names exchanged; None unless it has both. Members (`threadIdx.x`) do
    not count as names."""
    pattern = rf"(?<![\w.])(?<!->)(?:{'|'.join(pair)})(?!\w)"
    if set(re.findall(pattern, line)) != set(pair):
        return None
    swapped = re.sub(pattern, lambda match: pair[1] if match[0] == pair[0] else pair[0], line)
    return None if _conjuncts(swapped) == _conjuncts(line) else swapped


def _conjuncts(line: str) -> list[str]:
    """The operands of &&, sorted: `a < x && a < y` has the same meaning with x and y exchanged."""
    return sorted(part.strip() for part in re.split(r"&&|[(){};]", line))


def _skip_tails(code: str) -> Iterator[Edit]:
    """Divisions that round up round down, and the body of an if without an else never runs."""
    yield from (
        Edit(match.start(), match.end(), f"({match['total']} / {match['part']})")
        for match in _ROUNDED_UP.finditer(code)
    )
    for match in _CEIL_DIV.finditer(code):
        end = _closing(code, match.end() - 1)
        parts = _split(code, match.end(), end, ",")
        if len(parts) == 2:
            total, part = (code[slice(*span)].strip() for span in parts)
            yield Edit(match.start(), end + 1, f"(({total}) / ({part}))")
    for start, end in _conditions(code, "if"):
        if not re.match(r"\s*else\b", code[_statement_end(code, end + 1) :]):
            yield Edit(start, end, "false")


def _remove_guards(code: str) -> Iterator[Edit]:
    """Each operand of && in the condition of an if or of a `? :` is replaced by true."""
    for start, end in (*_conditions(code, "if"), *_choices(code)):
        for span in _split(code, *_inside(code, start, end), "&&"):
            yield Edit(*_strip(code, *span), "true")


def _drop_calls(code: str, call: re.Pattern[str]) -> Iterator[Edit]:
    """Each call of the runtime becomes a success without an effect."""
    for match in call.finditer(code):
        yield Edit(match.start(), _closing(code, match.end() - 1) + 1, "cudaSuccess")


def _turn_copies(code: str) -> Iterator[Edit]:
    for match in _DIRECTION.finditer(code):
        other = "DeviceToHost" if "HostToDevice" in match[0] else "HostToDevice"
        yield Edit(*match.span(), f"cudaMemcpy{other}")


def _lose_sums(code: str) -> Iterator[Edit]:
    """`+=` outside the headers of loops becomes `=`."""
    loops = list(_conditions(code, "for"))
    for match in _SUM.finditer(code):
        if not any(start <= match.start() < end for start, end in loops):
            yield Edit(*match.span(), "=")


_FINDERS: Mapping[Mistake, Callable[[str], Iterator[Edit]]] = {
    Mistake.DROPPED_BARRIER: _drop_barriers,
    Mistake.OFF_BY_ONE: _move_bounds,
    Mistake.SWAPPED_INDEX: _swap_indices,
    Mistake.SKIPPED_TAIL: _skip_tails,
    Mistake.MISSING_GUARD: _remove_guards,
    Mistake.LOST_SUM: _lose_sums,
    Mistake.MISSING_FREE: partial(_drop_calls, call=_FREE),
    Mistake.MISSING_WAIT: partial(_drop_calls, call=_WAIT),
    Mistake.WRONG_DIRECTION: _turn_copies,
}


# --- finding the way in code ----------------------------------------------------------------------


def _conditions(code: str, word: str) -> Iterator[tuple[int, int]]:
    """The text in the parentheses behind each `word`."""
    for match in _HEADER.finditer(code):
        if match["word"] == word:
            yield match.end(), _closing(code, match.end() - 1)


def _choices(code: str) -> Iterator[tuple[int, int]]:
    """The condition of each `? :`: back to a bracket or an assignment."""
    for match in _QUESTION.finditer(code):
        depth, start = 0, match.start()
        while start > 0:
            character = code[start - 1]
            depth += (character in _CLOSING) - (character in _OPENING)
            if depth < 0 or (depth == 0 and (character in ",;" or _assigns(code, start - 1))):
                break
            start -= 1
        returned = re.match(r"\s*return\b", code[start : match.start()])
        yield start + (returned.end() if returned else 0), match.start()


def _inside(code: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without the parentheses that enclose all of it."""
    first, last = _strip(code, start, end)
    encloses = code[first] == "(" and _closing(code, first) == last - 1
    return (first + 1, last - 1) if encloses else (start, end)


def _strip(code: str, start: int, end: int) -> tuple[int, int]:
    """The stretch without white space at its ends."""
    text = code[start:end]
    return end - len(text.lstrip()), start + len(text.rstrip())


def _assigns(code: str, at: int) -> bool:
    return code[at] == "=" and code[at + 1] != "=" and code[at - 1] not in "<>=!"


def _closing(code: str, opening: int) -> int:
    """The offset of the closing bracket for the bracket at `opening`, or the code's end."""
    depth = 0
    for at in range(opening, len(code)):
        depth += (code[at] in _OPENING) - (code[at] in _CLOSING)
        if depth == 0:
            return at
    return len(code)


def _split(code: str, start: int, end: int, separator: str) -> list[tuple[int, int]]:
    """The parts of a stretch of code between separators that are outside of brackets."""
    parts = split_outside(code[start:end], separator)
    return [(start + first, start + last) for first, last in parts]


def _statement_end(code: str, start: int) -> int:
    """Behind the statement that begins at `start`: its semicolon, or its closing brace."""
    depth = 0
    for at in range(start, len(code)):
        depth += (code[at] in _OPENING) - (code[at] in _CLOSING)
        if depth == 0 and code[at] in ";}":
            return at + 1
    return len(code)
