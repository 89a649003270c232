"""The part of the corpus that every run executes: as little code as has every opcode with every
modifier.

`tests/data/corpus/opcodes.json` says what the machine code of each file has at -O3, and how much it
is, under the SHA-256 of its source: the choice needs no disassembler, and is the same everywhere.
What is not listed, new or changed, is always run.

    python -m tests.support.corpus_cover     lists all kernels anew: after new ones, and after
    `tests.support.corpus record`
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from grader.records import Binary
from tests.support.corpus import Case, compile_case, find_cases, find_recorded
from tests.support.corpus_record import FOLDER, digest

LEVEL = 3
_LIST = FOLDER / "opcodes.json"
DEAR = frozenset({"header_cub_blocks", "header_thrust_device"})
"""Kernels of 6 s each; tests of opcodes and of faults have rows for what only they have (UBMSK,
FSETP.LE and FSETP.LTU, BPT.TRAP)."""
_LAUNCH = 100
"""What running a case takes beside translating its instructions, in instructions."""


@dataclass(frozen=True)
class Listed:
    """The opcodes of a file, alone and with each modifier (`ISETP`, `ISETP.GE`, `ISETP.AND`), and
    its number of instructions."""

    opcodes: frozenset[str]
    instructions: int

    @property
    def cost(self) -> int:
        return _LAUNCH + self.instructions


def list_opcodes(binary: Binary) -> Listed:
    """What there is in a binary."""
    code = [instruction.opcode for kernel in binary.kernels for instruction in kernel.instructions]
    split = [opcode.split(".") for opcode in set(code)]
    names = (
        name
        for base, *modifiers in split
        for name in (base, *(f"{base}.{each}" for each in modifiers))
    )
    return Listed(frozenset(names), len(code))


def find_listed(case: Case) -> Listed | None:
    """What is listed for a case as its source stands now; None for other levels than the one that
    is listed."""
    return _read_list().get(_key(case)) if case.level == LEVEL else None


def choose_cases(cases: Sequence[Case]) -> tuple[Case, ...]:
    """The cases that are not listed, and so few of the others that nothing that all of them have but
    the dear ones is left out: of those that a GPU has run first, then of the rest, which are compared with
    nothing."""
    found = {case: find_listed(case) for case in cases}
    listed = {
        case: each
        for case, each in found.items()
        if each is not None and case.path.stem not in DEAR
    }
    compared = {case: each for case, each in listed.items() if find_recorded(case) is not None}
    chosen = cover(compared)
    others = {case: each for case, each in listed.items() if case not in compared}
    chosen |= cover(others, covered=union(compared.values()))
    return tuple(case for case in cases if found[case] is None or case in chosen)


def cover(
    listed: Mapping[Case, Listed], *, covered: frozenset[str] = frozenset()
) -> frozenset[Case]:
    """Cases that have all opcodes together but for those that are `covered`, and none of which can
    be left out; always the same ones.

    Greedy: the case that adds most for its cost, the first by name of several. Then those go, the
    dearest first, that others made superfluous.
    """
    rows = {str(case): each for case, each in listed.items()}  # a case takes long to hash
    missing = union(rows.values()) - covered
    chosen: list[str] = []
    while missing:
        best = min(
            rows, key=lambda name: (-len(rows[name].opcodes & missing) / rows[name].cost, name)
        )
        chosen.append(best)
        missing -= rows[best].opcodes
    for name in sorted(chosen, key=lambda name: (-rows[name].cost, name)):
        rest = union(rows[other] for other in chosen if other != name)
        if rows[name].opcodes <= rest | covered:
            chosen.remove(name)
    return frozenset(case for case in listed if str(case) in chosen)


def union(listed: Iterable[Listed]) -> frozenset[str]:
    """All opcodes."""
    return frozenset().union(*(each.opcodes for each in listed))


def _key(case: Case) -> str:
    return digest(case.path.read_bytes())


@functools.cache
def _read_list() -> dict[str, Listed]:
    data = json.loads(_LIST.read_text(encoding="utf-8"))
    names = data["opcodes"]
    return {
        key: Listed(frozenset(names[place] for place in places), count)
        for key, (count, *places) in data["files"].items()
    }


def _write_list(listed: Mapping[str, Listed]) -> None:
    """One line a file: its number of instructions, then the places of its opcodes in the list of
    all."""
    names = sorted(union(listed.values()))
    places = {name: place for place, name in enumerate(names)}
    rows = {
        key: [each.instructions, *sorted(places[name] for name in each.opcodes)]
        for key, each in sorted(listed.items())
    }
    lines = ",\n".join(f'"{key}": {row}' for key, row in rows.items())
    _LIST.write_text(
        f'{{"opcodes": {json.dumps(names)},\n"files": {{\n{lines}\n}}}}\n', encoding="utf-8"
    )


def main() -> int:
    cases = [case for case in find_cases() if case.level == LEVEL]
    with ThreadPoolExecutor() as pool:
        listed = dict(
            zip(
                map(_key, cases),
                pool.map(lambda case: list_opcodes(compile_case(case)), cases),
                strict=True,
            )
        )
    _write_list(listed)
    print(
        f"{len(cases)} files, {len(union(listed.values()))} opcodes and modifiers,"
        f" {len(choose_cases(cases))} files are run by default"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
