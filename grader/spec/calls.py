"""Calls between launches: CUDA's copies within the device, and calls without effect here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from grader.cpp.cursor import Cursor, did_you_mean, error_at, quote
from grader.cpp.expressions import Expression, accept_cast, take_expression
from grader.cpp.lexer import Kind
from grader.spec.launch_lines import Place, mark_place, take_kernel_name
from grader.spec.statements import CopyCall, FillCall, Permission, Statement, Swap

_WITHOUT_EFFECT = frozenset(
    {
        "cudaDeviceSynchronize",
        "cudaThreadSynchronize",
        "cudaGetLastError",
        "cudaPeekAtLastError",
        "cudaFuncSetCacheConfig",
        "cudaDeviceSetCacheConfig",
        "cudaSetDevice",
        "cudaProfilerStart",
        "cudaProfilerStop",
    }
)
_FAMILIES_WITHOUT_EFFECT = ("cudaStream", "cudaEvent")
_DECLARED = "device memory is declared by // scratch: float name[number_of_elements]"
_NOT_HERE: Mapping[str, str] = {
    "cudaMalloc": _DECLARED,
    "cudaMallocManaged": _DECLARED,
    "cudaFree": "buffers are freed by the grader",
    "cudaMemcpy2D": "copy with cudaMemcpy, or with a kernel",
    "cudaMemGetInfo": "leave it out",
    "printf": "a launch line prints nothing; print in the kernel",
}
_IN_DEVICE = ("cudaMemcpyDeviceToDevice", "cudaMemcpyDefault")


def take_call(cursor: Cursor, *, own: bool) -> list[Statement] | None:
    """The call at the cursor: empty if it has no effect; None if the function is unknown here.
    LanguageError for a function that cannot be called; `own`: see `mark_place`."""
    start = cursor.token
    name = _called_name(cursor)
    if name is None:
        return None
    call = _CALLS.get(name.removesuffix("Async"))
    if call is not None:
        return [call(cursor, mark_place(cursor, own=own))]
    if name in _WITHOUT_EFFECT or name.startswith(_FAMILIES_WITHOUT_EFFECT):
        skip_statement(cursor)
        return []
    why = _NOT_HERE.get(name.removesuffix("Async"))
    if why is None and name.startswith("cuda"):
        guess = did_you_mean(name, {*_CALLS, *_WITHOUT_EFFECT})
        why = f"the functions are {', '.join(sorted(_CALLS))}{guess}"
    if why is not None:
        raise error_at(start.position, f"{quote(name)} cannot be called here: {why}")
    return None


def skip_statement(cursor: Cursor) -> None:
    """Skip a statement without effect, up to its end."""
    depth = 0
    while cursor.token.kind is not Kind.END and (depth or not cursor.at(";", "}")):
        depth += cursor.at("(", "{") - cursor.at(")", "}")
        cursor.take()


def _called_name(cursor: Cursor) -> str | None:
    """The name at the cursor that is called; `std::` is left out."""
    skipped = 2 if cursor.token.text == "std" and cursor.ahead(1).text == "::" else 0
    called = cursor.ahead(skipped + 1).text == "("
    return cursor.ahead(skipped).text if called else None


def _take_arguments(cursor: Cursor, least: int, most: int) -> list[Expression]:
    """The arguments of the call at the cursor; beyond them only a direction and a stream."""
    start = cursor.token
    while not cursor.at("("):
        cursor.take()
    cursor.take()
    given = list(cursor.take_list(lambda: take_expression(cursor)))
    for place, each in enumerate(given[least:], start=least):
        name = each.bare_name or ""
        if name.startswith("cudaMemcpy"):
            if name not in _IN_DEVICE:
                message = f"{name} is no copy within the device"
                advice = (
                    "Inputs are on the device before the first launch, and outputs are"
                    " fetched after the last one: leave such copies out."
                )
                raise error_at(each.position, message, advice)
            return given[:place]
    streams = start.text.startswith("cuda")
    if not least <= len(given) <= most + streams:
        counts = f"{least}" if least == most else f"{least} to {most}"
        message = f"{start.text} takes {counts} arguments here, got {len(given)}"
        raise error_at(start.position, message)
    return given[:most]


def _take_copy(cursor: Cursor, place: Callable[[], Place]) -> Statement:
    target, source, size = _take_arguments(cursor, 3, 3)
    return CopyCall(*place(), target, source, size)


def _take_fill(cursor: Cursor, place: Callable[[], Place]) -> Statement:
    target, value, size = _take_arguments(cursor, 3, 3)
    return FillCall(*place(), target, value, size)


def _take_to_symbol(cursor: Cursor, place: Callable[[], Place]) -> Statement:
    symbol, source, *rest = _take_arguments(cursor, 2, 4)
    size, offset = (*rest, None, None)[:2]
    return CopyCall(*place(), None, source, size, _symbol_name(symbol), offset)


def _take_from_symbol(cursor: Cursor, place: Callable[[], Place]) -> Statement:
    target, symbol, *rest = _take_arguments(cursor, 2, 4)
    size, offset = (*rest, None, None)[:2]
    return CopyCall(*place(), target, None, size, _symbol_name(symbol), offset)


def _take_permission(cursor: Cursor, place: Callable[[], Place]) -> Statement:
    cursor.take()
    cursor.expect("(")
    accept_cast(cursor)
    cursor.accept("&")
    kernel = take_kernel_name(cursor)
    cursor.expect(",")
    cursor.take_list(lambda: take_expression(cursor))
    return Permission(*place(), kernel)


def _take_swap(cursor: Cursor, place: Callable[[], Place]) -> Statement:
    left, right = _take_arguments(cursor, 2, 2)
    for each in (left, right):
        if each.bare_name is None:
            raise error_at(each.position, "std::swap takes the names of two variables")
    return Swap(*place(), left, right)


def _symbol_name(symbol: Expression) -> str:
    if symbol.bare_name is None:
        message = f"{quote(symbol.text)} is no name of a __constant__ or __device__ variable"
        advice = "Give the name alone, and an offset in bytes apart."
        raise error_at(symbol.position, message, advice)
    return symbol.bare_name


_CALLS: Mapping[str, Callable[[Cursor, Callable[[], Place]], Statement]] = {
    "cudaMemcpy": _take_copy,
    "cudaMemset": _take_fill,
    "cudaMemcpyToSymbol": _take_to_symbol,
    "cudaMemcpyFromSymbol": _take_from_symbol,
    "cudaFuncSetAttribute": _take_permission,
    "swap": _take_swap,
}
