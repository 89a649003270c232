"""Reading lines `// predict: METRIC = NUMBER`."""

from __future__ import annotations

import pytest

from grader.submission.predictions import MOST, read_predictions


@pytest.mark.parametrize(
    ("written", "low", "high"),
    [
        ("0", 0, 0),
        ("1,474,560", 1_474_559.5, 1_474_560.5),
        ("0.33", 0.325, 0.335),
        ("1", 0.95, 1.05),  # a digit alone is not wider than a twentieth
        ("50 %", 0.495, 0.505),
        ("1.47M", 1.465e6, 1.475e6),
        ("2e3", 1900, 2100),
        ("0.18 ms", 0.175, 0.185),
        ("-3", -3.15, -2.85),
        ("10 to 20", 10, 20),
        ("90 % to 100 %", 0.9, 1),
    ],
)
def test_numbers_and_ranges_are_read(written: str, low: float, high: float) -> None:
    (read,) = read_predictions(f"int x;  // predict: time_ms = {written}\n")
    assert (read.metric, read.written, read.problem) == ("time_ms", written, "")
    assert (read.low, read.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("// predict: time = 3", "no metric 'time'"),
        ("// predict: shared_bank_conflict = 0", "did you mean 'shared_bank_conflicts'"),
        ("// predict: predictions = 1", "no metric 'predictions'"),
        ("// predict: time_ms 3", "is no prediction"),
        ("// predict: time_ms = fast", "is no number and no range"),
        ("// predict: time_ms = 3 to 2", "is an empty range"),
        ("// predict: time_ms = 1e999999", "is no number and no range"),
        ("// predict time_ms = 3", "needs a colon"),
        ("/* Predict: time_ms ~ 3 */", "is no prediction"),
    ],
)
def test_a_line_that_cannot_be_read_has_its_reason(line: str, problem: str) -> None:
    (read,) = read_predictions(f"\n{line}\n")
    assert read.line == 2
    assert problem in read.problem


def test_prose_and_strings_are_no_predictions() -> None:
    text = '// predictable branches are cheap\nconst char *s = "// predict: time_ms = 1";\n'
    assert read_predictions(text) == ()


def test_their_number_is_bounded() -> None:
    assert len(read_predictions("// predict: time_ms = 1\n" * 100)) == MOST
