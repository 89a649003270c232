"""Fixes of a launch's shape: other numbers of threads along x and y."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.cpp.declarations import directive_of, evaluate
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Kind, read_lines
from grader.fixes.text import FixText, Span
from grader.records import Edit, Fix, FixKind
from grader.spec.launch_lines import LaunchLine

_FLAT = ((256,), (128,), (512,), (64,), (1024,))
_UPRIGHT = ((32, 8), (32, 16), (32, 32), (32, 4), (64, 4), (16, 16), (64, 8), (128, 2), (64, 16))
_MOST_LAUNCHES = 2
_MOST_SHAPES = 6
"""Most shapes for a launch."""


def other_blocks(text: FixText) -> Iterator[Fix]:
    """Usual shapes for the launch, where its sizes are numbers, or names with one definition in the
    file."""
    seen = set()
    for launch in text.launches[:_MOST_LAUNCHES]:
        kernel = launch.kernel.name.split("::")[-1]
        was = [evaluate(size.text, text.values) for size in launch.block]
        if kernel in seen or kernel not in text.kernels or len(was) > 2 or None in was:
            continue
        seen.add(kernel)
        sizes = tuple(size for size in was if size is not None)
        shapes = [shape for shape in (_FLAT if len(sizes) == 1 else _UPRIGHT) if shape != sizes]
        made = (
            Fix(FixKind.BLOCK_SHAPE, kernel, edits, sizes, shape)
            for shape in shapes
            if (edits := _reshape(text, launch, sizes, shape)) is not None
        )
        yield from list(made)[:_MOST_SHAPES]


def _reshape(
    text: FixText, launch: LaunchLine, was: Sequence[int], now: Sequence[int]
) -> tuple[Edit, ...] | None:
    """The edits that give a launch another block; None where a size is neither a number nor a name,
    or a name is used for two sizes."""
    named: dict[str, int] = {}
    edits: list[Edit] = []
    kernel = text.kernels[launch.kernel.name.split("::")[-1]]
    for axis, (size, old, new) in enumerate(zip(launch.block, was, now, strict=True)):
        name = size.bare_name
        if name is not None:
            if named.setdefault(name, new) != new:
                return None
        elif size.text.isdecimal():
            if old == new:
                continue
            grid = launch.grid[axis] if axis < len(launch.grid) else None
            own = text.replace_expression(size, str(new))
            around = None if grid is None else _replace_number(text, grid, old, new)
            if own is None or around is None:
                return None
            edits += [own, *around, *_in_kernel(text, kernel, "xy"[axis], old, new)]
        else:
            return None
    for name, new in named.items():
        edit = _redefine(text, name, new)
        if edit is None:
            return None
        edits += [edit] if text.values.get(name) != new else []
    return tuple(edits) or None


def _replace_number(text: FixText, grid: Expression, old: int, new: int) -> list[Edit] | None:
    """The number of threads in the size of the grid: `ceil_div(n, 16)`."""
    written = grid.text.replace(f", {old})", f", {new})")
    edit = text.replace_expression(grid, written)
    return None if edit is None else [edit] if written != grid.text else []


def _in_kernel(text: FixText, body: Span, axis: str, old: int, new: int) -> Iterator[Edit]:
    """The number in the kernel that multiplies its block's index: `blockIdx.x * 16`."""
    for index in range(body.first, body.end - 4):
        texts = [token.text for token in text.tokens[index : index + 5]]
        if texts == ["blockIdx", ".", axis, "*", str(old)]:
            yield text.replace_token(index + 4, str(new))


def _redefine(text: FixText, name: str, new: int) -> Edit | None:
    """Another value for a macro or a constant that the file defines once."""
    tokens = text.tokens
    at = {token.start: index for index, token in enumerate(tokens)}
    places = [
        Span(at[line[3].start], at[line[-1].start] + 1)
        for line in read_lines(text.source)
        if directive_of(line) == "define" and len(line) > 3 and line[2].text == name
    ]
    for index in range(1, len(tokens) - 2):
        declared = tokens[index - 1].kind is Kind.NAME
        if declared and (tokens[index].text, tokens[index + 1].text) == (name, "="):
            end = index + 2
            while end < len(tokens) and tokens[end].text not in (",", ";"):
                end += 1
            places.append(Span(index + 2, end))
    return text.replace(places[0], str(new)) if len(places) == 1 else None
