"""The emulated device: runs launch plans on the CPU by executing the machine code, and counts
exactly (DESIGN 3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace

from grader import records
from grader.devices.base import Arrays
from grader.devices.faults import describe_fault, describe_unsupported
from grader.devices.gpus import Gpu, read_gpus
from grader.devices.graded import run_graded
from grader.devices.launches import make_result, pack_parameters, parameter_bytes
from grader.devices.plans import (
    PLAINLY,
    Plan,
    Ran,
    Ready,
    Way,
    fill,
    modified_inputs,
    observe,
    outputs_of,
    size_bytes,
)
from grader.devices.rehearsal import (
    OTHER_POISON,
    Observer,
    describe_findings,
    same_outputs,
    with_other_poison,
)
from grader.devices.room import out_of_memory
from grader.devices.runtime import emulator_runtime
from grader.emulator import (
    ARCHITECTURES,
    GlobalMemory,
    Instruction,
    InstructionCounts,
    KernelCode,
    LaunchSettings,
    NativeKernel,
    Pointer,
    Unsupported,
    Variable,
    fill_pointers,
    translate,
    variable_addresses,
)
from grader.records import (
    Binary,
    Counters,
    DeviceBuffer,
    DeviceInfo,
    DeviceVariable,
    Execution,
    Failure,
    GradedRun,
    Kernel,
    Launch,
    LaunchResult,
    LineCounters,
    Progress,
    Rehearsal,
    RunLimits,
    ShowProgress,
)

KEPT_BINARIES = 4


class EmulatedDevice:
    """Stands for the GPU with this id in gpus.json. `threads` host threads share the blocks;
    results do not depend on it.

    `short_runs`: kernels are translated quickly, for runs in which that would take longest.
    """

    def __init__(
        self, gpu_id: str = "h100", *, threads: int | None = None, short_runs: bool = False
    ) -> None:
        self.gpu: Gpu = read_gpus()[gpu_id]
        self._short_runs = short_runs
        self._threads = threads or len(os.sched_getaffinity(0))
        self._kernels: dict[str, Kernel] = {}
        self._native: dict[tuple[str, bool], NativeKernel] = {}
        self._known: list[tuple[Binary, dict[tuple[str, bool], NativeKernel]]] = []
        self._variables: tuple[Variable, ...] = ()

    @property
    def info(self) -> DeviceInfo:
        return self.gpu.emulated_info

    def load(self, binary: Binary) -> None:
        """See devices.base.Device. What was translated of the last few binaries is kept: a grading
        comes back to its submission."""
        self._kernels = {kernel.symbol: kernel for kernel in binary.kernels}
        self._native = next((native for known, native in self._known if known == binary), {})
        others = [each for each in self._known if each[1] is not self._native]
        self._known = [(binary, self._native), *others][:KEPT_BINARIES]
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
        """See devices.base.Device. The wall limit is the caller's to enforce: it can end the
        process, this cannot."""
        plan = Plan(tuple(launches), tuple(buffers), arrays, limits, progress)

        def run() -> tuple[Execution, Arrays]:
            execution, memory = self.perform(plan)
            return execution, outputs_of(execution, memory, buffers)

        return self._within_memory(plan, run)

    def rehearse(
        self,
        launches: Sequence[Launch],
        buffers: Sequence[DeviceBuffer],
        arrays: Arrays,
        *,
        limits: RunLimits,
        rehearsal: Rehearsal,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """See devices.base.RehearsingDevice."""
        plan = Plan(tuple(launches), tuple(buffers), arrays, limits, progress)
        return self._within_memory(plan, lambda: self._rehearse(plan, Observer(rehearsal)))

    def _within_memory(
        self, plan: Plan, run: Callable[[], tuple[Execution, Arrays]]
    ) -> tuple[Execution, Arrays]:
        """What a run gives, or the failure of a plan that asks for more memory than there is."""
        try:
            return run()
        except MemoryError:
            variable_bytes = sum(variable.size_bytes for variable in self._variables)
            local_bytes = max(
                (
                    self._kernels[each.symbol].local_bytes * each.block.volume
                    for each in plan.launches
                ),
                default=0,
            )
            return (
                Execution((), failure=out_of_memory(plan.buffers, variable_bytes, local_bytes)),
                {},
            )

    def _rehearse(self, plan: Plan, observer: Observer) -> tuple[Execution, Arrays]:
        execution, memory = self.perform(plan, observe(observer))
        certain = execution.failure is not None or self._is_same_with_other_poison(
            plan, observer, memory
        )
        findings = describe_findings(observer, memory, plan.buffers, certain_only=certain)
        if execution.failure is not None:
            failure = replace(execution.failure, findings=(*execution.failure.findings, *findings))
            return replace(execution, failure=failure), {}
        return replace(execution, findings=findings), outputs_of(execution, memory, plan.buffers)

    def run_graded(
        self,
        launches: Sequence[Launch],
        buffers: Sequence[DeviceBuffer],
        arrays: Arrays,
        *,
        limits: RunLimits,
        graded: GradedRun,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """See devices.base.GradingDevice."""
        plan = Plan(tuple(launches), tuple(buffers), arrays, limits, progress)
        return self._within_memory(plan, lambda: run_graded(self, plan, graded))

    def _is_same_with_other_poison(
        self, plan: Plan, observer: Observer, memory: GlobalMemory
    ) -> bool:
        """Whether what a run read that nobody had written is without effect: the outputs stay when
        the memory held something else."""
        if all(hazard.certain for _, hazard in observer.hazards):
            return True
        again = Observer(observer.rehearsal, shared_poison=OTHER_POISON)
        other = replace(plan, arrays=with_other_poison(plan.arrays, observer.rehearsal.unwritten))
        execution, other_memory = self.perform(other, observe(again))
        return execution.failure is None and same_outputs(memory, other_memory, plan.buffers)

    def perform(self, plan: Plan, way: Way = PLAINLY) -> tuple[Execution, GlobalMemory]:
        """Run a plan in fresh memory, and give that back with what is in it then. Raises
        MemoryError where it is too large."""
        memory = GlobalMemory(
            {buffer.name: size_bytes(buffer) for buffer in plan.buffers}, self._variables
        )
        for buffer in plan.buffers:
            fill(memory.view(buffer.name), plan.arrays.get(buffer.name))
        if way.observer is not None:
            memory.track_writes(way.observer.rehearsal.unwritten)
        execution = self.launch_all(plan, memory, way)
        if execution.failure is not None:
            return execution, memory
        return replace(execution, modified_inputs=modified_inputs(plan, memory)), memory

    def launch_all(self, plan: Plan, memory: GlobalMemory, way: Way = PLAINLY) -> Execution:
        """Run the launches of a plan in memory whose buffers hold what they are to hold. Nobody
        looks whether inputs stay."""
        results: list[LaunchResult] = []
        budget = plan.limits.warp_instructions
        for launch in plan.launches:
            result, failure = self._run(launch, plan, memory, budget, way)
            if result is not None:
                results.append(result)
                budget -= result.counters.instructions_executed
            if failure is not None:
                return Execution(tuple(results), failure=failure)
            if result is not None and not result.finished:
                break
        return Execution(tuple(results))

    def _run(
        self, launch: Launch, plan: Plan, memory: GlobalMemory, budget: int, way: Way
    ) -> tuple[LaunchResult | None, Failure | None]:
        kernel = self._kernels[launch.symbol]
        try:
            native = self._translate(
                kernel, checked=way.observer is not None, progress=plan.progress
            )
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
            backwards=way.backwards,
        )
        if way.observer is not None:
            settings = replace(settings, shared_poison=way.observer.shared_poison)
        ran = way.run(
            Ready(native, kernel, launch, memory, settings), _tell(plan.progress, kernel.name)
        )
        if way.observer is not None:
            way.observer.hazards.extend((kernel, hazard) for hazard in ran.outcome.hazards)
        result = self._result(kernel, launch, ran)
        if ran.outcome.fault is None:
            return result, None
        return result, describe_fault(
            ran.outcome.fault, kernel, memory, plan.limits.warp_instructions
        )

    def _translate(
        self, kernel: Kernel, *, checked: bool, progress: ShowProgress | None
    ) -> NativeKernel:
        """The kernel's native code, made once; who waits is told when that begins and ends, because
        it may take long."""
        key = (kernel.symbol, checked)
        if key not in self._native:
            show = progress or (lambda note: None)
            show(Progress(f"translating {kernel.name}", translates=True))
            code = kernel_code(kernel, self._variables, arch=self.gpu.arch)
            self._native[key] = translate(
                code, emulator_runtime(), checked=checked, quickly=checked or self._short_runs
            )
            show(Progress(f"emulating {kernel.name}"))
        return self._native[key]

    def _result(self, kernel: Kernel, launch: Launch, ran: Ran) -> LaunchResult:
        lines: dict[int | None, Counters] = {}
        for counts in ran.outcome.counts:
            lines[counts.line] = lines.get(counts.line, Counters()) + _counters(counts)
        total = sum(lines.values(), Counters())
        ordered = [
            LineCounters(line, lines[line]) for line in sorted(lines, key=lambda line: line or 0)
        ]
        return replace(
            make_result(self.gpu, kernel, launch, total, ordered),
            printed=ran.outcome.printed,
            modelled=ran.modelled,
            unmodelled=ran.unmodelled,
            finished=ran.finished,
            sample=ran.sample,
        )


def kernel_code(
    kernel: Kernel, variables: Sequence[Variable] = (), *, arch: str = "sm_90"
) -> KernelCode:
    """A kernel that was compiled for `arch` as the emulator takes it. `variables` are all of its
    binary: the code holds their addresses."""
    instructions = tuple(
        Instruction(line.offset, line.predicate, line.opcode, line.operands, line.line)
        for line in kernel.instructions
    )
    addresses = variable_addresses(variables)
    constants = {
        bank: fill_pointers(data, map(_pointer, kernel.pointers.get(bank, ())), addresses)
        for bank, data in kernel.constants.items()
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
    return Variable(
        variable.name,
        variable.size_bytes,
        variable.initial,
        tuple(map(_pointer, variable.pointers)),
    )


def _pointer(pointer: records.Pointer) -> Pointer:
    return Pointer(pointer.offset, pointer.symbol, pointer.addend)


def _counters(counts: InstructionCounts) -> Counters:
    """One instruction's counts under the names that a score uses."""
    common = Counters(
        instructions_executed=counts.executed, thread_instructions_executed=counts.threads
    )
    if counts.space is None:
        return common
    kind = "atomic" if counts.atomic else "load" if counts.load else "store"
    if counts.space == "shared":
        memory = {
            f"shared_{kind}_instructions": counts.executed,
            f"shared_{kind}_wavefronts": counts.passes,
            "shared_wavefronts_ideal": counts.passes_ideal,
        }
    else:
        kinds = ("atomic", "fetch") if counts.atomic and counts.load else (kind,)
        memory = {
            name: count for each in kinds for name, count in _global_counters(each, counts).items()
        }
    return replace(common, **memory)


def _global_counters(kind: str, counts: InstructionCounts) -> dict[str, int]:
    return {
        f"global_{kind}_requests": counts.requests,
        f"global_{kind}_sectors": counts.passes,
        f"global_{kind}_sectors_ideal": counts.passes_ideal,
        f"global_{kind}_bytes": counts.bytes,
    }


def _tell(progress: ShowProgress | None, kernel: str) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    show = progress
    return lambda done, total: show(Progress(f"emulating {kernel}", done, total))
