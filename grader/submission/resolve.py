"""Work out a plan for concrete sizes: its statements become a flat list of steps, each checked
before anything runs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.cpp.cursor import LanguageError, did_you_mean, error_at, problem_at, quote
from grader.cpp.evaluation import apply_operator, describe
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Position
from grader.cpp.tree import Address, Value
from grader.records import (
    Copy,
    DeviceBuffer,
    Fill,
    Kernel,
    Launch,
    LaunchLimits,
    MemoryPlace,
    Obstacle,
    PlanMistake,
    Step,
)
from grader.spec.launch_lines import LaunchLine
from grader.spec.statements import (
    Assignment,
    Block,
    Branch,
    CopyCall,
    Declaration,
    FillCall,
    Leave,
    Loop,
    Permission,
    Plan,
    Statement,
    Swap,
)
from grader.submission.launches import MAX_SCRATCH_BYTES, resolve_launch, resolve_scratch
from grader.submission.names import find_kernel
from grader.submission.plan import plan_mistake
from grader.submission.scalars import NO_SCALARS, Scalar
from grader.submission.scope import NO_TYPES, Scope

MAX_LAUNCHES = 1024
MAX_STATEMENTS = 100_000
"""Most statements that are carried out, turns of loops counted."""
MAX_MOVED_BYTES = 64 << 30
"""Most bytes of all copies and fills together."""
NO_SYMBOLS: Mapping[str, int] = {}


@dataclass(frozen=True)
class ResolvedPlan:
    """A plan with concrete sizes: the steps on the device in order, and the scratch buffers that
    they need besides the exercise's buffers."""

    steps: tuple[Step, ...]
    scratch: tuple[DeviceBuffer, ...]

    @property
    def launches(self) -> tuple[Launch, ...]:
        """The launches among the steps."""
        return tuple(step for step in self.steps if isinstance(step, Launch))


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
    symbols: Mapping[str, int] = NO_SYMBOLS,
) -> ResolvedPlan | PlanMistake:
    """The plan for these sizes, or the first mistake in it (`launch_error`). A size goes before a
    macro of the same name.

    `source` is the submission's text, for the layout of its structures and the words of errors.
    """
    scope = Scope(constants=macros, sizes=sizes, scalars=scalars, types=types, source=source)
    for buffer in buffers:
        scope.add_buffer(buffer)
    scratch: list[DeviceBuffer] = []
    for declared in plan.scratch:
        free_bytes = MAX_SCRATCH_BYTES - sum(each.size_bytes for each in scratch)
        try:
            scratch.append(resolve_scratch(declared, scope, free_bytes=free_bytes))
        except LanguageError as error:
            return plan_mistake(error, declared, source)
    for buffer in scratch:
        scope.add_buffer(buffer)
    run = _Run(scope, kernels, symbols, limits)
    try:
        run.carry_out(plan.statements)
        if not any(isinstance(step, Launch) for step in run.steps):
            run.at = plan.statements[0]
            raise problem_at(run.at.position, Obstacle.NO_LAUNCH)
    except LanguageError as error:
        assert run.at is not None
        return plan_mistake(error, run.at, source)
    return ResolvedPlan(tuple(run.steps), tuple(scratch))


def find_kernels(
    plan: Plan,
    *,
    sizes: Mapping[str, int],
    macros: Mapping[str, Value],
    kernels: Sequence[Kernel],
    types: Mapping[str, str],
    source: str,
) -> list[Kernel] | PlanMistake:
    """The kernel of each launch as it is written, whether it is made at these sizes or not."""
    scope = Scope(constants=macros, sizes=sizes, types=types, source=source)
    found = []
    for launch in plan.launches:
        try:
            count = len(launch.arguments)
            found.append(find_kernel(launch.kernel, kernels, scope, argument_count=count))
        except LanguageError as error:
            return plan_mistake(error, launch, source)
    return found


class _Leaving(Exception):  # noqa: N818 - `break` or `continue`, no error
    """A loop is left, or its turn."""


class _Run:
    """Executes statements in order. `at` is the current statement; `symbols` has the bytes of
    `__device__` and `__constant__` variables."""

    def __init__(
        self,
        scope: Scope,
        kernels: Sequence[Kernel],
        symbols: Mapping[str, int],
        limits: LaunchLimits,
    ) -> None:
        self.steps: list[Step] = []
        self.at: Statement | None = None
        self._scope, self._kernels, self._symbols, self._limits = scope, kernels, symbols, limits
        self._statements = self._launches = self._moved_bytes = 0

    def carry_out(self, statements: Sequence[Statement]) -> None:
        """LanguageError if a statement cannot be executed, or the plan does not end."""
        for statement in statements:
            self._count(statement)
            match statement:
                case LaunchLine():
                    self._launch(statement)
                case Declaration():
                    self._scope.declare(statement)
                case Assignment():
                    self._assign(statement)
                case Swap(left=left, right=right):
                    self._scope.swap(left, right)
                case CopyCall():
                    self._copy(statement)
                case FillCall():
                    self._fill(statement)
                case Permission(kernel=kernel):
                    find_kernel(kernel, self._kernels, self._scope, argument_count=None)
                case Leave(text=text):
                    raise _Leaving(text)
                case Block(body=body):
                    with self._scope.block():
                        self.carry_out(body)
                case Loop():
                    self._loop(statement)
                case Branch(condition=condition, body=body, otherwise=otherwise):
                    holds = self._scope.holds(condition)
                    with self._scope.block():
                        self.carry_out(body if holds else otherwise)

    def _count(self, statement: Statement) -> None:
        self.at = statement
        self._statements += 1
        if self._statements > MAX_STATEMENTS:
            raise problem_at(statement.position, Obstacle.TOO_MANY_STEPS, most=MAX_STATEMENTS)

    def _loop(self, loop: Loop) -> None:
        with self._scope.block():
            self.carry_out(loop.start)
            enters = not loop.asks_first
            while enters or self._goes_on(loop):
                enters = False
                try:
                    with self._scope.block():
                        self.carry_out(loop.body)
                except _Leaving as leaving:
                    if str(leaving) == "break":
                        break
                self.carry_out(loop.step)

    def _goes_on(self, loop: Loop) -> bool:
        self._count(loop)
        return loop.condition is None or self._scope.holds(loop.condition)

    def _launch(self, launch: LaunchLine) -> None:
        self._launches += 1
        if self._launches > MAX_LAUNCHES:
            raise problem_at(launch.position, Obstacle.TOO_MANY_LAUNCHES, most=MAX_LAUNCHES)
        self.steps.append(resolve_launch(launch, self._scope, self._kernels, self._limits))

    def _assign(self, assignment: Assignment) -> None:
        now = self._scope.value_named(assignment.name, assignment.position)
        value, position = self._scope.value_of(assignment.value), assignment.value.position
        if assignment.operator is not None:
            value = apply_operator(assignment.operator, now, value, position)
        self._scope.assign(assignment.name, value, position)

    # --- copies -----------------------------------------------------------------------------------

    def _copy(self, copy: CopyCall) -> None:
        scope = self._scope
        target = None if copy.target is None else self._in_buffer(copy.target)
        source = None if copy.source is None else self._in_buffer(copy.source)
        if copy.symbol is not None:
            offset = 0 if copy.offset is None else scope.evaluate(copy.offset)
            symbol = MemoryPlace(self._find_symbol(copy), offset, in_variable=True)
            target, source = target or symbol, source or symbol
        assert target is not None
        assert source is not None
        position = copy.position if copy.size is None else copy.size.position
        if copy.size is not None:
            size_bytes = scope.evaluate(copy.size)
        else:
            variable = target if target.in_variable else source
            size_bytes = self._all_bytes(variable) - variable.offset_bytes
        for each in (target, source):
            self._check_inside(each, size_bytes, position)
        apart = abs(target.offset_bytes - source.offset_bytes) >= size_bytes
        if target.name == source.name and target.in_variable == source.in_variable and not apart:
            raise problem_at(
                position,
                Obstacle.OVERLAPPING_COPY,
                name=quote(target.name),
                size_bytes=size_bytes,
            )
        self._move(size_bytes, position)
        self.steps.append(Copy(target, source, size_bytes, copy.line, copy.text))

    def _fill(self, fill: FillCall) -> None:
        target = self._in_buffer(fill.target)
        size_bytes = self._scope.evaluate(fill.size)
        self._check_inside(target, size_bytes, fill.size.position)
        self._move(size_bytes, fill.size.position)
        byte = self._scope.evaluate(fill.value) % 256
        self.steps.append(Fill(target, byte, size_bytes, fill.line, fill.text))

    def _in_buffer(self, expression: Expression) -> MemoryPlace:
        value = self._scope.value_of(expression)
        if not isinstance(value, Address):
            message = f"{quote(expression.text)} is {describe(value)}, no buffer"
            raise error_at(expression.position, message, "Give a buffer's name, or a + n.")
        return MemoryPlace(value.buffer, value.offset_bytes)

    def _find_symbol(self, copy: CopyCall) -> str:
        """The symbol of the variable that a copy names: the name itself, or a C++ symbol that ends
        with it."""
        name = (copy.symbol or "").removeprefix("::")
        parts = name.split("::")
        mangled = re.compile(rf"\w*?{''.join(f'L?{len(part)}{part}' for part in parts)}E?\w*")
        found = [symbol for symbol in self._symbols if symbol == name]
        found = found or [symbol for symbol in self._symbols if mangled.fullmatch(symbol)]
        if len(found) == 1:
            return found[0]
        message = f"there is no __constant__ or __device__ variable {quote(name)} that kernels use"
        near = did_you_mean(name, self._symbols)
        advice = "A variable that no kernel uses is not in the compiled code."
        raise error_at(copy.position, f"{message}{near}", advice)

    def _all_bytes(self, place: MemoryPlace) -> int:
        if place.in_variable:
            return self._symbols[place.name]
        return self._scope.buffers[place.name].size_bytes

    def _check_inside(self, place: MemoryPlace, size_bytes: int, position: Position) -> None:
        end = place.offset_bytes + size_bytes
        if min(place.offset_bytes, size_bytes) < 0 or end > self._all_bytes(place):
            raise problem_at(
                position,
                Obstacle.OUTSIDE_COPY,
                size_bytes=size_bytes,
                offset=place.offset_bytes,
                name=quote(place.name),
                all_bytes=self._all_bytes(place),
            )

    def _move(self, size_bytes: int, position: Position) -> None:
        self._moved_bytes += size_bytes
        if self._moved_bytes > MAX_MOVED_BYTES:
            raise problem_at(
                position,
                Obstacle.TOO_MANY_BYTES,
                moved=self._moved_bytes,
                most=MAX_MOVED_BYTES,
            )
