"""Runs nvdisasm on a cubin and parses what it prints: machine instructions with the submission's
lines.

The instructions come from `-json`, the lines from the text of `-gi -c`; byte offsets join them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from grader.errors import GraderError
from grader.records import RunTool, SassInstruction, ToolLimits
from grader.toolchain.nvcc import Nvdisasm
from grader.toolchain.workspace import SOURCE_NAME

INSTRUCTION_BYTES = 16  # Volta and later.

_SECTION = re.compile(r"\s*\.section\s+\.text\.(?P<function>[^,\s]+),")
_FUNCTION = re.compile(r"\s*\.type\s+\S+,@function")
_PLACE = re.compile(r'\s*//## File "(?P<file>[^"]*)", line (?P<line>\d+)(?P<inlined> inlined at)?')
_NO_COMMA = re.compile(r"((?:^|,)U?[RP](?:\d+|[ZT]))(?=\[)")
"""Up to nvdisasm 13.4, between a result and an address: `R7[R4]`."""
_NAN = re.compile(r"[-+]?QNAN")
_LITERAL = slice(4, 8)
_INSTRUCTION = re.compile(r"\s+/\*(?P<offset>[0-9a-f]{4,})\*/")

# Text of instructions and lines is 100 to 200 bytes an instruction; 64 MiB are 300,000 of them.
_OUTPUT_BYTES = 64 << 20
_VERSIONS_ADVICE = "Is nvdisasm older than nvcc? `grade doctor` shows both versions."


@dataclass(frozen=True)
class Disassembly:
    """What nvdisasm printed: `instructions` with `-json`, `lines` with `-gi -c`."""

    instructions: str
    lines: str


@dataclass(frozen=True)
class Label:
    """Where a function stands: `section` is the function that its section is named after, `offset`
    in bytes from there."""

    section: str
    offset: int


def disassemble(cubin: Path, *, nvdisasm: Nvdisasm, run: RunTool) -> Disassembly:
    """Run nvdisasm twice, side by side. Raises GraderError where it fails: ptxas made the file, not
    the student."""
    limits = ToolLimits(output_bytes=_OUTPUT_BYTES)

    def run_with(*options: str) -> str:
        completed = run([str(nvdisasm.path), *options, cubin.name], cwd=cubin.parent, limits=limits)
        if completed.limit or completed.returncode != 0:
            what = (
                f"the limit of {completed.limit}" if completed.limit else completed.stderr.strip()
            )
            raise GraderError(f"nvdisasm failed: {what}", _VERSIONS_ADVICE)
        return completed.stdout

    with ThreadPoolExecutor(2) as pool:
        lines = pool.submit(run_with, "-gi", "-c")
        return Disassembly(run_with("-json"), lines.result())


def parse_disassembly(
    disassembly: Disassembly, labels: Mapping[str, Label], code: Mapping[str, bytes]
) -> dict[str, tuple[SassInstruction, ...]]:
    """Section (by the function it is named after) to its instructions, device functions in it
    included, in order of offset.

    nvdisasm 13.5 lists a section as one function; up to 13.4 it lists each function in it by
    itself, from its label on. `labels` say where functions stand: calls and returns name functions,
    branches give offsets in the section. `code` are the sections' machine code: nvdisasm prints
    every NaN as QNAN; here it is `nan:0xfff00000`, with its bits. Raises GraderError where
    instructions of a section are missing.
    """
    lines = parse_lines(disassembly.lines)
    _, functions = json.loads(disassembly.instructions)
    sections: dict[str, list[SassInstruction]] = {}
    for function in functions:
        label = labels[function["function-name"]]
        section = sections.setdefault(label.section, [])
        section += _parse_instructions(
            function, label.offset, lines.get(label.section, {}), labels, code[label.section]
        )
    for name, section in sections.items():
        section.sort(key=lambda instruction: instruction.offset)
        if [instruction.offset for instruction in section] != list(
            range(0, len(code[name]), INSTRUCTION_BYTES)
        ):
            raise GraderError(f"nvdisasm does not list all of {name}.", _VERSIONS_ADVICE)
    return {name: tuple(section) for name, section in sections.items()}


def parse_lines(text: str) -> dict[str, dict[int, int | None]]:
    """Function symbol to (offset to line of the submission) from the output of `nvdisasm -gi -c`.

    A place that was inlined is followed by the place it was inlined at, and so on outwards: the
    innermost one that lies in the submission counts. A function begins without a place: it does not
    belong to the line before it.
    """
    functions: dict[str, dict[int, int | None]] = {}
    lines: dict[int, int | None] = {}
    line: int | None = None
    chained = False
    for row in text.splitlines():
        if place := _PLACE.match(row):
            line = line if chained and line is not None else _own_line(place)
            chained = place["inlined"] is not None
        elif instruction := _INSTRUCTION.match(row):
            lines[int(instruction["offset"], 16)] = line
        elif section := _SECTION.match(row):
            lines = functions.setdefault(section["function"], {})
            line, chained = None, False
        elif _FUNCTION.match(row):
            line, chained = None, False
    return functions


def _own_line(place: re.Match[str]) -> int | None:
    # nvcc wrote the absolute path of a folder that nothing else lies in.
    return int(place["line"]) if Path(place["file"]).name == SOURCE_NAME else None


def _parse_instructions(
    function: Mapping[str, object],
    start: int,
    lines: Mapping[int, int | None],
    labels: Mapping[str, Label],
    code: bytes,
) -> Iterator[SassInstruction]:
    instructions = function["sass-instructions"]
    assert isinstance(instructions, list)
    for i, instruction in enumerate(instructions):
        offset = start + i * INSTRUCTION_BYTES
        yield SassInstruction(
            offset=offset,
            predicate=instruction.get("predicate"),
            opcode=instruction["opcode"],
            operands=_write_nan(
                instruction["opcode"],
                _read_operands(instruction, labels),
                code[offset : offset + INSTRUCTION_BYTES],
            ),
            line=lines.get(offset),
        )


def _read_operands(instruction: Mapping[str, str], labels: Mapping[str, Label]) -> str:
    operands = _NO_COMMA.sub(r"\1,", instruction.get("operands", ""))
    if not instruction["opcode"].startswith(("CALL.", "RET.")):
        return operands
    *others, name = operands.split(",")
    return ",".join([*others, hex(labels[name].offset)]) if name in labels else operands


def _write_nan(opcode: str, operands: str, encoded: bytes) -> str:
    """A literal NaN with its bits, from the literal's place in the encoding; half instructions have
    two shorter ones."""
    if "QNAN" not in operands or opcode.startswith("H"):
        return operands
    return _NAN.sub(f"nan:{int.from_bytes(encoded[_LITERAL], 'little'):#010x}", operands)
