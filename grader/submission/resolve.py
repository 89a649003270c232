"""Resolve a plan against the compiled kernels: every name gets its value, and every limit of a
launch is checked before it runs.

The limits are those of the CUDA C++ Programming Guide, "Technical Specifications per Compute
Capability".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from grader.cpp.cursor import LanguageError, did_you_mean, error_at, obstacle_at, quote
from grader.cpp.declarations import assigns
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Position
from grader.records import (
    DeviceBuffer,
    Dim3,
    Kernel,
    Launch,
    LaunchLimits,
    Obstacle,
    PlanMistake,
    Role,
)
from grader.spec.launch_lines import LaunchLine, Plan, ScratchBuffer
from grader.submission.arguments import bind_arguments
from grader.submission.names import find_kernel
from grader.submission.plan_mistakes import plan_mistake
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
) -> ResolvedPlan | PlanMistake:
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
            return plan_mistake(error, declared, source)
    scope = replace(scope, buffers=named | {buffer.name: buffer for buffer in scratch})
    launches: list[Launch] = []
    for launch in plan.launches:
        try:
            launches.append(_resolve_launch(launch, scope, kernels, limits))
        except LanguageError as error:
            return plan_mistake(error, launch, source)
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
        raise obstacle_at(
            start,
            Obstacle.TOO_MUCH_SCRATCH,
            name=quote(declared.name),
            size_bytes=buffer.size_bytes,
        )
    return buffer


def _extent(extent: Expression, scope: _Scope) -> int:
    value = scope.evaluate(extent)
    if value <= 0:
        text = quote(extent.text)
        raise obstacle_at(extent.position, Obstacle.EMPTY_SCRATCH, text=text, value=value)
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
        if not 1 <= value <= most:
            raise obstacle_at(
                size.position,
                Obstacle.EXTENT_TOO_SMALL if value < 1 else Obstacle.EXTENT_TOO_LARGE,
                what=what,
                axis=axis,
                text=quote(size.text),
                value=value,
                most=most,
            )
    return Dim3(*values)


def _check_threads(launch: LaunchLine, block: Dim3, kernel: Kernel, limits: LaunchLimits) -> None:
    bounds = (
        (Obstacle.TOO_MANY_THREADS, limits.max_threads_per_block),
        (Obstacle.BEYOND_LAUNCH_BOUNDS, kernel.max_threads_per_block),
    )
    for obstacle, most in bounds:
        if most is not None and block.volume > most:
            raise obstacle_at(
                launch.block[0].position,
                obstacle,
                kernel=kernel.name,
                block=str(block),
                threads=block.volume,
                most=most,
            )


def _dynamic_shared_bytes(
    launch: LaunchLine, kernel: Kernel, limits: LaunchLimits, scope: _Scope
) -> int:
    dynamic, position = 0, launch.kernel.position
    if launch.shared_bytes is not None:
        dynamic, position = scope.evaluate(launch.shared_bytes), launch.shared_bytes.position
    if dynamic < 0:
        raise obstacle_at(position, Obstacle.NEGATIVE_SHARED_MEMORY, dynamic=dynamic)
    static, most = kernel.static_shared_bytes, limits.max_shared_bytes_per_block
    if static + dynamic > most:
        raise obstacle_at(
            position,
            Obstacle.TOO_MUCH_SHARED_MEMORY,
            kernel=kernel.name,
            total=static + dynamic,
            static=static,
            dynamic=dynamic,
            most=most,
        )
    return dynamic


def _check_registers(launch: LaunchLine, block: Dim3, kernel: Kernel, limits: LaunchLimits) -> None:
    needed, most = kernel.registers * block.volume, limits.max_registers_per_block
    if needed > most:
        raise obstacle_at(
            launch.block[0].position,
            Obstacle.TOO_MANY_REGISTERS,
            kernel=kernel.name,
            registers=kernel.registers,
            needed=needed,
            threads=block.volume,
            most=most,
        )
