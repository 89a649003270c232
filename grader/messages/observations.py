"""Sentences for the observations of a device, one row for each act, and for stopped runs: with all
figures, and without figures where the sizes of the run are secret."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from grader.messages import phrases
from grader.messages.phrases import outline, outline_status, plain_name
from grader.records import (
    Act,
    Failure,
    Faulted,
    Finding,
    FindingKind,
    NotEmulated,
    Observation,
    OutOfGpuMemory,
    OutOfMemory,
    Party,
    Refused,
    Stop,
)

_NAME_THE_PLACE = "`--device emulated` names the line, the thread and the buffer."
_COMPARE = "sizes need not be multiples of the tile."


def describe_observation(observation: Observation, *, hidden: bool) -> Finding:
    """The finding of an observation; `hidden`: its kind, its lines and plain names only."""
    if hidden:
        return _hide(observation)
    by, other, spot = observation.by, observation.other or Party(), observation.spot
    return Finding(
        kind=observation.kind,
        message=_ACTS[observation.act].words(observation),
        kernel=observation.kernel,
        line=by.line,
        block=by.block,
        thread=by.thread,
        buffer=spot.memory,
        offset_bytes=spot.offset_bytes,
        other_line=other.line,
        other_block=other.block,
        other_thread=other.thread,
        element=spot.element,
    )


def describe_fault(observation: Observation) -> tuple[str, str]:
    """Message and advice of a run that an observation ended."""
    row = _ACTS[observation.act]
    advice = row.advice.format(width=observation.width_bytes)
    if observation.act is Act.ACCESS_OUT_OF_BOUNDS and observation.spot.array is not None:
        advice = _compare_with_threads(observation)
    return row.sentence(observation, row.words(observation)), advice


def describe_order(kernel: str | None, problem: str | None, *, judged: bool = True) -> Finding:
    """The finding of a plan that fails in the opposite order; None where a hidden case forbids it.
    `judged`: the plan is known to be right in the usual order."""
    message = "the result depends on the order in which blocks and warps run"
    if problem is not None:
        known = "right in one order, and " if judged else ""
        message += f": {known}in the opposite one: {problem}"
    name = kernel if problem is not None else plain_name(kernel)
    return Finding(FindingKind.ORDER_DEPENDENT, message, kernel=name)


def _hide(observation: Observation) -> Finding:
    return Finding(
        observation.kind,
        _ACTS[observation.act].hidden(observation),
        kernel=plain_name(observation.kernel),
        line=observation.line,
        buffer=plain_name(observation.spot.memory),
        other_line=observation.other_line,
    )


def _compare_with_threads(seen: Observation) -> str:
    """Advice for an index beyond a shared array: mostly a thread index, where the launch has more
    threads than the array has rows."""
    x, y, z = (1, 1, 1) if seen.threads is None else seen.threads
    threads = f"{x} x {y} x {z}" if z > 1 else f"{x} x {y}" if y > 1 else str(x)
    line = "" if seen.launch_line is None else f" (line {seen.launch_line})"
    return (
        f"The launch{line} has blocks of {threads} threads: compare the range of each index"
        f" of `{seen.spot.array}` with the array's extents."
    )


# --- sentences ------------------------------------------------------------------------------------


def _with_thread(seen: Observation, words: str) -> str:
    place = "" if seen.line is None else f"line {seen.line}: "
    return f"{place}{words} (kernel {seen.kernel}, block {seen.by.block}, thread {seen.by.thread})."


def _not_ended(seen: Observation, words: str) -> str:
    place = "" if seen.line is None else f", near line {seen.line}"
    if seen.loop_lines is not None:
        first, last = seen.loop_lines
        place = (
            f", in the loop at line {first}"
            if first == last
            else f", in the loop of lines {first} to {last}"
        )
    if seen.by.block is None:
        return f"The kernels had not ended: {words}."
    return f"Kernel {seen.kernel} had not ended in block {seen.by.block}{place}: {words}."


def _ended_badly(seen: Observation, words: str) -> str:
    return f"Kernel {seen.kernel} did not end well: {words}."


def _as_it_is(seen: Observation, words: str) -> str:
    return words


# --- the rows -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    """`words` are the message of a finding, `hidden` the message without figures. Where the act
    ended the run, `sentence` is made of the words, and `advice` is the next step; empty where the
    row of the finding's kind has the advice."""

    words: Callable[[Observation], str]
    hidden: Callable[[Observation], str]
    advice: str = ""
    sentence: Callable[[Observation, str], str] = _with_thread


def _by_cuda(what: str, hidden: Callable[[Observation], str], advice: str) -> _Row:
    """A fault for which CUDA gives the kernel only."""
    return _Row(lambda seen: f"{what} (CUDA: {seen.error_text})", hidden, advice, _ended_badly)


_ACTS: Mapping[Act, _Row] = {
    Act.ACCESS_OUT_OF_BOUNDS: _Row(
        lambda seen: f"{phrases.access(seen)} out of bounds: {phrases.target(seen.spot)}",
        phrases.stray_hidden,
        f"Compare the index with the sizes before the access; {_COMPARE}",
    ),
    Act.OTHER_ARRAY: _Row(phrases.other_array, phrases.stray_hidden),
    Act.GUARD_BAND: _Row(
        lambda seen: f"store out of bounds: {phrases.beside(seen.spot)}",
        phrases.stray_hidden,
        f"Compare the index with the sizes before the store; {_COMPARE} {_NAME_THE_PLACE}",
        lambda seen, _: f"Kernel {seen.kernel} wrote out of bounds: {phrases.beside(seen.spot)}.",
    ),
    Act.MISALIGNED_ACCESS: _Row(
        lambda seen: (
            f"{phrases.access(seen)} at an address that is no multiple of {seen.width_bytes}:"
            f" {phrases.target(seen.spot)}"
        ),
        phrases.misaligned_hidden,
        "An access of {width} bytes needs an address that is a multiple of {width}: treat rows of"
        " other lengths apart.",
    ),
    Act.SKIPPED_BARRIER: _Row(
        phrases.skipped_barrier,
        phrases.skipped_barrier_hidden,
        "Move __syncthreads() out of the branch, so that every thread of the block executes it.",
    ),
    Act.SKIPPED_COLLECTIVE: _Row(
        phrases.skipped_collective,
        phrases.absent_hidden,
        "Name in the mask only lanes that reach it, or move the shuffle or __syncwarp() out of the"
        " branch.",
    ),
    Act.ABSENT_IN_MASK: _Row(phrases.absent_in_mask, phrases.absent_hidden),
    Act.READ_FROM_ABSENT: _Row(phrases.read_from_absent, phrases.absent_hidden),
    Act.TOO_MANY_ARRIVALS: _Row(
        lambda seen: "more threads arrive at a barrier object than its phase still waits for",
        phrases.trap_hidden,
        "Initialise it with the number of threads that arrive in each phase, and let no thread"
        " arrive a second time before it has waited.",
    ),
    Act.ENDLESS_WAIT: _Row(
        phrases.endless_wait,
        phrases.endless_wait_hidden,
        "Find the thread that must write the value for which the loop waits: does a lock or a"
        " barrier keep it, or did its block not start?",
    ),
    Act.STACK_OVERFLOW: _Row(
        lambda seen: f"the stack of {seen.spot.size_bytes:,} bytes that a thread has is full",
        lambda seen: "a thread's stack is full",
        "Let functions call each other less deeply, with smaller local arrays, or make a loop of"
        " the recursion.",
    ),
    Act.BAD_FREE: _Row(
        lambda seen: (
            "free of an address that malloc or new did not return, or that was freed before"
        ),
        phrases.trap_hidden,
        "Free the address that malloc returned, only once: let one thread do it.",
    ),
    Act.TRAP: _Row(
        lambda seen: "the kernel stopped itself with __trap()",
        phrases.trap_hidden,
        "Look at the condition that leads there.",
    ),
    Act.ASSERTION: _Row(
        lambda seen: seen.error_text,
        phrases.trap_hidden,
        "Look at this thread's values in the condition.",
    ),
    Act.RACE: _Row(phrases.race, phrases.race_hidden),
    Act.USE_OF_ENDED_BLOCK: _Row(phrases.ended_block, phrases.race_hidden),
    Act.USE_DURING_COPY: _Row(phrases.during_copy, phrases.during_copy_hidden),
    Act.USE_OF_UNWRITTEN: _Row(phrases.unwritten, phrases.unwritten_hidden),
    Act.TOO_MANY_INSTRUCTIONS: _Row(
        lambda seen: (
            f"the limit of {seen.limit_instructions:,} executed warp instructions is spent"
        ),
        lambda seen: "the limit of executed warp instructions is spent",
        "Look for a loop whose condition never becomes false: does its counter move towards its"
        " bound, for every thread? Or is the grid far larger than the matrix?",
        _not_ended,
    ),
    Act.TOO_LONG: _Row(
        lambda seen: (
            f"{phrases.time_limit(of_exercise=seen.limit_of_exercise)}, {seen.limit_seconds:g} s"
            f"{' of processor time' if seen.of_processor else ''}, is over"
        ),
        phrases.too_long_hidden,
        "Look for a loop that never ends: does its counter advance, and towards the"
        " bound, for every thread? Or is the grid far larger than the matrix?",
        _not_ended,
    ),
    Act.ILLEGAL_ADDRESS: _by_cuda(
        "it accessed an address that belongs to no buffer",
        phrases.stray_hidden,
        f"Compare the index with the sizes before the access. {_NAME_THE_PLACE}",
    ),
    Act.MISALIGNED_ADDRESS: _by_cuda(
        "it accessed an address that is no multiple of the access's size",
        phrases.misaligned_hidden,
        "A float4 access needs an address that is a multiple of 16: treat rows of other lengths"
        f" apart. {_NAME_THE_PLACE}",
    ),
    Act.FAILED_ASSERT: _by_cuda(
        "an assert() in it failed",
        phrases.trap_hidden,
        f"Look at the condition of the assert(). {_NAME_THE_PLACE}",
    ),
    Act.ILLEGAL_INSTRUCTION: _by_cuda(
        "it stopped itself with __trap()",
        phrases.trap_hidden,
        "Look at the condition that leads there.",
    ),
    Act.STACK_OVERRUN: _by_cuda(
        "it overran its stack",
        phrases.stray_hidden,
        f"Look for a recursion without end, or an index beyond a local array. {_NAME_THE_PLACE}",
    ),
    Act.UNNAMED_FAULT: _by_cuda(
        "it stopped for a reason that CUDA does not name",
        phrases.trap_hidden,
        f"Most often that is an access beyond a __shared__ array, or __trap(). {_NAME_THE_PLACE}",
    ),
    Act.OTHER_ADDRESS_SPACE: _by_cuda(
        "it used an address of the wrong memory space",
        phrases.stray_hidden,
        "Look for a pointer to shared memory that outlived its block, or an index far beyond an"
        f" array. {_NAME_THE_PLACE}",
    ),
    Act.INVALID_JUMP: _by_cuda(
        "it jumped to an address without code",
        phrases.stray_hidden,
        f"Look for an index beyond a local array. {_NAME_THE_PLACE}",
    ),
    Act.UNKNOWN_FAULT: _by_cuda("CUDA stopped it", phrases.trap_hidden, _NAME_THE_PLACE),
    Act.WATCHDOG: _Row(
        lambda seen: f"Kernel {seen.kernel} ran until the GPU's watchdog ended it.",
        phrases.too_long_hidden,
        "Look for a loop that never ends.",
        _as_it_is,
    ),
}


_ASK_FOR_LESS = "Ask for less scratch memory, and for smaller __device__ and local arrays."
_NOT_YOURS = "This is the grader's limit, not your mistake: grade it on a GPU"
_ANY_REFUSAL = "Compare the launch with the limits of the GPU."
_COMPARE_LAUNCH = "Compare grid, block and dynamic shared memory with the limits of the GPU."
_REFUSALS = {
    "too many blocks in cooperative": (
        "A kernel of the file synchronises its grid, so that all kernels of the file are launched"
        " cooperatively: all blocks of a grid have to be on the GPU at once. Launch fewer of them,"
        " and let each do more (a grid-stride loop)."
    ),
    "too many resources": (
        "Use fewer registers or threads a block (__launch_bounds__ limits the registers), or less"
        " shared memory."
    ),
    "out of memory": "Ask for less scratch memory, and for smaller local arrays.",
    "invalid argument": _COMPARE_LAUNCH,
    "invalid configuration": _COMPARE_LAUNCH,
}
"""Advice by a part of CUDA's message."""


def describe_stop(stop: Stop, *, hidden: bool) -> Failure:
    """The failure of a stop; `hidden`: its kind, its line and plain names only."""
    return _outline_stop(stop) if hidden else _describe_stop(stop)


def _describe_stop(stop: Stop) -> Failure:
    match stop:
        case Faulted(seen):
            message, advice = describe_fault(seen)
            findings = tuple(describe_observation(each, hidden=False) for each in stop.findings)
            return Failure(stop.status, message, stop.quoted, advice, findings)
        case NotEmulated(kernel, line):
            what = stop.what or f"the way that {stop.opcode} takes here"
            place = f" (line {line})" if line is not None else ""
            message = (
                f"The emulated device does not know {what}, which kernel {kernel} uses{place}."
            )
            advice = f"{_NOT_YOURS}, or write the line another way."
            return Failure(stop.status, message, advice=advice, line=line)
        case Refused(kernel, line, error_text, quoted):
            message = f"Kernel {kernel} could not be launched: {error_text} (CUDA)."
            advice = next(
                (_REFUSALS[part] for part in _REFUSALS if part in error_text), _ANY_REFUSAL
            )
            return Failure(stop.status, message, quoted, advice, line=line)
        case OutOfMemory():
            return Failure(stop.status, _list_demands(stop), advice=_ASK_FOR_LESS)
        case OutOfGpuMemory(buffers, variables):
            more = f", its __device__ variables {variables:,}" if variables else ""
            message = (
                f"Out of device memory: the submission's buffers need {buffers:,} bytes{more}."
            )
            return Failure(stop.status, message, advice=_ASK_FOR_LESS)


def _outline_stop(stop: Stop) -> Failure:
    match stop:
        case Faulted():
            findings = tuple(describe_observation(each, hidden=True) for each in stop.findings)
            message = outline(findings[0].message, findings[0].line, kernel=findings[0].kernel)
            return Failure(stop.status, message, findings=findings)
        case NotEmulated(kernel, line):
            return outline_status(stop.status, line, kernel=kernel)
        case Refused(kernel, line):
            message = outline("the GPU refused the launch", line, kernel=kernel)
            advice = "Compare grid, block and shared memory with the limits of the GPU."
            return Failure(stop.status, message, advice=advice)
        case OutOfMemory() | OutOfGpuMemory():
            return Failure(stop.status, outline("out of device memory"), advice=_ASK_FOR_LESS)


def _list_demands(stop: OutOfMemory) -> str:
    scratch, variables, local = stop.scratch_bytes, stop.variable_bytes, stop.local_bytes
    asked = (
        f"its scratch buffers need {scratch:,} bytes" if scratch else "",
        f"its __device__ variables take {variables:,} bytes" if variables else "",
        f"its threads' local arrays take {local:,} bytes" if local else "",
    )
    parts = " and ".join(part for part in asked if part)
    why = (
        "there is no room for them here"
        if stop.most_bytes is None
        else f"this device has {stop.most_bytes:,} for them"
    )
    return f"The submission asks for too much device memory: {parts}; {why}."
