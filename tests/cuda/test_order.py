"""Operations of streams that nothing orders run in an order that shows a missing dependency; the
same program with the dependency is right in each order. Each case of order.cu prints 7 if it is
right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.cuda.program import exec_program
from tests.cuda.compiling import compile_program

SOURCE = Path(__file__).parent / "order.cu"
CASES = re.findall(r"CASE\((\w+)\)", SOURCE.read_text(encoding="utf-8"))[1:]
PROGRESS = ("polling_by_copies", "silent_host")


@pytest.fixture(scope="module")
def program() -> Path:
    return compile_program(SOURCE)


def values(program: Path, word: str) -> dict[str, int]:
    """The value that each case prints."""
    done = exec_program(command=[str(program), word], timeout_s=120)
    assert done.exit_code == 0, done.stderr
    lines = (line.split() for line in (done.stdout or "").splitlines())
    return {name: int(value) for name, value in lines}


def test_dependencies_give_right_results(program: Path) -> None:
    found = values(program, "right")
    assert found == dict.fromkeys(sorted(set(CASES) - set(PROGRESS)), 7)


def test_each_missing_dependency_gives_a_wrong_result(program: Path) -> None:
    found = values(program, "wrong")
    assert len(found) == len(set(CASES) - set(PROGRESS))
    assert [name for name, value in found.items() if value == 7] == []


def test_pending_operations_make_progress(program: Path) -> None:
    assert values(program, "progress") == dict.fromkeys(PROGRESS, 7)
