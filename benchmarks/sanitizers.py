"""Planted bugs, and the tools that find them: the checked mode, and compute-sanitizer's four tools
on a GPU.

    python benchmarks/sanitizers.py [--checked-only] [--jobs N] [--json FILE] [NAME ...]

Runs every file of tests/data/planted_bugs in the emulated device's checked mode and, as a host
program compiled by the nvcc on PATH, under memcheck, racecheck, initcheck and synccheck
(`compute-sanitizer` on PATH, a GPU). Prints a row per file, and sums. A bug counts as found if the
tool reports anything; a report about a file without a bug is a false alarm.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from grader.records import DeviceBuffer, Role
from tests.support.planted import FILES, NONE, TYPES, Planted, find_bugs, named_lines, read_planted

TOOLS: Mapping[str, tuple[str, ...]] = {
    "memcheck": ("--tool", "memcheck"),
    "racecheck": ("--tool", "racecheck", "--racecheck-report", "all"),
    "initcheck": ("--tool", "initcheck"),
    "synccheck": ("--tool", "synccheck"),
}
CHECKED = "checked mode"
HUNG, FOUND, CLEAN = "hung", "found", "-"
_SECONDS = 20
_SUMMARY = re.compile(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)")
_LAUNCH = re.compile(r"^// launch: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """Result of each tool for a file: FOUND, CLEAN, HUNG, or an error. `exact`: the checked mode
    reported kind and lines correctly."""

    name: str
    bug: str
    results: dict[str, str]
    exact: bool
    first_words: dict[str, str]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="parts of file names; all files by default")
    parser.add_argument("--checked-only", action="store_true", help="run no GPU tool")
    parser.add_argument("--arch", default="sm_90", help="architecture of the GPU")
    parser.add_argument(
        "--jobs", type=int, default=4, help="files that run in parallel under the GPU tools"
    )
    parser.add_argument("--json", type=Path, help="write the table here too")
    options = parser.parse_args()
    tools = {} if options.checked_only else TOOLS
    if tools and not (shutil.which("nvcc") and shutil.which("compute-sanitizer")):
        parser.error("nvcc and compute-sanitizer must be on PATH, or give --checked-only")
    files = [
        path
        for path in FILES
        if not options.names or any(name in path.stem for name in options.names)
    ]
    print(f"{'file':64}" + "".join(f"{name:>13}" for name in (CHECKED, *tools)))
    rows = []
    planted = [read_planted(path) for path in files]
    with ThreadPoolExecutor(options.jobs) as pool:
        others = pool.map(lambda each: ask_tools(each, tools, options.arch), planted)
        for each, (results, words) in zip(planted, others, strict=True):
            rows.append(measure(each, results, words))
            print(
                f"{rows[-1].name:64}"
                + "".join(f"{word:>13}" for word in rows[-1].results.values()),
                flush=True,
            )
    sums = summarise(rows, (CHECKED, *tools))
    for name, (found, bugs, alarms, clean) in sums.items():
        print(f"{name}: {found} of {bugs} bugs, {alarms} false alarms in {clean} files without one")
    bugs = [row for row in rows if row.bug != NONE]
    print(f"checked mode, kind and lines exactly: {sum(row.exact for row in bugs)} of {len(bugs)}")
    if options.json:
        options.json.write_text(
            json.dumps({"sums": sums, "rows": [asdict(row) for row in rows]}, indent=1) + "\n",
            encoding="utf-8",
        )
    return 0


def measure(planted: Planted, results: Mapping[str, str], words: Mapping[str, str]) -> Row:
    """Adds the checked mode's result to the results of the GPU's tools."""
    findings = find_bugs(planted)
    exact = {each.kind.value for each in findings} == {planted.kind} and named_lines(
        findings
    ) == planted.lines
    own = (
        {CHECKED: FOUND if findings else CLEAN},
        {CHECKED: findings[0].message if findings else ""},
    )
    return Row(planted.path.stem, planted.kind, {**own[0], **results}, exact, {**own[1], **words})


def ask_tools(
    planted: Planted, tools: Mapping[str, Sequence[str]], arch: str
) -> tuple[dict[str, str], dict[str, str]]:
    """Results of the GPU's tools for a file, and the start of their reports, by tool."""
    results, words = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        program = compile_host(planted, Path(folder), arch) if tools else None
        for name, tool in tools.items():
            results[name], words[name] = run_tool(tool, program)
    return results, words


def compile_host(planted: Planted, folder: Path, arch: str) -> Path:
    """Compiles the file with a `main` that fills its inputs, launches its plan and reads its
    outputs."""
    source = folder / "main.cu"
    source.write_text(planted.text + host_main(planted), encoding="utf-8")
    program = folder / "main"
    subprocess.run(
        ["nvcc", "-arch", arch, "-lineinfo", "-w", "-o", str(program), str(source)],
        check=True,
        capture_output=True,
    )
    return program


def host_main(planted: Planted) -> str:
    """The text of `main`. Outputs are allocated and not written, as for submissions."""
    lines = ["#include <cstdio>", "#include <vector>", "int main() {"]
    for buffer in planted.buffers:
        lines += _allocate(buffer)
    lines += [f"    {launch};" for launch in _LAUNCH.findall(planted.text)]
    lines += [
        '    std::printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));',
        "    return 0;",
        "}",
        "",
    ]
    return "\n" + "\n".join(lines)


def _allocate(buffer: DeviceBuffer) -> list[str]:
    kind = next(name for name, dtype in TYPES.items() if dtype == buffer.dtype)
    count = buffer.shape[0]
    lines = [
        f"    {kind}* {buffer.name};",
        f"    cudaMalloc(&{buffer.name}, {count} * sizeof({kind}));",
    ]
    if buffer.role is Role.INPUT:
        host = f"host_{buffer.name}"
        lines += [
            f"    std::vector<{kind}> {host}({count});",
            f"    for (int i = 0; i < {count}; ++i) {host}[i] = i % 17 + 1;",
            (
                f"    cudaMemcpy({buffer.name}, {host}.data(), {count} * sizeof({kind}),"
                " cudaMemcpyHostToDevice);"
            ),
        ]
    return lines


def run_tool(tool: Sequence[str], program: Path | None) -> tuple[str, str]:
    """A tool's result, and the start of its report about an error."""
    assert program is not None
    command = ["compute-sanitizer", *tool, str(program)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            text, _ = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(
                process.pid, signal.SIGKILL
            )  # kills the program too: a kernel that hangs blocks the GPU for all others
            text, _ = process.communicate()
            words = _words(text)
            return (FOUND, words) if words else (HUNG, "")
    summaries = [int(errors or hazards) for errors, hazards in _SUMMARY.findall(text)]
    if not summaries:
        return "no summary", text[-200:]
    return (FOUND, _words(text)) if any(summaries) else (CLEAN, "")


def _words(text: str) -> str:
    """The first three lines of a tool's report, without its heading; empty without a report."""
    lines = [
        line.removeprefix("=========").strip()
        for line in text.splitlines()
        if line.startswith("=========")
    ]
    return " ".join(line for line in lines[1:4] if not line.startswith("Target application"))


def summarise(rows: Sequence[Row], tools: Sequence[str]) -> dict[str, tuple[int, int, int, int]]:
    """Per tool: bugs found, bugs, false alarms, files without a bug. A tool that hangs finds
    nothing."""
    bugs = [row for row in rows if row.bug != NONE]
    clean = [row for row in rows if row.bug == NONE]
    return {
        tool: (
            sum(row.results[tool] == FOUND for row in bugs),
            len(bugs),
            sum(row.results[tool] == FOUND for row in clean),
            len(clean),
        )
        for tool in tools
    }


if __name__ == "__main__":
    sys.exit(main())
