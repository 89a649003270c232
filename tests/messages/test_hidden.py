"""What is told of a failure in a hidden case: its kind, its line and names, in words of its own;
never those that a device found."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from grader.devices.gpu.cuda_facts import read_damage
from grader.devices.gpu.placement import Damage, Place
from grader.errors import GraderError, SpecError, SpecProblem, WorkerError
from grader.messages.hidden import (
    describe_failure,
    describe_findings,
    describe_mistake,
    hiding_errors,
    name_case,
)
from grader.messages.observations import describe_order
from grader.records import (
    Act,
    Dim3,
    Failure,
    Faulted,
    Finding,
    Launch,
    MeantArray,
    NotEmulated,
    Observation,
    Obstacle,
    OutOfGpuMemory,
    OutOfMemory,
    Party,
    PlanMistake,
    Refused,
    Spot,
    Status,
    Stop,
)
from tests.support.factories import make_case_spec

PUBLIC, HIDDEN = make_case_spec(100, 1075), make_case_spec(101, 293, hidden=True)
FIGURES = "29593 elements, 118,372 bytes, 0x1ce64"
LINES = (11, 12)


def see(act: Act, buffer: str | None = "out", offset_bytes: int | None = 118372) -> Observation:
    """An observation in which every field that could hold a figure of the run does."""
    place, other = Dim3(101, 293, 64), Dim3(293, 101, 64)
    space = buffer.split()[0] if buffer and buffer.endswith(" memory") else "global"
    name = None if space != "global" else buffer
    return Observation(
        act,
        "transpose<293>",
        Party(11, place, other, stores=True),
        Party(12, other, place),
        Spot(space, 118372, name, offset_bytes, 118372, f"out{[101, 293]}"),
        width_bytes=293,
        meant=MeantArray("tile", f"tile{[101, 293]}", before=False),
        lanes=(29, 3),
        error_text=FIGURES,
        limit_instructions=29593,
        limit_seconds=29593.0,
    )


def digits(*records: Failure | Finding) -> str:
    """The numbers in all texts of the records but those of source lines."""
    text = " ".join(
        str(getattr(record, field.name))
        for record in records
        for field in fields(record)
        if field.name != "cause"  # a key: test_causes
    )
    for line in LINES:
        text = text.replace(f"line {line}", "")
    return "".join(letter for letter in text if letter.isdigit())


@pytest.mark.parametrize(
    "buffer", [None, "out", "shared memory", "__device__ table<293>", "__device__ _Z5tableILi293EE"]
)
@pytest.mark.parametrize("offset_bytes", [None, -4, 118372])
@pytest.mark.parametrize("act", Act)
def test_an_act_of_any_kind_keeps_its_lines_and_names_only(
    act: Act, offset_bytes: int | None, buffer: str | None
) -> None:
    (told,) = describe_findings([see(act, buffer, offset_bytes)], HIDDEN)
    kept = ("kind", "message", "kernel", "line", "buffer", "other_line")
    assert all(
        getattr(told, field.name) is None for field in fields(told) if field.name not in kept
    )
    assert (told.kind, told.kernel, told.line, told.other_line) == (act.kind, "transpose", 11, 12)
    assert told.message
    assert not digits(replace(told, line=None, other_line=None))


@pytest.mark.parametrize("act", Act)
def test_a_run_that_failed_says_what_kind_of_mistake_where(act: Act) -> None:
    stop = Faulted(see(act), quoted=FIGURES)
    told = name_case(stop, HIDDEN)
    assert told.message.startswith("line 11: ")
    assert told.message.endswith(" (kernel transpose). In case 'case'.")
    assert (told.status, told.detail, told.advice, told.printed) == (stop.status, "", "", ())
    assert told.findings == describe_findings(stop.findings, HIDDEN)
    assert not digits(replace(told, findings=()))


@pytest.mark.parametrize("act", Act)
def test_a_public_case_is_told_with_the_figures(act: Act) -> None:
    told = name_case(Faulted(see(act), quoted=FIGURES), PUBLIC)
    (found,) = told.findings
    assert told.advice or act in SEEN_BESIDE_OTHERS
    assert told.detail == FIGURES
    assert (found.kind, found.block, found.line) == (act.kind, Dim3(101, 293, 64), 11)
    assert found.message != describe_findings([see(act)], HIDDEN)[0].message or act in ALIKE


SEEN_BESIDE_OTHERS = (
    Act.RACE,
    Act.USE_OF_ENDED_BLOCK,
    Act.USE_DURING_COPY,
    Act.USE_OF_UNWRITTEN,
    Act.OTHER_ARRAY,
    Act.ABSENT_IN_MASK,
    Act.READ_FROM_ABSENT,
)
"""What does not end a run has its kind's advice."""
ALIKE = (Act.SKIPPED_BARRIER,)
"""What has no figures."""


@pytest.mark.parametrize(
    ("stop", "words"),
    [
        (NotEmulated("transpose<293>", 11, FIGURES), "line 11: the emulated device does not know"),
        (NotEmulated("transpose<293>", 11, "", FIGURES), "line 11: the emulated device does not"),
        (Refused("transpose<293>", 11, FIGURES, FIGURES), "line 11: the GPU refused the launch"),
        (OutOfMemory(293, 293, 293, 293), "out of device memory"),
        (OutOfGpuMemory(293, 293), "out of device memory"),
    ],
)
def test_what_stops_a_run_is_told_without_figures(stop: Stop, words: str) -> None:
    told = describe_failure(stop, HIDDEN)
    assert told.status is stop.status
    assert told.message.startswith(words)
    assert told.message.endswith(". In case 'case'.")
    assert told.advice
    assert not digits(told)
    assert "293" in digits(describe_mistake(stop)) or isinstance(stop, Refused | NotEmulated)


def test_a_result_that_depends_on_the_order_is_told_without_its_problem() -> None:
    assert not digits(describe_order("transpose<293>", None))
    assert FIGURES in describe_order("transpose<293>", FIGURES).message


@pytest.mark.parametrize("obstacle", [None, *Obstacle])
def test_a_launch_that_cannot_be_says_why(obstacle: Obstacle | None) -> None:
    figures = dict.fromkeys(NAMES, "293")
    mistake = PlanMistake(11, 40, FIGURES, FIGURES, FIGURES, obstacle, figures)
    told = describe_failure(mistake, HIDDEN)
    assert told.message.startswith("line 11, column 40: ")
    assert told.message.endswith(". In case 'case'.")
    assert told.advice
    assert "{" not in told.message + told.advice
    assert digits(told) == "40"
    public = describe_mistake(mistake)
    assert public.message.startswith("line 11, column 40: ")
    assert (FIGURES in public.message) == (obstacle is None)
    assert (public.detail, public.line) == (FIGURES, 11)


def test_a_mistake_in_the_exercises_own_plan_names_no_line() -> None:
    mistake = PlanMistake(None, 40, FIGURES, "advice", FIGURES)
    assert describe_mistake(mistake).message.startswith(
        "the exercise's default launch line, column 40: "
    )
    assert not digits(describe_failure(mistake, HIDDEN))


NAMES = (
    *("instance", "shown", "number", "value", "size_bytes", "type", "what", "axis", "text"),
    *("most", "block", "threads", "kernel", "dynamic", "static", "total", "registers", "needed"),
    *("name", "offset", "all_bytes", "left", "left_bytes", "right", "right_bytes", "moved"),
)
"""The figures of all obstacles."""


@pytest.mark.parametrize(
    "status",
    [
        status
        for status in Status
        if status not in (Status.PASSED, Status.FAILED, Status.COMPILE_ERROR)
    ],
)
def test_a_failure_of_which_nothing_is_known_is_told_by_its_status(status: Status) -> None:
    told = describe_failure(Failure(status, FIGURES, FIGURES, FIGURES), HIDDEN)
    assert told.status is status
    assert told.message
    assert not digits(told)


@pytest.mark.parametrize(
    ("offset_bytes", "words"),
    [(-4, "before the start"), (118372, "past the end"), (118400, "past the end")],
)
def test_the_words_of_a_gpus_guard_bands_are_not_told(offset_bytes: int, words: str) -> None:
    launch = Launch(
        "transpose", Dim3(101), Dim3(293), 118372, (), 11, "transpose<<<rows, cols>>>(out)"
    )
    told = name_case(
        read_damage(Damage(Place("out", 0, 118372), offset_bytes), launch, "transpose"), HIDDEN
    )
    assert (
        told.message
        == f"access out of bounds, {words} of buffer out (kernel transpose). In case 'case'."
    )
    assert not digits(told)


def test_a_public_case_is_named_with_its_sizes() -> None:
    stop = Faulted(see(Act.ACCESS_OUT_OF_BOUNDS))
    plain, told = describe_mistake(stop), name_case(stop, PUBLIC)
    message = f"{plain.message[:-1]}. In case 'case' (rows = 100, cols = 1,075)."
    assert told == replace(plain, message=message)
    assert "right behind the end of buffer out (118,372 bytes)" in told.message
    assert describe_failure(stop, PUBLIC) == plain
    assert describe_findings(stop.findings, PUBLIC) == plain.findings


@pytest.mark.parametrize(
    "error", [GraderError(FIGURES, FIGURES, detail=FIGURES), MemoryError(FIGURES)]
)
def test_the_graders_own_failure_in_a_hidden_case_has_no_words_of_the_run(error: Exception) -> None:
    with pytest.raises(WorkerError) as told, hiding_errors(HIDDEN):
        raise error
    assert str(told.value) == "the grader failed in the hidden case 'case'"
    assert told.value.detail == ""
    with pytest.raises(type(error), match=FIGURES), hiding_errors(PUBLIC):
        raise error


def test_a_broken_exercise_is_told_to_its_author() -> None:
    with pytest.raises(SpecError, match=FIGURES), hiding_errors(HIDDEN):
        raise SpecError([SpecProblem("oracle.py", "", FIGURES)])
