"""The causes of lost points and the kinds of findings: a row per key, for tables, marks and the
pages of `grade explain`.

Words, meanings and advice have no figures of a run: for a hidden case they reveal no more than its
message. Where another table has a text already, the row takes it from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grader.messages.cause_row import (
    EXCHANGED,
    GOAL,
    LAUNCH,
    UNREPEATABLE,
    WRONG,
    CauseRow,
    Group,
)
from grader.messages.findings import FINDINGS
from grader.messages.host_findings import ROWS as HOST_ROWS
from grader.messages.output_advice import OUTPUT_ADVICE
from grader.messages.plans import OTHER_EXERCISE, advise_on_obstacle, name_obstacle, show_obstacle
from grader.metrics import CHECKED_CASES, CORRECTNESS, METRICS, Shows
from grader.records import FindingKind, Obstacle
from grader.records.program_metrics import HOST_FINDINGS
from grader.statuses import Status

# --- wrong outputs --------------------------------------------------------------------------------


def _output(key: str, text: str, meaning: str, fix: str = "", *, drawn: bool = True) -> CauseRow:
    return CauseRow(
        text,
        Group.OUTPUTS,
        meaning,
        fix or OUTPUT_ADVICE.get(key, "") or METRICS[CORRECTNESS].advice,
        CORRECTNESS,
        gallery="mistakes" if drawn else "",
        kernels=(key,) if drawn else (),
        exercises=("transpose",),
    )


_TRANSPOSED_TILE = "Of a transpose by tiles: the tile goes to the right place of the output"
_OUTPUTS: Mapping[str, CauseRow] = {
    WRONG: _output(
        WRONG,
        "wrong values",
        "Some elements differ from the expected values by more than the tolerance, in no pattern"
        " with a name of its own.",
    ),
    EXCHANGED: _output(
        EXCHANGED,
        "input and output exchanged in the launch line?",
        "The kernel writes to an input, and the output keeps the contents from before the launch.",
    ),
    UNREPEATABLE: _output(
        UNREPEATABLE,
        "other outputs when it runs again",
        "The same launch with the same inputs gives other outputs.",
        "Find the threads whose order decides the value: a missing barrier, or an element that"
        " several threads write.",
        drawn=False,
    ),
    "never_written": _output(
        "never_written",
        "the output is never written",
        "The output has the same contents after the launch as before it.",
        "Check the condition before the store, and the pointer that the launch line passes.",
    ),
    "partly_written": _output(
        "partly_written",
        "a part of the output is never written",
        "Some elements of the output have the contents from before the launch: no thread writes"
        " them.",
        "Compare the number of threads with the number of elements: the grid, and the steps of"
        " each loop, must cover all of them.",
    ),
    "untransposed": _output(
        "untransposed",
        "copied, not transposed",
        "The output equals the input: row and column are not exchanged.",
    ),
    "blocks_unswapped": _output(
        "blocks_unswapped",
        "block indices not exchanged for the output?",
        "Of a transpose by tiles: each tile is transposed, but it goes to the place where it was"
        " read.",
    ),
    "tiles_in_place": _output(
        "tiles_in_place",
        "tiles not transposed inside",
        f"{_TRANSPOSED_TILE}, but its elements keep their order.",
    ),
    "index_off_by_one": _output(
        "index_off_by_one",
        "an index off by one?",
        "The expected values are in the output, a few places away from their own.",
    ),
    "off_diagonal": _output(
        "off_diagonal",
        "tiles off the diagonal are wrong",
        "The tiles on the diagonal, where row and column of the block are equal, are right; others"
        " are wrong.",
        "Look for an index in which blockIdx.x and blockIdx.y are exchanged: on the diagonal, the"
        " exchange changes nothing.",
    ),
    "edge": _output(
        "edge",
        "wrong at the edge: not handled?",
        "Only the last rows or columns are wrong: the size is no multiple of the block's.",
    ),
    "zeros": _output(
        "zeros",
        "wrong elements are 0",
        "Every wrong element is 0.",
        "Look for elements of a tile that no thread fills, and for a sum that starts again or is"
        " never added.",
    ),
    "not_finite": _output(
        "not_finite",
        "NaN or infinity",
        "Every wrong element is NaN or infinity.",
        "Look for a division by zero, a square root or logarithm of a negative number, an overflow,"
        " and a read of unwritten memory.",
    ),
    "all_wrong": _output(
        "all_wrong",
        "every element is wrong",
        "No element has its expected value.",
    ),
}

# --- memory accesses and time ---------------------------------------------------------------------

_CONFLICTS = ("transpose", "gemm_tiled")


def _waste(
    text: str,
    metric: str,
    meaning: str,
    gallery: str = "",
    kernels: tuple[str, ...] = (),
    *,
    exercises: tuple[str, ...] = (),
    code: str = "",
) -> CauseRow:
    return CauseRow(
        text,
        Group.MEMORY,
        meaning,
        METRICS[metric].advice,
        metric,
        gallery=gallery,
        kernels=kernels,
        exercises=exercises,
        code=code,
    )


_MEMORY: Mapping[str, CauseRow] = {
    "bank_conflicts": _waste(
        "bank conflicts",
        "shared_bank_conflicts",
        "Lanes of a warp need different words of the same bank of shared memory. A bank delivers"
        " one word of 4 bytes at a time, so the access takes more wavefronts than necessary.",
        "banks",
        ("column_of_32", "column_of_33"),
        exercises=_CONFLICTS,
    ),
    "wavefronts": _waste(
        "many accesses to shared memory",
        "shared_wavefronts",
        "Accesses to shared memory take many wavefronts, although no bank conflicts: the kernel"
        " reads shared memory too often.",
        "banks",
        ("row", "float4_row"),
        exercises=("gemm_register_blocked",),
    ),
    "uncoalesced_loads": _waste(
        "loads not coalesced",
        "global_load_efficiency",
        "Loads of a warp from global memory use a part of the bytes that they move: memory moves"
        " whole sectors of 32 bytes, and the lanes read from more sectors than necessary.",
        "coalescing",
        ("column", "consecutive"),
        exercises=("gemm_coalesced", "transpose"),
    ),
    "uncoalesced_stores": _waste(
        "stores not coalesced",
        "global_store_efficiency",
        "Stores of a warp to global memory fill a part of the bytes that they move: memory moves"
        " whole sectors of 32 bytes, and the lanes write to more sectors than necessary. The"
        " picture shows reads; stores move the same sectors.",
        "coalescing",
        ("column", "consecutive"),
        exercises=("transpose", "gemm_coalesced"),
    ),
    "load_sectors": _waste(
        "many sectors loaded",
        "global_load_sectors",
        "Global loads request many sectors, also if each load is coalesced: several threads or"
        " blocks load the same values again.",
        "coalescing",
        ("stride_2", "consecutive"),
        exercises=("gemm_tiled", "convolution"),
    ),
    "store_sectors": _waste(
        "many sectors stored",
        "global_store_sectors",
        "Global stores and atomics write many sectors: elements are written more than once, or each"
        " store fills a part of its sectors.",
        "coalescing",
        ("stride_2", "consecutive"),
        exercises=("histogram", "sort"),
    ),
    "instructions": _waste(
        "many instructions",
        "instructions_executed",
        "The kernel executes more warp instructions than the goal allows, often for indices and"
        " loops.",
        exercises=("convolution",),
        code="for (int k = 0; k < K; ++k)\n"
        "    sum += A[(size_t)row * K + k];    // the product is the same in each step\n"
        "\n"
        "const float *a = A + (size_t)row * K; // once, before the loop\n"
        "#pragma unroll 8\n"
        "for (int k = 0; k < K; ++k)\n"
        "    sum += a[k];",
    ),
    "slow": _waste(
        "too slow",
        "time_ms",
        "The time misses its goal, and no kind of waste is large enough to explain it.",
        exercises=("reduction",),
    ),
}

# --- ends of a grading ----------------------------------------------------------------------------


def _end(text: str, meaning: str, fix: str, code: str = "") -> CauseRow:
    return CauseRow(text, Group.ENDS, meaning, fix, code=code)


_ENDS: Mapping[str, CauseRow] = {
    "compile_errors": _end(
        "does not compile",
        "The compiler found a mistake in the file.",
        "Start with the first message: later messages are often its consequences.",
        'out[0] = in[0] + nothing;    // error: identifier "nothing" is undefined',
    ),
    "no_kernel": _end(
        "the file has no kernel",
        "The file has no `__global__` function.",
        "Write the kernel that the handout names.",
        "__global__ void transpose(float *out, const float *in, int rows, int cols)",
    ),
    "no_source": _end(
        "the file is empty or no text",
        "The file is empty, or it is not a source text.",
        "Hand in the .cu file itself, not an archive, a document or a compiled program.",
    ),
    "static_shared_memory": _end(
        "shared arrays too large",
        "The `__shared__` arrays of a kernel have more bytes than a block can have without"
        " dynamic shared memory, 48 KiB.",
        "Use smaller tiles, or dynamic shared memory.",
        "__shared__ float tile[128][128];    // 65,536 bytes",
    ),
    "forbidden": _end(
        "uses a forbidden feature",
        "The file uses a feature that the exercise or the grader forbids.",
        "Remove the named use; the handout lists the rules.",
    ),
    "foreign_include": _end(
        "includes a file that it may not read",
        "An `#include` names a file outside of the CUDA toolkit's and the C++ headers.",
        "Copy the needed functions into the submission.",
        '#include "helpers.h"    // one file is handed in',
    ),
    "launch_line": _end(
        "an invalid launch line",
        "A `// launch:` line cannot be read.",
        "Compare the line with the form below, up to the column of the message.",
        "// launch: kernel<<<ceil_div(n, 256), 256>>>(out, in, n)",
    ),
    OTHER_EXERCISE: _end(
        "written for another exercise",
        "The launch lines use the buffers and sizes of another exercise.",
        "Grade the file with its own exercise.",
    ),
    "part_left_out": _end(
        "a part is left out",
        "The file does not have the kernel of a part of the exercise.",
        "Write the kernel that the part names, or leave its points.",
    ),
}


def _statuses() -> Iterator[tuple[str, CauseRow]]:
    for status in Status:
        if row := status.row:
            fix = row.unseen_advice or "Read the message: it names the cause and the place."
            if row.clause:
                yield status.value, _end(row.clause, row.meaning, fix)


# --- the families ---------------------------------------------------------------------------------

_UNDRAWN = {FindingKind.WALL_LIMIT, FindingKind.ORDER_DEPENDENT}


def _findings() -> Iterator[tuple[str, CauseRow]]:
    for kind, row in FINDINGS.items():
        drawn = kind not in _UNDRAWN
        yield (
            kind.value,
            CauseRow(
                row.cause,
                Group.KERNELS,
                row.meaning,
                row.advice,
                CHECKED_CASES,
                row.sanitizer,
                "mistakes" if drawn else "",
                (kind.value,) if drawn else (),
                row.code,
                ("find_the_bugs",),
            ),
        )


def _launches() -> Iterator[tuple[str, CauseRow]]:
    for each in Obstacle:
        words = name_obstacle(each)
        meaning = f"{words[0].upper()}{words[1:]}."
        fix, code = advise_on_obstacle(each), show_obstacle(each)
        yield LAUNCH + each.value, CauseRow(words, Group.LAUNCHES, meaning, fix, code=code)


def _host_mistakes() -> Iterator[tuple[str, CauseRow]]:
    for kind, row in HOST_ROWS.items():
        yield (
            kind,
            CauseRow(
                row.cause,
                Group.HOST,
                row.meaning,
                row.advice,
                HOST_FINDINGS,
                code=row.code,
                exercises=("streams",),
            ),
        )


_NO_ADVICE = "The handout explains the goal; `grade metrics` explains the metric."


def _goals() -> Iterator[tuple[str, CauseRow]]:
    for name, metric in METRICS.items():
        if metric.shows in (Shows.NOTHING, Shows.FINDING, Shows.HOST_MISTAKES):
            meaning = f"The goal for this metric is missed: {metric.meaning}."
            text = f"{metric.noun} misses the goal"
            yield (
                GOAL + name,
                CauseRow(text, Group.MEMORY, meaning, metric.advice or _NO_ADVICE, name),
            )


CAUSES: Mapping[str, CauseRow] = {
    **_OUTPUTS,
    **_MEMORY,
    **_ENDS,
    **dict(_statuses()),
    **dict(_findings()),
    **dict(_launches()),
    **dict(_host_mistakes()),
    **dict(_goals()),
}
"""By key. One family has its names in the timing model: the resource that bounds a launch."""
