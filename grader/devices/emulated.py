"""The emulated device: runs launch plans on the CPU by executing the machine code, and counts exactly (DESIGN 3)."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from grader import records
from grader.devices.base import Arrays
from grader.devices.faults import describe_fault, describe_unsupported
from grader.devices.gpus import Gpu, read_gpus, resident_blocks
from grader.devices.launches import make_result, pack_parameters, parameter_bytes
from grader.devices.rehearsal import OTHER_POISON, Observer, describe_findings, same_outputs, with_other_poison
from grader.emulator import (
    ARCHITECTURES,
    GlobalMemory,
    Instruction,
    InstructionCounts,
    KernelCode,
    LaunchOutcome,
    LaunchSettings,
    NativeKernel,
    Pointer,
    Unsupported,
    Variable,
    fill_pointers,
    run_launch,
    translate,
    variable_addresses,
)
from grader.records import (
    POISON_WORD,
    Binary,
    Counters,
    DeviceBuffer,
    DeviceInfo,
    DeviceVariable,
    Execution,
    Failure,
    Kernel,
    Launch,
    LaunchResult,
    LineCounters,
    Modelled,
    Progress,
    Rehearsal,
    Role,
    RunLimits,
    ShowProgress,
    Status,
)


class EmulatedDevice:
    """Stands for the GPU with this id in gpus.json. `threads` host threads share the blocks; results do not depend on it."""

    def __init__(self, gpu_id: str = "h100", *, threads: int | None = None) -> None:
        self.gpu: Gpu = read_gpus()[gpu_id]
        self._threads = threads or len(os.sched_getaffinity(0))
        self._kernels: dict[str, Kernel] = {}
        self._native: dict[tuple[str, bool], NativeKernel] = {}
        self._variables: tuple[Variable, ...] = ()

    @property
    def info(self) -> DeviceInfo:
        return self.gpu.emulated_info

    def load(self, binary: Binary) -> None:
        self._kernels = {kernel.symbol: kernel for kernel in binary.kernels}
        self._native = {}
        self._variables = tuple(map(_variable, binary.variables))

    def execute(
        self,
        launches: Sequence[Launch],
        buffers: Sequence[DeviceBuffer],
        arrays: Arrays,
        *,
        limits: RunLimits,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """See devices.base.Device. The wall limit is the caller's to enforce: it can end the process, this cannot."""
        execution, memory = self._perform(launches, buffers, arrays, limits, progress, None)
        return execution, _outputs(execution, memory, buffers)

    def rehearse(
        self, launches: Sequence[Launch], buffers: Sequence[DeviceBuffer], arrays: Arrays, *, limits: RunLimits, rehearsal: Rehearsal
    ) -> tuple[Execution, Arrays]:
        """See devices.base.RehearsingDevice."""
        observer = Observer(rehearsal)
        execution, memory = self._perform(launches, buffers, arrays, limits, None, observer)
        if memory is None:
            return execution, {}
        certain = execution.failure is not None or self._is_same_with_other_poison(launches, buffers, arrays, limits, observer, memory)
        findings = describe_findings(observer, memory, buffers, certain_only=certain)
        if execution.failure is not None:
            failure = replace(execution.failure, findings=(*execution.failure.findings, *findings))
            return replace(execution, failure=failure), {}
        return replace(execution, findings=findings), _outputs(execution, memory, buffers)

    def _is_same_with_other_poison(
        self,
        launches: Sequence[Launch],
        buffers: Sequence[DeviceBuffer],
        arrays: Arrays,
        limits: RunLimits,
        observer: Observer,
        memory: GlobalMemory,
    ) -> bool:
        """Whether what a run read that nobody had written is without effect: the outputs stay when the memory held something else."""
        if all(hazard.certain for _, hazard in observer.hazards):
            return True
        again = Observer(observer.rehearsal, shared_poison=OTHER_POISON)
        other = with_other_poison(arrays, observer.rehearsal.unwritten)
        execution, other_memory = self._perform(launches, buffers, other, limits, None, again)
        return execution.failure is None and other_memory is not None and same_outputs(memory, other_memory, buffers)

    def _perform(
        self,
        launches: Sequence[Launch],
        buffers: Sequence[DeviceBuffer],
        arrays: Arrays,
        limits: RunLimits,
        progress: ShowProgress | None,
        observer: Observer | None,
    ) -> tuple[Execution, GlobalMemory | None]:
        try:
            memory = GlobalMemory({buffer.name: _size_bytes(buffer) for buffer in buffers}, self._variables)
        except MemoryError as problem:
            return Execution((), failure=Failure(Status.LAUNCH_ERROR, f"Out of device memory: {problem}.", advice=_SMALLER)), None
        for buffer in buffers:
            _fill(memory.view(buffer.name), arrays.get(buffer.name))
        if observer is not None:
            memory.track_writes(observer.rehearsal.unwritten)
        results: list[LaunchResult] = []
        budget = limits.warp_instructions
        for launch in launches:
            result, failure = self._run(launch, memory, budget, limits, progress, observer)
            if result is not None:
                results.append(result)
                budget -= result.counters.instructions_executed
            if failure is not None:
                return Execution(tuple(results), failure=failure), memory
        modified = tuple(buffer.name for buffer in buffers if buffer.role is Role.INPUT and _differs(memory, buffer, arrays))
        return Execution(tuple(results), modified), memory

    def _run(
        self,
        launch: Launch,
        memory: GlobalMemory,
        budget: int,
        limits: RunLimits,
        progress: ShowProgress | None,
        observer: Observer | None,
    ) -> tuple[LaunchResult | None, Failure | None]:
        kernel = self._kernels[launch.symbol]
        try:
            native = self._translate(kernel, checked=observer is not None)
        except Unsupported as problem:
            return None, describe_unsupported(problem, kernel)
        addresses = {name: region.address for name, region in memory.regions.items()}
        settings = LaunchSettings(
            grid=(launch.grid.x, launch.grid.y, launch.grid.z),
            block=(launch.block.x, launch.block.y, launch.block.z),
            parameters=pack_parameters(kernel, launch, addresses),
            dynamic_shared_bytes=launch.dynamic_shared_bytes,
            budget=budget,
            threads=self._threads,
            multiprocessors=self.gpu.multiprocessors,
        )
        if observer is not None:
            settings = replace(settings, backwards=observer.rehearsal.backwards, shared_poison=observer.shared_poison)
        tell = _tell(progress, kernel.name)
        outcome, modelled = self._run_native(native, memory, settings, kernel, limits, tell)
        if observer is not None:
            observer.hazards.extend((kernel, hazard) for hazard in outcome.hazards)
        result = replace(self._result(kernel, launch, outcome), modelled=modelled)
        if outcome.fault is None:
            return result, None
        return result, describe_fault(outcome.fault, kernel, memory, limits.warp_instructions)

    def _run_native(
        self,
        native: NativeKernel,
        memory: GlobalMemory,
        settings: LaunchSettings,
        kernel: Kernel,
        limits: RunLimits,
        tell: Callable[[int, int], None] | None,
    ) -> tuple[LaunchOutcome, Modelled | None]:
        """Run a launch; with the model's word of it where the limits ask for that and this GPU's figures are known."""
        figures = self.gpu.figures
        if not limits.model_time or figures is None:
            return run_launch(native, memory, settings, tell), None
        from grader.devices.modelled import run_modelled  # numba takes half a second to load

        shared_bytes = kernel.static_shared_bytes + settings.dynamic_shared_bytes
        threads = settings.block[0] * settings.block[1] * settings.block[2]
        resident = resident_blocks(self.gpu, registers=kernel.registers, threads=threads, shared_bytes=shared_bytes)
        run = run_modelled(native, memory, settings, figures, resident=resident, shared_bytes=shared_bytes, progress=tell)
        return run.outcome, run.modelled

    def _translate(self, kernel: Kernel, *, checked: bool) -> NativeKernel:
        key = (kernel.symbol, checked)
        if key not in self._native:
            self._native[key] = translate(kernel_code(kernel, self._variables, arch=self.gpu.arch), checked=checked)
        return self._native[key]

    def _result(self, kernel: Kernel, launch: Launch, outcome: LaunchOutcome) -> LaunchResult:
        lines: dict[int | None, Counters] = {}
        for counts in outcome.counts:
            lines[counts.line] = lines.get(counts.line, Counters()) + _counters(counts)
        total = sum(lines.values(), Counters())
        ordered = [LineCounters(line, lines[line]) for line in sorted(lines, key=lambda line: line or 0)]
        return replace(make_result(self.gpu, kernel, launch, total, ordered), printed=outcome.printed)


COMPARED_BYTES = 1 << 18
_SMALLER = "Ask for less scratch memory."


def kernel_code(kernel: Kernel, variables: Sequence[Variable] = (), *, arch: str = "sm_90") -> KernelCode:
    """A kernel that was compiled for `arch` as the emulator takes it. `variables` are all of its binary: the code holds their addresses."""
    instructions = tuple(Instruction(line.offset, line.predicate, line.opcode, line.operands, line.line) for line in kernel.instructions)
    addresses = variable_addresses(variables)
    constants = {
        bank: fill_pointers(data, map(_pointer, kernel.pointers.get(bank, ())), addresses) for bank, data in kernel.constants.items()
    }
    return KernelCode(
        name=kernel.name,
        instructions=instructions,
        parameter_base=kernel.parameter_base,
        parameter_bytes=parameter_bytes(kernel),
        static_shared_bytes=kernel.static_shared_bytes,
        local_bytes=kernel.local_bytes,
        constants=constants,
        functions=kernel.functions,
        encoding=kernel.encoding,
        architecture=ARCHITECTURES[arch],
        shared_extents={offset: use.extent for offset, use in kernel.shared_uses.items()},
    )


def _variable(variable: DeviceVariable) -> Variable:
    return Variable(variable.name, variable.size_bytes, variable.initial, tuple(map(_pointer, variable.pointers)))


def _pointer(pointer: records.Pointer) -> Pointer:
    return Pointer(pointer.offset, pointer.symbol, pointer.addend)


def _counters(counts: InstructionCounts) -> Counters:
    """One instruction's counts under the names that a score uses."""
    common = Counters(instructions_executed=counts.executed, thread_instructions_executed=counts.threads)
    if counts.space is None:
        return common
    way = "load" if counts.load else "store"
    if counts.atomic:
        memory = _atomic_counters(counts)
    elif counts.space == "shared":
        memory = {
            f"shared_{way}_instructions": counts.executed,
            f"shared_{way}_wavefronts": counts.passes,
            "shared_wavefronts_ideal": counts.passes_ideal,
        }
    else:
        memory = {
            f"global_{way}_requests": counts.requests,
            f"global_{way}_sectors": counts.passes,
            f"global_{way}_sectors_ideal": counts.passes_ideal,
            f"global_{way}_bytes": counts.bytes,
        }
    return replace(common, **memory)


def _atomic_counters(counts: InstructionCounts) -> dict[str, int]:
    """Nsight Compute counts global atomics apart from loads and stores but for their ideal sectors; of shared ones, the wavefronts
    are in the sum that is graded."""
    if counts.space == "global":
        return {"global_store_sectors_ideal": counts.passes_ideal}
    return {"shared_store_wavefronts": counts.passes, "shared_wavefronts_ideal": counts.passes_ideal}


def _tell(progress: ShowProgress | None, kernel: str) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    show = progress
    return lambda done, total: show(Progress(f"emulating {kernel}", done, total))


def _outputs(execution: Execution, memory: GlobalMemory | None, buffers: Sequence[DeviceBuffer]) -> Arrays:
    """What a plan left in its outputs; nothing where it did not run to its end."""
    if memory is None or execution.failure is not None:
        return {}
    return {buffer.name: _contents(memory, buffer) for buffer in buffers if buffer.role is Role.OUTPUT}


def _contents(memory: GlobalMemory, buffer: DeviceBuffer) -> np.ndarray:
    return memory.view(buffer.name).view(np.dtype(buffer.dtype)).reshape(buffer.shape)


def _fill(view: np.ndarray, contents: np.ndarray | None) -> None:
    """Put the contents into a buffer, or poison."""
    if contents is not None:
        view[:] = contents.reshape(-1).view(np.uint8)
        return
    words = len(view) // 4 * 4
    view[:words].view("<u4")[:] = POISON_WORD
    view[words:] = np.frombuffer(POISON_WORD.to_bytes(4, "little"), dtype=np.uint8)[: len(view) - words]


def _size_bytes(buffer: DeviceBuffer) -> int:
    return math.prod(buffer.shape) * np.dtype(buffer.dtype).itemsize


def _differs(memory: GlobalMemory, buffer: DeviceBuffer, arrays: Arrays) -> bool:
    now, before = memory.view(buffer.name), arrays[buffer.name].reshape(-1).view(np.uint8)
    pieces = range(0, len(now), COMPARED_BYTES)  # in pieces: what numpy compares at once it also writes to memory
    return any(not np.array_equal(now[at : at + COMPARED_BYTES], before[at : at + COMPARED_BYTES]) for at in pieces)
