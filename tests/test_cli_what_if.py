"""When `grade` tries fixes, and what it says where it was asked in vain."""

from __future__ import annotations

import argparse

import pytest

from grader.cli.results import add_fixes, add_what_if, check_what_if, is_wanted
from grader.errors import UsageError
from grader.folders import shipped_exercises
from tests.support.factories import make_graded


def parse(*arguments: str, watch: bool = False) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_what_if(parser)
    parser.set_defaults(json=None, format=None, output=None, quiet=False, watch=watch)
    return parser.parse_args(arguments)


@pytest.mark.parametrize(
    ("arguments", "shown", "on_terminal", "watch", "wanted"),
    [
        ((), True, True, False, True),
        ((), True, False, False, False),  # a pipe, a script
        ((), False, True, False, False),  # --quiet, --json -
        ((), True, True, True, False),  # --watch
        (("--what-if",), False, False, True, True),
        (("--no-what-if",), True, True, False, False),
    ],
)
def test_fixes_are_tried_where_somebody_looks_on_or_asks(
    arguments: tuple[str, ...], shown: bool, on_terminal: bool, watch: bool, wanted: bool
) -> None:
    options = parse(*arguments, watch=watch)
    assert is_wanted(options, shown=shown, on_terminal=on_terminal) is wanted


def test_who_asks_in_vain_is_told_why(capsys: pytest.CaptureFixture[str]) -> None:
    score = make_graded()  # nothing is lost
    transpose = next(path for path in shipped_exercises() if path.name == "transpose")
    assert add_fixes(score, parse("--what-if"), transpose, transpose) is score
    assert "this exercise does not show" in capsys.readouterr().err
    assert add_fixes(score, parse(), transpose, transpose) is score
    assert not capsys.readouterr().err


def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="must be more than 0"):
        check_what_if(parse("--what-if-seconds", "0"))
