"""Launches of a plan, resolved against the compiled kernels: every name has its value, and every
limit of a launch is checked before it runs.

The limits are from the CUDA C++ Programming Guide, "Technical Specifications per Compute
Capability".
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.cpp.cursor import error_at, problem_at, quote
from grader.cpp.evaluation import integer_of
from grader.cpp.expressions import Expression
from grader.cpp.tree import Group
from grader.records import DeviceBuffer, Dim3, Kernel, Launch, LaunchLimits, Obstacle, Role
from grader.spec.launch_lines import LaunchLine, ScratchBuffer
from grader.submission.arguments import bind_arguments
from grader.submission.names import find_kernel
from grader.submission.scope import Scope

MAX_SCRATCH_BYTES = 4 << 30
"""Most bytes of all scratch buffers together."""


# --- scratch buffers ------------------------------------------------------------------------------


def resolve_scratch(declared: ScratchBuffer, scope: Scope, *, free_bytes: int) -> DeviceBuffer:
    """The buffer, of at most so many bytes. LanguageError if it is larger, its name is taken or its
    shape has no value."""
    if (kind := scope.is_taken(declared.name)) is not None:
        message = f"{quote(declared.name)} is already the name of a {kind} of the exercise"
        raise error_at(declared.position, message, "Give it another name.")
    shape = tuple(_extent(extent, scope) for extent in declared.shape)
    buffer = DeviceBuffer(declared.name, declared.dtype, shape, Role.SCRATCH)
    if buffer.size_bytes > free_bytes:
        raise problem_at(
            declared.position,
            Obstacle.TOO_MUCH_SCRATCH,
            name=quote(declared.name),
            size_bytes=buffer.size_bytes,
        )
    return buffer


def _extent(extent: Expression, scope: Scope) -> int:
    value = scope.evaluate(extent)
    if value <= 0:
        text = quote(extent.text)
        raise problem_at(extent.position, Obstacle.EMPTY_SCRATCH, text=text, value=value)
    return value


# --- launches -------------------------------------------------------------------------------------


def resolve_launch(
    launch: LaunchLine, scope: Scope, kernels: Sequence[Kernel], limits: LaunchLimits
) -> Launch:
    """The launch with the current values of its names. LanguageError if it is not possible."""
    kernel = find_kernel(launch.kernel, kernels, scope, argument_count=len(launch.arguments))
    arguments = bind_arguments(launch, kernel, scope)
    block = _dim3("block", launch.block, limits.max_block, scope)
    grid = _dim3("grid", launch.grid, limits.max_grid, scope)
    _check_threads(launch, block, kernel, limits)
    shared_bytes = _dynamic_shared_bytes(launch, kernel, limits, scope)
    _check_registers(launch, block, kernel, limits)
    return Launch(kernel.symbol, grid, block, shared_bytes, arguments, launch.line, launch.text)


def _dim3(what: str, sizes: Sequence[Expression], largest: Dim3, scope: Scope) -> Dim3:
    values = [scope.value_of(size) for size in sizes]
    places = list(sizes)
    if len(values) == 1 and isinstance(values[0], Group) and values[0].type == "dim3":
        values = list(values[0].items)
        places = places * len(values)
    extents = [
        integer_of(value, size.position, size.text)
        for value, size in zip(values, places, strict=True)
    ]
    for axis, size, value, most in zip("xyz", places, extents, largest, strict=False):
        if not 1 <= value <= most:
            raise problem_at(
                size.position,
                Obstacle.EXTENT_TOO_SMALL if value < 1 else Obstacle.EXTENT_TOO_LARGE,
                what=what,
                axis=axis,
                text=quote(size.text),
                value=value,
                most=most,
            )
    return Dim3(*extents)


def _check_threads(launch: LaunchLine, block: Dim3, kernel: Kernel, limits: LaunchLimits) -> None:
    bounds = (
        (Obstacle.TOO_MANY_THREADS, limits.max_threads_per_block),
        (Obstacle.BEYOND_LAUNCH_BOUNDS, kernel.max_threads_per_block),
    )
    for obstacle, most in bounds:
        if most is not None and block.volume > most:
            raise problem_at(
                launch.block[0].position,
                obstacle,
                kernel=kernel.name,
                block=str(block),
                threads=block.volume,
                most=most,
            )


def _dynamic_shared_bytes(
    launch: LaunchLine, kernel: Kernel, limits: LaunchLimits, scope: Scope
) -> int:
    dynamic, position = 0, launch.kernel.position
    if launch.shared_bytes is not None:
        dynamic, position = scope.evaluate(launch.shared_bytes), launch.shared_bytes.position
    if dynamic < 0:
        raise problem_at(position, Obstacle.NEGATIVE_SHARED_MEMORY, dynamic=dynamic)
    static, most = kernel.static_shared_bytes, limits.max_shared_bytes_per_block
    if static + dynamic > most:
        raise problem_at(
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
        raise problem_at(
            launch.block[0].position,
            Obstacle.TOO_MANY_REGISTERS,
            kernel=kernel.name,
            registers=kernel.registers,
            needed=needed,
            threads=block.volume,
            most=most,
        )
