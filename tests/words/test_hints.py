"""Hints name the line, quote the access, and say what the counters show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.records import Counters, Failure, Finding, FindingKind, LineCounters, Status
from grader.spec.exercise import CheckSpec, Threshold
from grader.words.accesses import find_accesses, find_shared_names, quote_access
from grader.words.findings import advise
from tests.support.factories import (
    CONFLICTS,
    CORRECTNESS,
    CROOKED_LINES,
    STORES,
    make_case,
    make_exercise,
    make_graded,
    make_submission,
)


def hints(**options: object) -> dict[str, str]:
    return {check.name: check.hint for check in make_graded(**options).checks}  # type: ignore[arg-type]


def test_bank_conflicts_name_the_line_and_the_shared_access() -> None:
    hint = hints(lines=CROOKED_LINES)["shared_bank_conflicts"]
    assert hint.startswith(
        "line 11: tile[threadIdx.x][threadIdx.y + j] takes 32 wavefronts where 1 would do. "
    )
    assert "pad the rows" in hint


def test_store_efficiency_names_the_line_and_the_global_access() -> None:
    hint = hints(lines=CROOKED_LINES)["global_store_efficiency"]
    assert hint.startswith(
        "line 11: out[x * rows + y + j] moves 32 sectors a request where 4 would do. "
    )


def test_the_authors_hint_takes_the_place_of_what_to_try() -> None:
    exercise = make_exercise((CORRECTNESS, replace(CONFLICTS, hint="Think of 33.")))
    hint = hints(lines=CROOKED_LINES, exercise=exercise)["shared_bank_conflicts"]
    assert hint.endswith("where 1 would do. Think of 33.")


def test_a_passed_check_has_no_hint() -> None:
    assert set(hints().values()) == {""}


def test_a_conflicting_store_is_told_from_a_load_on_the_same_line() -> None:
    both = Counters(
        shared_load_instructions=10,
        shared_store_instructions=10,
        shared_load_wavefronts=10,
        shared_store_wavefronts=25,
        shared_wavefronts_ideal=20,
    )
    text = "__shared__ float a[32][32], b[32];\na[threadIdx.x][0] = b[threadIdx.x];\n"
    hint = hints(
        lines=(LineCounters(2, both),),
        submission=make_submission(text=text),
        exercise=make_exercise((CORRECTNESS, CONFLICTS)),
    )
    assert hint["shared_bank_conflicts"].startswith(
        "line 2: a[threadIdx.x][0] takes 2.5 wavefronts on average where 1 would do."
    )


def test_conflicts_of_atomics_name_their_line() -> None:
    atomics = Counters(
        shared_atomic_instructions=10, shared_atomic_wavefronts=80, shared_wavefronts_ideal=10
    )
    text = "__shared__ int bins[64];\natomicAdd(&bins[key & 63], 1);\n"
    hint = hints(
        lines=(LineCounters(2, atomics),),
        submission=make_submission(text=text),
        exercise=make_exercise((CORRECTNESS, CONFLICTS)),
    )
    assert hint["shared_bank_conflicts"].startswith(
        "line 2: bins[key & 63] takes 8 wavefronts where 1 would do."
    )


def test_conflicts_of_asynchronous_copies_are_told_in_all() -> None:
    """They are no instructions of shared memory: there is nothing to divide by."""
    copies = Counters(shared_store_wavefronts=80, shared_wavefronts_ideal=20)
    text = "__shared__ float tile[32][32];\ncopy(tile, in);\n"
    hint = hints(
        lines=(LineCounters(2, copies),),
        submission=make_submission(text=text),
        exercise=make_exercise((CORRECTNESS, CONFLICTS)),
    )
    assert hint["shared_bank_conflicts"].startswith(
        "line 2: `copy(tile, in);` takes 80 wavefronts where 20 would do."
    )


def test_a_column_written_by_atomics_is_named_as_poor_stores() -> None:
    column = Counters(
        global_atomic_requests=10,
        global_atomic_sectors=320,
        global_atomic_sectors_ideal=40,
        global_atomic_bytes=1280,
    )
    text = "atomicExch(&out[x * rows + y], value);"
    hint = hints(
        lines=(LineCounters(1, column),),
        submission=make_submission(text=text),
        exercise=make_exercise((CORRECTNESS, STORES)),
    )
    assert hint["global_store_efficiency"].startswith(
        f"line 1: `{text}` moves 32 sectors a request where 4 would do."
    )


def test_a_broadcast_load_is_judged_by_its_bytes() -> None:
    broadcast = Counters(
        global_load_requests=10,
        global_load_sectors=10,
        global_load_sectors_ideal=10,
        global_load_bytes=40,
    )
    check = CheckSpec("loads", "Loads", "global_load_efficiency", 5, Threshold(at_least=0.8))
    hint = hints(
        lines=(LineCounters(1, broadcast),),
        submission=make_submission(text="s += A[row * K + k] * t;"),
        exercise=make_exercise((CORRECTNESS, check)),
    )
    assert hint["loads"].startswith(
        "line 1: A[row * K + k] uses 12.5 % of the bytes that it moves."
    )


def test_correctness_quotes_a_public_case_first() -> None:
    cases = (make_case("primes", passed=False, hidden=True), make_case("ragged", passed=False))
    assert hints(cases=cases)["correctness"].startswith(
        "case ragged: 612 of 37,481 elements of `out` are wrong. "
    )


def test_a_slow_kernel_is_explained_by_its_counters() -> None:
    time_check = CheckSpec("conflicts", "Wavefronts", "shared_wavefronts", 5, Threshold(at_most=10))
    assert (
        "takes 32 wavefronts"
        in hints(lines=CROOKED_LINES, exercise=make_exercise((CORRECTNESS, time_check)))[
            "conflicts"
        ]
    )


@pytest.mark.parametrize("kind", list(FindingKind))
def test_every_finding_has_advice(kind: FindingKind) -> None:
    failure = Failure(
        Status.RUNTIME_ERROR, "line 3: no", findings=(Finding(kind, "line 3: no", line=3),)
    )
    assert advise(failure)
    assert advise(replace(failure, advice="own words")) == "own words"


def test_accesses_of_a_line() -> None:
    accesses = find_accesses("if (a < b) out[x * n + idx[i]] += tile[y] [x]; // c[1] = 2")
    assert [(access.text, access.stored, access.read) for access in accesses] == [
        ("out[x * n + idx[i]]", True, True),
        ("idx[i]", False, True),
        ("tile[y] [x]", False, True),
    ]


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("for (int j = 0; j < 8; j += 2) tile[y + j][x] = in[j];", "tile[y + j][x]"),
        ("tile[y][x] = tile[x][y] == 0 ? in[1] : in[2];", "tile[y][x]"),
        ("*p = 1.0f;  // tile[y][x] = 3", "`*p = 1.0f;`"),
        ("tile[a][b] = 1; tile[b][a] = 2; /* open", "`tile[a][b] = 1; tile[b][a] = 2;`"),
        ("tile[a", "`tile[a`"),
        ("int k = n; tile[k].x = v[k];", "tile[k]"),
        ("x = tile[a] <= tile[b]; tile[c] <<= 1;", "tile[c]"),
        ("x" * 200, f"`{'x' * 86} ...`"),
    ],
)
def test_quotes_the_one_access_or_else_the_line(line: str, quoted: str) -> None:
    assert quote_access(line, shared=True, stored=True, shared_names=frozenset({"tile"})) == quoted


def test_shared_names() -> None:
    source = (
        "extern __shared__ float s[];\n__shared__ __align__(16) float\n a[2][32][33], b [N];\n//"
        " __shared__ int c[3];\nint d[4];"
    )
    assert find_shared_names(source) == {"s", "a", "b"}


def test_stores_alone_do_not_mention_a_line_of_a_header() -> None:
    lines = (LineCounters(None, CROOKED_LINES[1].counters),)
    hint = hints(lines=lines, exercise=make_exercise((CORRECTNESS, STORES)))[
        "global_store_efficiency"
    ]
    assert hint.startswith("Let consecutive threads")


def test_instructions_without_an_active_lane_do_not_lower_the_average() -> None:
    half_idle = Counters(
        shared_load_instructions=20, shared_load_wavefronts=320, shared_wavefronts_ideal=10
    )
    hint = hints(
        lines=(LineCounters(11, half_idle),), exercise=make_exercise((CORRECTNESS, CONFLICTS))
    )["shared_bank_conflicts"]
    assert hint.startswith(
        "line 11: tile[threadIdx.x][threadIdx.y + j] takes 32 wavefronts where 1 would do. "
    )
