"""What each kind of fix makes of a source text; nothing is compiled here."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from grader.fixes.kinds import Weakness, apply_edits, find_causes, find_fixes, list_changes
from grader.fixes.text import FixText
from grader.records import Counters, Fix, FixKind, SourceLine, Submission
from grader.spec.statements import Plan
from grader.submission.plan import read_plan

TILE = """\
#define T 32
// launch: k<<<dim3(ceil_div(c, T), ceil_div(r, T)), dim3(T, 8)>>>(out, in, r, c)
__global__ void k(float* out, const float* in, int r, int c) {
    __shared__ float tile[T][T];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    for (int j = 0; j < T; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * c + x];
    __syncthreads();
    for (int j = 0; j < T; j += 8) out[(x) * r + y + j] = tile[threadIdx.x][threadIdx.y + j];
}
"""
PRODUCT = """\
// launch: gemm<<<dim3(ceil_div(M, 16), ceil_div(N, 8)), dim3(16, 8)>>>(A, B, C, M, N, K)
__global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
    int row = blockIdx.x * 16 + threadIdx.x, col = blockIdx.y * 8 + threadIdx.y;
    if (row < M && col < N) C[row * N + col] = A[row * K] * B[col];
}
"""
EVERY = frozenset(Weakness)


def text_of(source: str, *worst: tuple[int, Counters]) -> FixText:
    plan = read_plan(Submission("x.cu", "", source))
    assert isinstance(plan, Plan)
    lines = tuple(SourceLine(line, "", counters) for line, counters in worst)
    return FixText(source, plan.launches, lines)


def fixes_of(
    source: str, kind: FixKind, *worst: tuple[int, Counters], causes: Collection[Weakness] = EVERY
) -> list[Fix]:
    return [m for m in find_fixes(text_of(source, *worst), causes) if m.kind is kind]


def rewritten(source: str, kind: FixKind, *worst: tuple[int, Counters]) -> list[str]:
    return [apply_edits(source, fix.edits) for fix in fixes_of(source, kind, *worst)]


def test_rows_of_a_shared_array_get_one_two_and_four_elements_more() -> None:
    found = fixes_of(TILE, FixKind.ROW_LENGTH)
    assert [(fix.name, fix.was, fix.now) for fix in found] == [
        ("tile", (32,), (length,)) for length in (33, 34, 36)
    ]
    assert apply_edits(TILE, found[0].edits) == TILE.replace("tile[T][T];", "tile[T][T + 1];")


def test_a_padded_row_is_lengthened_in_parentheses() -> None:
    source = TILE.replace("tile[T][T];", "tile[T][T + 2];")
    assert "tile[T][(T + 2) + 1];" in rewritten(source, FixKind.ROW_LENGTH)[0]


def test_an_array_of_one_dimension_is_lengthened_where_all_subscripts_have_one_pitch() -> None:
    source = """\
// launch: k<<<1, dim3(32, 32)>>>(out)
__global__ void k(float* out) {
    __shared__ float s[32 * 32];
    s[threadIdx.y * 32 + threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * 32 + threadIdx.y];
}
"""
    first = rewritten(source, FixKind.ROW_LENGTH)[0]
    assert "float s[32 * (32 + 1)];" in first
    assert "s[threadIdx.y * (32 + 1) + threadIdx.x] = 1;" in first
    assert "= s[threadIdx.x * (32 + 1) + threadIdx.y];" in first


def test_dynamic_memory_grows_with_its_rows() -> None:
    source = """\
#define P 32
// launch: k<<<1, dim3(32, 32), 32 * P * 4>>>(out)
extern __shared__ float s[];
__global__ void k(float* out) {
    s[threadIdx.y * P + threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x * P + threadIdx.y];
}
"""
    first = rewritten(source, FixKind.ROW_LENGTH)[0]
    assert "dim3(32, 32), (32 * P * 4) / 32 * 33>>>" in first
    assert "s[threadIdx.y * (P + 1) + threadIdx.x]" in first


def test_a_flat_array_with_two_pitches_is_left_alone() -> None:
    source = """\
// launch: k<<<1, dim3(32, 32)>>>(out)
__global__ void k(float* out) {
    __shared__ float s[32 * 32];
    s[threadIdx.y * 32 + threadIdx.x] = 1;
    out[0] = s[threadIdx.x * 16];
}
"""
    assert not fixes_of(source, FixKind.ROW_LENGTH)


def test_a_swizzle_changes_all_accesses_alike() -> None:
    (swizzled,) = rewritten(TILE, FixKind.SWIZZLE)
    assert "tile[threadIdx.y + j][(threadIdx.x) ^ ((threadIdx.y + j) & 31)] =" in swizzled
    assert "= tile[threadIdx.x][(threadIdx.y + j) ^ ((threadIdx.x) & 31)];" in swizzled


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("tile[T][T];", "tile[T][33];"),  # no power of two
        ("= tile[threadIdx.x]", "= *&tile[threadIdx.x]"),  # its address is taken
        ("__syncthreads();", "float* p = tile[0]; *p = 1;"),  # a row by itself
        ("tile[threadIdx.x][", "tile[x++][("),  # a subscript that does something
    ],
)
def test_what_no_swizzle_is_safe_for_is_left_alone(was: str, now: str) -> None:
    source = TILE.replace(was, now)
    assert source != TILE
    assert not fixes_of(source, FixKind.SWIZZLE)


def test_the_array_with_the_conflicts_is_fixed_first() -> None:
    source = TILE.replace("tile[T][T];", "quiet[T][T], tile[T][T];")
    conflicts = Counters(shared_load_wavefronts=32, shared_wavefronts_ideal=1)
    assert conflicts.shared_wavefronts_excessive
    assert fixes_of(source, FixKind.ROW_LENGTH, (8, conflicts))[0].name == "tile"


def test_rows_and_columns_of_an_array_are_exchanged_everywhere() -> None:
    (exchanged,) = rewritten(TILE.replace("[T][T];", "[T][33];"), FixKind.ARRAY_AXES)
    assert "float tile[33][T];" in exchanged
    assert "tile[threadIdx.x][threadIdx.y + j] = in" in exchanged


def test_axes_are_exchanged_in_the_kernel_and_its_launch() -> None:
    turned, kept = rewritten(PRODUCT, FixKind.AXES)
    launch = "gemm<<<dim3(ceil_div(N, 8), ceil_div(M, 16)), dim3(8, 16)>>>"
    assert launch in turned
    assert launch.replace("dim3(8, 16)", "dim3(16, 8)") in kept
    index = "row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;"
    assert index in turned
    assert index in kept


def test_threads_are_exchanged_in_a_kernel_that_keeps_its_launch() -> None:
    (exchanged,) = rewritten(PRODUCT, FixKind.THREAD_AXES)
    assert "row = blockIdx.x * 16 + threadIdx.y, col = blockIdx.y * 8 + threadIdx.x;" in exchanged
    assert "dim3(16, 8)>>>" in exchanged


def test_one_wasteful_statement_exchanges_the_variables_that_hold_the_thread() -> None:
    source = """\
// launch: k<<<1, dim3(32, 32)>>>(out, in)
__global__ void k(float* out, const float* in) {
    int tx = threadIdx.x, ty = threadIdx.y;
    __shared__ float s[32][33];
    s[tx][ty] = in[tx * 32 + ty];
    __syncthreads();
    out[ty * 32 + tx] = s[ty][tx];
}
"""
    wasteful = Counters(global_load_requests=1, global_load_sectors=32, global_load_bytes=128)
    assert wasteful.global_reads.wasted_bytes
    (fix,) = fixes_of(source, FixKind.STATEMENT_AXES, (5, wasteful))
    assert fix.line == 5
    assert apply_edits(source, fix.edits) == source.replace(
        "s[tx][ty] = in[tx * 32 + ty]", "s[ty][tx] = in[ty * 32 + tx]"
    )


def test_division_and_remainder_of_the_threads_number_are_exchanged() -> None:
    source = """\
#define B 32
// launch: k<<<1, B * B>>>(out)
__global__ void k(float* out) {
    const int row = threadIdx.x % B, col = threadIdx.x / B;
    out[row * B + col] = 7 / 2;
}
"""
    (exchanged,) = rewritten(source, FixKind.DIVISION_AXES)
    assert "row = threadIdx.x / B, col = threadIdx.x % B;" in exchanged
    assert "= 7 / 2;" in exchanged


def test_a_block_of_numbers_takes_another_shape_with_its_grid_and_indices() -> None:
    found = {
        fix.now: apply_edits(PRODUCT, fix.edits) for fix in fixes_of(PRODUCT, FixKind.BLOCK_SHAPE)
    }
    assert "<<<dim3(ceil_div(M, 32), ceil_div(N, 8)), dim3(32, 8)>>>" in found[32, 8]
    assert "row = blockIdx.x * 32 + threadIdx.x, col = blockIdx.y * 8" in found[32, 8]


def test_a_block_of_names_takes_another_shape_by_their_definitions() -> None:
    source = TILE.replace("#define T 32", "#define T 32\nconstexpr int R = 8;").replace(
        "dim3(T, 8)", "dim3(T, R)"
    )
    found = {
        fix.now: apply_edits(source, fix.edits) for fix in fixes_of(source, FixKind.BLOCK_SHAPE)
    }
    assert "constexpr int R = 4;" in found[32, 4]
    assert "#define T 32\n" in found[32, 4]
    assert "#define T 64\nconstexpr int R = 8;" in found[64, 8]


def test_one_name_for_both_sides_takes_square_shapes_only() -> None:
    source = TILE.replace("dim3(T, 8)", "dim3(T, T)")
    assert [fix.now for fix in fixes_of(source, FixKind.BLOCK_SHAPE)] == [(16, 16)]


def test_a_loop_over_elements_becomes_one_over_four_and_one_for_the_rest() -> None:
    source = """\
// launch: sum<<<64, 256>>>(out, in, n)
__global__ void sum(float* out, const float* in, int n) {
    float s = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * 64) s += in[i];
    atomicAdd(out, s);
}
"""
    (fours,) = rewritten(source, FixKind.VECTORS)
    assert "i < (n) / 4; i += 256 * 64) {" in fours
    assert "reinterpret_cast<const float4*>(in)[i]; s += four_in.x; s += four_in.y;" in fours
    assert (
        "i = (n) / 4 * 4 + (blockIdx.x * 256 + threadIdx.x); i < n; i += 256 * 64) s += in[i];"
        in fours
    )


@pytest.mark.parametrize("body", ["s += in[i] * i;", "s += in[i + 1];", "if (in[i] > 0) break;"])
def test_a_loop_that_needs_its_index_otherwise_keeps_its_floats(body: str) -> None:
    source = f"""\
// launch: sum<<<64, 256>>>(out, in, n)
__global__ void sum(float* out, const float* in, int n) {{
    float s = 0;
    for (int i = threadIdx.x; i < n; i += 256) {{ {body} }}
    *out = s;
}}
"""
    assert not fixes_of(source, FixKind.VECTORS)


def test_fixes_are_of_what_lost_points() -> None:
    assert not fixes_of(TILE, FixKind.ROW_LENGTH, causes={Weakness.SECTORS})
    assert not fixes_of(TILE, FixKind.AXES, causes={Weakness.CONFLICTS})
    slow = find_causes({"bandwidth_fraction"}, Counters())
    assert slow == {Weakness.SHAPE}
    crowded = Counters(shared_load_wavefronts=32, shared_wavefronts_ideal=1)
    assert Weakness.CONFLICTS in find_causes({"bandwidth_fraction"}, crowded)


def test_changed_lines_are_told_as_they_are_and_as_they_become() -> None:
    fix = fixes_of(TILE, FixKind.ROW_LENGTH)[0]
    (change,) = list_changes(TILE, fix.edits)
    assert change.line == 4
    assert change.before == ("    __shared__ float tile[T][T];",)
    assert change.after == ("    __shared__ float tile[T][T + 1];",)


def test_nothing_is_fixed_in_comments_and_strings() -> None:
    source = TILE.replace("__syncthreads();", "__syncthreads();  // tile[threadIdx.y][j]")
    assert "// tile[threadIdx.y][j]" in rewritten(source, FixKind.SWIZZLE)[0]


@pytest.mark.parametrize(
    "source", ["", "{{{", "__shared__ float t[", "__global__ void k(", "for ("]
)
def test_a_broken_text_has_no_fixes(source: str) -> None:
    assert not find_fixes(FixText(source), EVERY)
