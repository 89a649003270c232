"""The conformance corpus: small kernels of one feature each, run on any device, compared with what
an H100 or an H200 said.

A kernel file of `kernels/` says in comment lines what it is run on (the first one says what it is
about):
    // in: a uint32[1024] = edges          an input; contents: see `corpus_data`
    // out: y float64[1024]                an output, filled with 0xA5 before the run
    // inout: bins int32[64] = zeros       an output with contents at the start
    // map: a [32, 64] {"box": [8, 16]}    its shape, and a tensor map with the fields of a spec
    // launch: kernel<<<4, 256>>>(y, a)    as in a submission; several run in order
    // levels: 1 3                         optimisation levels of ptxas, else 0, 1 and 3
    // compare: y sorted                   else bit for bit as it stands
    // counters: ignored                   hardware does not repeat them either (spinning, clocks)

    python -m tests.support.corpus compile --out DIR [--missing] [NAME...]
        machine code for a GPU machine, of what is not recorded with --missing: nothing runs
    python -m tests.support.corpus record --cubins DIR [--out DIR]
        on a GPU machine: the same machine code, every output, ncu's counters; into the record
        in --out, whose other cases stay
    python -m tests.support.corpus compare [--record DIR]
        the emulated device against a record
"""

from __future__ import annotations

import argparse
import datetime
import functools
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from grader.devices.base import Device
from grader.devices.choose import DEFAULT_GPU
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.gpus import read_gpus
from grader.plumbing.cache import default_cache
from grader.records import (
    Binary,
    Counters,
    DeviceBuffer,
    DeviceInfo,
    Launch,
    Program,
    Role,
    RunLimits,
    Submission,
    TensorMap,
)
from grader.sandbox.process import run_tool
from grader.spec.statements import Plan
from grader.spec.texture_rules import read_tensor_map
from grader.submission.plan import read_plan
from grader.submission.resolve import ResolvedPlan, resolve_plan
from grader.toolchain.compile import read_compiled
from tests.support.compiling import compile_source, find_tools
from tests.support.corpus_data import numpy_type, parse_contents
from tests.support.corpus_record import (
    FOLDER,
    Compiled,
    Record,
    Recorded,
    Result,
    digest,
    read_record,
    write_record,
)

KERNELS = Path(__file__).parents[1] / "emulator" / "kernels"
ARCH = "sm_90"
LIMITS = RunLimits(warp_instructions=10**9, wall_seconds=60.0)
LEVELS = (0, 1, 3)
UNWRITTEN_BYTE = 0xA5

_LINE = re.compile(r"^// (in|out|inout|map|levels|compare|counters): *(.*?) *$", re.MULTILINE)
_BUFFER = re.compile(r"(?P<name>\w+) (?P<dtype>\w+)\[(?P<count>\d+)\](?: = (?P<contents>.+))?")
_MAP = re.compile(r"(?P<name>\w+) (?P<shape>\[[\d, ]+\]) (?P<fields>\{.+\})")
_COMPARE = re.compile(r"(?P<name>\w+) sorted")


@dataclass(frozen=True)
class Buffer:
    """A buffer of a kernel file; where it is `in_order`, elements are compared in ascending
    order."""

    name: str
    dtype: str
    count: int
    contents: str | None
    output: bool
    in_order: bool
    shape: tuple[int, ...]
    tensor_map: TensorMap | None = None


@dataclass(frozen=True)
class Case:
    """A kernel file at one optimisation level of ptxas, for a GPU of gpus.json."""

    path: Path
    level: int
    buffers: tuple[Buffer, ...]
    counted: bool
    gpu: str = DEFAULT_GPU

    def __str__(self) -> str:
        name = f"{self.path.stem}-O{self.level}"
        return name if self.gpu == DEFAULT_GPU else f"{name}-{self.gpu}"


# --- reading --------------------------------------------------------------------------------------


def find_cases(names: Sequence[str] = (), *, gpu: str = DEFAULT_GPU) -> tuple[Case, ...]:
    """All cases of the corpus in order, or those of the named files, for this GPU."""
    paths = [KERNELS / f"{name}.cu" for name in names] or sorted(KERNELS.glob("*.cu"))
    return tuple(replace(case, gpu=gpu) for path in paths for case in read_cases(path))


def read_cases(path: Path) -> tuple[Case, ...]:
    """The cases of a kernel file, one a level. Raises ValueError for a line that is not
    understood."""
    lines = _LINE.findall(path.read_text(encoding="utf-8"))
    named = {key: value for key, value in lines if key in ("levels", "counters")}
    in_order = {_read_comparison(value) for key, value in lines if key == "compare"}
    plain = [
        _read_buffer(key, value, in_order) for key, value in lines if key in ("in", "out", "inout")
    ]
    maps = dict(_read_map(value) for key, value in lines if key == "map")
    buffers = tuple(replace(each, **maps.get(each.name, {})) for each in plain)
    levels = [int(level) for level in named.get("levels", "").split()] or list(LEVELS)
    return tuple(Case(path, level, buffers, named.get("counters") != "ignored") for level in levels)


def _read_comparison(text: str) -> str:
    match = _COMPARE.fullmatch(text)
    if match is None:
        raise ValueError(f"not understood: // compare: {text}")
    return match["name"]


def _read_buffer(key: str, text: str, in_order: set[str]) -> Buffer:
    match = _BUFFER.fullmatch(text)
    if match is None or (key == "out") != (match["contents"] is None):
        raise ValueError(f"not understood: // {key}: {text}")
    numpy_type(match["dtype"])
    return Buffer(
        match["name"],
        match["dtype"],
        int(match["count"]),
        match["contents"],
        key != "in",
        match["name"] in in_order,
        (int(match["count"]),),
    )


def _read_map(text: str) -> tuple[str, dict[str, Any]]:
    """The name of a buffer, and the fields that its map sets."""
    match = _MAP.fullmatch(text)
    if match is None:
        raise ValueError(f"not understood: // map: {text}")
    found = read_tensor_map({"tensor_map": json.loads(match["fields"])})
    return match["name"], {"shape": tuple(json.loads(match["shape"])), "tensor_map": found}


def make_arrays(case: Case) -> dict[str, np.ndarray]:
    """Contents of all buffers before the run; the same on every machine."""
    arrays = {}
    for buffer in case.buffers:
        kind = numpy_type(buffer.dtype)
        if buffer.contents is None:
            arrays[buffer.name] = np.full(
                buffer.count * kind.itemsize, UNWRITTEN_BYTE, dtype=np.uint8
            ).view(kind)
        else:
            arrays[buffer.name] = parse_contents(
                buffer.contents, buffer.dtype, buffer.count, seed=f"{case.path.stem}/{buffer.name}"
            )
    return arrays


# --- running --------------------------------------------------------------------------------------


def find_recorded(case: Case) -> Recorded | None:
    """What the GPU said of a case as it stands now."""
    recorded = read_record().cases.get(str(case))
    return (
        recorded
        if recorded and recorded.compiled.source_sha256 == _submission(case).sha256
        else None
    )


@functools.cache
def compile_case(case: Case) -> Binary:
    """The kernels of a case: the machine code that is recorded, else what the grader's toolchain
    makes, with ptxas at the case's level."""
    recorded = find_recorded(case)
    if recorded is not None:
        return _read_binary(case, recorded.compiled)
    return compile_source(_submission(case), arch=read_gpus()[case.gpu].arch, level=case.level)


def compile_cases(cases: Iterable[Case]) -> None:
    """Compile cases on all processors, for `compile_case` to remember."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(compile_case, cases))


def _read_binary(case: Case, compiled: Compiled) -> Binary:
    _, nvdisasm = find_tools()
    submission, version = _submission(case), compiled.nvcc_version
    cache = default_cache(os.environ)
    return read_compiled(
        compiled.cubin,
        submission,
        nvcc_version=version,
        nvdisasm=nvdisasm,
        arch=ARCH,
        run=run_tool,
        cache=cache,
    )


def run_case(case: Case, device: Device | None = None) -> Result:
    """Run a case on a device (where none is given: the emulated GPU that it is compiled for), which
    must come to its end."""
    device = device or EmulatedDevice(case.gpu, threads=1)
    return run_binary(case, compile_case(case), device)


def run_binary(case: Case, binary: Binary, device: Device) -> Result:
    """Run this machine code of a case on a device."""
    arrays, buffers = make_arrays(case), make_buffers(case)
    program = Program(str(case), binary, make_launches(case, binary, device.info), buffers)
    execution, outputs = device.run(program, arrays, limits=LIMITS)
    assert execution.failure is None, f"{case}: {execution.failure}"
    counted = tuple(counter_names(launch.counters) for launch in execution.launches)
    return Result(
        {name: array.flatten() for name, array in outputs.items()}, counted if case.counted else ()
    )


def make_buffers(case: Case) -> tuple[DeviceBuffer, ...]:
    return tuple(
        DeviceBuffer(
            buffer.name,
            numpy_type(buffer.dtype).name,
            buffer.shape,
            Role.OUTPUT if buffer.output else Role.INPUT,
            tensor_map=buffer.tensor_map,
        )
        for buffer in case.buffers
    )


def make_launches(case: Case, binary: Binary, info: DeviceInfo) -> tuple[Launch, ...]:
    """The case's launch lines with the binary's kernels."""
    submission = _submission(case)
    plan = read_plan(submission)
    assert isinstance(plan, Plan), f"{case}: {plan}"
    buffers, text = make_buffers(case), submission.text
    resolved = resolve_plan(
        plan,
        sizes={},
        macros={},
        buffers=buffers,
        kernels=binary.kernels,
        limits=info.limits,
        source=text,
    )
    assert isinstance(resolved, ResolvedPlan), f"{case}: {resolved}"
    return resolved.launches


def counter_names(counters: Counters) -> dict[str, int]:
    """Counters by name, ideal sectors as Nsight Compute has them."""
    joined = with_ideal_sectors_together(counters)
    return dict(zip(joined.__dataclass_fields__, joined.values(), strict=True))


def with_ideal_sectors_together(counters: Counters) -> Counters:
    """The ideal sectors of loads, stores and atomics in one sum: Nsight Compute has no other."""
    together = (
        counters.global_load_sectors_ideal
        + counters.global_store_sectors_ideal
        + counters.global_atomic_sectors_ideal
    )
    none = {
        "global_store_sectors_ideal": 0,
        "global_atomic_sectors_ideal": 0,
        "global_fetch_sectors_ideal": 0,
    }
    return replace(counters, global_load_sectors_ideal=together, **none)


def _submission(case: Case) -> Submission:
    content = case.path.read_bytes()
    return Submission(case.path.name, digest(content), content.decode())


# --- comparing ------------------------------------------------------------------------------------


def find_differences(case: Case, got: Result, want: Result) -> list[str]:
    """What differs from another device's result, a sentence each; empty when all is as the case
    asks."""
    in_order = {buffer.name for buffer in case.buffers if buffer.in_order}
    found = [
        text
        for name, array in want.outputs.items()
        for text in _compare_arrays(name, got.outputs[name], array, in_order=name in in_order)
    ]
    if case.counted and got.launches and want.launches:
        for index, (mine, other) in enumerate(zip(got.launches, want.launches, strict=True)):
            found += [
                f"launch {index}: {name} is {mine[name]}, not {value}"
                for name, value in other.items()
                if mine.get(name) != value
            ]
    return [f"{case}: {text}" for text in found]


def _compare_arrays(
    name: str, got: np.ndarray, want: np.ndarray, *, in_order: bool
) -> Iterator[str]:
    if in_order:
        got, want = np.sort(got), np.sort(want)
    wrong = _bits(got) != _bits(want)
    if wrong.any():
        first = int(np.argmax(wrong))
        bits = 2 * got.itemsize
        yield (
            f"{name}[{first}] is {got[first]} ({int(_bits(got)[first]):#0{bits + 2}x}), not"
            f" {want[first]} ({int(_bits(want)[first]):#0{bits + 2}x}); {int(wrong.sum())} of"
            f" {got.size} differ"
        )


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


# --- the command line -----------------------------------------------------------------------------


def _compile_command(options: argparse.Namespace) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    cases = find_cases(options.names)
    if options.missing:
        cases = tuple(case for case in cases if find_recorded(case) is None)
    compile_cases(cases)
    compiled = {
        case: Compiled(
            _submission(case).sha256, compile_case(case).cubin, compile_case(case).compiler
        )
        for case in cases
    }
    write_record(
        options.out,
        Record(
            {}, {str(case): Recorded(made, Result({}, ()), "") for case, made in compiled.items()}
        ),
    )
    return 0


def _record_command(options: argparse.Namespace) -> int:
    from tests.support.corpus_gpu import record_cases  # loads PyCUDA

    compiled = {name: case.compiled for name, case in read_record(options.cubins).cases.items()}
    cases = [case for case in find_cases(options.names) if str(case) in compiled]
    binaries = {case: _read_binary(case, compiled[str(case)]) for case in cases}
    date = datetime.date.today().isoformat()
    record, recorded = read_record(options.out), 0
    for about, results in record_cases(binaries):  # kept as they come: a later one may hang
        recording = f"{about['device']}, {date}"
        newer = {
            str(case): Recorded(compiled[str(case)], result, recording)
            for case, result in results.items()
        }
        record = record.with_newer(Record({recording: {"date": date, **about}}, newer))
        write_record(options.out, record)
        recorded += len(results)
    print(f"{recorded} of {len(cases)} recorded")
    return 0


def _compare_command(options: argparse.Namespace) -> int:
    record = read_record(options.record)
    cases = [case for case in find_cases(options.names) if str(case) in record.cases]
    found = [_compare(case, record.cases[str(case)]) for case in cases]
    for text in (text for texts in found for text in texts):
        print(text)
    print(f"{sum(not texts for texts in found)} of {len(cases)} equal")
    return 1 if any(found) else 0


def _compare(case: Case, recorded: Recorded) -> list[str]:
    try:
        got = run_binary(
            case, _read_binary(case, recorded.compiled), EmulatedDevice("h100", threads=1)
        )
    except AssertionError as problem:
        return [str(problem)]
    return find_differences(case, got, recorded.result)


def main() -> int:
    parser = argparse.ArgumentParser(prog="corpus")
    commands = parser.add_subparsers(required=True)
    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "compile": _compile_command,
        "record": _record_command,
        "compare": _compare_command,
    }
    parsers = {name: commands.add_parser(name) for name in actions}
    for name, action in actions.items():
        parsers[name].set_defaults(action=action)
        parsers[name].add_argument("names", nargs="*")
    parsers["compile"].add_argument("--out", type=Path, required=True)
    parsers["compile"].add_argument("--missing", action="store_true")
    parsers["record"].add_argument("--cubins", type=Path, required=True)
    parsers["record"].add_argument("--out", type=Path, default=FOLDER)
    parsers["compare"].add_argument("--record", type=Path, default=FOLDER)
    options = parser.parse_args()
    return int(options.action(options))


if __name__ == "__main__":
    sys.exit(main())
