"""The GPU device: runs launch plans on a real GPU through PyCUDA, and times them."""

from __future__ import annotations

import atexit
import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pycuda.driver as cuda

from grader.devices.base import Arrays
from grader.devices.gpu.arena import Arena
from grader.devices.gpu.bench import Bench
from grader.devices.gpu.cuda_facts import out_of_memory
from grader.devices.gpu.driver import open_gpu
from grader.devices.gpu.modules import Code, PlanError, ReadyLaunch
from grader.devices.gpu.nvml import ClockSampler
from grader.devices.gpu.own_kernels import COPY_RUNS, OwnKernels
from grader.devices.gpu.ptx import digest_on_host
from grader.devices.parameter_space import make_result
from grader.errors import GraderError
from grader.records import (
    COUNTING,
    SUBMISSION,
    Binary,
    ClockState,
    Counters,
    DeviceBuffer,
    DeviceInfo,
    Execution,
    GivenPeak,
    Kernel,
    Launch,
    LaunchResult,
    Mode,
    Program,
    Progress,
    Role,
    RunLimits,
    ShowProgress,
    TimedLaunch,
    TimedStep,
)

SHOW_SECONDS = 0.2
PROBE_BUFFER = DeviceBuffer("probe", "uint64", (4096,), Role.INPUT)


class GpuDevice:
    """The GPU with this CUDA index. Satisfies `TimingDevice`; after a kernel's fault, a new process
    is necessary.

    The constructor tests the GPU: it computes a digest and compares it with the host's. The
    counters of its launches are all 0: devices.gpu.ncu and the emulated device count.
    """

    def __init__(self, index: int = 0, given: GivenPeak | None = None) -> None:
        self._open = open_gpu(index, given)
        # PyCUDA aborts a process that ends with a context on its stack
        atexit.register(self._open.close)
        self._own = OwnKernels(self._open.gpu.multiprocessors)
        self._clocks = ClockSampler(self._open.pci_bus_id)
        self._code: Code | None = None
        self._bench: Bench | None = None
        self._probe()

    @property
    def info(self) -> DeviceInfo:
        return self._open.info

    @property
    def uuid(self) -> str:
        return self._open.uuid

    def run(
        self,
        program: Program,
        arrays: Arrays,
        *,
        limits: RunLimits,
        mode: Mode = COUNTING,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """See devices.base.Device. It has the counting mode only. The caller enforces the wall
        limit, because only the caller can end the process."""
        if mode != COUNTING:
            raise GraderError(f"a GPU has no {type(mode).__name__}")
        try:
            return self._run(program, arrays)
        except PlanError as problem:
            return Execution((), failure=problem.stop), {}
        except cuda.MemoryError:
            return Execution((), failure=out_of_memory(program.buffers, program.binary)), {}

    def prepare(
        self, programs: Sequence[Program], input_sets: Sequence[Arrays], *, limits: RunLimits
    ) -> tuple[Execution, list[Arrays]]:
        """See devices.base.TimingDevice."""
        self._bench = None  # frees the memory of the last bench
        submission = next(program for program in programs if program.label == SUBMISSION)
        try:
            bench = Bench(
                programs,
                input_sets,
                self._own,
                l2_bytes=self._open.gpu.l2_bytes,
                is_modelled=self._open.is_modelled,
            )
            outputs, modified = bench.verify()
            if not modified:
                bench.choose_batch()
        except PlanError as problem:
            return Execution((), failure=problem.stop, culprit=problem.culprit), []
        except cuda.MemoryError:
            return Execution((), failure=out_of_memory(submission.buffers, submission.binary)), []
        self._bench = bench
        kernels = {kernel.symbol: kernel for kernel in submission.binary.kernels}
        results = tuple(
            self._result(launch, kernels[launch.symbol]) for launch in submission.launches
        )
        return Execution(results, modified), outputs

    def time(
        self, steps: Sequence[TimedStep], *, progress: ShowProgress | None = None
    ) -> tuple[tuple[TimedLaunch, ...], ClockState]:
        """See devices.base.TimingDevice."""
        if self._bench is None:
            raise GraderError("nothing is prepared for timing")
        self._clocks.clear()
        taken: list[TimedLaunch] = []
        shown = time.monotonic()
        for step in steps:
            try:
                milliseconds, right = self._bench.time_step(step)
            except cuda.Error as error:
                if step.program != SUBMISSION:
                    raise GraderError(
                        f"the exercise's {step.program} program failed: {error}",
                        "Correct the exercise.",
                    ) from error
                return (*taken, TimedLaunch(step, math.nan, right=False)), self._clocks.state()
            taken.append(TimedLaunch(step, milliseconds, right))
            self._clocks.sample()
            if progress is not None and time.monotonic() - shown >= SHOW_SECONDS:
                shown = time.monotonic()
                progress(Progress("timing", len(taken), len(steps)))
        if self._bench.is_damaged():
            taken = [
                replace(one, right=one.right and one.step.program != SUBMISSION) for one in taken
            ]
        return tuple(taken), self._clocks.state()

    def copy_bandwidth(self) -> float:
        """See devices.base.TimingDevice. Frees the memory of `prepare`, since both may not fit."""
        self._bench = None
        return self._own.copy_bandwidth(1 if self._open.is_modelled else COPY_RUNS)

    def _run(self, program: Program, arrays: Arrays) -> tuple[Execution, Arrays]:
        arena = Arena(program.buffers)
        arena.fill(arrays)
        before = arena.digests(arena.names(Role.INPUT), self._own)
        results: list[LaunchResult] = []
        code = self._code_of(program.binary)
        for step in code.make_ready(program.steps, arena.addresses, arena.objects):
            step.run(arena)
            if isinstance(step, ReadyLaunch):
                results.append(self._result(step.launch, step.kernel))
        modified, outputs = arena.modified_inputs(before, self._own), arena.outputs()
        arena.free()
        return Execution(tuple(results), tuple(modified)), outputs

    def _code_of(self, binary: Binary) -> Code:
        """The binary's code, loaded on first use; the last binary stays loaded. Every run of a plan
        starts with the initial values of variables."""
        if self._code is None or self._code.binary != binary:
            self._code = Code(binary)
        elif binary.symbols:
            self._code = self._code.load_again()
        return self._code

    def _result(self, launch: Launch, kernel: Kernel) -> LaunchResult:
        return make_result(self._open.gpu, kernel, launch, Counters(), ())

    def _probe(self) -> None:
        """Test the GPU with a computation whose result the host knows. Raises GraderError for a
        wrong result."""
        contents = np.arange(PROBE_BUFFER.shape[0], dtype=np.uint64)
        try:
            arena = Arena([PROBE_BUFFER])
            arena.upload({PROBE_BUFFER.name: contents})
            (digest,) = arena.digests([PROBE_BUFFER.name], self._own)
        except cuda.Error as error:
            raise GraderError(
                f"{self.info.name} does not run a kernel: {error}",
                "See `nvidia-smi`; it may need a reset.",
            ) from error
        if digest != digest_on_host(contents):
            raise GraderError(
                f"{self.info.name} computes wrong results",
                "See `nvidia-smi -q` for memory errors; it may need a reset.",
            )
