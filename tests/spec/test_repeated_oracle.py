"""The oracle of gradings that follow one another and share their inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from grader.cpp.expressions import parse_expression
from grader.records import Role
from grader.spec.exercise import BufferSpec
from grader.spec.oracle import Arrays, Oracle, RepeatedOracle

SIZES = {"n": 4}
INPUTS: Arrays = {"x": np.arange(4, dtype=np.float32)}


@pytest.fixture
def asked() -> list[Arrays]:
    return []


@pytest.fixture
def oracle(asked: list[Arrays]) -> Oracle:
    def expected(inputs: Arrays, sizes: dict[str, int]) -> object:
        asked.append(inputs)
        return {"y": 2 * inputs["x"]}

    output = BufferSpec("y", "float32", (parse_expression("n"),), Role.OUTPUT)
    return Oracle(Path("oracle.py"), "expected", expected, (output,))


def places(*numbers: int) -> Arrays:
    return {"y": np.array(numbers, dtype=np.uint32)}


def test_the_last_answer_about_inputs_is_remembered(oracle: Oracle, asked: list[Arrays]) -> None:
    repeated = RepeatedOracle(oracle, least_bytes=1)
    for _ in range(2):
        assert repeated(INPUTS, SIZES)["y"].tolist() == [0, 2, 4, 6]
    assert len(asked) == 1
    for chosen, wanted in [((3, 0), [6, 0]), ((3, 0), [6, 0]), ((1, 0), [2, 0]), ((1,), [2])]:
        assert repeated.at(INPUTS, SIZES, places(*chosen))["y"].tolist() == wanted
    assert len(asked) == 4


def test_equal_inputs_are_not_the_same(oracle: Oracle, asked: list[Arrays]) -> None:
    repeated = RepeatedOracle(oracle, least_bytes=1)
    others: Sequence[Arrays] = [INPUTS, dict(INPUTS)]
    for inputs in others:
        repeated(inputs, SIZES)
    assert len(asked) == 2


def test_small_inputs_are_asked_each_time(oracle: Oracle, asked: list[Arrays]) -> None:
    repeated = RepeatedOracle(oracle)
    for _ in range(2):
        repeated(INPUTS, SIZES)
    assert len(asked) == 2
