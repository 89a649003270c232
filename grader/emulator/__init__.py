"""An emulator of NVIDIA GPUs that executes SASS, the machine code, and counts what Nsight Compute
counts.

A library of its own: it imports nothing else from `grader`. The way through it:

    program.py        what goes in: a kernel's machine code and its launch-independent facts
    architectures.py  what differs from sm_75 to sm_120, apart from instructions
    operands.py       operand text -> typed operands
    decode.py         opcode text -> typed instructions
    flow.py           basic blocks; block_cycles.py: how long a warp takes for each
    layout.py         the records that Python, steps and the runtime share
    runtime/          in C++, compiled once a machine: memory, divergence, blocks, checked mode,
                      the timing model's simulation
    opcodes/          one small function per opcode, one row each
    native/tools.py   words for writing LLVM IR
    shapes.py         what of an instruction decides its native code
    emitter.py        what opcodes write with; frame.py, registers.py, access.py: its parts
    step_code.py      a shape -> native code; steps.py: those that this machine has
    cells.py          how a cell is laid out
    translate.py      a kernel -> cells: for each instruction its step and its data
    memory.py         the fake address space of global memory
    digests.py        whether large memory holds what it held before
    textures.py       texture and surface objects
    launch.py         what a launch gives its blocks
    machine.py        launches: blocks over threads; block_traces.py: what these leave behind
    faults.py         why one was stopped
    counts.py         counters per instruction
    host.py           printf and assert; formatting.py: printf's formats; heap.py: malloc
    checked_launch.py the checked mode: races, reads of what nobody wrote
"""

from grader.emulator.architectures import ARCHITECTURES
from grader.emulator.block_traces import join_lengths
from grader.emulator.checked_launch import Hazard, HazardKind, Party
from grader.emulator.counts import NO_COUNTS, InstructionCounts, LaunchCounts, join_counts
from grader.emulator.digests import Digests
from grader.emulator.faults import Fault, FaultKind
from grader.emulator.heap import HEAP, HEAP_FUNCTIONS
from grader.emulator.launch import LaunchSettings
from grader.emulator.machine import LaunchOutcome, run_launch
from grader.emulator.memory import (
    BANK_OF_PARAMETERS,
    CONSTANT_MEMORY,
    GRID_WORKSPACE,
    GlobalMemory,
    fill_pointers,
    variable_addresses,
    variable_region,
)
from grader.emulator.program import (
    VARIABLES_BANK,
    Instruction,
    KernelCode,
    Pointer,
    Unsupported,
    Variable,
)
from grader.emulator.tensor_maps import make_tensor_map
from grader.emulator.textures import Edge, Texels, TextureObject
from grader.emulator.translate import NativeKernel, translate

__all__ = [
    "ARCHITECTURES",
    "BANK_OF_PARAMETERS",
    "CONSTANT_MEMORY",
    "GRID_WORKSPACE",
    "HEAP",
    "HEAP_FUNCTIONS",
    "NO_COUNTS",
    "VARIABLES_BANK",
    "Digests",
    "Edge",
    "Fault",
    "FaultKind",
    "GlobalMemory",
    "Hazard",
    "HazardKind",
    "Instruction",
    "InstructionCounts",
    "KernelCode",
    "LaunchCounts",
    "LaunchOutcome",
    "LaunchSettings",
    "NativeKernel",
    "Party",
    "Pointer",
    "Texels",
    "TextureObject",
    "Unsupported",
    "Variable",
    "fill_pointers",
    "join_counts",
    "join_lengths",
    "make_tensor_map",
    "run_launch",
    "translate",
    "variable_addresses",
    "variable_region",
]
