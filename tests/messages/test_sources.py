"""What is told of a submission that never ran: each kind of fact in words of its own, and none of
its figures in a hidden case."""

from __future__ import annotations

import pytest

from grader.messages.hidden import describe_mistake
from grader.records import (
    AtomicUse,
    Breach,
    CompileErrors,
    CompileMistake,
    CompilerEnd,
    CompilerEnded,
    Disturbed,
    Evaded,
    Evasion,
    Fact,
    ForeignFile,
    GivenUp,
    HeaderUse,
    HeapUse,
    NoKernel,
    NoSource,
    OverBatchLimit,
    ScratchUse,
    SourceMistake,
    Status,
    TooLargeVariables,
    ToolLimits,
    TooMuchStaticShared,
    Unreadable,
    VariableUse,
)

LIMITS = ToolLimits(
    wall_seconds=1.5, memory_bytes=3 << 29, file_bytes=7 << 20, output_bytes=5 << 20
)
SOURCES: tuple[SourceMistake, ...] = (
    *(NoSource("mine.cu", why, 1 << 20, 293) for why in Unreadable),
    ForeignFile("/etc/passwd"),
    ForeignFile(None),
    *(Evaded(how) for how in Evasion),
    Breach(HeaderUse("cub", "cub/cub.cuh", 293), None, "293 | #include <cub/cub.cuh>"),
    Breach(HeaderUse("cub", "cub/cub.cuh", None), "in_place", ""),
    Breach(ScratchUse("4 * rows", "float T[rows]", 293), None, ""),
    Breach(ScratchUse(" 0 ", "float T[rows]", None), None, ""),
    Breach(HeapUse("0", "mine"), None, ""),
    Breach(VariableUse(0, "mine", 4000, None), None, ""),
    Breach(VariableUse(2000, "mine", 4000, 293), None, ""),
    Breach(AtomicUse(True, "mine", "ATOMS.ADD", None), None, ""),
    Breach(AtomicUse(False, "mine", "RED.E.ADD", 293), None, ""),
)
COMPILATIONS: tuple[CompileMistake, ...] = (
    CompileErrors("mine.cu", "identifier is undefined", 293, "mine.cu:293: error"),
    CompileErrors("mine.cu", "a brace is missing", None, "mine.cu: error"),
    *(CompilerEnded("mine.cu", how, LIMITS, 11) for how in CompilerEnd),
    NoKernel("mine.cu", written=True),
    NoKernel("mine.cu", written=False),
    TooMuchStaticShared("mine", 65536, 49152),
    TooLargeVariables("mine.cu", 5_000_000_000, 4_294_967_295),
)
FACTS: tuple[Fact, ...] = (
    *SOURCES,
    *COMPILATIONS,
    Disturbed(3, "the GPU's clock moved"),
    OverBatchLimit(59.6),
    GivenUp(3, "its worker ended with exit code -9", lost=True),
    GivenUp(3, "no room on the disk", "at line 293", "Make room."),
)


@pytest.mark.parametrize("fact", FACTS, ids=repr)
def test_a_hidden_case_tells_the_status_alone(fact: Fact) -> None:
    told = describe_mistake(fact, hidden=True)
    row = fact.status.row
    assert (told.status, told.advice, told.detail) == (fact.status, row.unseen_advice, "")
    assert told.message == f"{row.unseen}."


def test_no_two_facts_are_told_alike() -> None:
    told = [describe_mistake(fact) for fact in FACTS]
    assert len({(each.message, each.advice) for each in told}) == len(FACTS)
    assert not [fact for fact in FACTS if describe_mistake(fact).status is not fact.status]


@pytest.mark.parametrize(
    ("fact", "message", "detail"),
    [
        (
            NoSource("mine.cu", Unreadable.TOO_LARGE, 3 << 20),
            "mine.cu: the file is larger than 3 MiB",
            "",
        ),
        (
            ForeignFile("/etc/it's"),
            'the submission includes "/etc/it\'s", which is no header of CUDA or C++',
            "",
        ),
        (
            SOURCES[len(Unreadable) + 2 + len(Evasion)],
            "the exercise allows no header of cub: line 293 includes cub/cub.cuh",
            "293 | #include <cub/cub.cuh>",
        ),
        (
            Breach(HeaderUse("cub", "cub/cub.cuh", None), "in_place", ""),
            "the part in_place allows no header of cub: another header includes cub/cub.cuh",
            "",
        ),
        (
            Breach(ScratchUse("4 * rows", "float T[rows]", 12), None, ""),
            "the exercise allows no more than 4 * rows bytes of scratch memory: line 12 declares"
            " 'float T[rows]'",
            "",
        ),
        (
            Breach(ScratchUse("0", "float T[rows]", None), None, ""),
            "the exercise allows no scratch memory: the launch plan declares 'float T[rows]'",
            "",
        ),
        (
            Breach(VariableUse(2000, "mine", 4000, 7), None, ""),
            "the exercise allows no more than 2,000 bytes of __device__ variables: the kernel mine"
            " can reach 4,000 bytes of them, most of them declared in line 7",
            "",
        ),
        (
            Breach(AtomicUse(False, "mine", "RED.E.ADD", None), None, ""),
            "the exercise allows no atomics on global memory: the kernel mine has one (RED.E.ADD)",
            "",
        ),
        (
            CompileErrors("mine.cu", "identifier is undefined", 12, "mine.cu:12: error"),
            "mine.cu does not compile: line 12: identifier is undefined",
            "mine.cu:12: error",
        ),
        (
            CompilerEnded("mine.cu", CompilerEnd.TOO_SLOW, LIMITS),
            "The compiler was stopped after 1.5 s on mine.cu.",
            "",
        ),
        (
            CompilerEnded("{name}.cu", CompilerEnd.LARGE_FILE, LIMITS),
            "{name}.cu compiles to more than 7 MiB.",
            "",
        ),
        (
            CompilerEnded("mine.cu", CompilerEnd.OUT_OF_MEMORY, LIMITS),
            "The compiler needed more than 1.5 GiB of memory for mine.cu.",
            "",
        ),
        (
            OverBatchLimit(59.6),
            "Grading was stopped after 60 s, the time limit of this batch.",
            "",
        ),
        (
            GivenUp(3, "its worker ended with exit code -9", lost=True),
            "It was tried 3 times, and its worker ended with exit code -9.",
            "",
        ),
        (
            GivenUp(2, "no room on the disk", "No space left"),
            "It was tried 2 times: no room on the disk",
            "No space left",
        ),
        (
            Disturbed(3, "the GPU's clock moved"),
            "The times are unusable: 3 measurements were disturbed; in the last one the GPU's clock"
            " moved.",
            "",
        ),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_all_that_is_known_is_told(fact: Fact, message: str, detail: str) -> None:
    told = describe_mistake(fact)
    assert (told.message, told.detail) == (message, detail)


def test_the_line_of_the_first_error_is_kept() -> None:
    assert describe_mistake(CompileErrors("mine.cu", "no", 12, "")).line == 12


def test_the_graders_own_advice_comes_before_the_general_one() -> None:
    assert describe_mistake(GivenUp(3, "no", advice="Make room.")).advice == "Make room."
    assert "--rerun failed" in describe_mistake(GivenUp(3, "no")).advice


def test_a_compiler_that_took_too_long_is_no_compile_error() -> None:
    ends = {how: CompilerEnded("mine.cu", how, LIMITS).status for how in CompilerEnd}
    assert ends.pop(CompilerEnd.TOO_SLOW) is Status.TIMEOUT
    assert set(ends.values()) == {Status.COMPILE_ERROR}
