"""Feeds the grader mutated kernels, cubins and sources, and counts what must not happen: `python
benchmarks/fuzz.py`.

A defect is a process that dies by a signal or outlasts its time, an exception that is no defined
outcome, a score of status `grader_error`, or a byte written outside of the buffers. Each mutant
follows from the seed and its number alone, so that `--seed S --first N --kernels 1` repeats one.
Mutants run in forked children: one that dies takes nothing along.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random

import numpy as np

from grader import grade
from grader.devices.emulated.fault_facts import read_fault
from grader.devices.emulated.machine_code import kernel_code
from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import (
    GlobalMemory,
    Instruction,
    KernelCode,
    LaunchSettings,
    Unsupported,
    run_launch,
    translate,
)
from grader.errors import GraderError, UsageError
from grader.grading.tools import find_toolchain
from grader.records import Binary, Kernel, Status, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compile import compile_submission
from grader.toolchain.cubin import read_cubin, read_labels
from grader.toolchain.elf import Elf
from grader.toolchain.variables import read_variable_bytes, read_variables
from grader.words.hidden import tell

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "tests" / "emulator" / "kernels"
SOURCES = ROOT / "tests" / "submissions" / "transpose"
SEEDS, LONGEST = 40, 120
"""Kernel files that mutants are made of, spread evenly over the corpus, and the longest kernel in
instructions: time goes to LLVM."""
MEMORY_BYTES, SECONDS = 6 << 30, {"kernels": 30, "cubins": 10, "sources": 180}
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


@dataclass(frozen=True)
class Seed:
    """A kernel to make mutants of."""

    kernel: Kernel
    code: KernelCode
    cubin: bytes


# --- kernels --------------------------------------------------------------------------------------


def run_kernel(seeds: Sequence[Seed], rng: Random) -> str:
    """Translate and run one mutant; what became of it, in a word."""
    seed = rng.choice(seeds)
    code = mutate_kernel(seed.code, [each.code for each in seeds], rng)
    try:
        native = translate(code, emulator_runtime())
    except Unsupported:
        return "unsupported"
    memory = GlobalMemory({"a": 8192, "b": 4096, "c": 1000})
    memory._arena[:] = CANARY
    for name in memory.regions:
        memory.view(name)[:] = rng.choice([0, 1])
    block = rng.choice([(32, 1, 1), (64, 1, 1), (7, 3, 2), (1, 1, 1), (40, 1, 2)])
    parameters = make_parameters(code.parameter_bytes, memory, rng)
    settings = LaunchSettings((2, 1, 1), block, parameters, rng.choice([0, 0, 256]), budget=20_000)
    outcome = run_launch(native, memory, settings)
    for name in memory.regions:
        memory.view(name)[:] = CANARY
    if not (memory._arena == CANARY).all():
        raise AssertionError("bytes outside of the buffers were written")
    if outcome.fault is None:
        return "ran"
    tell(read_fault(outcome.fault, seed.kernel, memory, 20_000))
    return outcome.fault.kind.value


def make_parameters(size: int, memory: GlobalMemory, rng: Random) -> bytes:
    """Pointers to buffers, near them, and edge values."""
    pointers = [region.address for region in memory.regions.values()]
    odd = [pointers[0] + rng.choice([4, -4, 60]), rng.choice(EDGES)]
    words = [
        rng.choice(odd if rng.random() < 0.1 else pointers) % 2**64 for _ in range(size // 8 + 1)
    ]
    return b"".join(word.to_bytes(8, "little") for word in words)[:size]


def mutate_kernel(code: KernelCode, donors: Sequence[KernelCode], rng: Random) -> KernelCode:
    """One to four changes of the code, now and then of the sizes around it."""
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
    """Exchange, drop, repeat or reorder whole operands."""
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
    """Immediates, branch targets, offsets of addresses and constants."""
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


# --- cubins ---------------------------------------------------------------------------------------


def run_cubin(seeds: Sequence[Seed], rng: Random) -> str:
    """Read a cubin of which bytes were changed or cut off."""
    data = bytearray(rng.choice(seeds).cubin)
    for _ in range(rng.randint(1, 8)):
        data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    if rng.random() < 0.2:
        del data[rng.randrange(len(data)) :]
    try:
        read_cubin(Elf(bytes(data)), arch="sm_90")
        read_labels(Elf(bytes(data)))
        read_variable_bytes(Elf(bytes(data)))
        read_variables(Elf(bytes(data)))
    except GraderError:
        return "refused"
    return "read"


# --- sources --------------------------------------------------------------------------------------

_TOKEN = re.compile(r"//[^\n]*|\"[^\"\n]*\"|\w+|\s+|<<<|>>>|[^\w\s]")
_LAUNCH = re.compile(r"// *launch:[^\n]*")


def run_source(exercise: Path, texts: Sequence[str], rng: Random) -> str:
    """Grade one mutant; its status. One that is the grader's fault is an exception here."""
    text = mutate_source(rng.choice(texts), rng)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mutant.cu"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        score = grade(exercise, path, device="emulated", seed=1, cache=Path(folder) / "cache")
    if score.status is Status.GRADER_ERROR:
        raise AssertionError(f"{score.message}\n{score.detail}\n{text}")
    return score.status.value


def mutate_source(text: str, rng: Random) -> str:
    """One to four changes of tokens, numbers, braces and launch lines."""
    for _ in range(rng.randint(1, 4)):
        tokens = _TOKEN.findall(text)
        i, j = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        text = (
            "".join(rng.choice(TOKEN_MUTATIONS)(tokens, i, j, rng))
            if rng.random() < 0.75
            else mutate_launch(text, rng)
        )
    return text


def mutate_launch(text: str, rng: Random) -> str:
    def change(match: re.Match[str]) -> str:
        tokens = _TOKEN.findall(match[0][2:])
        return "//" + "".join(
            rng.choice(TOKEN_MUTATIONS)(
                tokens, rng.randrange(len(tokens)), rng.randrange(len(tokens)), rng
            )
        )

    return _LAUNCH.sub(change, text)


def _replace_number(tokens: list[str], i: int, j: int, rng: Random) -> list[str]:
    numbers = [place for place, token in enumerate(tokens) if token.isdigit()]
    if numbers:
        tokens[rng.choice(numbers)] = str(rng.choice(EDGES))
    return tokens


TOKEN_MUTATIONS: tuple[Callable[[list[str], int, int, Random], list[str]], ...] = (
    lambda tokens, i, j, rng: tokens[:i] + tokens[i + 1 :],
    lambda tokens, i, j, rng: [*tokens[:i], tokens[i], *tokens[i:]],
    lambda tokens, i, j, rng: [*tokens[:i], tokens[j], *tokens[i + 1 :]],
    lambda tokens, i, j, rng: [*tokens[:i], rng.choice("{}()[];,<>*&-!~%/\"'\\#"), *tokens[i:]],
    _replace_number,
    _replace_number,
)


# --- running --------------------------------------------------------------------------------------


def make_seeds(files: int) -> list[Seed]:
    """Kernels of so many files of the corpus, compiled."""
    tools = find_toolchain(prefer_wheel=True, cache=Path(tempfile.gettempdir()) / "grader-fuzz")
    paths = sorted(KERNELS.glob("*.cu"))
    seeds = []
    for path in paths[:: max(1, len(paths) // files)]:
        source = Submission(path.name, "", path.read_text(encoding="utf-8"))
        binary = compile_submission(
            source,
            nvcc=tools.nvcc,
            nvdisasm=tools.nvdisasm,
            arch="sm_90",
            run=run_tool,
            limits=ToolLimits(),
            cache=tools.cache,
        )
        assert isinstance(binary, Binary), binary
        seeds += [
            Seed(kernel, kernel_code(kernel), binary.cubin)
            for kernel in binary.kernels
            if len(kernel.instructions) <= LONGEST
        ]
    return seeds


def small_exercise(folder: Path) -> Path:
    """The transpose with a benchmark of small sizes and a short time limit."""
    exercise = folder / "exercises" / "transpose"
    shutil.copytree(ROOT / "exercises" / "transpose", exercise)
    shutil.copytree(ROOT / "starter", folder / "starter")
    spec = json.loads((exercise / "spec.json").read_text(encoding="utf-8"))
    spec["benchmark"] = {
        device: dict.fromkeys(sizes, 64) for device, sizes in spec["benchmark"].items()
    }
    (exercise / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
    return exercise


def fuzz(
    kind: str, run: Callable[[Random], str], numbers: range, seed: int
) -> tuple[Counter[str], list[str]]:
    """Run the mutants in children; how often each outcome came, and the defects."""
    outcomes: Counter[str] = Counter()
    defects: list[str] = []
    next_number = numbers.start
    while next_number < numbers.stop:
        last, outcome = next_number, "died before its first mutant"
        for number, outcome in in_child(kind, run, range(next_number, numbers.stop), seed):
            if outcome != "started":
                outcomes[outcome.partition("\n")[0]] += 1
                if number % 100 == 99:
                    print(f"{kind}: {number + 1}", file=sys.stderr, flush=True)
                if outcome.startswith("DEFECT"):
                    defects.append(f"{kind} {number}: {outcome}")
                    print(defects[-1], flush=True)
            last = number
        if outcome == "started" or last < next_number:
            defects.append(f"{kind} {last}: DEFECT the process died or took too long")
            print(defects[-1], flush=True)
            outcomes["DEFECT died"] += 1
        next_number = last + 1
    return outcomes, defects


def in_child(
    kind: str, run: Callable[[Random], str], numbers: range, seed: int
) -> Iterator[tuple[int, str]]:
    """Each mutant's number with `started` and then its outcome, as a child reports them, until it
    ends or dies."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(write, "w", encoding="utf-8") as reports:
            for number in numbers:
                reports.write(json.dumps([number, "started"]) + "\n")
                reports.flush()
                signal.alarm(SECONDS[kind])
                outcome = _attempt(run, Random(f"{seed}/{kind}/{number}"))
                signal.alarm(0)
                reports.write(json.dumps([number, outcome]) + "\n")
                reports.flush()
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as reports:
        for line in reports:
            number, outcome = json.loads(line)
            yield number, outcome
    os.waitpid(pid, 0)


def _attempt(run: Callable[[Random], str], rng: Random) -> str:
    try:
        return run(rng)
    except UsageError as error:
        return f"usage: {error}"[:60]
    except Exception as error:
        return f"DEFECT {type(error).__name__}\n{traceback.format_exc()}"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for kind, count in (("kernels", 2000), ("cubins", 500), ("sources", 500)):
        parser.add_argument(
            f"--{kind}", type=int, default=count, help=f"mutants to run (default {count})"
        )
    parser.add_argument(
        "--seeds",
        type=int,
        default=SEEDS,
        help=f"kernel files that mutants are made of (default {SEEDS})",
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        seeds = make_seeds(options.seeds) if options.kernels or options.cubins else []
        exercise = small_exercise(Path(folder))
        texts = [path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.cu"))]
        runs = {
            "kernels": partial(run_kernel, seeds),
            "cubins": partial(run_cubin, seeds),
            "sources": partial(run_source, exercise, texts),
        }
        for kind, run in runs.items():
            numbers = range(options.first, options.first + getattr(options, kind))
            outcomes, defects = fuzz(kind, run, numbers, options.seed)
            found += defects
            listed = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
            print(
                f"{kind}: {len(numbers) - len(defects)} of {len(numbers)} without a defect, seed"
                f" {options.seed}: {listed}",
                flush=True,
            )
    return 1 if found else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main(sys.argv[1:]))
