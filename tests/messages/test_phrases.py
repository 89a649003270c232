"""What is told of two threads that meet, of absent lanes and of places in memory, word by word."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.messages.hidden import describe_mistake
from grader.messages.observations import describe_observation
from grader.records import Act, Dim3, Faulted, MeantArray, Observation, Party, Spot

BLOCK, NEXT_BLOCK = Dim3(1, 0, 0), Dim3(2, 0, 0)
STORE = Party(7, BLOCK, Dim3(3, 0, 0), stores=True)
READ = Party(9, BLOCK, Dim3(4, 0, 0))
RACE = Observation(
    Act.RACE, "k", READ, STORE, Spot("shared", 1024, "tile", 0, 4096, element="tile[0][3]")
)


def told(seen: Observation) -> str:
    return describe_observation(seen, hidden=False).message


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (
            RACE,
            "thread (3, 0, 0) stores it at line 7, and thread (4, 0, 0) reads it at line 9 without"
            " having waited; a __syncthreads() is missing between line 7 and line 9",
        ),
        (
            replace(RACE, barrier_between=True),
            "thread (3, 0, 0) stores it at line 7, and thread (4, 0, 0) reads it at line 9 without"
            " having waited; a __syncthreads() is missing behind line 9, before the loop"
            " returns to line 7",
        ),
        (
            replace(RACE, by=replace(READ, block=NEXT_BLOCK)),
            "thread (3, 0, 0) of block (1, 0, 0) stores it at line 7, and thread (4, 0, 0) of block"
            " (2, 0, 0) reads it at line 9 without having waited; a cluster.sync() is missing between"
            " the two",
        ),
        (
            replace(RACE, by=replace(READ, block=NEXT_BLOCK), spot=replace(RACE.spot, space="global")),
            "thread (3, 0, 0) of block (1, 0, 0) stores it at line 7, and thread (4, 0, 0) of block"
            " (2, 0, 0) reads it at line 9 without having waited; blocks run in any order: use an"
            " atomic operation, or a launch of its own for the second step",
        ),
        (
            replace(RACE, by=replace(READ, line=7)),
            "thread (3, 0, 0) stores it at line 7, and thread (4, 0, 0) reads it at line 7 without"
            " having waited; a __syncthreads() is missing between the two accesses of line 7: write"
            " the line as two",
        ),
        (
            replace(RACE, by=replace(READ, line=7, stores=True)),
            "thread (3, 0, 0) stores it at line 7, and thread (4, 0, 0) stores it at line 7 without"
            " having waited; only one of them should, or it should be an atomic operation",
        ),
        (
            replace(RACE, by=replace(READ, line=None), other=replace(STORE, atomic=True)),
            "thread (3, 0, 0) changes it at line 7, and thread (4, 0, 0) reads it at a line of a header"
            " without having waited; a __syncthreads() is missing between the two",
        ),
        (
            replace(RACE, in_warp=True, other=replace(STORE, thread=None), by=replace(READ, line=5)),
            "another lane of its warp stores it at line 7, and thread (4, 0, 0) reads it at line 5"
            " without having waited; a __syncwarp() is missing between line 7 and line 5",
        ),
    ],
    ids=["plain", "loop", "blocks of a cluster", "blocks", "one line", "two stores", "no line", "a warp"],
)  # fmt: skip
def test_a_race_names_what_would_order_the_two(seen: Observation, message: str) -> None:
    assert told(seen) == f"race on tile[0][3]: {message}"


def test_a_race_of_a_hidden_case_names_the_lines_alone() -> None:
    finding = describe_observation(RACE, hidden=True)
    assert finding.message == (
        "race on buffer tile: the access of line 7 and that of line 9 meet without having waited"
        " for each other"
    )
    assert (finding.thread, finding.element, finding.other_line) == (None, None, 7)
    unknown = describe_observation(replace(RACE, other=None), hidden=True)
    assert (
        unknown.message == "race on buffer tile: threads meet without having waited for each other"
    )


@pytest.mark.parametrize(
    ("lanes", "words"),
    [
        ((5,), "names lane 5 of the warp, which does not reach it"),
        ((4, 5, 6), "names lanes 4 to 6 of the warp, which do not reach it"),
        ((1, 3, 5, 7), "names lanes 1, 3, 5, 7 of the warp, which do not reach it"),
        ((1, 3, 5, 7, 9), "names lanes 1, 3, 5, 7 ... of the warp, which do not reach it"),
    ],
)
def test_lanes_that_are_absent_are_listed(lanes: tuple[int, ...], words: str) -> None:
    seen = Observation(Act.ABSENT_IN_MASK, "k", Party(8), lanes=lanes)
    assert told(seen) == f"the mask of the operation at line 8 {words}"


@pytest.mark.parametrize(
    ("spot", "words"),
    [
        (Spot("constant", 4096), "byte 4,096 of a constant array"),
        (Spot("local", 4096), "byte 4,096 of the thread's local array or stack"),
        (Spot("shared", 4096, size_bytes=2048), "byte 4,096 of the block's 2,048"),
        (Spot("global", 4096), "address 0x1000 is in no buffer"),
        (Spot("global", 1, "out", -8, 64), "8 bytes before the start of buffer out"),
        (Spot("global", 1, "out", 60, 64), "byte 60 of buffer out (64 bytes)"),
        (Spot("global", 1, "out", 64, 64), "right behind the end of buffer out (64 bytes)"),
        (Spot("global", 1, "out", 1064, 64), "1,000 bytes past the end of buffer out (64 bytes)"),
    ],
)
def test_a_place_is_told_by_its_memory(spot: Spot, words: str) -> None:
    seen = Observation(Act.ACCESS_OUT_OF_BOUNDS, "k", STORE, spot=spot, width_bytes=4)
    assert told(seen) == f"4-byte store to {spot.space} memory out of bounds: {words}"


@pytest.mark.parametrize(
    ("seen", "message"),
    [
        (
            Observation(Act.OTHER_ARRAY, "k", READ, spot=Spot("shared", element="b[0]")),
            "b[0] is read by thread (4, 0, 0) at line 9, which means another array",
        ),
        (
            Observation(
                Act.OTHER_ARRAY,
                "k",
                replace(STORE, atomic=True),
                spot=Spot("shared", element="b[0]"),
                meant=MeantArray("a", "a[32]", before=False),
            ),
            "a[32] is changed by thread (3, 0, 0) at line 7: it lies behind the end of a, at b[0]",
        ),
        (
            Observation(
                Act.OTHER_ARRAY,
                "k",
                STORE,
                spot=Spot("shared"),
                meant=MeantArray("a", "a[-1]", before=True),
            ),
            "a[-1] is stored by thread (3, 0, 0) at line 7: it lies before the start of a, at memory",
        ),
        (
            Observation(Act.USE_OF_UNWRITTEN, "k", STORE, spot=Spot("shared", element="a[1]")),
            "a[1] in shared memory is changed at line 7, but nothing was written there before, and"
            " the result depends on it",
        ),
        (
            Observation(Act.USE_DURING_COPY, "k", READ, STORE, Spot("shared", element="a[1]")),
            "a[1] is used at line 9 while the asynchronous copy of line 7 may still be under way:"
            " wait for it (cp.async.wait_group, __pipeline_wait_prior), then for the other threads"
            " (__syncthreads)",
        ),
        (
            Observation(Act.READ_FROM_ABSENT, "k", READ, lanes=(31,)),
            "the shuffle at line 9 gives lane 31 of the warp the value of a lane that takes no part"
            " in it, and the result depends on it",
        ),
        (
            Observation(Act.SKIPPED_COLLECTIVE, "k", READ, Party(12)),
            "an operation of a warp's lanes that not all lanes of its mask reach: some wait at it,"
            " others are at line 12",
        ),
    ],
    ids=lambda value: value.act if isinstance(value, Observation) else "",
)
def test_every_use_of_memory_has_its_sentence(seen: Observation, message: str) -> None:
    assert told(seen) == message


def test_a_fault_without_a_line_is_told_by_its_thread_alone() -> None:
    seen = Observation(Act.TRAP, "k", Party(None, BLOCK, Dim3(3, 0, 0)))
    place = "(kernel k, block (1, 0, 0), thread (3, 0, 0))."
    assert (
        describe_mistake(Faulted(seen)).message
        == f"the kernel stopped itself with __trap() {place}"
    )


@pytest.mark.parametrize("act", Act)
@pytest.mark.parametrize("hidden", [False, True])
def test_code_of_a_header_has_no_line(act: Act, hidden: bool) -> None:
    """Its instructions have none of the submission's."""
    by, other = replace(READ, line=None), replace(STORE, line=None)
    spot = Spot("global", 64, "out", 64, 64, "out[16]")
    seen = Observation(act, "k", by, other, spot, 4, lanes=(3,), error_text="It.")
    assert "None" not in describe_observation(seen, hidden=hidden).message
    assert "None" not in describe_mistake(Faulted(seen), hidden=hidden).message
