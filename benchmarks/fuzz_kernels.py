"""Mutants of kernels' machine code for fuzz.py: one to four changes of the instructions, sometimes
of the sizes around them. They run in every mode on buffers, textures, a heap, clusters and
cooperative grids."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from grader.devices.emulated.finding_facts import read_fault
from grader.devices.emulated.machine_code import Code, kernel_code
from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import (
    GRID_WORKSPACE,
    Edge,
    GlobalMemory,
    Instruction,
    KernelCode,
    LaunchSettings,
    Texels,
    TextureObject,
    Unsupported,
    Variable,
    run_launch,
    texture_records,
    translate,
    variable_addresses,
    variable_region,
)
from grader.messages.hidden import describe_mistake
from grader.records import Binary, Kernel, RunLimits

LONGEST = 256
"""Maximum instructions of a kernel for mutants, because LLVM's time grows with it."""
CANARY = 0xA5
EDGES = (
    0,
    1,
    2,
    3,
    4,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    127,
    255,
    256,
    1023,
    1024,
    4096,
    65535,
    65536,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**63,
    -1,
    -4,
    -16,
)
REGISTERS = (*range(8), 24, 62, 63, 64, 127, 128, 250, 252, 253, 254, 255, 256, 999, 65535)
BUDGET = 20_000
TEXELS = (
    (Texels.WORDS, 4),
    (Texels.HALVES, 2),
    (Texels.UNSIGNED_8, 1),
    (Texels.SIGNED_8_FRACTIONS, 1),
    (Texels.UNSIGNED_16_FRACTIONS, 2),
    (Texels.SIGNED_16, 2),
)
"""Element types of a texture, and their bytes."""


@dataclass(frozen=True)
class Seed:
    """A kernel for mutants, and the variables of its binary."""

    kernel: Kernel
    code: KernelCode
    cubin: bytes
    variables: tuple[Variable, ...]


def make_kernel_seeds(binary: Binary, arch: str) -> list[Seed]:
    """The kernels of a binary with at most LONGEST instructions."""
    variables = Code(binary, arch).variables
    addresses = variable_addresses(variables)
    return [
        Seed(kernel, kernel_code(kernel, addresses, arch=arch), binary.cubin, variables)
        for kernel in binary.kernels
        if len(kernel.instructions) <= LONGEST
    ]


def run_kernel(seeds: Sequence[Seed], rng: Random) -> str:
    """Translates and runs a mutant. Returns its outcome as a word."""
    seed = rng.choice(seeds)
    code = mutate_kernel(seed.code, [each.code for each in seeds], rng)
    try:
        native = translate(code, emulator_runtime())
    except Unsupported:
        return "unsupported"
    memory = GlobalMemory({"a": 8192, "b": 4096, "c": 1000}, seed.variables)
    memory._arena[:] = CANARY
    for name in memory.regions:
        memory.view(name)[:] = rng.choice([0, 1])
    outcome = run_launch(native, memory, make_settings(code, memory, rng))
    for name in memory.regions:
        memory.view(name)[:] = CANARY
    if not (memory._arena == CANARY).all():
        raise AssertionError("bytes outside of the buffers were written")
    if outcome.fault is None:
        return "ran"
    describe_mistake(read_fault(outcome.fault, seed.kernel, memory, RunLimits(BUDGET, 60.0)))
    return outcome.fault.kind.value


def make_settings(code: KernelCode, memory: GlobalMemory, rng: Random) -> LaunchSettings:
    """A launch of two clusters, in any mode."""
    workspace = memory.regions.get(variable_region(GRID_WORKSPACE.name))
    textures = tuple(make_texture(memory, rng) for _ in range(2))
    x, y, z = code.cluster
    settings = LaunchSettings(
        (2 * x, y, z),
        rng.choice([(32, 1, 1), (64, 1, 1), (7, 3, 2), (1, 1, 1), (40, 1, 2)]),
        make_parameters(code.parameter_bytes, memory, rng),
        rng.choice([0, 0, 256]),
        budget=BUDGET,
        backwards=rng.random() < 0.2,
        textures=texture_records(textures[: rng.choice([0, 1, 2, 2])]),
        resident=rng.choice([None, 1, 2 * x * y * z]),
        workspace=workspace.address if workspace else 0,
    )
    if rng.random() < 0.2:
        memory.track_writes({"b"})
        return replace(settings, checked=True)
    if rng.random() < 0.2:
        return replace(settings, traced=(0,), trace_words=rng.choice([1, 100, 10_000]))
    return settings


def make_texture(memory: GlobalMemory, rng: Random) -> TextureObject:
    """A random texture or surface object in a buffer."""
    channels, (texels, element_bytes) = rng.choice([1, 2, 4]), rng.choice(TEXELS)
    extents = tuple(rng.choice([1, 2, 5, 8]) for _ in range(rng.choice([1, 2, 2, 3])))
    return TextureObject(
        memory.regions["a"].offset,
        extents,
        channels,
        texels,
        channels * element_bytes,
        edge=rng.choice([Edge.WRAP, Edge.CLAMP, Edge.MIRROR, Edge.BORDER]),
        layers=rng.choice([0, 0, 1, 3]) if len(extents) < 3 else 0,
        linear=rng.random() < 0.5,
        normalized=rng.random() < 0.5,
        fetched=rng.random() < 0.2,
        surface=rng.random() < 0.3,
    )


def make_parameters(size: int, memory: GlobalMemory, rng: Random) -> bytes:
    """Addresses in and near buffers, texture handles, and edge values."""
    pointers = [region.address for region in memory.regions.values()]
    odd = [pointers[0] + rng.choice([4, -4, 60]), rng.choice(EDGES)]
    handles = [1, 2, 1 << 32 | 2, 3]
    words = [
        rng.choice(rng.choices([pointers, odd, handles], [7, 1, 3])[0]) % 2**64
        for _ in range(size // 8 + 1)
    ]
    return b"".join(word.to_bytes(8, "little") for word in words)[:size]


def mutate_kernel(code: KernelCode, donors: Sequence[KernelCode], rng: Random) -> KernelCode:
    """Changes the code up to four times, and sometimes the sizes around it."""
    instructions = list(code.instructions)
    for _ in range(rng.randint(1, 4)):
        rng.choice(INSTRUCTION_MUTATIONS)(instructions, rng.choice(donors).instructions, rng)
    placed = tuple(
        replace(instruction, offset=16 * i) for i, instruction in enumerate(instructions)
    )
    mutant = replace(code, instructions=placed)
    return rng.choice(SIZE_MUTATIONS)(mutant, rng) if rng.random() < 0.15 else mutant


def delete(code: list[Instruction], donor: Sequence[Instruction], rng: Random) -> None:
    if len(code) > 1:
        del code[rng.randrange(len(code))]


def swap(code: list[Instruction], donor: Sequence[Instruction], rng: Random) -> None:
    i, j = rng.randrange(len(code)), rng.randrange(len(code))
    code[i], code[j] = code[j], code[i]


def insert(code: list[Instruction], donor: Sequence[Instruction], rng: Random) -> None:
    code.insert(rng.randrange(len(code)), rng.choice(donor))


def change_opcode(code: list[Instruction], donor: Sequence[Instruction], rng: Random) -> None:
    i = rng.randrange(len(code))
    base, *modifiers = rng.choice([code[i].opcode, rng.choice(donor).opcode]).split(".")
    modifiers += rng.choice(donor).opcode.split(".")[1:]
    code[i] = replace(
        code[i], opcode=".".join([base, *rng.sample(modifiers, rng.randint(0, len(modifiers)))])
    )


def change_guard(code: list[Instruction], donor: Sequence[Instruction], rng: Random) -> None:
    i = rng.randrange(len(code))
    guards = [
        f"@{sign}{kind}{number}"
        for sign in ("", "!")
        for kind in ("P", "UP")
        for number in "01678T"
    ]
    code[i] = replace(code[i], guard=rng.choice([None, *guards]))


def change_operands(code: list[Instruction], donor: Sequence[Instruction], rng: Random) -> None:
    """Exchanges, removes, repeats or reorders whole operands."""
    i = rng.randrange(len(code))
    own, other = code[i].operands.split(","), rng.choice(donor).operands.split(",")
    own[rng.randrange(len(own))] = rng.choice([*own, *other])
    if rng.random() < 0.3:
        rng.shuffle(own)
    if rng.random() < 0.3:
        own = own[: rng.randint(0, len(own))]
    code[i] = replace(code[i], operands=",".join(own))


def change_registers(code: list[Instruction], donor: Sequence[Instruction], rng: Random) -> None:
    i = rng.randrange(len(code))
    operands = re.sub(
        r"(?<=[RPB])\d+\b",
        lambda match: str(rng.choice([match[0], rng.choice(REGISTERS)])),
        code[i].operands,
    )
    code[i] = replace(code[i], operands=operands)


def change_numbers(code: list[Instruction], donor: Sequence[Instruction], rng: Random) -> None:
    """Changes immediates, branch targets, offsets of addresses and constants."""
    i = rng.randrange(len(code))

    def edge(match: re.Match[str]) -> str:
        return rng.choice(
            [match[0], f"{rng.choice(EDGES):#x}", f"{16 * rng.randrange(2 * len(code)):#x}"]
        )

    code[i] = replace(code[i], operands=re.sub(r"-?0x[0-9a-f]+", edge, code[i].operands))


INSTRUCTION_MUTATIONS = (
    delete,
    swap,
    insert,
    change_opcode,
    change_guard,
    change_operands,
    change_registers,
    change_numbers,
    change_numbers,
)
SIZE_MUTATIONS: tuple[Callable[[KernelCode, Random], KernelCode], ...] = (
    lambda code, rng: replace(
        code, cluster=rng.choice([(1, 1, 1), (2, 1, 1), (2, 2, 2), (16, 1, 1)])
    ),
    lambda code, rng: replace(code, parameter_bytes=rng.choice([0, 1, 4, 8, 24, 4000])),
    lambda code, rng: replace(code, parameter_base=rng.choice([0, 0x160, 0x210, 0x211, 0x1000])),
    lambda code, rng: replace(code, static_shared_bytes=rng.choice([0, 1, 16, 1024, 232448])),
    lambda code, rng: replace(code, local_bytes=rng.choice([0, 1, 8, 16, 1024, 2**40])),
    lambda code, rng: replace(
        code,
        constants={
            bank: data[: rng.randint(0, len(data))] for bank, data in code.constants.items()
        },
    ),
    lambda code, rng: replace(
        code, functions=tuple(16 * rng.randrange(2 * len(code.instructions)) for _ in range(3))
    ),
)
