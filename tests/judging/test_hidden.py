"""What is told of a failure in a hidden case: the kind and the line, never a buffer's size."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.devices.gpu.placement import Damage, Place
from grader.judging.hidden import name_case, redact_failure
from grader.records import Dim3, Failure, Finding, FindingKind, Status
from judging.factories import make_case_spec

WHERE = "4-byte load from global memory out of bounds: {} (kernel k, block (1, 0, 0), thread (5, 0, 0))."


def fault(place: str) -> Failure:
    finding = Finding(FindingKind.OUT_OF_BOUNDS, f"out of bounds: {place}", line=11, block=Dim3(1), buffer="out", offset_bytes=118372)
    return Failure(Status.RUNTIME_ERROR, f"line 11: {WHERE.format(place)}", detail=place, findings=(finding,))


@pytest.mark.parametrize(
    ("place", "left"),
    [
        ("right behind the end of buffer out (118,372 bytes)", "right behind the end of buffer out"),
        ("4,096 bytes past the end of buffer out (118,372 bytes)", "past the end of buffer out"),
        ("12 bytes before the start of buffer out", "before the start of buffer out"),
        ("byte 1,234 of buffer out (118,372 bytes)", "inside buffer out"),
    ],
)
def test_the_bytes_of_a_buffer_are_taken_out(place: str, left: str) -> None:
    told = redact_failure(fault(place))
    assert told.message == f"line 11: {WHERE.format(left)}"
    assert told.detail == left
    assert told.findings == (replace(fault(place).findings[0], message=f"out of bounds: {left}", offset_bytes=None),)


@pytest.mark.parametrize("offset_bytes", [-4, 118372, 118400])
def test_the_words_of_a_gpus_guard_bands_are_known(offset_bytes: int) -> None:
    words = Damage(Place("out", 0, 118372), offset_bytes).words
    told = redact_failure(Failure(Status.RUNTIME_ERROR, words)).message
    assert told.endswith(" of buffer out")
    assert not any(digit in told for digit in "0123456789")


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("the buffers need 9663711232 bytes; the emulated device has 8589934592",
         "the buffers need too many bytes; the emulated device has 8589934592"),
        ("the scratch buffer 's' takes 9663711232 bytes; all together may take 4 GiB",
         "the scratch buffer 's' takes too many bytes; all together may take 4 GiB"),
        ("the grid's y is 70123: at most 65535 can be launched", "the grid's y is too large: at most 65535 can be launched"),
        ("the grid's y is 0: 'rows' must be at least 1", "the grid's y is 0: 'rows' must be at least 1"),
    ],
)  # fmt: skip
def test_what_a_launch_needs_is_taken_out_and_limits_stay(message: str, left: str) -> None:
    assert redact_failure(Failure(Status.LAUNCH_ERROR, message)).message == left


def test_a_public_case_is_named_with_its_sizes() -> None:
    failure = fault("right behind the end of buffer out (118,372 bytes)")
    told = name_case(failure, make_case_spec(100, 1075))
    assert told == replace(failure, message=f"{failure.message} In case 'case' (rows = 100, cols = 1,075).")


def test_a_hidden_case_is_named_without_its_sizes() -> None:
    told = name_case(fault("right behind the end of buffer out (118,372 bytes)"), make_case_spec(101, 293, hidden=True))
    assert told.message.endswith("right behind the end of buffer out (kernel k, block (1, 0, 0), thread (5, 0, 0)). In case 'case'.")
    assert not any(number in repr(told) for number in ("118", "101", "293"))
