"""The emulated device: runs launch plans on the CPU by executing the machine code, and counts
exactly (docs/devices.md)."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from operator import mod

from grader.devices.base import Arrays
from grader.devices.emulated.finding_facts import (
    OTHER_POISON,
    OTHER_SHARED_POISON,
    Checking,
    gather_findings,
    read_fault,
    same_outputs,
)
from grader.devices.emulated.inspection import inspect_run, run_model
from grader.devices.emulated.machine_code import Code
from grader.devices.emulated.plan_run import (
    DEFAULT_OPTIONS,
    Plan,
    Ready,
    RunOptions,
    count_launch,
    modified_inputs,
    outputs_of,
)
from grader.devices.emulated.texture_objects import tensor_maps, texture_objects
from grader.devices.emulated.transfers import Transfers
from grader.devices.emulated.worst_accesses import WorstAccesses
from grader.devices.gpus import Gpu, read_gpus, resident_blocks
from grader.devices.parameter_space import handle_bytes, pack_parameters
from grader.devices.plan_limits import out_of_memory, out_of_time
from grader.emulator import (
    CONSTANT_MEMORY,
    GRID_WORKSPACE,
    GlobalMemory,
    LaunchSettings,
    Unsupported,
    offer_file,
    texture_records,
    variable_region,
)
from grader.records import (
    COUNTING,
    POISON_WORD,
    Binary,
    CheckedMode,
    CountingMode,
    DeviceInfo,
    Execution,
    Faulted,
    Kernel,
    Launch,
    LaunchResult,
    Mode,
    ModelledMode,
    NotEmulated,
    Program,
    Refused,
    RunLimits,
    ShowProgress,
    Stop,
)

KEPT_BINARIES = 4


class EmulatedDevice:
    """Emulates the GPU with this id in gpus.json. `threads` host threads share the blocks; results
    do not depend on their number.
    """

    def __init__(self, gpu_id: str = "h100", *, threads: int | None = None) -> None:
        self.gpu: Gpu = read_gpus()[gpu_id]
        self._threads = threads or len(os.sched_getaffinity(0))
        self._known: list[Code] = []

    @property
    def info(self) -> DeviceInfo:
        return self.gpu.emulated_info

    def offer_output(self, descriptor: int) -> None:
        """Offers a file in memory, filled with the poison, for an output of its size."""
        offer_file(descriptor, POISON_WORD)

    def run(
        self,
        program: Program,
        arrays: Arrays,
        *,
        limits: RunLimits,
        mode: Mode = COUNTING,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """See devices.base.Device. The caller enforces the wall limit, because only the caller can
        end the process."""
        plan = Plan(program, arrays, limits, progress, detail=mode.detail).started()
        try:
            match mode:
                case CountingMode():
                    return self._count(plan, mode)
                case CheckedMode():
                    return self._check(plan, mode)
                case ModelledMode():
                    if self.gpu.figures is not None:
                        return run_model(self, self.gpu.figures, plan, mode)
                    seed = mode.seed if mode.inspect else None
                    return self._count(plan, CountingMode(inspect_seed=seed))
        except MemoryError:
            code = self._code_of(program.binary)
            variable_bytes = sum(variable.size_bytes for variable in code.variables)
            local_bytes = max(
                (
                    code.kernels[each.symbol].local_bytes * each.block.volume
                    for each in program.launches
                ),
                default=0,
            )
            stop = out_of_memory(program.buffers, variable_bytes, local_bytes)
            return Execution((), failure=stop), {}

    def _count(self, plan: Plan, mode: CountingMode) -> tuple[Execution, Arrays]:
        options = RunOptions(backwards=mode.backwards)
        execution, memory = self.perform(plan, options)
        if mode.inspect_seed is not None:
            execution = inspect_run(self, plan, mode.inspect_seed, execution, memory, options)
        return execution, outputs_of(execution, memory, plan.program.buffers)

    def _check(self, plan: Plan, mode: CheckedMode) -> tuple[Execution, Arrays]:
        checking, buffers = Checking(), plan.program.buffers
        options = RunOptions(checking=checking, backwards=mode.backwards)
        execution, memory = self.perform(plan, options)
        certain = execution.failure is not None or self._is_same_with_other_poison(
            plan, options, checking, memory
        )
        findings = gather_findings(checking, memory, buffers, certain_only=certain)
        if isinstance(execution.failure, Faulted):
            failure = replace(execution.failure, others=findings)
            return replace(execution, failure=failure), {}
        if execution.failure is not None:
            return execution, {}
        return replace(execution, findings=findings), outputs_of(execution, memory, buffers)

    def _is_same_with_other_poison(
        self, plan: Plan, options: RunOptions, checking: Checking, memory: GlobalMemory
    ) -> bool:
        """Whether reads of unwritten memory have no effect: the outputs are the same with another
        poison."""
        if all(hazard.certain for _, hazard in checking.hazards):
            return True
        again = replace(options, checking=Checking(shared_poison=OTHER_SHARED_POISON))
        execution, other = self.perform(replace(plan, poison=OTHER_POISON), again)
        return execution.failure is None and same_outputs(memory, other, plan.program.buffers)

    def perform(
        self, plan: Plan, options: RunOptions = DEFAULT_OPTIONS
    ) -> tuple[Execution, GlobalMemory]:
        """Run a plan in fresh memory, and return this memory after the run. Raises MemoryError
        where it is too large."""
        memory = self.lay_out(plan)
        if options.checking is not None:
            memory.track_writes(plan.unwritten)
        return self.perform_in(memory, plan, options), memory

    def perform_in(
        self, memory: GlobalMemory, plan: Plan, options: RunOptions = DEFAULT_OPTIONS
    ) -> Execution:
        """Run a plan in memory with its initial contents, and check that inputs are unchanged."""
        execution = self.launch_all(plan, memory, options)
        if execution.failure is not None:
            return execution
        return replace(execution, modified_inputs=modified_inputs(plan, memory))

    def lay_out(self, plan: Plan, *, sparse: bool = False) -> GlobalMemory:
        """Fresh memory with the initial contents of the plan; `sparse`: only some blocks will run.
        Raises MemoryError where it is too large."""
        sizes = {buffer.name: buffer.size_bytes for buffer in plan.program.buffers}
        memory = GlobalMemory(sizes, self._code_of(plan.program.binary).variables, sparse=sparse)
        plan.fill_all(memory)
        return memory

    def launch_all(
        self, plan: Plan, memory: GlobalMemory, options: RunOptions = DEFAULT_OPTIONS
    ) -> Execution:
        """Run the launches of a plan in memory with its initial contents, without a check of the
        inputs."""
        code = self._code_of(plan.program.binary)
        results: list[LaunchResult] = []
        budget = plan.limits.warp_instructions
        transfers, worst = Transfers(plan.program.binary, memory), WorstAccesses(plan)
        options = worst.watch(options)
        for step in plan.program.steps:
            if time.process_time() > plan.processor_end:
                stop = out_of_time(plan.program.launches, plan.limits, of_processor=True)
                return Execution(tuple(results), failure=stop)
            if not isinstance(step, Launch):
                transfers.carry_out(step)
                continue
            kernel = transfers.filled(code.kernels[step.symbol])
            number = len(results) + 1
            result, failure = self._launch(
                code, kernel, step, plan, memory, budget, options, number
            )
            if result is not None:
                results.append(result)
                budget -= result.counters.instructions_executed
            if failure is not None:
                return Execution(tuple(results), failure=failure)
        return Execution(tuple(results), accesses=worst.accesses())

    def _launch(
        self,
        code: Code,
        kernel: Kernel,
        launch: Launch,
        plan: Plan,
        memory: GlobalMemory,
        budget: int,
        options: RunOptions,
        number: int,
    ) -> tuple[LaunchResult | None, Stop | None]:
        try:
            native = code.translate(kernel, plan.progress)
        except Unsupported as problem:
            return None, NotEmulated(kernel.name, problem.line, problem.what)
        resident = self.gpu.multiprocessors * resident_blocks(
            self.gpu,
            registers=kernel.registers,
            threads=launch.block.volume,
            shared_bytes=kernel.static_shared_bytes + launch.dynamic_shared_bytes,
        )
        refused = _refuse_grid(kernel, launch, resident if code.cooperative else None)
        if refused is not None:
            return None, refused
        addresses = {name: region.address for name, region in memory.regions.items()}
        objects = texture_objects(plan.program.buffers, memory)
        handles = {name: handle for handle, name in enumerate(objects, start=1)}
        maps = tensor_maps(plan.program.buffers, memory)
        settings = LaunchSettings(
            grid=(launch.grid.x, launch.grid.y, launch.grid.z),
            block=(launch.block.x, launch.block.y, launch.block.z),
            parameters=pack_parameters(kernel, launch, addresses, handle_bytes(handles) | maps),
            dynamic_shared_bytes=launch.dynamic_shared_bytes,
            budget=budget,
            processor_end=plan.processor_end,
            threads=self._threads,
            multiprocessors=self.gpu.multiprocessors,
            backwards=options.backwards,
            textures=texture_records(tuple(objects.values())),
            resident=resident,
            workspace=addresses[variable_region(GRID_WORKSPACE.name)] if code.cooperative else 0,
            number=number,
        )
        if options.checking is not None:
            settings = replace(settings, checked=True, shared_poison=options.checking.shared_poison)
        constants = _constant_memory(memory)
        ran = options.run(Ready(native, kernel, launch, memory, settings), plan.show(kernel.name))
        if options.checking is not None:
            options.checking.hazards.extend((kernel, hazard) for hazard in ran.outcome.hazards)
        result = count_launch(self.gpu, kernel, launch, ran, plan.detail)
        if ran.outcome.fault is None and _constant_memory(memory) != constants:
            return result, NotEmulated(kernel.name, None, "stores to __constant__ memory")
        if ran.outcome.fault is None:
            return result, None
        return result, read_fault(ran.outcome.fault, kernel, memory, plan.limits, launch)

    def _code_of(self, binary: Binary) -> Code:
        """The cached code of a binary; the cache has the last few binaries, because a grading runs
        its submission several times."""
        found = next((code for code in self._known if code.binary == binary), None) or Code(
            binary, self.gpu.arch
        )
        others = [code for code in self._known if code is not found]
        self._known = [found, *others][:KEPT_BINARIES]
        return found


def _refuse_grid(kernel: Kernel, launch: Launch, most: int | None) -> Refused | None:
    """The reason why a GPU refuses the launch's grid; at most `most` blocks of a cooperative grid
    fit at once."""
    if most is not None and launch.grid.volume > most:
        what = f"too many blocks in cooperative launch: the GPU has room for {most:,} at once"
    elif any(map(mod, (launch.grid.x, launch.grid.y, launch.grid.z), kernel.cluster)):
        what = (
            f"cluster misconfiguration: the grid is not made of whole clusters of"
            f" {kernel.cluster} blocks"
        )
    else:
        return None
    return Refused(kernel.name, launch.line, what, launch.text)


def _constant_memory(memory: GlobalMemory) -> bytes:
    """The contents of `__constant__` variables at the addresses that a kernel takes of them. Loads
    of constants do not see its stores there; on a GPU they see them after some time."""
    copy = variable_region(CONSTANT_MEMORY)
    return memory.view(copy).tobytes() if copy in memory.regions else b""
