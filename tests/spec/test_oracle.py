"""The oracle is held to the spec: what it returns, and what goes wrong inside of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.errors import SpecError
from grader.spec.oracle import Oracle, load_oracle
from grader.spec.reader import read_exercise

from .test_reader import write_exercise

SIZES = {"n": 2, "m": 3}
INPUTS = {"x": np.arange(6, dtype=np.float32).reshape(2, 3)}


def oracle_of(root: Path, body: str) -> Oracle:
    return load_oracle(
        read_exercise(
            write_exercise(
                root, oracle=f"import numpy as np\n\ndef expected(inputs, sizes):\n    {body}\n"
            )
        )
    )


def test_hands_out_what_the_oracle_returns(tmp_path: Path) -> None:
    outputs = oracle_of(tmp_path, "return {'y': inputs['x'] + np.float32(sizes['n'])}")(
        INPUTS, SIZES
    )
    assert outputs["y"].dtype == np.float32
    assert np.array_equal(outputs["y"], INPUTS["x"] + 2)


def test_rounds_float64_to_the_buffer_s_type(tmp_path: Path) -> None:
    outputs = oracle_of(tmp_path, "return {'y': inputs['x'].astype(np.float64) / 3}")(INPUTS, SIZES)
    assert outputs["y"].dtype == np.float32
    assert np.array_equal(outputs["y"], (np.arange(6).reshape(2, 3) / 3).astype(np.float32))


def test_copies_no_view_of_the_inputs(tmp_path: Path) -> None:
    outputs = oracle_of(tmp_path, "return {'y': inputs['x'][:]}")(INPUTS, SIZES)
    assert np.shares_memory(outputs["y"], INPUTS["x"])


@pytest.mark.parametrize(
    "body",
    [
        "return {'y': inputs['x'] + np.float32(1)}",
        "return {'y': np.asfortranarray(inputs['x'])}",
        "return {'y': inputs['x'].astype(np.float64) / 3}",
    ],
)
def test_tells_some_elements_as_it_tells_all(tmp_path: Path, body: str) -> None:
    oracle, places = oracle_of(tmp_path, body), np.array([5, 0, 4], dtype=np.uint32)
    whole, some = oracle(INPUTS, SIZES)["y"], oracle.at(INPUTS, SIZES, {"y": places})["y"]
    assert some.dtype == np.float32
    assert some.tolist() == [whole[1, 2], whole[0, 0], whole[1, 1]]


BLOCK = """import numpy as np

def expected(inputs, sizes):
    raise LookupError("the whole output is not asked for")

def expected_block(inputs, sizes, rows, columns):
    {body}
"""
WIDE = {"n": 3, "m": 700}


def blocks_of(root: Path, body: str, places: list[int]) -> list[float]:
    """What an oracle that tells blocks says at these places of a matrix of 3 rows."""
    exercise = read_exercise(write_exercise(root, oracle=BLOCK.format(body=body)))
    inputs = {"x": np.arange(2100, dtype=np.float32).reshape(3, 700)}
    at = {"y": np.array(places, dtype=np.uint32)}
    return list(load_oracle(exercise).at(inputs, WIDE, at)["y"])


def test_blocks_are_asked_for_where_there_are_elements(tmp_path: Path) -> None:
    body = "return {'y': inputs['x'][rows][:, columns].astype(np.float64)}"
    places = [2099, 0, 5, 1400, 699, 700, 5]
    assert blocks_of(tmp_path, body, places) == places
    assert blocks_of(tmp_path / "none", body, []) == []


def test_blocks_that_say_something_else_are_a_mistake(tmp_path: Path) -> None:
    whole = "def expected(inputs, sizes):\n    return {'y': inputs['x']}\n"
    block = "def expected_block(inputs, sizes, rows, columns):\n    return {'y': "
    right, wrong = "inputs['x'][rows][:, columns]}\n", "inputs['x'][rows - 1][:, columns]}\n"
    for name, oracle in (("plain", whole), ("right", whole + block + right)):
        load_oracle(read_exercise(write_exercise(tmp_path / name, oracle=oracle))).check(
            INPUTS, SIZES
        )
    made = read_exercise(write_exercise(tmp_path / "wrong", oracle=whole + block + wrong))
    with pytest.raises(
        SpecError, match="expected_block returns other values for 'y' than expected"
    ):
        load_oracle(made).check(INPUTS, SIZES)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return {'y': inputs['x']}", r"has the shape \(3, 700\); the spec requires \(1, 128\)"),
        ("return inputs['x']", "expected_block must return a dict of arrays"),
        ("return {'y': inputs['x'][rows][:, columns] / 0}", "not finite"),
        ("raise SystemError('no')", "line 7: SystemError: no"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_mistake_in_a_block_is_the_exercise_s(tmp_path: Path, body: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        blocks_of(tmp_path, body, [1])


def test_only_elements_that_are_asked_for_need_be_finite(tmp_path: Path) -> None:
    oracle = oracle_of(tmp_path, "return {'y': np.where(inputs['x'] > 4, np.inf, inputs['x'])}")
    assert oracle.at(INPUTS, SIZES, {"y": np.array([4, 1])})["y"].tolist() == [4, 1]
    with pytest.raises(SpecError, match="not finite"):
        oracle.at(INPUTS, SIZES, {"y": np.array([5])})


def test_large_values_are_finite_though_their_sum_is_not(tmp_path: Path) -> None:
    oracle = oracle_of(tmp_path, "return {'y': np.full_like(inputs['x'], 3e38)}")
    assert oracle(INPUTS, SIZES)["y"][0, 0] == np.float32(3e38)


def test_does_not_let_the_oracle_change_its_inputs(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="read-only"):
        oracle_of(tmp_path, "inputs['x'] += 1; return {'y': inputs['x']}")(INPUTS, SIZES)
    assert INPUTS["x"][0, 0] == 0


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (
            "return {'y': inputs['x'].T}",
            r"the output 'y' has the shape \(3, 2\); the spec requires \(2, 3\)",
        ),
        (
            "return {'y': inputs['x'].ravel()}",
            r"the output 'y' has the shape \(6,\); the spec requires \(2, 3\)",
        ),
        (
            "return {'y': inputs['x'].astype(int)}",
            "the output 'y' has the dtype int64; the spec requires float32",
        ),
        (
            "return {'y': inputs['x'].astype(np.float16)}",
            "the output 'y' has the dtype float16; the spec requires float32",
        ),
        ("return {'y': inputs['x'].tolist()}", "the output 'y' must be a NumPy array, got list"),
        ("return {'y': inputs['x'] / 0}", "the output 'y' has values that are not finite"),
        (
            "return {'y': inputs['x'].astype(float) * 1e300}",
            "the output 'y' has values that are not finite in float32",
        ),
        ("return {}", "the output 'y' is missing"),
        ("return {'y': inputs['x'], 'x': inputs['x']}", "'x' is no output of the spec"),
        ("return inputs['x']", "must return a dict of arrays, got ndarray"),
        ("return {'y': inputs['z']}", "line 4: KeyError: 'z'"),
        ("raise SystemError('no')", "line 4: SystemError: no"),
        ("raise SystemExit(0)", "line 4: SystemExit: 0"),
        ("raise GeneratorExit", "line 4: GeneratorExit"),
        ("raise StopIteration(3)", "line 4: StopIteration: 3"),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_mistake_of_the_oracle_is_the_exercise_s(tmp_path: Path, body: str, words: str) -> None:
    oracle = oracle_of(tmp_path, body)
    with pytest.raises(SpecError, match=words) as caught:
        oracle(INPUTS, SIZES)
    assert caught.value.problems[0].file.endswith("oracle.py")


def test_an_oracle_that_does_not_load(tmp_path: Path) -> None:
    oracle = "import numpy\nnumpy.no_such_thing\n\ndef expected(inputs, sizes):\n    pass\n"
    exercise = read_exercise(write_exercise(tmp_path, oracle=oracle))
    with pytest.raises(SpecError, match="line 2: AttributeError"):
        load_oracle(exercise)


def test_an_oracle_that_exits_when_it_is_loaded(tmp_path: Path) -> None:
    exercise = read_exercise(
        write_exercise(
            tmp_path, oracle="import sys\nsys.exit(0)\n\ndef expected(inputs, sizes):\n    pass\n"
        )
    )
    with pytest.raises(SpecError, match="line 2: SystemExit: 0"):
        load_oracle(exercise)


def test_an_interrupt_stays_one(tmp_path: Path) -> None:
    oracle = oracle_of(tmp_path, "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        oracle(INPUTS, SIZES)


def test_what_the_oracle_prints_stays_off_our_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (
        "print('loaded')\n\ndef expected(inputs, sizes):\n    print('called')\n    return {'y':"
        " inputs['x']}\n"
    )
    load_oracle(read_exercise(write_exercise(tmp_path, oracle=text)))(INPUTS, SIZES)
    assert capsys.readouterr() == ("", "loaded\ncalled\n")


def test_an_oracle_that_was_removed(tmp_path: Path) -> None:
    folder = write_exercise(tmp_path)
    exercise = read_exercise(folder)
    (folder / "oracle.py").unlink()
    with pytest.raises(SpecError, match="this file is missing"):
        load_oracle(exercise)
