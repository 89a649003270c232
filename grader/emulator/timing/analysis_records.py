"""Records of code and traces, and of their analysis, which Python and the C++ runtime share (see
timing_records.py)."""

from __future__ import annotations

from typing import Annotated


class CodeRow:
    """An instruction: its pipe, and the control bits of its encoding. `argument`: n of
    `DEPBAR.LE SB0, n` and of the wait for products; ENDS_GROUP, OBJECT_SET and others."""

    unit: int
    kind: int
    latency: int
    passes: int
    """Passes through its pipe or queue."""
    stall: int
    write_scoreboard: int
    read_scoreboard: int
    wait_mask: int
    sources: int
    """The registers of its operands, a byte each; NO_REGISTER for other operands."""
    reuse: int
    """Mask of the operands that the register cache keeps."""
    argument: int
    atomic: int
    """0 for none, 1 for integers, 2 for floats, 3 for compare-and-swap."""
    past_l1: int
    """1: a load that always goes to the L2; 2: a load that can hit only lines in flight; else 0."""
    narrow: int
    """1 for loads of less than a word: an H200's SM takes 2 instead of 1 cycles for them if they
    wait for data."""


class Step:
    """An executed instruction of a warp: its index in the code, and of its access, -1 for none."""

    code: Annotated[int, "i4"]
    access: Annotated[int, "i4"]


class Access:
    """An access of `lanes` lanes: `wavefronts` and `tags` in cycles, and lines `first` to `end`.

    `more`: accesses of the same instruction, directly behind this one (asynchronous copies).
    `tags` of an operation on a barrier object: its bytes or copies (cpp/timing/tracing.h); of an
    access to shared memory: packets to other blocks of the cluster."""

    first: int
    end: int
    wavefronts: Annotated[int, "i4"]
    tags: Annotated[int, "i4"]
    space: Annotated[int, "i1"]
    lanes: Annotated[int, "i1"]
    more: Annotated[int, "i2"]


class Line:
    """A line of an access, with masks of the sectors that it touches, and of the sectors and words
    that it covers.

    For atomics: `rounds` are the turns of the line's L2 slice, `chain` the lanes at the most
    contended word.
    """

    number: int
    touched: Annotated[int, "i1"]
    whole: Annotated[int, "i1"]
    rounds: Annotated[int, "u1"]
    chain: Annotated[int, "u1"]
    words: Annotated[int, "u4"]


class Trace:
    """The `words` of all warps, warp after warp (cpp/timing/tracing.h), and their expansion.

    `ends`: 0, then the end of each warp's words; `starts` and `sizes`: of basic blocks; `widths`:
    bytes per lane, by instruction; `atomics`: 1 for atomics. `first`: the first step of each warp,
    then the end of the last warp.
    """

    words: Annotated[int, "uint32_t *"]
    ends: Annotated[int, "int64_t *"]
    starts: Annotated[int, "int64_t *"]
    sizes: Annotated[int, "int64_t *"]
    widths: Annotated[int, "int64_t *"]
    atomics: Annotated[int, "int64_t *"]
    first: Annotated[int, "int64_t *"]
    steps: Annotated[int, "Step *"]
    accesses: Annotated[int, "Access *"]
    lines: Annotated[int, "Line *"]
    warp_count: int
    step_count: int
    access_count: int
    line_count: int


class Stream:
    """The warps of some blocks (streams.Streams), and the table of their code."""

    table: Annotated[int, "CodeRow *"]
    first: Annotated[int, "int64_t *"]
    steps: Annotated[int, "Step *"]
    accesses: Annotated[int, "Access *"]
    lines: Annotated[int, "Line *"]
    block_count: int
    warps_per_block: int


class Region:
    """A buffer's lines, and the accessed parts: pairs of sectors of which at least one was loaded,
    their sectors in the first load (`loaded_first`), and the pages that hold them; stored sectors;
    sectors that only stores accessed, and not completely (`partial`), and their lines; sectors that
    atomics read; stored pages."""

    first_line: int
    end_line: int
    loaded_pairs: int
    loaded_first: int
    loaded_pages: int
    stored: int
    partial: int
    partial_lines: int
    updated: int
    stored_pages: int


class Touched:
    """The accesses of streams to buffers. `known` and `words` have a number per line of global
    memory: the accessed sectors by kind, and the covered words. The caller sets both to 0."""

    streams: Annotated[int, "Stream *"]
    known: Annotated[int, "uint16_t *"]
    words: Annotated[int, "uint32_t *"]
    regions: Annotated[int, "Region *"]
    region_count: int


class Walks:
    """Loads of the same lines by several blocks. A visitor is a group of `at_once` blocks, which
    are resident on one SM together. Four arrays have a number per line of global memory, which the
    caller sets to 0: `visitors`, the last visitor that loaded it, from `first_visitor` + 1 on;
    `known`, the sectors that this visitor loaded; `places`, 1 + the number of steps that the first
    warp had executed when it loaded the line; `warps`, this warp's number in its block.

    Results: `distinct`: pairs of sectors, summed over visitors; `loaded`: lines, likewise;
    `reloaded`: lines that a visitor loads after another visitor; `together`: those of them that it
    loads after about as many steps; `merged`: by the same warp, after nearly as many steps."""

    streams: Annotated[int, "Stream *"]
    visitors: Annotated[int, "uint32_t *"]
    known: Annotated[int, "uint16_t *"]
    places: Annotated[int, "uint32_t *"]
    warps: Annotated[int, "uint8_t *"]
    first_visitor: int
    at_once: int
    distinct: int
    loaded: int
    reloaded: int
    together: int
    merged: int


class ContentionSums:
    """Contention of the blocks' atomics. `visitors`, `known`, `chains` and `swapped` have a number
    per line of global memory: the only block with atomics there, from 1 on; the sectors of these
    atomics; the lanes that wait for each other, or the sectors that the only block has visited so
    far; the swapped words. Results: `alone`: turns of lines that a single block uses, per buffer;
    `pairs`: pairs of sectors with atomics, per buffer; `repeated`: further visits of them by the
    only block at a line; `turns`: turns per slice of the L2; `visits` and `pair_visits`: lines and
    pairs of sectors, summed over all atomics. The longest chain consists of floats added to a line.
    `contended_swaps`: tries at the words of all `swaps`, summed over them; `successes`: lanes whose
    swaps succeed. The caller sets all of them to 0."""

    streams: Annotated[int, "Stream *"]
    regions: Annotated[int, "Region *"]
    visitors: Annotated[int, "uint32_t *"]
    known: Annotated[int, "uint16_t *"]
    chains: Annotated[int, "uint32_t *"]
    swapped: Annotated[int, "uint32_t *"]
    alone: Annotated[int, "double *"]
    pairs: Annotated[int, "int64_t *"]
    repeated: Annotated[int, "int64_t *"]
    turns: Annotated[int, "double *"]
    region_count: int
    slice_count: int
    visits: int
    pair_visits: int
    longest_chain: int
    swaps: float
    contended_swaps: float
    successes: float


ANALYSIS_RECORDS = (
    *(CodeRow, Step, Access, Line),
    *(Trace, Stream, Region, Touched, Walks, ContentionSums),
)
