"""Places in host code: file, line and function of addresses, and whether the result of a call is
used, by the tools of the host compiler."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from grader.records import RunTool, ToolLimits
from grader.records.programs import Frame, HostPlace

_LIMITS = ToolLimits(wall_seconds=60.0, memory_bytes=1 << 40)
_SHOWN_BYTES, _MOST_JUMPS = 96, 3
_INSTRUCTION = re.compile(r"\s*[0-9a-f]+:\t(\S+)\s*([^#<\n]*)")
_RESULT = re.compile(r"%(?:rax|eax|ax|al)\b")
_WRITING = ("mov", "lea", "pop", "set", "vmov")


def find_places(frames: Iterable[Frame], run: RunTool) -> dict[Frame, tuple[HostPlace, ...]]:
    """The places of return addresses, functions that were inlined first. Without debug information
    or addr2line, a place is the object."""
    offsets = defaultdict(list)
    for frame in dict.fromkeys(frames):
        offsets[frame.object].append(frame)
    places: dict[Frame, tuple[HostPlace, ...]] = {}
    for path, of_object in offsets.items():
        places |= dict.fromkeys(of_object, (HostPlace(Path(path).name),))
        if shutil.which("addr2line") and Path(path).is_file():
            places |= _ask(path, of_object, run)
    return places


def ignores_result(frames: Sequence[Frame], run: RunTool) -> bool:
    """Whether the code behind a call overwrites the register of the result before it reads it. The
    frames are the call's, innermost first: a function that returns at once passes the result on.
    False where it is unknown."""
    for frame in frames:
        offset: int | None = frame.offset
        for _ in range(_MOST_JUMPS):
            if offset is None:
                break
            ignored, offset = _follow(_disassemble(frame.object, offset, run))
            if ignored is not None:
                return ignored
        else:
            return False
    return False


def _disassemble(path: str, offset: int, run: RunTool) -> list[tuple[str, str]]:
    """Names and operands of the instructions from an offset on, in the syntax of AT&T."""
    if not shutil.which("objdump") or not Path(path).is_file():
        return []
    ends = f"--start-address={offset}", f"--stop-address={offset + _SHOWN_BYTES}"
    done = run(["objdump", "-d", "--no-show-raw-insn", *ends, path], limits=_LIMITS)
    found = map(_INSTRUCTION.match, done.stdout.splitlines())
    return [(each[1], each[2].strip()) for each in found if each]


def _follow(code: Sequence[tuple[str, str]]) -> tuple[bool | None, int | None]:
    """Whether the result is ignored; None at a return, or at a jump, which has a target."""
    for name, operands in code:
        if name.startswith("ret"):
            return None, None
        if name == "jmp" and not operands.startswith("*"):
            return None, int(operands, 16)
        if name.startswith(("call", "j", "clt", "cwt")):
            return name.startswith("call"), None
        *_, target = re.split(r",(?![^(]*\))", operands)
        if not _RESULT.search(operands):
            continue
        writes = name.startswith(_WRITING) or (name == "xor" and len(set(operands.split(","))) == 1)
        sources = operands.removesuffix(target) if name != "xor" else ""
        return writes and not _RESULT.search(sources) and "(" not in target, None
    return False, None


def _ask(path: str, frames: list[Frame], run: RunTool) -> dict[Frame, tuple[HostPlace, ...]]:
    addresses = [f"{max(0, frame.offset - 1):#x}" for frame in frames]
    done = run(["addr2line", "-a", "-i", "-f", "-C", "-e", path, *addresses], limits=_LIMITS)
    if done.returncode != 0:
        return {}
    answers: list[list[str]] = []
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            answers.append([])
        elif answers:
            answers[-1].append(line)
    found = (tuple(_read(answer, path)) for answer in answers)
    return dict(zip(frames, found, strict=False))


def _read(answer: list[str], path: str) -> Iterable[HostPlace]:
    """Pairs of lines: a function, then `file:line`."""
    for function, where in zip(answer[::2], answer[1::2], strict=False):
        file, _, line = where.partition(" (")[0].rpartition(":")
        known = function if function != "??" else None
        if file in ("", "??") or not line.isdecimal():
            yield HostPlace(Path(path).name, None, known)
        else:
            yield HostPlace(file, int(line) or None, known)
