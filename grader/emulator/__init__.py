"""An emulator of NVIDIA GPUs. It executes machine code (SASS) and computes the counters of Nsight
Compute.

A library: it imports only `grader.sass` from the rest of `grader`. README.md shows its use. Parts:

    isa/      text of nvdisasm -> typed instructions, basic blocks, loops
    layouts/  the records that Python, native code and C++ share
    codegen/  instructions -> native code; codegen/opcodes/ has a row per opcode
    run/      launches: memory, blocks, counters, faults, the checked mode
    cpp/      the runtime: memory accesses, warps, tensor cores, checked mode, simulation of an SM
    timing/   the timing model
"""

from grader.emulator.codegen.native_kernel import NativeKernel
from grader.emulator.codegen.translate import translate
from grader.emulator.isa.architectures import ARCHITECTURES
from grader.emulator.isa.program import (
    VARIABLES_BANK,
    Instruction,
    KernelCode,
    Pointer,
    Unsupported,
    Variable,
)
from grader.emulator.layouts.blocks import CYCLES_IN_4_NS
from grader.emulator.layouts.heap import HEAP, HEAP_FUNCTIONS
from grader.emulator.layouts.tensor_maps import make_tensor_map
from grader.emulator.layouts.textures import TEXTURE, Edge, Texels, TextureObject, texture_records
from grader.emulator.run.block_traces import join_lengths
from grader.emulator.run.checked_launch import (
    Access,
    Hazard,
    HazardKind,
    Party,
    Touched,
    join_touched,
)
from grader.emulator.run.counts import (
    NO_COUNTS,
    InstructionCounts,
    LaunchCounts,
    Tally,
    join_counts,
)
from grader.emulator.run.digests import Digests
from grader.emulator.run.faults import Fault, FaultKind
from grader.emulator.run.host import TAIL_LAUNCH, DeviceLaunch
from grader.emulator.run.launch import LaunchSettings
from grader.emulator.run.lazy_pages import offer_file
from grader.emulator.run.machine import LaunchOutcome, run_launch
from grader.emulator.run.memory import (
    BANK_OF_PARAMETERS,
    CONSTANT_MEMORY,
    GRID_WORKSPACE,
    HOST_FUNCTIONS,
    DeviceMemory,
    GlobalMemory,
    fill_pointers,
    variable_addresses,
    variable_region,
)
from grader.emulator.run.repeated import RepeatedLaunch, Repetition

__all__ = [
    "ARCHITECTURES",
    "BANK_OF_PARAMETERS",
    "CONSTANT_MEMORY",
    "CYCLES_IN_4_NS",
    "GRID_WORKSPACE",
    "HEAP",
    "HEAP_FUNCTIONS",
    "HOST_FUNCTIONS",
    "NO_COUNTS",
    "TAIL_LAUNCH",
    "TEXTURE",
    "VARIABLES_BANK",
    "Access",
    "DeviceLaunch",
    "DeviceMemory",
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
    "RepeatedLaunch",
    "Repetition",
    "Tally",
    "Texels",
    "TextureObject",
    "Touched",
    "Unsupported",
    "Variable",
    "fill_pointers",
    "join_counts",
    "join_lengths",
    "join_touched",
    "make_tensor_map",
    "offer_file",
    "run_launch",
    "texture_records",
    "translate",
    "variable_addresses",
    "variable_region",
]
