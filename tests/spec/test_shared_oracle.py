"""An oracle that gradings share computes each answer once, and forgets what does not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.cpp.expressions import parse_expression
from grader.records import Role
from grader.spec.exercise import BufferSpec
from grader.spec.oracle import Arrays, Oracle, SharedOracle

SIZES = {"n": 4}


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


def row(*values: float) -> Arrays:
    return {"x": np.array(values, dtype=np.float32)}


def test_the_same_question_is_computed_once(oracle: Oracle, asked: list[Arrays]) -> None:
    shared = SharedOracle(oracle)
    first = shared(row(1, 2, 3, 4), SIZES)
    assert shared(row(1, 2, 3, 4), SIZES)["y"].tolist() == first["y"].tolist() == [2, 4, 6, 8]
    places = {"y": np.array([3, 0], dtype=np.uint32)}
    assert shared.at(row(1, 2, 3, 4), SIZES, places)["y"].tolist() == [8, 2]
    assert len(asked) == 1
    assert shared(row(1, 2, 3, 5), SIZES)["y"].tolist() == [2, 4, 6, 10]
    assert len(asked) == 2
    with pytest.raises(ValueError, match="read-only"):
        first["y"][0] = 7


def test_what_does_not_fit_is_computed_again(oracle: Oracle, asked: list[Arrays]) -> None:
    shared = SharedOracle(oracle, max_kept_bytes=20)
    for _ in range(2):
        shared(row(1, 2, 3, 4), SIZES)
        shared(row(5, 6, 7, 8), SIZES)
    assert len(asked) == 3
