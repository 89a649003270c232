"""Reads the log of compute-sanitizer: findings in kernels, leaks, and failed calls.

Compute-sanitizer 2022 to 2026 has these formats; older versions print the object of a frame
on a line of its own.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.messages.host_findings import describe_host_findings
from grader.records import Dim3, Finding, FindingKind, HostFinding, RunTool
from grader.records.programs import Frame, HostMistake
from grader.toolchain.demangle import parse_signature
from grader.toolchain.host_lines import find_places, ignores_result

MEMCHECK, RACECHECK, INITCHECK, SYNCCHECK = "memcheck", "racecheck", "initcheck", "synccheck"
TOOLS = (MEMCHECK, RACECHECK, INITCHECK, SYNCCHECK)
_OPTIONS: Mapping[str, tuple[str, ...]] = {MEMCHECK: ("--leak-check", "full")}
_INSTALLED = (
    Path("/usr/local/cuda/bin/compute-sanitizer"),
    Path("/usr/local/cuda/compute-sanitizer/compute-sanitizer"),
)
MARK = "========="
_DETAIL = "    "
"""Lines that belong to a report begin with spaces behind the mark."""

_LEAK = re.compile(r"Leaked ([\d,]+) bytes at (0x[0-9a-f]+)(?! on the device heap)")
_FAILED_CALL = re.compile(
    r'Program hit (\S+) \(error \d+\) due to "(.*)" on CUDA API call to (\w+?)(?:_v\d+)?\.'
)
_ACCESS = re.compile(r"Invalid __(\w+)__ (read|write|atomic) of size (\d+) bytes")
_UNWRITTEN = re.compile(r"Uninitialized __(\w+)__ memory read of size (\d+) bytes")
_RACE = re.compile(r"Error: Race reported between (\w+) access at (.*)")
_OTHER_ACCESS = re.compile(r"and (\w+) access at (.*?)(?: \[\d+ hazards?\])?$")
_PLACE = re.compile(r"at (.*)")
_SITE = re.compile(
    r"(?:(?P<function>.+)\+)?0x[0-9a-f]+(?: in (?P<rest>.*?))?"
    r"(?::(?P<line>\d+)(?::(?P<late>.*))?)?$"
)
_THREAD = re.compile(r"by thread \((\d+),(\d+),(\d+)\) in block \((\d+),(\d+),(\d+)\)")
_FRAME = re.compile(r"Host Frame:\s*(.*?)\s*\[0x([0-9a-f]+)\](?: in (.*))?$")
_OBJECT = re.compile(r"in (\S.*)$")
_OF_RUNTIME = re.compile(r"(?:\S+ )?(?:cuda[A-Z_]|cudart::|libcudart|__cuda|cu[A-Z])")
_FREES = ("cudaFree", "cudaFreeHost", "cudaFreeAsync", "cudaFreeArray", "cuMemFree")
_QUESTIONS = ("cudaGetLastError", "cudaPeekAtLastError", "cudaStreamQuery", "cudaEventQuery")
"""Calls that report an earlier error, or a state."""


@dataclass(frozen=True)
class _Report:
    """A report: its first line, and the lines that belong to it."""

    headline: str
    details: tuple[str, ...]


@dataclass(frozen=True)
class _Call:
    """A host frame: the function's name and its address."""

    name: str
    frame: Frame


def find_sanitizer() -> Path | None:
    """compute-sanitizer on PATH, or in the usual folder of the toolkit."""
    found = shutil.which("compute-sanitizer")
    return Path(found) if found else next((path for path in _INSTALLED if path.exists()), None)


def check_command(sanitizer: Path, tool: str, log: Path) -> list[str]:
    """The command line of a tool of compute-sanitizer before that of the program."""
    options = _OPTIONS.get(tool, ())
    return [
        *(str(sanitizer), "--tool", tool, *options, "--target-processes", "all"),
        *("--print-limit", "1000", "--log-file", str(log)),
    ]


def is_complete(log: str) -> bool:
    """Whether the tool wrote its summary: without it, the log proves nothing."""
    return "SUMMARY:" in log


def parse_findings(log: str) -> tuple[Finding, ...]:
    """The findings in kernels, each kind once per kernel and line."""
    known: dict[tuple[object, ...], Finding] = {}
    for report in _read_reports(log):
        if (found := _read_finding(report)) is not None:
            known.setdefault((found.kind, found.kernel, found.line), found)
    return tuple(known.values())


def parse_mistakes(log: str, program: Path, run: RunTool) -> tuple[HostMistake, ...]:
    """The mistakes in host code. A failed call is a mistake if the code behind it ignores the
    result. `run` runs addr2line and objdump."""
    found = []
    for report in _read_reports(log):
        calls = tuple(_read_frames(report.details, program))
        mistake = _read_mistake(report.headline, calls)
        if mistake is None:
            continue
        if mistake.kind != "unchecked_error" or ignores_result(mistake.frames, run):
            found.append(mistake)
    places = find_places((frame for each in found for frame in each.frames), run)
    return describe_host_findings(found, places)


def _read_reports(log: str) -> Iterator[_Report]:
    headline, details = "", list[str]()
    for line in log.splitlines():
        if not line.startswith(MARK):
            continue
        text = line.removeprefix(MARK)
        if text.startswith(_DETAIL):
            details.append(text.strip())
            continue
        if headline:
            yield _Report(headline, tuple(details))
        headline, details = text.strip(), []
    if headline:
        yield _Report(headline, tuple(details))


def _read_finding(report: _Report) -> Finding | None:
    site = next((m[1] for each in report.details if (m := _PLACE.match(each))), "")
    if found := _ACCESS.match(report.headline):
        space, access, size = found.groups()
        misaligned = any("misaligned" in each for each in report.details)
        kind = FindingKind.MISALIGNED if misaligned else FindingKind.OUT_OF_BOUNDS
        where = "at a misaligned address" if misaligned else "outside of its memory"
        message = f"{access} of {size} bytes in {space} memory, {where}"
    elif found := _UNWRITTEN.match(report.headline):
        kind = FindingKind.UNINITIALIZED_READ
        message = f"read of {found[2]} bytes in {found[1]} memory that nothing wrote"
    elif found := _RACE.match(report.headline):
        return _read_race(found[1], found[2], report.details)
    elif report.headline.startswith("Barrier error detected"):
        kind, message = FindingKind.BARRIER_DIVERGENCE, "a barrier that some threads skip"
    else:
        return None
    return _add_thread(_place(Finding(kind, message), site), report.details)


def _read_race(access: str, site: str, details: Sequence[str]) -> Finding:
    other = next(filter(None, map(_OTHER_ACCESS.match, details)), None)
    second = other[1].lower() if other else "access"
    finding = _place(Finding(FindingKind.RACE, ""), site)
    other_line = _place(finding, other[2]).line if other else None
    message = f"{access.lower()} and {second} by different threads, and nothing orders them"
    place = f", and line {other_line}" if other_line not in (None, finding.line) else ""
    prefix = f"line {finding.line}{place}: " if finding.line else ""
    return replace(finding, message=prefix + message, other_line=other_line)


def _place(finding: Finding, site: str) -> Finding:
    """The finding with the kernel and the line of a place `kernel(int *)+0x70 in file.cu:41`, or
    `0x70 in file.cu:41:kernel(int *)`."""
    found = _SITE.match(site)
    if found is None:
        return finding
    line = int(found["line"]) if found["line"] else None
    name = found["function"] or found["late"] or ("" if line else found["rest"]) or ""
    kernel = parse_signature(name).name if name else None
    message = f"line {line}: {finding.message}" if line else finding.message
    return replace(finding, message=message, kernel=kernel, line=line)


def _add_thread(finding: Finding, details: Sequence[str]) -> Finding:
    found = next(filter(None, map(_THREAD.match, details)), None)
    if found is None:
        return finding
    numbers = list(map(int, found.groups()))
    return replace(finding, thread=Dim3(*numbers[:3]), block=Dim3(*numbers[3:]))


def _read_frames(details: Sequence[str], program: Path) -> Iterator[_Call]:
    for number, text in enumerate(details):
        found = _FRAME.match(text)
        if found is None:
            continue
        after = _OBJECT.match(details[number + 1]) if number + 1 < len(details) else None
        object_ = found[3] or (after[1] if after else "")
        if Path(object_).name == program.name:
            object_ = str(program)
        yield _Call(found[1], Frame(object_, int(found[2], 16)))


def _read_mistake(headline: str, calls: Sequence[_Call]) -> HostFinding | None:
    names = [each.name for each in calls if each.name.startswith("cuda")]
    frames = _own_frames(calls)
    if found := _LEAK.match(headline):
        size = int(found[1].replace(",", ""))
        facts = {"call": names[0].partition("<")[0]} if names else {}
        return HostFinding("leak", int(found[2], 16), size, facts, frames)
    if found := _FAILED_CALL.match(headline):
        error, _, call = found.groups()
        if call in _QUESTIONS:
            return None
        kind = "invalid_free" if call in _FREES else "unchecked_error"
        return HostFinding(kind, 0, 0, {"call": call, "error": error}, frames)
    return None


def _own_frames(calls: Sequence[_Call]) -> tuple[Frame, ...]:
    """The frames behind the driver and the runtime, which may be a part of the program."""
    inside = [
        n
        for n, each in enumerate(calls)
        if _OF_RUNTIME.match(each.name) or "libcuda" in each.frame.object
    ]
    return tuple(each.frame for each in calls[inside[-1] + 1 if inside else 0 :])
