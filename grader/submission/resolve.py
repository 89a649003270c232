"""Resolve a plan against the compiled kernels: every name gets its value, and every limit of a
launch is checked before it runs.

The limits are those of the CUDA C++ Programming Guide, "Technical Specifications per Compute
Capability".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from grader.cpp.cursor import LanguageError, did_you_mean, error_at, obstacle_at, quote
from grader.cpp.declarations import assigns, read_constants
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Position
from grader.cpp.tree import Value
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
from grader.submission.arguments import address_of, bind_arguments
from grader.submission.names import NO_TYPES, find_kernel
from grader.submission.plan_mistakes import plan_mistake
from grader.submission.scalars import NO_SCALARS, Scalar, value_of_scalar

MAX_SCRATCH_BYTES = 4 << 30
"""Most bytes of all scratch buffers together."""


@dataclass(frozen=True)
class ResolvedPlan:
    """A plan with concrete sizes: launches in order, and the scratch buffers that they need beside
    the exercise's buffers."""

    launches: tuple[Launch, ...]
    scratch: tuple[DeviceBuffer, ...]


def resolve_plan(  # noqa: PLR0913 - all that names of a plan stand for, by keyword
    plan: Plan,
    *,
    sizes: Mapping[str, int],
    macros: Mapping[str, Value],
    buffers: Sequence[DeviceBuffer],
    kernels: Sequence[Kernel],
    limits: LaunchLimits,
    source: str,
    scalars: Mapping[str, Scalar] = NO_SCALARS,
    types: Mapping[str, str] = NO_TYPES,
) -> ResolvedPlan | PlanMistake:
    """The plan for these sizes, or the first mistake in it (`launch_error`). A size goes before a
    macro of the same name.

    `source` is the submission's text, for the layout of its structures and the words of errors.
    """
    named = {buffer.name: buffer for buffer in buffers}
    scope = _Scope({**macros, **sizes}, named, scalars, types, source)
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
    """What the names of a plan stand for; `types` are those that the compiler knows under another
    name."""

    values: Mapping[str, Value]
    buffers: dict[str, DeviceBuffer]
    scalars: Mapping[str, Scalar]
    types: Mapping[str, str]
    source: str

    @cached_property
    def known(self) -> dict[str, Value]:
        """The values of all names."""
        scalars = {name: value_of_scalar(scalar) for name, scalar in self.scalars.items()}
        addresses = {name: address_of(buffer) for name, buffer in self.buffers.items()}
        return {**scalars, **addresses, **self.values}

    def evaluate(self, expression: Expression) -> int:
        """The integer that an expression comes to; LanguageError that says what an unknown name may
        have meant."""
        self._check_names(expression)
        return expression.evaluate(self.known)

    def value_of(self, expression: Expression) -> Value:
        """The value of any kind; LanguageError as of `evaluate`."""
        self._check_names(expression)
        return expression.value(self.known)

    def _check_names(self, expression: Expression) -> None:
        unknown = min(expression.names - self.known.keys(), key=expression.place_of, default=None)
        if unknown is not None:
            raise self._unknown(unknown, expression.place_of(unknown))

    def _unknown(self, name: str, position: Position) -> LanguageError:
        if assigns(self.source, name):
            message = (
                f"{quote(name)} is not known here: a launch line sees constants, not the variables"
                " of the code"
            )
            return error_at(
                position, message, f"Make {name} a constexpr of the file, or give its value here."
            )
        known = sorted(self.known)
        near = did_you_mean(name, {*known, *read_constants(self.source)})
        return error_at(
            position,
            f"{quote(name)} is not known here{near}",
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
        types=scope.types,
        source=scope.source,
    )
    arguments = bind_arguments(
        launch,
        kernel,
        buffers=scope.buffers,
        value_of=scope.value_of,
        scalars=scope.scalars,
        source=scope.source,
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
