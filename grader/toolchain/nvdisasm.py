"""Runs nvdisasm on a cubin and parses its `-json` output: machine instructions, which get the
submission's lines from the cubin's own table."""

from __future__ import annotations

import hashlib
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from grader.errors import GraderError
from grader.plumbing.cache import cache_key, keep_entry, read_entry
from grader.plumbing.shortages import AGAIN, FREE_MEMORY
from grader.records import RunTool, SassInstruction, ToolLimits
from grader.toolchain.elf import Elf
from grader.toolchain.line_table import NO_LINES, LineTable
from grader.toolchain.nvcc import Nvdisasm
from grader.toolchain.ready import ReadyRun, ReadyTool, Start

INSTRUCTION_BYTES = 16  # Volta and later.
_CODE = "code"

_NO_COMMA = re.compile(r"((?:^|,)U?[RP](?:\d+|[ZT]))(?=\[)")
"""Up to nvdisasm 13.4, between a result and an address: `R7[R4]`."""
_COPY_PARTS = re.compile(r"(desc\[UR\d+\]\[[^]]+\])|(\[[^]]+\])|(!?U?P\w+)")
"""Operands of a copy to shared memory: its source by a descriptor, an end without a descriptor, a
predicate."""
_DEBUG = re.compile(r"(?:\.rela?)?\.(?:nv_)?debug_")
"""The start of the names of sections without effect on nvdisasm's `-json` output."""
_NAN = re.compile(r"[-+]?QNAN")
_LITERAL = slice(4, 8)

# The text is 60 to 150 bytes an instruction; 64 MiB are 400,000 of them.
_LIMITS = ToolLimits(output_bytes=64 << 20)
_VERSIONS_ADVICE = "Is nvdisasm older than nvcc? `grade doctor` shows both versions."


@dataclass(frozen=True)
class Label:
    """The position of a function: `section` is the function that its section is named after,
    `offset` in bytes from its start."""

    section: str
    offset: int


def disassemble(
    cubin: Path,
    *,
    nvdisasm: Nvdisasm,
    run: RunTool,
    stop: Event | None = None,
    cache: Path | None = None,
) -> str:
    """The output of nvdisasm for a cubin, from `cache` (a folder, or None) if a cubin with the same
    code was read before: a new comment changes only lines. Raises GraderError if it fails: ptxas
    made the file, not the student. `stop`: see ToolLimits."""
    if cache is None:
        return _run(cubin, nvdisasm, run, stop)
    key = f"listing-{cache_key(nvdisasm.version, _digest_code(Elf(cubin.read_bytes())))}"
    if (known := read_entry(cache, key)) is not None:
        return known.decode()
    return keep_entry(cache, key, _run(cubin, nvdisasm, run, stop).encode()).decode()


def _digest_code(elf: Elf) -> str:
    """A digest of all sections except the debug information; sections without contents (`NOBITS`)
    count by their size."""
    digest = hashlib.sha256(elf.arch.encode())
    for section in elf.sections:
        if _DEBUG.match(section.name) is None:
            kind = section["sh_type"]
            fields = [section[name] for name in ("sh_flags", "sh_size", "sh_link", "sh_info")]
            digest.update(f"{section.name} {kind} {fields}\n".encode())
            digest.update(b"" if kind == "SHT_NOBITS" else section.data())
    return digest.hexdigest()


def begin_to_read(nvdisasm: Nvdisasm, arch: str, run: ReadyRun) -> ReadyTool:
    """An nvdisasm that becomes ready while a compilation runs."""
    argv = (str(nvdisasm.path), "-b", arch.replace("_", "").upper(), "-json", _CODE)
    return run.tool(Start(argv, ((_CODE, "\0" * INSTRUCTION_BYTES),), _CODE, 2), _LIMITS)


def _list_ready(cubin: Path, nvdisasm: Nvdisasm, run: RunTool, stop: Event | None) -> str | None:
    """As `_list`, by an nvdisasm that is kept ready, which reads the machine code of each section
    without the cubin. It does not know the functions that the linker will fill in."""
    if not isinstance(run, ReadyRun):
        return None
    try:
        elf = Elf(cubin.read_bytes())
    except GraderError:
        return None  # nvdisasm says why
    if elf.has_relocated_code:
        return None
    tool, functions = begin_to_read(nvdisasm, elf.arch, run), []
    for name, code in elf.code.items():
        found = tool.ask(code, ("stdout",), replace(_LIMITS, stop=stop))
        if found is None:
            return None
        facts, (function,) = json.loads(found[0])
        functions.append(function | {"function-name": name})
    return json.dumps([facts, functions], separators=(",", ":")) if functions else None


def _run(cubin: Path, nvdisasm: Nvdisasm, run: RunTool, stop: Event | None) -> str:
    return _list_ready(cubin, nvdisasm, run, stop) or _list(cubin, nvdisasm, run, stop)


def _list(cubin: Path, nvdisasm: Nvdisasm, run: RunTool, stop: Event | None) -> str:
    limits = replace(_LIMITS, stop=stop)
    argv = [str(nvdisasm.path), "-json", cubin.name]
    completed = run(argv, cwd=cubin.parent, limits=limits)
    if completed.limit or completed.returncode != 0:
        if completed.returncode < 0 and not completed.limit:
            message = f"nvdisasm was ended by signal {-completed.returncode}"
            raise GraderError(message, f"{FREE_MEMORY}, {AGAIN}")
        what = f"the limit of {completed.limit}" if completed.limit else completed.stderr.strip()
        raise GraderError(f"nvdisasm failed: {what}", _VERSIONS_ADVICE)
    return completed.stdout


def parse_disassembly(
    listing: str,
    labels: Mapping[str, Label],
    code: Mapping[str, bytes],
    lines: Mapping[str, LineTable],
) -> dict[str, tuple[SassInstruction, ...]]:
    """Section (by its function) to its instructions in order of offset, including device functions
    in it.

    nvdisasm 13.5 lists a section as a single function; up to 13.4 it lists each function by itself,
    from its label on. `labels` are the positions of functions: calls and returns name functions,
    branches give offsets in the section. `code` is the sections' machine code: nvdisasm prints
    every NaN as QNAN; here it is `nan:0xfff00000`, with its bits. A function begins without a line:
    it does not belong to the line before it. Raises GraderError if instructions of a section are
    missing.
    """
    _, functions = json.loads(listing)
    starts: dict[str, list[int]] = {}
    for label in sorted(labels.values(), key=lambda label: label.offset):
        starts.setdefault(label.section, []).append(label.offset)
    sections: dict[str, list[SassInstruction]] = {}
    for function in functions:
        label = labels[function["function-name"]]
        place = _Place(label.offset, lines.get(label.section, NO_LINES), starts[label.section])
        section = sections.setdefault(label.section, [])
        section += _parse_instructions(function, place, labels, code[label.section])
    for name, section in sections.items():
        section.sort(key=lambda instruction: instruction.offset)
        if [instruction.offset for instruction in section] != list(
            range(0, len(code[name]), INSTRUCTION_BYTES)
        ):
            raise GraderError(f"nvdisasm does not list all of {name}.", _VERSIONS_ADVICE)
    return {name: tuple(section) for name, section in sections.items()}


@dataclass(frozen=True)
class _Place:
    """Where a listed function starts in its section, the section's lines, and where all functions
    of the section start, in order."""

    start: int
    lines: LineTable
    functions: Sequence[int]

    def line_at(self, offset: int) -> int | None:
        since = self.functions[bisect_right(self.functions, offset) - 1]
        return self.lines.line_at(offset, since=since)


def _parse_instructions(
    function: Mapping[str, object],
    place: _Place,
    labels: Mapping[str, Label],
    code: bytes,
) -> Iterator[SassInstruction]:
    instructions = function["sass-instructions"]
    assert isinstance(instructions, list)
    for i, instruction in enumerate(instructions):
        offset = place.start + i * INSTRUCTION_BYTES
        yield SassInstruction(
            offset=offset,
            predicate=instruction.get("predicate"),
            opcode=instruction["opcode"],
            operands=_write_nan(
                instruction["opcode"],
                _read_operands(instruction, labels),
                code[offset : offset + INSTRUCTION_BYTES],
            ),
            line=place.line_at(offset),
        )


def _read_operands(instruction: Mapping[str, str], labels: Mapping[str, Label]) -> str:
    operands = _NO_COMMA.sub(r"\1,", instruction.get("operands", ""))
    if instruction["opcode"].startswith("LDGSTS"):
        return _order_copy(operands)
    if not instruction["opcode"].startswith(("CALL.", "RET.")):
        return operands
    *others, name = operands.split(",")
    return ",".join([*others, hex(labels[name].offset)]) if name in labels else operands


def _order_copy(operands: str) -> str:
    """The operands of a copy to shared memory as nvdisasm 13.2 prints them: with a descriptor
    `[R7],desc[UR6][R4.64],P0`, without descriptor (sm_80) `[R7][R4.64],P0`. CUDA 12.8 and 13.0
    print `desc[UR6][R4.64],P0[R7]` and `P0[R7][R4.64]`."""
    parts = _COPY_PARTS.findall(operands)
    sources, ends, predicates = (
        [part for part in kind if part] for kind in zip(*parts, strict=True)
    )
    return ",".join(["".join(ends), *sources, *predicates])


def _write_nan(opcode: str, operands: str, encoded: bytes) -> str:
    """A literal NaN with its bits, read from the literal's place in the encoding; half instructions
    have two shorter literals."""
    if "QNAN" not in operands or opcode.startswith("H"):
        return operands
    return _NAN.sub(f"nan:{int.from_bytes(encoded[_LITERAL], 'little'):#010x}", operands)
