"""A launch that is repeated with other parameters: it keeps the memory of its worker, because a new
worker costs more time than a short kernel."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace

import numpy as np

from grader.emulator.codegen.native_kernel import NativeKernel
from grader.emulator.run.counts import Tally
from grader.emulator.run.faults import Fault
from grader.emulator.run.host import DeviceLaunch, join_launched, join_printed
from grader.emulator.run.launch import LaunchSettings, fill_constants
from grader.emulator.run.memory import DeviceMemory
from grader.emulator.run.worker import Worker, first_fault


@dataclass(frozen=True)
class Repetition:
    """A launch that has ended; `executed` is its number of warp instructions."""

    fault: Fault | None
    printed: str
    executed: int
    waited: bool
    launched: tuple[DeviceLaunch, ...] = ()


class RepeatedLaunch:
    """A launch of a kernel with these settings on this thread. It is neither traced nor checked."""

    def __init__(
        self, kernel: NativeKernel, memory: DeviceMemory, settings: LaunchSettings
    ) -> None:
        self._kernel, self._memory = kernel, memory
        self._settings = replace(settings, threads=1)
        self._bank = fill_constants(kernel.code, settings, memory.bank_address)
        self._worker = Worker(kernel, memory, self._settings, self._bank, alone=False)
        self._fresh = self._worker.context.copy()

    def run(self, parameters: bytes) -> Repetition:
        """Runs all blocks. Raises MemoryError."""
        worker, host = self._worker, self._worker.host_functions
        start = self._kernel.code.parameter_base
        self._bank[start : start + len(parameters)] = np.frombuffer(parameters, np.uint8)
        self._memory.copy_bank(self._bank)
        self._reset()
        host.restart()
        worker.run(0, self._settings.blocks)
        if host.error is not None:
            raise host.error
        worker.finish()
        context = worker.context[0]
        fault = None
        if context["fault_code"] or worker.executed > self._settings.budget:
            fault = first_fault(self._kernel, self._settings, [worker])
        printed = join_printed([host.printed], self._settings.print_limit) if host.printed else ""
        launched = join_launched([host.launched])
        return Repetition(fault, printed, worker.executed, bool(context["waited"]), launched)

    def follow(self, memory: DeviceMemory) -> None:
        """Uses memory with other regions from now on."""
        self._memory = memory
        self._worker.follow(memory)
        self._fresh["buffers"] = self._worker.buffers.ctypes.data
        self._fresh["buffer_count"] = len(self._worker.buffers)
        self._fresh["heap"] = memory.heap_host

    def _reset(self) -> None:
        """Gives the context its first contents. The slots keep their patterns, so serial numbers
        of patterns go on."""
        context = self._worker.context
        learned = int(context["patterns_learned"][0])
        self._worker.forget_writes()
        ctypes.memmove(context.ctypes.data, self._fresh.ctypes.data, context.nbytes)
        context["patterns_learned"] = learned

    @property
    def tally(self) -> Tally:
        """A copy of the counters of all repetitions."""
        return self._worker.tally.copy()
