"""The emulated device: parameters, buffers, several launches, limits, counters by line."""

from __future__ import annotations

import struct
from dataclasses import replace

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.parameter_space import pack_parameters
from grader.messages.hidden import describe_mistake
from grader.records import (
    Binary,
    BufferArgument,
    Counters,
    DeviceBuffer,
    Dim3,
    Execution,
    FindingKind,
    Kernel,
    KernelParameter,
    Launch,
    Program,
    Progress,
    Role,
    RunLimits,
    SassInstruction,
    ScalarArgument,
    Status,
)
from tests.support.assembler import assemble

DEVICE = EmulatedDevice("h100", threads=1)
LIMITS = RunLimits(warp_instructions=10**6, wall_seconds=10.0)
N = 100
IN, OUT = (
    DeviceBuffer("in", "float32", (N,), Role.INPUT),
    DeviceBuffer("out", "float32", (N,), Role.OUTPUT),
)
TEMPORARY = DeviceBuffer("tmp", "float32", (N,), Role.SCRATCH)

ADD_ONE = """S2R R0,SR_TID.X
    S2R R1,SR_CTAID.X
    LDC R2,c[0x0][0x0]
    IMAD R0,R1,R2,R0
    LDC R3,c[0x0][0x220]                # line 5: n
    ISETP.GE.AND P0,PT,R0,R3,PT
    @P0 EXIT
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R4,c[0x0][0x218]
    IMAD.WIDE R4,R0,0x4,R4
    LDG.E R6,desc[UR4][R4.64]           # line 11
    FADD R6,R6,1
    LDC.64 R4,c[0x0][0x210]
    IMAD.WIDE R4,R0,0x4,R4
    STG.E desc[UR4][R4.64],R6           # line 15
    EXIT
"""
"""`k(float* out, const float* in, int n)`: out[i] = in[i] + 1."""

PARAMETERS = (
    KernelParameter(0, 8, "float*"),
    KernelParameter(8, 8, "float const*"),
    KernelParameter(16, 4, "int"),
)


def kernel(
    text: str = ADD_ONE, symbol: str = "k", *, parameters: tuple[KernelParameter, ...] = PARAMETERS
) -> Kernel:
    instructions = tuple(
        SassInstruction(i.offset, i.guard, i.opcode, i.operands, i.line) for i in assemble(text)
    )
    return Kernel(symbol, f"the {symbol}", parameters, 0x210, 10, 0, 0, None, instructions)


def launch_of(out: str, source: str, *, symbol: str = "k", n: int = N) -> Launch:
    arguments = (BufferArgument(out), BufferArgument(source), ScalarArgument(n, 4))
    return Launch(symbol, Dim3(-(-n // 64)), Dim3(64), 0, arguments, 1, "")


def program_of(
    *launches: Launch,
    buffers: tuple[DeviceBuffer, ...] = (IN, OUT),
    kernels: tuple[Kernel, ...] = (),
) -> Program:
    binary = Binary("sm_90", "13.0", b"", kernels or (kernel(),))
    return Program("submission", binary, launches, buffers)


def arrays(*buffers: DeviceBuffer) -> dict[str, np.ndarray]:
    """Inputs count up from 0, everything else is poison."""
    full = {buffer.name: np.full(buffer.shape, np.nan, dtype=buffer.dtype) for buffer in buffers}
    return full | {
        buffer.name: np.arange(N, dtype=np.float32)
        for buffer in buffers
        if buffer.role is Role.INPUT
    }


def run(
    *launches: Launch, kernels: tuple[Kernel, ...] = (), limits: RunLimits = LIMITS
) -> tuple[Execution, dict[str, np.ndarray]]:
    program = program_of(*launches, buffers=(IN, OUT, TEMPORARY), kernels=kernels)
    return DEVICE.run(program, arrays(*program.buffers), limits=limits)


# --- parameters -----------------------------------------------------------------------------------


def test_parameters_lie_little_endian_at_their_offsets() -> None:
    parameters = (
        KernelParameter(0, 1, "char"),
        KernelParameter(8, 8, "float*"),
        KernelParameter(16, 2, "short"),
        KernelParameter(20, 4, "int"),
        KernelParameter(24, 8, "unsigned long"),
    )
    arguments = (
        ScalarArgument(-2, 1),
        BufferArgument("b"),
        ScalarArgument(0x1234, 2),
        ScalarArgument(-3, 4),
        ScalarArgument(2**64 - 1, 8),
    )
    launch = Launch("k", Dim3(1), Dim3(1), 0, arguments, None, "")
    packed = pack_parameters(
        kernel(parameters=parameters), launch, {"a": 0x7F0000000000, "b": 0x7F0000100000}
    )
    assert packed == struct.pack("<b7xQh2xiQ", -2, 0x7F0000100000, 0x1234, -3, 2**64 - 1)


def test_a_kernel_without_parameters_has_none() -> None:
    launch = Launch("k", Dim3(1), Dim3(1), 0, (), None, "")
    assert pack_parameters(kernel(parameters=()), launch, {}) == b""


# --- running --------------------------------------------------------------------------------------


def test_outputs_come_back_and_inputs_and_scratch_do_not() -> None:
    execution, outputs = run(launch_of("out", "in"))
    assert execution.failure is None
    assert execution.modified_inputs == ()
    assert list(outputs) == ["out"]
    assert outputs["out"].dtype == np.float32
    assert outputs["out"].tolist() == [i + 1 for i in range(N)]


def test_launches_run_in_order_through_scratch() -> None:
    execution, outputs = run(
        launch_of("tmp", "in"),
        launch_of("out", "tmp"),
        launch_of("tmp", "out"),
        launch_of("out", "tmp"),
    )
    assert outputs["out"].tolist() == [i + 4 for i in range(N)]
    assert [result.kernel for result in execution.launches] == ["the k"] * 4


def test_what_nobody_writes_stays_poison() -> None:
    _, outputs = run(launch_of("out", "in", n=10))
    assert outputs["out"][:10].tolist() == list(range(1, 11))
    assert np.isnan(outputs["out"][10:]).all()


def test_the_callers_arrays_stay_as_they_were() -> None:
    given = arrays(IN, OUT)
    program = program_of(launch_of("in", "in"), launch_of("out", "in"))
    DEVICE.run(program, given, limits=LIMITS)
    assert given["in"].tolist() == list(range(N))
    assert np.isnan(given["out"]).all()


def test_an_input_that_was_written_is_told() -> None:
    execution, outputs = run(launch_of("in", "in"), launch_of("out", "in"))
    assert execution.modified_inputs == ("in",)
    assert outputs["out"].tolist() == [i + 2 for i in range(N)]


def test_an_input_that_was_written_with_its_own_values_counts_as_unmodified() -> None:
    same = kernel(ADD_ONE.replace("FADD R6,R6,1", "FADD R6,R6,-RZ"))
    execution, _ = run(launch_of("in", "in"), kernels=(same,))
    assert execution.modified_inputs == ()


def test_two_dimensional_buffers_keep_their_shape_and_type() -> None:
    source, target = (
        DeviceBuffer("in", "int32", (5, 20), Role.INPUT),
        DeviceBuffer("out", "int32", (10, 10), Role.OUTPUT),
    )
    given = {
        "in": np.arange(100, dtype=np.int32).reshape(5, 20),
        "out": np.zeros((10, 10), dtype=np.int32),
    }
    adding = kernel(ADD_ONE.replace("FADD R6,R6,1", "IADD3 R6,R6,0x1,RZ"))
    program = program_of(launch_of("out", "in"), buffers=(source, target), kernels=(adding,))
    _, outputs = DEVICE.run(program, given, limits=LIMITS)
    assert outputs["out"].dtype == np.int32
    assert np.array_equal(outputs["out"], np.arange(1, 101).reshape(10, 10))


def test_kernels_of_one_name_in_two_binaries_are_two() -> None:
    other = kernel(ADD_ONE.replace("R6,R6,1", "R6,R6,5"))
    for kernels, first in (((kernel(),), 1), ((other,), 5), ((kernel(),), 1)):
        program = program_of(launch_of("out", "in"), kernels=kernels)
        _, outputs = DEVICE.run(program, arrays(IN, OUT), limits=LIMITS)
        assert outputs["out"][0] == first


def test_progress_names_the_kernel_and_ends_at_the_last_block() -> None:
    told: list[Progress] = []
    program = program_of(launch_of("out", "in"))
    DEVICE.run(program, arrays(IN, OUT), limits=LIMITS, progress=told.append)
    assert told[-1] == Progress("emulating the k", 2, 2)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_results_do_not_depend_on_the_number_of_host_threads(threads: int) -> None:
    many = replace(launch_of("out", "in"), grid=Dim3(100), block=Dim3(1))
    program, device = program_of(many), EmulatedDevice("h100", threads=threads)
    execution, outputs = device.run(program, arrays(IN, OUT), limits=LIMITS)
    reference, _ = DEVICE.run(program, arrays(IN, OUT), limits=LIMITS)
    assert execution == reference
    assert outputs["out"].tolist() == [i + 1 for i in range(N)]


# --- counters -------------------------------------------------------------------------------------


def test_counters_stand_at_the_lines_that_caused_them_and_add_up() -> None:
    """100 threads in 2 blocks of 64: warps of 32, 32, 32 and 4 go on; all four execute lines 1 to
    7."""
    execution, _ = run(launch_of("out", "in"))
    (result,) = execution.launches
    lines = {line.line: line.counters for line in result.lines}
    assert sum(lines.values(), Counters()) == result.counters
    assert [line.line for line in result.lines] == list(range(1, 17))
    assert (lines[5].instructions_executed, lines[5].thread_instructions_executed) == (4, 128)
    assert (lines[12].instructions_executed, lines[12].thread_instructions_executed) == (4, 100)
    load, store = lines[11], lines[15]
    assert (load.global_load_requests, load.global_load_sectors, load.global_load_bytes) == (
        4,
        13,
        400,
    )
    assert (
        store.global_store_requests,
        store.global_store_sectors,
        store.global_store_sectors_ideal,
    ) == (4, 13, 13)
    assert result.counters.instructions_executed == 4 * 16
    assert result.counters.global_load_efficiency == 400 / (13 * 32)


def test_code_without_a_line_of_the_submission_is_gathered_under_none() -> None:
    own = kernel()
    instructions = tuple(
        replace(i, line=None if i.offset < 4 * 16 else i.line) for i in own.instructions
    )
    execution, _ = run(launch_of("out", "in"), kernels=(replace(own, instructions=instructions),))
    (result,) = execution.launches
    assert result.lines[0].line is None
    assert result.lines[0].counters.instructions_executed == 4 * 4
    assert sum((line.counters for line in result.lines), Counters()) == result.counters


SHARED = """S2R R0,SR_TID.X
    IMAD.SHL.U32 R4,R0,0x80,RZ
    STS [R4+0x400],R0                   # line 3: all lanes in one bank
    IMAD.SHL.U32 R5,R0,0x4,RZ
    LDS R6,[R5+0x400]                   # line 5
    EXIT
"""


def test_shared_wavefronts_are_told_apart_by_line_and_way() -> None:
    shared = replace(kernel(SHARED, parameters=()), static_shared_bytes=4096)
    execution, _ = run(Launch("k", Dim3(1), Dim3(32), 0, (), None, ""), kernels=(shared,))
    (result,) = execution.launches
    lines = {line.line: line.counters for line in result.lines}
    assert (
        lines[3].shared_store_wavefronts,
        lines[3].shared_wavefronts_ideal,
        lines[3].shared_store_instructions,
    ) == (32, 1, 1)
    assert (
        lines[5].shared_load_wavefronts,
        lines[5].shared_wavefronts_ideal,
        lines[5].shared_load_instructions,
    ) == (1, 1, 1)
    assert (result.counters.shared_wavefronts, result.counters.shared_wavefronts_excessive) == (
        33,
        31,
    )


def test_a_launch_tells_the_resources_that_it_ran_with() -> None:
    using = replace(kernel(), registers=40, static_shared_bytes=100, local_bytes=8)
    launch = replace(launch_of("out", "in"), dynamic_shared_bytes=5000)
    execution, _ = run(launch, kernels=(using,))
    (result,) = execution.launches
    assert (result.grid, result.block) == (launch.grid, launch.block)
    assert (
        result.registers,
        result.static_shared_bytes,
        result.dynamic_shared_bytes,
        result.local_bytes,
    ) == (40, 100, 5000, 8)
    assert (
        result.occupancy == 24 * 2 / 64
    )  # 40 registers: 12 warps a partition, 48 a multiprocessor


# --- what goes wrong ------------------------------------------------------------------------------


def test_a_fault_ends_the_plan_with_what_was_counted_until_then() -> None:
    execution, outputs = run(
        launch_of("tmp", "in"), launch_of("out", "in", n=N + 1), launch_of("out", "in")
    )
    assert outputs == {}
    assert len(execution.launches) == 2
    assert execution.failure is not None
    assert execution.failure.status is Status.RUNTIME_ERROR
    (finding,) = describe_mistake(execution.failure).findings
    assert (finding.kind, finding.line, finding.buffer, finding.offset_bytes) == (
        FindingKind.OUT_OF_BOUNDS,
        11,
        "in",
        4 * N,
    )
    assert (finding.kernel, finding.block, finding.thread) == (
        "the k",
        Dim3(1, 0, 0),
        Dim3(36, 0, 0),
    )


def test_the_budget_is_one_for_all_launches_of_a_plan() -> None:
    each = 4 * 16
    plan = (launch_of("tmp", "in"), launch_of("out", "tmp"))
    enough, _ = run(*plan, limits=RunLimits(2 * each, 10.0))
    assert enough.failure is None
    short, _ = run(*plan, limits=RunLimits(2 * each - 1, 10.0))
    assert short.failure is not None
    assert short.failure.status is Status.TIMEOUT
    assert short.launches[0].counters.instructions_executed == each


def test_a_launch_that_reaches_an_unknown_instruction_ends_there() -> None:
    unknown = kernel(ADD_ONE.replace("FADD R6,R6,1", "UTCHMMA R4,R8,R12,R4"), "other")
    execution, outputs = run(
        launch_of("tmp", "in"), launch_of("out", "tmp", symbol="other"), kernels=(kernel(), unknown)
    )
    assert outputs == {}
    assert len(execution.launches) == 2
    assert execution.failure is not None
    assert execution.failure.status is Status.UNSUPPORTED
    assert describe_mistake(execution.failure).message == (
        "The emulated device does not know the instruction UTCHMMA, which kernel the other uses"
        " (line 12)."
    )


def test_buffers_that_do_not_fit_are_the_submissions_mistake() -> None:
    huge = DeviceBuffer("tmp", "uint8", (1 << 33,), Role.SCRATCH)
    given = {"tmp": np.broadcast_to(np.zeros(1, dtype=np.uint8), huge.shape)}
    execution, outputs = DEVICE.run(program_of(buffers=(huge,)), given, limits=LIMITS)
    assert outputs == {}
    assert execution.failure is not None
    assert execution.failure.status is Status.LAUNCH_ERROR
