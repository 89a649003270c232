"""The opcode table as Markdown: the supported instructions, family by family.

python -m grader.emulator.codegen.opcodes.reference    prints docs/reference/opcodes.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from grader.emulator.codegen.opcodes import FAMILIES
from grader.emulator.codegen.opcodes.load_store import HINTS
from grader.emulator.codegen.opcodes.row import Opcode

_HEAD = ("instruction", "effect", "supported modifiers")
_HINTS = frozenset(HINTS.split())
_COLUMNS = re.compile(r"^64x\d+x")


def render_coverage() -> str:
    """The table: a row per opcode; opcodes that differ only in the register file share a row."""
    lines = [_row(_HEAD), _row(("---",) * len(_HEAD))]
    for family, opcodes in FAMILIES.items():
        lines.append(_row((f"**{family}**", "", "")))
        lines += [_row(cells) for cells in _family_rows(opcodes)]
    return "\n".join(lines)


def _family_rows(opcodes: dict[str, Opcode]) -> Iterator[tuple[str, ...]]:
    groups: dict[tuple[object, frozenset[str]], list[str]] = {}
    for name, opcode in opcodes.items():
        groups.setdefault((opcode.emit, opcode.modifiers), []).append(name)
    for names in groups.values():
        opcode = opcodes[names[0]]
        yield ", ".join(names), _first_sentence(opcode), _modifiers(opcode)


def _modifiers(opcode: Opcode) -> str:
    """The modifiers in order, but "and cache hints" for the hints and scopes, which change no
    result, and 64xNx for the shapes of a warp group's products."""
    hints = _HINTS if opcode.modifiers >= _HINTS else frozenset()
    shown = {_COLUMNS.sub("64xNx", name) for name in opcode.modifiers - hints}
    names = [f".{name}" for name in sorted(shown)]
    return " ".join(names + ["and cache hints"] * bool(hints))


def _first_sentence(opcode: Opcode) -> str:
    """The first paragraph of the docstring of the opcode's function."""
    text = " ".join((opcode.emit.__doc__ or "").split("\n\n")[0].split())
    return text.rstrip(".").replace("|", "\\|").replace("*", "\\*")


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    print(render_coverage())
