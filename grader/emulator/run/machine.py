"""Runs launches: distributes blocks over host threads, and joins the results."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import pairwise

from grader.emulator.codegen.native_kernel import NativeKernel
from grader.emulator.run.block_traces import NO_LENGTHS, BlockTrace, Lengths, join_lengths
from grader.emulator.run.checked_launch import Hazard, Touched
from grader.emulator.run.counts import LaunchCounts
from grader.emulator.run.faults import Fault
from grader.emulator.run.host import DeviceLaunch, join_launched, join_printed
from grader.emulator.run.launch import LaunchSettings, fill_constants
from grader.emulator.run.memory import DeviceMemory
from grader.emulator.run.worker import Worker, first_fault, local_bytes

CHUNKS_PER_THREAD = 16
"""Chunks of blocks per host thread: enough to balance ragged grids, few enough to cost no time."""


MOST_LOCAL_BYTES = 1 << 30
"""For all host threads together. A block of 1,024 threads can have 512 MiB of local arrays (compute
capability 9.0: 512 KiB per thread)."""


@dataclass(frozen=True)
class LaunchOutcome:
    """The counts of a launch, the fault that ended it, if any, and the output of `printf`, block
    after block.

    `hazards`: findings of the checked mode. `traces`: of the blocks in `settings.traced`. `waited`:
    a thread waited in a loop for a value from another thread; the number of iterations depends on
    the device, and so do the counts; `loops`: the instructions of these loops. `follows`: blocks
    waited for each other, and their clocks follow these waits. `touched`: accesses to the watched
    regions. `launched`: launches by device code, in the order of blocks.
    """

    counts: LaunchCounts
    fault: Fault | None
    printed: str = ""
    hazards: tuple[Hazard, ...] = ()
    traces: tuple[BlockTrace, ...] = ()
    lengths: Lengths = NO_LENGTHS
    waited: bool = False
    loops: tuple[int, ...] = ()
    follows: bool = False
    touched: Touched = field(default_factory=dict)
    launched: tuple[DeviceLaunch, ...] = ()


def run_launch(
    kernel: NativeKernel,
    memory: DeviceMemory,
    settings: LaunchSettings,
    progress: Callable[[int, int], None] | None = None,
) -> LaunchOutcome:
    """Runs every block of a launch, and calls `progress(done, total)` with numbers of blocks.
    Results do not depend on `threads`.

    A launch in checked mode runs on one thread, and `memory` must track writes.
    """
    total = settings.blocks
    most = max(1, MOST_LOCAL_BYTES // max(1, local_bytes(kernel, settings)))
    threads = (
        1
        if kernel.ordered or settings.checked or (settings.backwards and not settings.sample)
        else max(1, min(settings.threads, total, most))
    )
    bank = memory.copy_bank(fill_constants(kernel.code, settings, memory.bank_address))
    workers = [Worker(kernel, memory, settings, bank, alone=threads > 1) for _ in range(threads)]
    chunks = _chunks(settings, threads)
    total = sum(end - first for first, end in chunks)
    done = 0
    with ThreadPoolExecutor(threads) as pool:
        run_all: Callable[..., Iterable[int]] = map if threads == 1 else pool.map
        for first in range(0, len(chunks), threads):
            batch = chunks[first : first + threads]
            codes = list(run_all(Worker.run, workers, *zip(*batch, strict=True)))
            for worker in workers:
                if worker.host_functions.error is not None:
                    raise worker.host_functions.error
            done += sum(end - start for start, end in batch)
            if progress is not None:
                progress(done, total)
            if any(codes) or sum(worker.executed for worker in workers) > settings.budget:
                break
    for worker in workers:
        worker.finish()
    printed = join_printed(
        [worker.host_functions.printed for worker in workers], settings.print_limit
    )
    launched = join_launched([worker.host_functions.launched for worker in workers])
    checked = workers[0].checked
    hazards = checked.hazards if checked is not None else ()
    touched = checked.touched(settings.watched) if checked and settings.watched else {}
    traces = sorted(
        (trace for worker in workers for trace in worker.traces), key=lambda trace: trace.block
    )
    waited = any(bool(worker.context[0]["waited"]) for worker in workers)
    loops = tuple(sorted({index for worker in workers for index in worker.wait_loops}))
    follows = all(worker.follows_waits for worker in workers)
    lengths = join_lengths(worker.lengths for worker in workers)
    counts = kernel.count_table.sum_up(worker.tally for worker in workers)
    fault = first_fault(kernel, settings, workers)
    return LaunchOutcome(
        *(counts, fault, printed, hazards, tuple(traces), lengths, waited, loops, follows),
        *(touched, launched),
    )


def _chunks(settings: LaunchSettings, threads: int) -> list[tuple[int, int]]:
    """The ranges of blocks that workers get one after another."""
    if settings.sample:
        last = settings.blocks - 1
        turns = (last - block if settings.backwards else block for block in settings.sample)
        stretches = [(turn, turn + 1) for turn in sorted(turns)]
    else:
        edges = (-1, *settings.left_out, settings.blocks)
        stretches = [(before + 1, after) for before, after in pairwise(edges) if before + 1 < after]
    step = -(-sum(end - first for first, end in stretches) // (threads * CHUNKS_PER_THREAD))
    return [(at, min(at + step, end)) for first, end in stretches for at in range(first, end, step)]
