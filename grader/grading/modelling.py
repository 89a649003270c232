"""Times without a GPU: runs the submission and the exercise's own programs at a GPU's benchmark sizes for the timing model.

Of a long launch only a sample of the blocks runs; what these computed is still compared with the oracle's outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from grader.devices.base import Arrays, Device
from grader.grading.cases import BENCHMARK, Oracle
from grader.grading.job import Job
from grader.grading.others import OTHERS_SEED, build_other
from grader.grading.programs import Built, Toolchain, make_program
from grader.grading.remembered import recall, remember, time_key
from grader.judging.checks import find_timed
from grader.judging.compare import holds_poison, judge_case
from grader.judging.hidden import name_case
from grader.judging.modelled import model_timing, modelled_launches, total_dram_bytes
from grader.judging.values import TIMED_ON
from grader.metrics import TIMED
from grader.records import SUBMISSION, CaseResult, Execution, Failure, Modelled, Program, Progress, Role, RunLimits, Timing
from grader.spec.cases import make_inputs
from grader.spec.model import Case
from grader.spec.tolerance import tolerance_at

GLOBAL_ATOMICS = frozenset({"ATOM", "ATOMG", "RED", "REDG"})
ASKED = frozenset({*TIMED, "dram_bytes"})
PIECE = 1 << 18


@dataclass(frozen=True)
class Model:
    """What the model gave: timings of the submission and of the programs beside it, the case that was checked, and facts."""

    case: CaseResult | None = None
    timings: tuple[Timing, ...] = ()
    dram_bytes: int | None = None
    launches: tuple[Modelled, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


def model_times(job: Job, built: Built, device: Device, tools: Toolchain, oracle: Oracle) -> Model | Failure:
    """Model the submission where a check asks for its time, and if it is right, the programs that it is compared with.

    A Failure where it does not run to its end.
    """
    sizes = job.exercise.benchmark.get(TIMED_ON)
    if sizes is None or not any(check.metric in ASKED for check in job.exercise.checks):
        return Model()
    job.show(Progress("modelling the time"))
    case = Case(BENCHMARK, sizes, hidden=False)
    model = _model_submission(job, built, device, oracle, case)
    if isinstance(model, Failure) or model.case is None or not model.case.passed:
        return model
    others = [other for label in find_timed(job.exercise, job.info) if (other := _model_other(job, label, device, tools, case))]
    return replace(model, timings=(*model.timings, *others))


def _model_submission(job: Job, built: Built, device: Device, oracle: Oracle, case: Case) -> Model | Failure:
    """The model of the submission alone. Its arrays hold hundreds of MB: they are given back before others' are made."""
    inputs = make_inputs(job.exercise, case, job.seed)
    device.load(built.binary)
    program = make_program(SUBMISSION, built, job.exercise, sizes=case.sizes, limits=job.info.limits)
    if isinstance(program, Failure):
        return program
    execution, outputs = device.execute(program.launches, program.buffers, inputs, limits=model_limits(job))
    if execution.failure is not None:
        return name_case(execution.failure, case)
    timing = model_timing(SUBMISSION, execution)
    if timing is None:
        return Model()
    result = judge_computed(job, case, program, execution, inputs, outputs, oracle(inputs, case.sizes))
    launches = modelled_launches(execution)
    facts = {"model": f"{describe_run(launches)}, {', '.join(f'{name} = {size:,}' for name, size in case.sizes.items())}"}
    if not result.passed:
        return Model(result, launches=launches, facts=facts)
    return Model(result, (timing,), total_dram_bytes(execution), launches, facts)


def model_limits(job: Job) -> RunLimits:
    """A job's limits for runs at sizes that only a sample of the blocks makes bearable."""
    return replace(job.limits, model_time=True, warp_instructions=100 * job.limits.warp_instructions)


def judge_computed(
    job: Job, case: Case, program: Program, execution: Execution, inputs: Arrays, outputs: Arrays, expected: Arrays
) -> CaseResult:
    """Judge what was computed. Where blocks were left out, elements that hold what they held before are theirs; where an earlier
    launch's were, nothing that follows can be judged, nor what blocks add to with atomics."""
    ran_whole = [each.blocks_run == each.blocks for each in modelled_launches(execution)]
    buffers = [buffer for buffer in program.buffers if buffer.role is not Role.SCRATCH]
    got = outputs
    if not all(ran_whole[:-1]) or (not ran_whole[-1] and _has_atomics(program)):
        got = expected
    elif not ran_whole[-1]:
        for name, array in outputs.items():
            _complete(array, inputs.get(name), expected[name])
    tolerance = tolerance_at(job.exercise, case)
    return judge_case(case, buffers, expected, got, tolerance, modified_inputs=execution.modified_inputs)


def _has_atomics(program: Program) -> bool:
    """Whether the last launch's kernel has atomics on global memory."""
    kernel = next(kernel for kernel in program.binary.kernels if kernel.symbol == program.launches[-1].symbol)
    return any(line.opcode.partition(".")[0] in GLOBAL_ATOMICS for line in kernel.instructions)


def _complete(got: np.ndarray, before: np.ndarray | None, expected: np.ndarray) -> None:
    """Put the expected values where nothing was computed: where an output holds what it held `before` (None: poison)."""
    flat, want, words = got.reshape(-1), expected.reshape(-1), f"u{got.dtype.itemsize}"
    for start in range(0, flat.size, PIECE):  # in pieces: a mask of the whole is as long as the output
        piece = slice(start, start + PIECE)
        untouched = holds_poison(flat[piece]) if before is None else flat[piece].view(words) == before.reshape(-1)[piece].view(words)
        np.copyto(flat[piece], want[piece], where=untouched, casting="same_kind")


def _model_other(job: Job, label: str, device: Device, tools: Toolchain, case: Case) -> Timing | None:
    """The timing of one of the exercise's own programs; None where the emulated device cannot run it."""
    job.show(Progress(f"modelling the {label} kernel"))
    built = build_other(job, tools, label)
    program = make_program(label, built, job.exercise, sizes=case.sizes, limits=job.info.limits)
    if isinstance(program, Failure):
        return None
    key = time_key(program, job.info)
    if known := recall(tools.cache, key, Timing):
        return known
    device.load(built.binary)
    inputs = make_inputs(job.exercise, case, OTHERS_SEED)
    # Nobody looks at what it computes: its outputs need not be filled before, nor fetched.
    unseen = tuple(replace(buffer, role=Role.SCRATCH) if buffer.role is Role.OUTPUT else buffer for buffer in program.buffers)
    execution, _ = device.execute(program.launches, unseen, inputs, limits=model_limits(job))
    timing = None if execution.failure is not None else model_timing(label, execution)
    if timing is not None:
        remember(tools.cache, key, timing)
    return timing


def describe_run(launches: Sequence[Modelled]) -> str:
    """How many of the blocks were run for the model."""
    ran, blocks = sum(each.blocks_run for each in launches), sum(each.blocks for each in launches)
    return "all blocks were run" if ran == blocks else f"a sample of {ran:,} of {blocks:,} blocks was run"
