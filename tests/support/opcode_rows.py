"""A row of an opcode test: one instruction, and what it should write, as a Python function of its
operands.

All rows of a group become one kernel. Each lane loads operands of its own, and every row stores
what it wrote:
    inputs   R4 = a, R5 = b, R6 = c, R7 = d (64-bit operands are the pairs R4:R5 and R6:R7),
             P0 = p, P1 = q
    fixed    UR10 = UNIFORM, c[0x0][0x220] = CONSTANT (64 bits)
    outputs  R12, R13, P2, P3; whatever a row does not say must be as it was (SENTINEL, false)
A uniform row is the same on UR and UP registers, one value a warp. The forms of a row: `guarded` (a
guard that some lanes fail), `apart` (some lanes have branched around the instruction; in some warps
none has), `together` (plain).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st

from grader.emulator.codegen.opcodes.row import Opcode
from tests.support.assembler import build, launch

MASK = 0xFFFFFFFF
SENTINEL = 0x5E5E5E5E
UNIFORM = 0x80000005
CONSTANT = 0x89ABCDEF01234567
GUARDED_ONE_IN = 4
LANE_FORMS = ("apart", "some guarded", pytest.param("guarded", marks=pytest.mark.slow))
"""A guard is made the mask of the lanes before an opcode's own code, which writes under such a mask
in every row that is apart; so the guard itself is tried with the first of so many rows of a group
by default, and with all of them by --run-slow."""
TOGETHER = 64
"""That many lanes of `lanes_of`, two warps, skip nothing: they run the converged form of the rows
that are apart."""


class Lane(NamedTuple):
    """The operands of one lane; a to d are 32-bit words, `skips` says that the guard fails or the
    branch is taken."""

    a: int
    b: int
    c: int
    d: int
    flags: int

    @property
    def p(self) -> bool:
        return bool(self.flags & 1)

    @property
    def q(self) -> bool:
        return bool(self.flags & 2)

    @property
    def skips(self) -> bool:
        return bool(self.flags & 4)

    @property
    def ab(self) -> int:
        """The 64-bit operand R4:R5."""
        return self.b << 32 | self.a

    @property
    def cd(self) -> int:
        """The 64-bit operand R6:R7."""
        return self.d << 32 | self.c


@dataclass(frozen=True)
class Wrote:
    """What an instruction writes; None is left alone."""

    low: int | None = None
    high: int | None = None
    p: bool | None = None
    q: bool | None = None


UNTOUCHED = (SENTINEL, SENTINEL, False, False)


@dataclass(frozen=True)
class Row:
    """An instruction's text, and what it writes: an int goes to R12 modulo 2^32."""

    text: str
    expected: Callable[[Lane], int | Wrote]

    @property
    def opcode(self) -> str:
        return self.text.split()[0]

    @property
    def base(self) -> str:
        return self.opcode.partition(".")[0]

    @functools.cache  # noqa: B019 - rows live as long as their modules, and each form asks
    def outputs(self, lane: Lane) -> tuple[int, int, bool, bool]:
        """Contents of R12, R13, P2, P3 after the instruction."""
        wrote = self.expected(lane)
        if isinstance(wrote, int):
            wrote = Wrote(wrote)
        given = (wrote.low, wrote.high, wrote.p, wrote.q)
        low, high, p, q = (
            old if new is None else new for old, new in zip(UNTOUCHED, given, strict=True)
        )
        return low & MASK, high & MASK, bool(p), bool(q)


def pair(value: int) -> Wrote:
    """A 64-bit result in R12:R13."""
    return Wrote(value & MASK, value >> 32 & MASK)


def signed(word: int) -> int:
    """A 32-bit word as a two's complement number."""
    return word - (1 << 32) if word >> 31 else word


def signed64(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def uniform_row(row: Row) -> Row:
    """The same row on the uniform datapath."""
    text = re.sub(r"(?<!\.)\b(?=(?:R|P)(?:\d|Z|T))", "U", row.text)
    return Row(f"U{text}", row.expected)


_UNIFORM_OUTPUT = re.compile(r"\bU(R12|RZ|P2)\b")

# --- running --------------------------------------------------------------------------------------

_PROLOGUE = """
    S2R R0,SR_TID.X
    S2R R1,SR_CTAID.X
    IMAD R0,R1,{lanes:#x},R0
    ULDC.64 UR2,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R0,0x14,R2
    LDG.E R4,desc[UR2][R2.64]
    LDG.E R5,desc[UR2][R2.64+0x4]
    LDG.E R6,desc[UR2][R2.64+0x8]
    LDG.E R7,desc[UR2][R2.64+0xc]
    LDG.E R8,desc[UR2][R2.64+0x10]
    LDC.64 R2,c[0x0][0x218]
    IMAD.WIDE.U32 R2,R0,{stride:#x},R2
    UMOV UR10,{uniform:#x}
"""
_LANE_INPUTS = """
    LOP3.LUT P0,RZ,R8,0x1,RZ,0xc0,!PT
    LOP3.LUT P1,RZ,R8,0x2,RZ,0xc0,!PT
    LOP3.LUT P6,RZ,R8,0x4,RZ,0xc0,!PT
"""
_UNIFORM_INPUTS = """
    R2UR UR4,R4
    R2UR UR5,R5
    R2UR UR6,R6
    R2UR UR7,R7
    R2UR UR8,R8
    ULOP3.LUT UP0,URZ,UR8,0x1,URZ,0xc0,!UPT
    ULOP3.LUT UP1,URZ,UR8,0x2,URZ,0xc0,!UPT
    ULOP3.LUT UP6,URZ,UR8,0x4,URZ,0xc0,!UPT
"""
_LANE_PRESET = """
    MOV R12,{sentinel:#x}
    MOV R13,{sentinel:#x}
    ISETP.NE.AND P2,P3,RZ,RZ,!PT
    ISETP.NE.AND P3,PT,RZ,RZ,PT
"""
_UNIFORM_PRESET = """
    UMOV UR12,{sentinel:#x}
    UMOV UR13,{sentinel:#x}
    UISETP.NE.AND UP2,UPT,URZ,URZ,UPT
    UISETP.NE.AND UP3,UPT,URZ,URZ,UPT
"""
_STORE = """
    SEL R14,RZ,0x1,!{u}P2
    SEL R15,RZ,0x2,!{u}P3
    IADD3 R14,R14,R15,RZ
    MOV R15,{u}R12
    STG.E desc[UR2][R2.64+{low:#x}],R15
    MOV R15,{u}R13
    STG.E desc[UR2][R2.64+{high:#x}],R15
    STG.E desc[UR2][R2.64+{flags:#x}],R14
"""
_BODIES = {
    "together": "    {text}\n",
    "guarded": "    @!{u}P6 {text}\n",
    "apart": (
        "    BSSY B0,join_{name}\n    @P6 BRA skip_{name}\n    {text}\nskip_{name}: BSYNC"
        " B0\njoin_{name}: NOP\n"
    ),
}


@functools.cache
def _program(texts: tuple[str, ...], form: str, *, uniform: bool) -> str:
    letter = "U" if uniform else ""
    parts = [_PROLOGUE.format(lanes=1 if uniform else 32, stride=12 * len(texts), uniform=UNIFORM)]
    parts.append(_UNIFORM_INPUTS if uniform else _LANE_INPUTS)
    for index, text in enumerate(texts):
        name = "".join(chr(ord("a") + digit) for digit in divmod(index, 26))
        parts.append((_UNIFORM_PRESET if uniform else _LANE_PRESET).format(sentinel=SENTINEL))
        parts.append(_BODIES[form].format(text=text, u=letter, name=name))
        parts.append(
            _STORE.format(u=letter, low=12 * index, high=12 * index + 4, flags=12 * index + 8)
        )
    return "".join([*parts, "    EXIT\n"])


def run_rows(
    rows: Sequence[Row], lanes: Sequence[Lane], form: str
) -> list[list[tuple[int, int, bool, bool]]]:
    """Per row and lane, what R12, R13, P2 and P3 hold after the row's instruction."""
    uniform = bool(_UNIFORM_OUTPUT.search(rows[0].text))
    kernel = build(_program(tuple(row.text for row in rows), form, uniform=uniform))
    width = 1 if uniform else 32
    padded = [*lanes, *[Lane(0, 0, 0, 0, 0)] * (-len(lanes) % width)]
    inputs = np.array(padded, dtype=np.uint32)
    outputs = np.zeros((len(padded), len(rows), 3), dtype=np.uint32)
    blocks = len(padded) // width
    run = launch(
        kernel, {"in": inputs, "out": outputs}, [CONSTANT], grid=(blocks, 1, 1), block=(width, 1, 1)
    )
    words = run.arrays["out"][: len(lanes)].tolist()
    return [
        [(low, high, bool(f & 1), bool(f & 2)) for low, high, f in (lane[index] for lane in words)]
        for index in range(len(rows))
    ]


def check_rows(rows: Sequence[Row], lanes: Sequence[Lane], form: str) -> None:
    """Run the rows and compare each lane; the message shows each wrong instruction, with the
    operands of its first wrong lane."""
    if form == "some guarded":
        rows, form = rows[::GUARDED_ONE_IN], "guarded"
    results = zip(rows, run_rows(rows, lanes, form), strict=True)
    wrong = [message for row, got in results if (message := _first_wrong(row, lanes, form, got))]
    assert not wrong, "\n".join(wrong)


def _first_wrong(
    row: Row, lanes: Sequence[Lane], form: str, got: Sequence[tuple[int, int, bool, bool]]
) -> str | None:
    for lane, result in zip(lanes, got, strict=True):
        want = UNTOUCHED if form != "together" and lane.skips else row.outputs(lane)
        if result != want:
            return _message(row, lane, form, result, want)
    return None


def _message(
    row: Row,
    lane: Lane,
    form: str,
    got: tuple[int, int, bool, bool],
    want: tuple[int, int, bool, bool],
) -> str:
    values = " ".join(f"{name}={value:#x}" for name, value in zip("abcd", lane, strict=False))
    results = (f"{low:#010x} {high:#010x} {p} {q}" for low, high, p, q in (got, want))
    return (
        f"{row.text} ({form}) with {values} p={lane.p} q={lane.q} skips={lane.skips}: got"
        f" {next(results)}, want {next(results)}"
    )


# --- choosing -------------------------------------------------------------------------------------


def groups(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by base opcode: each group is one kernel, so that one bad row leaves the other groups
    alone."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.base, []).append(row)
    return found


def lanes_of(values: Sequence[int]) -> list[Lane]:
    """Every pair of the values as a and b, with c, d and the flags running through all of
    theirs."""
    count = len(values)
    pairs = [(i, j) for i in range(count) for j in range(count)]
    return [
        Lane(
            values[i],
            values[j],
            values[(3 * i + 7 * j + 1) % count],
            values[(5 * i + j + 2) % count],
            (i * 5 + j * 3) % (4 if index < TOGETHER else 8),
        )
        for index, (i, j) in enumerate(pairs)
    ]


def drawn_lanes(words: st.SearchStrategy[int]) -> st.SearchStrategy[list[Lane]]:
    """Two warps of lanes with drawn operands."""
    return st.lists(
        st.builds(Lane, words, words, words, words, st.integers(0, 7)), min_size=64, max_size=64
    )


draw_a_few = settings(max_examples=4, deadline=None, derandomize=True, phases=[Phase.generate])
"""Every example runs all rows of a group on 64 lanes; there is nothing to shrink, since messages
name the first wrong lane."""


def uncovered(
    table: Mapping[str, Opcode], rows: Iterable[Row], besides: Collection[str] = ()
) -> set[str]:
    """Opcodes, and modifiers of opcodes, of a table that no row uses; `besides` names those that
    are tested elsewhere."""
    used = {f"{row.base}.{modifier}" for row in rows for modifier in row.opcode.split(".")} | {
        row.base for row in rows
    }
    wanted = {
        f"{name}.{modifier}" for name, opcode in table.items() for modifier in opcode.modifiers
    } | set(table)
    return wanted - used - set(besides)
