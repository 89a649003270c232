"""Resolve a plan against the compiled kernels: every name gets its value, and every limit of a
launch is checked before it runs.

The limits are those of the CUDA C++ Programming Guide, "Technical Specifications per Compute
Capability".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grader.cpp.cursor import LanguageError, did_you_mean, error_at, quote
from grader.cpp.declarations import assigns
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Position
from grader.records import DeviceBuffer, Dim3, Failure, Kernel, Launch, LaunchLimits, Obstacle, Role
from grader.spec.launch_lines import LaunchLine, Plan, ScratchBuffer
from grader.submission.arguments import bind_arguments
from grader.submission.failures import plan_failure
from grader.submission.names import find_kernel
from grader.submission.scalars import NO_SCALARS, Scalar

MAX_SCRATCH_BYTES = 4 << 30
"""Most bytes of all scratch buffers together."""


@dataclass(frozen=True)
class ResolvedPlan:
    """A plan with concrete sizes: launches in order, and the scratch buffers that they need beside
    the exercise's buffers."""

    launches: tuple[Launch, ...]
    scratch: tuple[DeviceBuffer, ...]


def resolve_plan(
    plan: Plan,
    *,
    sizes: Mapping[str, int],
    macros: Mapping[str, int],
    buffers: Sequence[DeviceBuffer],
    kernels: Sequence[Kernel],
    limits: LaunchLimits,
    source: str,
    scalars: Mapping[str, Scalar] = NO_SCALARS,
) -> ResolvedPlan | Failure:
    """The plan for these sizes, or the first mistake in it (`launch_error`). A size goes before a
    macro of the same name. `scalars` can only be whole arguments of a kernel.

    `source` is the submission's text, for the words of errors only.
    """
    named = {buffer.name: buffer for buffer in buffers}
    scope = _Scope({**macros, **sizes}, named, scalars, source)
    scratch: list[DeviceBuffer] = []
    for declared in plan.scratch:
        try:
            scratch.append(
                _resolve_scratch(
                    declared,
                    scope,
                    free_bytes=MAX_SCRATCH_BYTES - sum(each.size_bytes for each in scratch),
                )
            )
        except LanguageError as error:
            return plan_failure(error, declared, source)
    scope = replace(scope, buffers=named | {buffer.name: buffer for buffer in scratch})
    launches: list[Launch] = []
    for launch in plan.launches:
        try:
            launches.append(_resolve_launch(launch, scope, kernels, limits))
        except LanguageError as error:
            return plan_failure(error, launch, source)
    return ResolvedPlan(tuple(launches), tuple(scratch))


# --- names ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Scope:
    """What the names of a plan stand for."""

    values: Mapping[str, int]
    buffers: dict[str, DeviceBuffer]
    scalars: Mapping[str, Scalar]
    source: str

    def evaluate(self, expression: Expression) -> int:
        """The value of an expression; LanguageError that says what an unknown name may have
        meant."""
        unknown = min(expression.names - self.values.keys(), key=expression.place_of, default=None)
        if unknown is not None:
            raise self._unknown(unknown, expression.place_of(unknown))
        return expression.evaluate(self.values)

    def _unknown(self, name: str, position: Position) -> LanguageError:
        if name in self.buffers:
            message = f"{quote(name)} is a buffer, and can only be a whole argument of a kernel"
            return error_at(
                position, message, "Give the buffer itself, and compute offsets in the kernel."
            )
        if name in self.scalars:
            message = f"{quote(name)} is a scalar, and can only be a whole argument of a kernel"
            return error_at(position, message, "Give an integer as a size to compute with it.")
        if assigns(self.source, name):
            message = (
                f"{quote(name)} is not known here: a launch line sees #defines, not the variables"
                " and constants of the code"
            )
            return error_at(
                position, message, f"Write #define {name} with an integer, or the number itself."
            )
        known = sorted({*self.values, *self.buffers, *self.scalars})
        return error_at(
            position,
            f"{quote(name)} is not known here{did_you_mean(name, known)}",
            f"Names that are known: {', '.join(known)}.",
        )


# --- scratch buffers ------------------------------------------------------------------------------


def _resolve_scratch(declared: ScratchBuffer, scope: _Scope, *, free_bytes: int) -> DeviceBuffer:
    start = Position(declared.line or 1, declared.column)
    if declared.name in scope.buffers or declared.name in scope.values:
        kind = "buffer" if declared.name in scope.buffers else "size"
        message = f"{quote(declared.name)} is already the name of a {kind} of the exercise"
        raise error_at(start, message, "Give it another name.")
    shape = tuple(_extent(extent, scope) for extent in declared.shape)
    buffer = DeviceBuffer(declared.name, declared.dtype, shape, Role.SCRATCH)
    if buffer.size_bytes > free_bytes:
        message = (
            f"the scratch buffer {quote(declared.name)} takes {buffer.size_bytes} bytes; all"
            " together may take 4 GiB"
        )
        advice = "Declare as many elements as the kernels use."
        raise error_at(start, message, advice, obstacle=Obstacle.TOO_MUCH_SCRATCH)
    return buffer


def _extent(extent: Expression, scope: _Scope) -> int:
    value = scope.evaluate(extent)
    if value <= 0:
        message = f"the number of elements {quote(extent.text)} is {value}"
        advice = "Declare at least one element."
        raise error_at(extent.position, message, advice, obstacle=Obstacle.EMPTY_SCRATCH)
    return value


# --- launches -------------------------------------------------------------------------------------


def _resolve_launch(
    launch: LaunchLine, scope: _Scope, kernels: Sequence[Kernel], limits: LaunchLimits
) -> Launch:
    kernel = find_kernel(
        launch.kernel,
        kernels,
        argument_count=len(launch.arguments),
        evaluate=scope.evaluate,
        values=frozenset(scope.values),
        source=scope.source,
    )
    arguments = bind_arguments(
        launch, kernel, buffers=scope.buffers, evaluate=scope.evaluate, scalars=scope.scalars
    )
    block = _dim3("block", launch.block, limits.max_block, scope)
    grid = _dim3("grid", launch.grid, limits.max_grid, scope)
    _check_threads(launch, block, kernel, limits)
    shared_bytes = _dynamic_shared_bytes(launch, kernel, limits, scope)
    _check_registers(launch, block, kernel, limits)
    return Launch(kernel.symbol, grid, block, shared_bytes, arguments, launch.line, launch.text)


def _dim3(what: str, sizes: Sequence[Expression], largest: Dim3, scope: _Scope) -> Dim3:
    values = [scope.evaluate(size) for size in sizes]
    for axis, size, value, most in zip("xyz", sizes, values, largest, strict=False):
        if value < 1:
            message = (
                f"the {what}'s {axis} is {value}: {quote(size.text)} must be at least 1 at every"
                " size"
            )
            advice = "Divide with ceil_div(a, b), which rounds up."
            raise error_at(size.position, message, advice, obstacle=Obstacle.EXTENT_TOO_SMALL)
        if value > most:
            message = f"the {what}'s {axis} is {value}: at most {most} can be launched"
            advice = f"Let each thread do more, or spread the {what} over x, y and z."
            raise error_at(size.position, message, advice, obstacle=Obstacle.EXTENT_TOO_LARGE)
    return Dim3(*values)


def _check_threads(launch: LaunchLine, block: Dim3, kernel: Kernel, limits: LaunchLimits) -> None:
    what, position = f"the block {block} has {block.volume} threads", launch.block[0].position
    if block.volume > (most := limits.max_threads_per_block):
        message = f"{what}; at most {most} can be launched"
        advice = "Use a smaller block, and let each thread compute several elements."
        raise error_at(position, message, advice, obstacle=Obstacle.TOO_MANY_THREADS)
    bound = kernel.max_threads_per_block
    if bound is not None and block.volume > bound:
        message = f"{what}; {kernel.name} has __launch_bounds__({bound})"
        advice = "Use a smaller block, or raise the kernel's __launch_bounds__."
        raise error_at(position, message, advice, obstacle=Obstacle.BEYOND_LAUNCH_BOUNDS)


def _dynamic_shared_bytes(
    launch: LaunchLine, kernel: Kernel, limits: LaunchLimits, scope: _Scope
) -> int:
    dynamic, position = 0, launch.kernel.position
    if launch.shared_bytes is not None:
        dynamic, position = scope.evaluate(launch.shared_bytes), launch.shared_bytes.position
    if dynamic < 0:
        message = f"the dynamic shared memory is {dynamic} bytes"
        advice = "Give 0 or more bytes."
        raise error_at(position, message, advice, obstacle=Obstacle.NEGATIVE_SHARED_MEMORY)
    total, most = kernel.static_shared_bytes + dynamic, limits.max_shared_bytes_per_block
    if total > most:
        message = (
            f"{kernel.name} needs {total} bytes of shared memory a block"
            f" ({kernel.static_shared_bytes} static and {dynamic} dynamic); the device has {most}"
        )
        advice = "Use smaller tiles, or fewer of them."
        raise error_at(position, message, advice, obstacle=Obstacle.TOO_MUCH_SHARED_MEMORY)
    return dynamic


def _check_registers(launch: LaunchLine, block: Dim3, kernel: Kernel, limits: LaunchLimits) -> None:
    needed, most = kernel.registers * block.volume, limits.max_registers_per_block
    if needed > most:
        message = (
            f"{kernel.name} uses {kernel.registers} registers a thread, {needed} for the"
            f" {block.volume} threads of a block; the device has {most}"
        )
        advice = (
            f"Use a smaller block, or write __launch_bounds__({block.volume}) before the kernel's"
            " name: the compiler then uses fewer."
        )
        position = launch.block[0].position
        raise error_at(position, message, advice, obstacle=Obstacle.TOO_MANY_REGISTERS)
