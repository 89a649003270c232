"""Records of what is found in the traces of some blocks, which Python and the runtime in C++ share
as they do those of timing_records.py."""

from __future__ import annotations

from typing import Annotated


class Totals:
    """What the blocks of some streams do on the whole. By block: how often each instruction is
    `executed` (a row of `instruction_count`), the sectors of its global accesses and the
    wavefronts of its shared ones, asynchronous copies apart. All three are 0 before."""

    table: Annotated[int, "CodeRow *"]
    first: Annotated[int, "int64_t *"]
    steps: Annotated[int, "Step *"]
    accesses: Annotated[int, "Access *"]
    lines: Annotated[int, "Line *"]
    executed: Annotated[int, "int64_t *"]
    sectors: Annotated[int, "int64_t *"]
    wavefronts: Annotated[int, "int64_t *"]
    block_count: int
    warps_per_block: int
    instruction_count: int


class Region:
    """A buffer, from its first line to its end, and what was touched of it: pairs of sectors of
    which one was loaded, and the pages that hold them; sectors that were stored, those that stores
    alone touched, and not whole, and the lines of these (`partial`); sectors that atomics read; and
    pages that were stored."""

    first_line: int
    end_line: int
    loaded_pairs: int
    loaded_pages: int
    stored: int
    partial: int
    partial_lines: int
    updated: int
    stored_pages: int


class Touched:
    """What steps touch of the buffers. `known` and `words` have a number for each line of global
    memory, 0 before: what was touched of it, and the words that were covered."""

    table: Annotated[int, "CodeRow *"]
    steps: Annotated[int, "Step *"]
    accesses: Annotated[int, "Access *"]
    lines: Annotated[int, "Line *"]
    known: Annotated[int, "uint16_t *"]
    words: Annotated[int, "uint32_t *"]
    regions: Annotated[int, "Region *"]
    step_count: int
    region_count: int


class Walks:
    """Where blocks load the same lines. So many blocks `at_once` are a visitor, as they are on one
    SM. `visitors`, `known` and `places` have a number a line of global memory, 0 before: the last
    visitor that loaded it, from `first_visitor` + 1 on, the sectors that this one loaded, and how
    many steps the first warp had done that loaded it, from 1 on. `distinct` are the pairs of
    sectors that visitors load, each for itself; `met` the lines that one loads behind another one,
    and `together` those of them that it loads after as many steps, or nearly."""

    table: Annotated[int, "CodeRow *"]
    first: Annotated[int, "int64_t *"]
    steps: Annotated[int, "Step *"]
    accesses: Annotated[int, "Access *"]
    lines: Annotated[int, "Line *"]
    visitors: Annotated[int, "uint32_t *"]
    known: Annotated[int, "uint16_t *"]
    places: Annotated[int, "uint32_t *"]
    first_visitor: int
    at_once: int
    block_count: int
    warps_per_block: int
    distinct: int
    met: int
    together: int


class Meetings:
    """Where atomics of blocks meet. `visitors`, `known`, `chains` and `swapped` have a number for
    each line of global memory: the only block whose atomics touch it, from 1 on, its sectors that
    they touch, the lanes that wait for each other there, and the words that were swapped. `alone`
    becomes the turns of lines that one block touches, by buffer, and `pairs` the pairs of sectors
    that atomics touch; `turns` those of each slice of the L2; `visits` and `pair_visits` are the
    lines and the pairs of sectors that all atomics touch, one by one. The longest chain is of
    floats that are added to a line. `met_swaps` are the swaps at the words of all `swaps`, one by
    one; `tries` and `swap_turns` are the lanes that ask for a swap and the turns of their slices,
    each as often as so many lanes ask. All of them are 0 before."""

    table: Annotated[int, "CodeRow *"]
    first: Annotated[int, "int64_t *"]
    steps: Annotated[int, "Step *"]
    accesses: Annotated[int, "Access *"]
    lines: Annotated[int, "Line *"]
    regions: Annotated[int, "Region *"]
    visitors: Annotated[int, "uint32_t *"]
    known: Annotated[int, "uint16_t *"]
    chains: Annotated[int, "uint32_t *"]
    swapped: Annotated[int, "uint32_t *"]
    alone: Annotated[int, "double *"]
    pairs: Annotated[int, "int64_t *"]
    turns: Annotated[int, "double *"]
    block_count: int
    warps_per_block: int
    region_count: int
    slice_count: int
    visits: int
    pair_visits: int
    longest_chain: int
    swaps: float
    met_swaps: float
    tries: float
    swap_turns: float
