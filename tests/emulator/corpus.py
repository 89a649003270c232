"""The conformance corpus: small kernels of one feature each, run on any device, compared with what an H100 said.

A kernel file of `kernels/` says in comment lines what it is run on (the first line says what it is about):
    // in: a uint32[1024] = edges          an input; contents: see `corpus_data`
    // out: y float64[1024]                an output, filled with 0xA5 before the run
    // inout: bins int32[64] = zeros       an output with contents at the start
    // launch: kernel<<<4, 256>>>(y, a)    as in a submission; several run in order, on the same buffers
    // levels: 1 3                         optimisation levels of ptxas, else 0, 1 and 3
    // compare: y ulp 2                    how an output is compared with hardware: `ulp N`, `sorted`, `ignored`; else bit for bit
    // counters: ignored                   counters that hardware does not repeat either (spinning, clocks)

    python -m tests.emulator.corpus compile --out DIR [NAME...]     cubins
    python -m tests.emulator.corpus run --json FILE [--device emulated|gpu] [NAME...]
    python -m tests.emulator.corpus compare GOT.json WANT.json
"""

from __future__ import annotations

import argparse
import base64
import functools
import hashlib
import json
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grader.devices.base import Device
from grader.devices.emulated import EmulatedDevice
from grader.records import Binary, Completed, DeviceBuffer, Role, RunLimits, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.spec.plans import Plan
from grader.submission.plan import read_plan
from grader.submission.resolve import ResolvedPlan, resolve_plan
from grader.toolchain.compile import compile_submission
from grader.toolchain.nvcc import find_nvcc, find_nvdisasm

from .corpus_data import numpy_type, parse_contents

KERNELS = Path(__file__).parent / "kernels"
RECORDED = Path(__file__).parents[1] / "data" / "corpus_h100.json"
"""What an H100 said, where it has been recorded."""
LIMITS = RunLimits(warp_instructions=10**9, wall_seconds=60.0)
LEVELS = (0, 1, 3)
UNWRITTEN_BYTE = 0xA5

_LINE = re.compile(r"^// (in|out|inout|levels|compare|counters): *(.*?) *$", re.MULTILINE)
_BUFFER = re.compile(r"(?P<name>\w+) (?P<dtype>\w+)\[(?P<count>\d+)\](?: = (?P<contents>.+))?")
_COMPARE = re.compile(r"(?P<name>\w+) (?P<how>sorted|ignored|ulp (?P<ulp>\d+))")


@dataclass(frozen=True)
class Buffer:
    """A buffer of a kernel file. `how` is None (bit for bit), `sorted`, `ignored`, or a number of units in the last place."""

    name: str
    dtype: str
    count: int
    contents: str | None
    output: bool
    how: str | int | None


@dataclass(frozen=True)
class Case:
    """A kernel file at one optimisation level of ptxas."""

    path: Path
    level: int
    buffers: tuple[Buffer, ...]
    counted: bool

    def __str__(self) -> str:
        return f"{self.path.stem}-O{self.level}"


@dataclass(frozen=True)
class Result:
    """What a run left: output arrays by name, and the counters of each launch by name (no launches: not counted)."""

    outputs: dict[str, np.ndarray]
    launches: tuple[dict[str, int], ...]


# --- reading ------------------------------------------------------------------------------------------------


def find_cases(names: Sequence[str] = ()) -> tuple[Case, ...]:
    """All cases of the corpus in order, or those of the named files."""
    paths = [KERNELS / f"{name}.cu" for name in names] or sorted(KERNELS.glob("*.cu"))
    return tuple(case for path in paths for case in read_cases(path))


def read_cases(path: Path) -> tuple[Case, ...]:
    """The cases of a kernel file, one a level. Raises ValueError for a line that is not understood."""
    lines = _LINE.findall(path.read_text(encoding="utf-8"))
    named = {key: value for key, value in lines if key in ("levels", "counters")}
    comparisons = dict(_read_comparison(value) for key, value in lines if key == "compare")
    buffers = tuple(_read_buffer(key, value, comparisons) for key, value in lines if key in ("in", "out", "inout"))
    levels = [int(level) for level in named.get("levels", "").split()] or list(LEVELS)
    return tuple(Case(path, level, buffers, named.get("counters") != "ignored") for level in levels)


def _read_comparison(text: str) -> tuple[str, str | int]:
    match = _COMPARE.fullmatch(text)
    if match is None:
        raise ValueError(f"not understood: // compare: {text}")
    return match["name"], int(match["ulp"]) if match["ulp"] else match["how"]


def _read_buffer(key: str, text: str, comparisons: Mapping[str, str | int]) -> Buffer:
    match = _BUFFER.fullmatch(text)
    if match is None or (key == "out") != (match["contents"] is None):
        raise ValueError(f"not understood: // {key}: {text}")
    numpy_type(match["dtype"])
    return Buffer(match["name"], match["dtype"], int(match["count"]), match["contents"], key != "in", comparisons.get(match["name"]))


def make_arrays(case: Case) -> dict[str, np.ndarray]:
    """Contents of all buffers before the run; the same on every machine."""
    arrays = {}
    for buffer in case.buffers:
        kind = numpy_type(buffer.dtype)
        if buffer.contents is None:
            arrays[buffer.name] = np.full(buffer.count * kind.itemsize, UNWRITTEN_BYTE, dtype=np.uint8).view(kind)
        else:
            arrays[buffer.name] = parse_contents(buffer.contents, buffer.dtype, buffer.count, seed=f"{case.path.stem}/{buffer.name}")
    return arrays


# --- running ------------------------------------------------------------------------------------------------


@functools.cache
def compile_case(case: Case) -> Binary:
    """The kernels of a case as the grader's toolchain compiles them, with ptxas at the case's level; once a session."""
    nvcc = find_nvcc(os.environ, run_tool, prefer_wheel=True)
    nvdisasm = find_nvdisasm(os.environ, run_tool)

    def run(argv: Sequence[str], **settings: Any) -> Completed:  # noqa: ANN401 - a RunTool that adds an option
        extra = ["-Xptxas", f"-O{case.level}"] if argv[0] == str(nvcc.path) else []
        return run_tool([argv[0], *extra, *argv[1:]], **settings)

    binary = compile_submission(_submission(case), nvcc=nvcc, nvdisasm=nvdisasm, arch="sm_90", run=run, limits=ToolLimits(), cache=None)
    assert isinstance(binary, Binary), f"{case}: {binary.message}\n{binary.detail}"
    return binary


def run_case(case: Case, device: Device | None = None) -> Result:
    """Run a case on a device (the emulated H100 where none is given), which must come to its end."""
    device = device or EmulatedDevice("h100", threads=1)
    arrays = make_arrays(case)
    buffers = tuple(
        DeviceBuffer(buffer.name, numpy_type(buffer.dtype).name, (buffer.count,), Role.OUTPUT if buffer.output else Role.INPUT)
        for buffer in case.buffers
    )
    plan = _resolve(case, buffers, device)
    device.load(compile_case(case))
    execution, outputs = device.execute(plan.launches, buffers, arrays, limits=LIMITS)
    assert execution.failure is None, f"{case}: {execution.failure.message}"
    counted = tuple(_counters(launch.counters) for launch in execution.launches)
    return Result({name: array.copy() for name, array in outputs.items()}, counted if case.counted else ())


def _counters(counters: Any) -> dict[str, int]:  # noqa: ANN401 - a record of integers
    return dict(zip(counters.__dataclass_fields__, counters.values(), strict=True))


def _submission(case: Case) -> Submission:
    content = case.path.read_bytes()
    return Submission(case.path.name, hashlib.sha256(content).hexdigest(), content.decode())


def _resolve(case: Case, buffers: tuple[DeviceBuffer, ...], device: Device) -> ResolvedPlan:
    submission = _submission(case)
    plan = read_plan(submission)
    assert isinstance(plan, Plan), f"{case}: {plan}"
    resolved = resolve_plan(
        plan, sizes={}, macros={}, buffers=buffers, kernels=compile_case(case).kernels, limits=device.info.limits, source=submission.text
    )
    assert isinstance(resolved, ResolvedPlan), f"{case}: {resolved}"
    return resolved


# --- results as JSON ------------------------------------------------------------------------------------------


def pack_result(result: Result) -> dict[str, Any]:
    """A result for a JSON file: each output's dtype, SHA-256 and bytes (zlib, base64), each launch's counters."""
    outputs = {name: _pack_array(array) for name, array in result.outputs.items()}
    return {"outputs": outputs, "launches": list(result.launches)}


def unpack_result(packed: Mapping[str, Any]) -> Result:
    """The result that a JSON file holds."""
    return Result({name: _unpack_array(entry) for name, entry in packed["outputs"].items()}, tuple(packed["launches"]))


def _pack_array(array: np.ndarray) -> dict[str, str]:
    data = array.tobytes()
    packed = base64.b64encode(zlib.compress(data, 9)).decode()
    return {"dtype": array.dtype.name, "sha256": hashlib.sha256(data).hexdigest(), "data": packed}


def _unpack_array(entry: Mapping[str, str]) -> np.ndarray:
    return np.frombuffer(zlib.decompress(base64.b64decode(entry["data"])), dtype=entry["dtype"])


def find_differences(case: Case, got: Result, want: Result) -> list[str]:
    """What differs from another device's result, a sentence each; empty when all is as the case asks."""
    hows = {buffer.name: buffer.how for buffer in case.buffers}
    found = [text for name, array in want.outputs.items() for text in _compare_arrays(name, got.outputs[name], array, hows[name])]
    if case.counted and got.launches and want.launches:
        for index, (mine, other) in enumerate(zip(got.launches, want.launches, strict=True)):
            found += [f"launch {index}: {name} is {mine[name]}, not {value}" for name, value in other.items() if mine.get(name) != value]
    return [f"{case}: {text}" for text in found]


def _compare_arrays(name: str, got: np.ndarray, want: np.ndarray, how: str | int | None) -> Iterator[str]:
    if how == "ignored":
        return
    if how == "sorted":
        got, want = np.sort(got), np.sort(want)
    wrong = _beyond_ulps(got, want, how) if isinstance(how, int) else _bits(got) != _bits(want)
    if wrong.any():
        first = int(np.argmax(wrong))
        bits = 2 * got.itemsize
        yield (
            f"{name}[{first}] is {got[first]} ({int(_bits(got)[first]):#0{bits + 2}x}), not {want[first]}"
            f" ({int(_bits(want)[first]):#0{bits + 2}x}); {int(wrong.sum())} of {got.size} differ"
        )


def _bits(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")


def _beyond_ulps(got: np.ndarray, want: np.ndarray, ulps: int) -> np.ndarray:
    """Where two float arrays are more than so many representable values apart; NaN equals NaN."""
    bits = 8 * got.itemsize
    ordered = [_bits(array).astype(object) for array in (got, want)]
    mine, other = ([int(x) if x < 1 << bits - 1 else (1 << bits - 1) - int(x) for x in values] for values in ordered)
    apart = np.array([abs(a - b) > ulps for a, b in zip(mine, other, strict=True)])
    return apart & ~(np.isnan(got) & np.isnan(want))


# --- the command line -------------------------------------------------------------------------------------------


def _compile_command(options: argparse.Namespace) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    for case in find_cases(options.names):
        (options.out / f"{case}.cubin").write_bytes(compile_case(case).cubin)
    return 0


def _run_command(options: argparse.Namespace) -> int:
    device: Device = EmulatedDevice("h100", threads=1)
    if options.device == "gpu":
        from grader.devices.gpu.device import GpuDevice  # loads PyCUDA

        device = GpuDevice(0)
    results, failed = {}, 0
    for case in find_cases(options.names):
        try:
            results[str(case)] = pack_result(run_case(case, device))
        except AssertionError as problem:
            failed += 1
            print(problem, file=sys.stderr)
    text = json.dumps({"device": device.info.name, "kernels": results}, indent=1)
    options.json.write_text(text + "\n", encoding="utf-8")
    print(f"{len(results)} ran, {failed} did not")
    return 1 if failed else 0


def _compare_command(options: argparse.Namespace) -> int:
    got, want = (json.loads(path.read_text(encoding="utf-8"))["kernels"] for path in (options.got, options.want))
    cases = [case for case in find_cases() if str(case) in got and str(case) in want]
    found = [find_differences(case, unpack_result(got[str(case)]), unpack_result(want[str(case)])) for case in cases]
    for text in (text for texts in found for text in texts):
        print(text)
    print(f"{sum(not texts for texts in found)} of {len(cases)} equal")
    return 1 if any(found) else 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="corpus")
    commands = parser.add_subparsers(required=True)
    actions: dict[str, Callable[[argparse.Namespace], int]] = {
        "compile": _compile_command,
        "run": _run_command,
        "compare": _compare_command,
    }
    parsers = {name: commands.add_parser(name) for name in actions}
    for name, action in actions.items():
        parsers[name].set_defaults(action=action)
    parsers["compile"].add_argument("--out", type=Path, required=True)
    parsers["run"].add_argument("--json", type=Path, required=True)
    parsers["run"].add_argument("--device", choices=("emulated", "gpu"), default="emulated")
    for name in ("compile", "run"):
        parsers[name].add_argument("names", nargs="*")
    parsers["compare"].add_argument("got", type=Path)
    parsers["compare"].add_argument("want", type=Path)
    options = parser.parse_args()
    return int(options.action(options))


if __name__ == "__main__":
    sys.exit(main())
