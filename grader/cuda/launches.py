"""Launches of a program through the emulator. The first launch of each size is traced for its
modelled time; later launches repeat it in the same memory."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import mod

import numpy as np

from grader.cuda.assertions import describe_assertion
from grader.cuda.launch_groups import Group, Model, Request
from grader.cuda.window import Window
from grader.devices.emulated.finding_facts import (
    SHARED_POISON,
    Checking,
    gather_findings,
    read_fault,
)
from grader.devices.emulated.plan_run import Ready as ReadyLaunch
from grader.devices.emulated.sampling import TRACED_SPREAD, Stage, run_for_time
from grader.devices.gpus import MAX_BLOCK, MAX_GRID, MAX_THREADS_PER_BLOCK, Gpu, resident_blocks
from grader.emulator import (
    CYCLES_IN_4_NS,
    TEXTURE,
    DeviceLaunch,
    Fault,
    FaultKind,
    Hazard,
    HazardKind,
    LaunchCounts,
    LaunchOutcome,
    LaunchSettings,
    RepeatedLaunch,
    Tally,
    Touched,
    Unsupported,
    run_launch,
)
from grader.records import Dim3, Kernel, Launch, NotEmulated, Observation, RunLimits, Stop
from grader.sass import is_call, is_cooperative

BUDGET = 10**15
LONG_INSTRUCTIONS = 2_000_000
"""From this number of warp instructions on (10 ms), all host threads share the blocks."""
MOST_COUNTED = 1000
"""Launches of a session with counters of their own."""
MOST_LISTED = 20_000
"""Launches in the record of a session."""
MOST_PENDING = 8
"""Launches whose traces wait for the model."""
MOST_TEXTURES = 4096
PRINT_LIMIT = 1 << 20
"""The default size of the GPU's buffer for `printf` (`cudaLimitPrintfFifoSize`)."""
HOST_WAIT_S = 10.0
_CLOCK = re.compile(r"SR_(CLOCK|GLOBALTIMER)")
_TEXTURE_OPCODES = ("TEX", "TLD", "TXQ", "TMML", "TXD", "SULD", "SUST", "SUATOM", "SURED", "SUQ")
_LIMITS = RunLimits(BUDGET, wall_seconds=0.0, processor_seconds=0.0, of_exercise=False)


class Status:
    """CUresult of launches."""

    INVALID_VALUE, OUT_OF_MEMORY = 1, 2
    ILLEGAL_ADDRESS, OUT_OF_RESOURCES, TIMEOUT = 700, 701, 702
    ASSERT, ILLEGAL_INSTRUCTION, MISALIGNED, FAILED = 710, 715, 716, 719
    COOPERATIVE_TOO_LARGE, INVALID_CLUSTER, NOT_SUPPORTED = 720, 912, 801


_STATUS: Mapping[FaultKind, int] = {
    FaultKind.OUT_OF_BOUNDS: Status.ILLEGAL_ADDRESS,
    FaultKind.MISALIGNED: Status.MISALIGNED,
    FaultKind.BARRIER_DIVERGENCE: Status.TIMEOUT,
    FaultKind.ABSENT_LANES: Status.FAILED,
    FaultKind.TOO_MANY_ARRIVALS: Status.FAILED,
    FaultKind.BAD_FREE: Status.FAILED,
    FaultKind.TRAP: Status.FAILED,
    FaultKind.ASSERT: Status.ASSERT,
    FaultKind.ENDLESS_WAIT: Status.TIMEOUT,
    FaultKind.INSTRUCTION_LIMIT: Status.TIMEOUT,
    FaultKind.TIME_LIMIT: Status.TIMEOUT,
    FaultKind.UNSUPPORTED: Status.NOT_SUPPORTED,
}
"""As on an H200 (driver 580), which hangs at a barrier that some threads skip."""


class Failed(Exception):  # noqa: N818 - a property of the program
    """A launch that did not run to its end: its CUresult, the reason where there is more to
    report, the output until then, and the text that CUDA writes to stderr. A refused launch is not
    `sticky`."""

    def __init__(
        self,
        status: int,
        stop: Stop | None = None,
        *,
        sticky: bool = True,
        printed: str = "",
        text: str = "",
    ) -> None:
        super().__init__(f"CUresult {status}")
        self.status, self.stop, self.sticky = status, stop, sticky
        self.printed, self.text = printed, text


@dataclass(frozen=True)
class Done:
    """A launch that ran: its group, its warp instructions, its output, its counters (None beyond
    MOST_COUNTED), its time on the wall clock, its accesses, if they are watched, and the launches
    by its device code."""

    group: Group
    request: Request
    instructions: int
    printed: str
    counted: Tally | LaunchCounts | None
    wall_ms: float
    touched: Touched
    launched: tuple[DeviceLaunch, ...]


@dataclass(frozen=True)
class _Ended:
    executed: int
    printed: str
    waited: bool
    fault: Fault | None
    counted: Tally | LaunchCounts | None
    hazards: tuple[Hazard, ...] = ()
    touched: Touched = field(default_factory=dict)
    launched: tuple[DeviceLaunch, ...] = ()


@dataclass
class Launches:
    """The launches of a session. `model`: times are modelled; `check`: launches run in the checked
    mode. `now_ns` is the time at which a launch in a stream of a device starts; `clock_ns` is the
    last time that a kernel can have read. `textures` are TEXTURE records by handle, from 1 on."""

    gpu: Gpu
    window: Window
    now_ns: Callable[[int, int], int]
    model: bool = True
    check: bool = False
    threads: int = 0
    textures: np.ndarray = field(default_factory=lambda: np.zeros(MOST_TEXTURES, TEXTURE))
    groups: dict[tuple[object, ...], Group] = field(default_factory=dict)
    done: list[Done] = field(default_factory=list)
    findings: dict[tuple[object, ...], Observation] = field(default_factory=dict)
    count: int = 0
    clock_ns: int = 0
    pending: list[Model] = field(default_factory=list)

    @property
    def waited(self) -> bool:
        """Whether a kernel has waited for the host."""
        return any(group.waited for group in self.groups.values())

    def run(self, request: Request) -> Done:
        """Runs a launch to its end. Raises Failed."""
        group = self.groups.get(request.key) or self._make_group(request)
        self._use_present_memory(group, request)
        start = time.perf_counter()
        try:
            ended = self._execute(group, request)
        except MemoryError:
            raise Failed(Status.OUT_OF_MEMORY, sticky=False) from None
        wall_ms = 1000 * (time.perf_counter() - start)
        done = Done(
            *(group, request, ended.executed, ended.printed, ended.counted, wall_ms),
            *(ended.touched, ended.launched),
        )
        self.count += 1
        if len(self.done) < MOST_LISTED:
            self.done.append(done)
        group.launches += 1
        group.instructions += ended.executed
        group.last = ended.executed
        group.waited |= ended.waited
        if ended.hazards:
            self._keep_findings(group, ended.hazards)
        if ended.fault is not None:
            raise self._failed(group, ended.fault, ended.printed, request)
        return done

    # --- a new size -------------------------------------------------------------------------------

    def _make_group(self, request: Request) -> Group:
        module = request.module
        cluster = request.cluster
        if cluster == (0, 0, 0):
            cluster = module.kernels[request.index].cluster
        try:
            ready = module.ready(request.index, cluster)
        except Unsupported as problem:
            stop = NotEmulated(module.name(request.index), problem.line, problem.what)
            raise Failed(Status.NOT_SUPPORTED, stop) from None
        kernel = ready.kernel
        resident = self._resident(kernel, request)
        self._refuse(kernel, request, resident)
        launch = Launch(
            kernel.symbol,
            Dim3(*request.grid),
            Dim3(*request.block),
            request.dynamic_shared,
            (),
            None,
            "",
        )
        needs_workspace = is_cooperative(
            [[each.operands for each in kernel.instructions]], module.arch
        )
        textures = self.textures if _uses_textures(kernel) else self.textures[:0]
        settings = LaunchSettings(
            request.grid,
            request.block,
            b"",
            request.dynamic_shared,
            budget=BUDGET,
            threads=self.threads or len(os.sched_getaffinity(0)),
            multiprocessors=self.gpu.multiprocessors,
            textures=textures,
            resident=resident * self.gpu.multiprocessors,
            workspace=module.clear_workspace() if needs_workspace else 0,
            print_limit=PRINT_LIMIT,
            checked=self.check,
            shared_poison=SHARED_POISON,
        )
        group = Group(
            ready,
            launch,
            settings,
            self.window.view(module.device),
            reads_clock=_reads_clock(kernel),
        )
        self.groups[request.key] = group
        return group

    def _resident(self, kernel: Kernel, request: Request) -> int:
        """Blocks that a multiprocessor holds at a time. Raises Failed for impossible sizes."""
        sizes = zip((*request.block, *request.grid), (*MAX_BLOCK, *MAX_GRID), strict=True)
        threads = Dim3(*request.block).volume
        most = min(MAX_THREADS_PER_BLOCK, kernel.max_threads_per_block or MAX_THREADS_PER_BLOCK)
        shared = kernel.static_shared_bytes + request.dynamic_shared
        if not all(1 <= size <= largest for size, largest in sizes):
            raise Failed(Status.INVALID_VALUE, sticky=False)
        if threads > most or shared > self.gpu.max_shared_bytes_per_block:
            raise Failed(Status.INVALID_VALUE, sticky=False)
        found = resident_blocks(
            self.gpu, registers=kernel.registers, threads=threads, shared_bytes=shared
        )
        if found == 0:
            raise Failed(Status.OUT_OF_RESOURCES, sticky=False)
        return found

    def _refuse(self, kernel: Kernel, request: Request, resident: int) -> None:
        most = resident * self.gpu.multiprocessors
        if request.cooperative and Dim3(*request.grid).volume > most:
            raise Failed(Status.COOPERATIVE_TOO_LARGE, sticky=False)
        if any(map(mod, request.grid, kernel.cluster)):
            raise Failed(Status.INVALID_CLUSTER, sticky=False)

    # --- a launch ---------------------------------------------------------------------------------

    def _use_present_memory(self, group: Group, request: Request) -> None:
        view = self.window.view(request.module.device)
        if group.view is not view:
            group.view = view
            if group.repeated is not None:
                group.repeated.follow(view)
        request.module.refresh(group.ready.native)

    def _execute(self, group: Group, request: Request) -> _Ended:
        if self.check:
            return self._run_whole(group, request)
        if self.model and self.gpu.figures is not None and group.wants_model():
            return self._run_traced(group, request)
        if group.launches == 0 or group.last > LONG_INSTRUCTIONS or group.reads_clock:
            return self._run_whole(group, request)
        return self._repeat(group, request)

    def _settings(self, group: Group, request: Request) -> LaunchSettings:
        wait = HOST_WAIT_S if group.view.shared_with_host else 0.0
        start = 0
        if group.reads_clock:
            start = max(self.clock_ns, self.now_ns(request.stream, request.module.device))
        return replace(
            group.settings,
            parameters=request.parameters,
            host_wait=wait,
            start_ns=start,
            watched=self.window.of_program() if request.watched else (),
        )

    def _run_whole(self, group: Group, request: Request) -> _Ended:
        settings = self._settings(group, request)
        return self._end(group, settings, run_launch(group.ready.native, group.view, settings))

    def _run_traced(self, group: Group, request: Request) -> _Ended:
        kernel, figures = group.ready.kernel, self.gpu.figures
        assert figures is not None
        settings = self._settings(group, request)
        ready = ReadyLaunch(group.ready.native, kernel, group.launch, group.view, settings)
        shared = kernel.static_shared_bytes + request.dynamic_shared
        resident = (settings.resident or 1) // self.gpu.multiprocessors
        stage = Stage(figures, resident, shared, 0, most_spread=TRACED_SPREAD, in_order=True)
        timed = run_for_time(ready, stage)
        ended = self._end(group, settings, timed.ran.outcome)
        if ended.fault is None:
            model = Model(ended.executed, timed)
            group.models.append(model)
            self.pending.append(model)
            if len(self.pending) > MOST_PENDING:
                self.pending.pop(0).result()
        return ended

    def _end(self, group: Group, settings: LaunchSettings, outcome: LaunchOutcome) -> _Ended:
        group.counts.append(outcome.counts)
        if group.reads_clock:
            self.clock_ns = settings.start_ns + outcome.lengths.longest * 4 // CYCLES_IN_4_NS
        counted = outcome.counts if self.count < MOST_COUNTED else None
        return _Ended(
            outcome.counts.executed,
            outcome.printed,
            outcome.waited,
            outcome.fault,
            counted,
            outcome.hazards,
            outcome.touched,
            outcome.launched,
        )

    def _repeat(self, group: Group, request: Request) -> _Ended:
        if group.repeated is None:
            settings = self._settings(group, request)
            group.repeated = RepeatedLaunch(group.ready.native, group.view, settings)
            group.before = group.repeated.tally
        repeated = group.repeated
        ended = repeated.run(request.parameters)
        counted = None
        if self.count < MOST_COUNTED:
            assert group.before is not None
            now = repeated.tally
            counted, group.before = now.since(group.before), now
        return _Ended(
            *(ended.executed, ended.printed, ended.waited, ended.fault, counted),
            launched=ended.launched,
        )

    # --- faults and findings ----------------------------------------------------------------------

    def _failed(self, group: Group, fault: Fault, printed: str, request: Request) -> Failed:
        kernel = group.ready.kernel
        stop: Stop = read_fault(fault, kernel, group.view, _LIMITS, group.launch)
        if isinstance(stop, NotEmulated) and is_call(fault.opcode):
            in_runtime = request.module.launches_kernels
            what = "a function of the device runtime" if in_runtime else stop.what
            stop = replace(stop, what=what)
        status, text = _STATUS[fault.kind], describe_assertion(fault, group.launch.block)
        return Failed(status, stop, printed=printed, text=text)

    def _keep_findings(self, group: Group, hazards: tuple[Hazard, ...]) -> None:
        """Keeps a finding of each kind for each pair of lines. Reads of unwritten shared memory are
        left out: whether the result depends on them is unknown."""
        kept = [
            (group.ready.kernel, each)
            for each in hazards
            if each.certain or (each.kind is HazardKind.UNWRITTEN and each.space == "global")
        ]
        checking = Checking(hazards=kept)
        for found in gather_findings(checking, group.view, (), certain_only=False):
            lines = sorted(line or 0 for line in (found.line, found.other_line))
            self.findings.setdefault((found.kind, found.kernel, *lines), found)


def _uses_textures(kernel: Kernel) -> bool:
    return any(each.opcode.startswith(_TEXTURE_OPCODES) for each in kernel.instructions)


def _reads_clock(kernel: Kernel) -> bool:
    return any(_CLOCK.search(each.operands) for each in kernel.instructions)
