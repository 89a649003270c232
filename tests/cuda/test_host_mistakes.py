"""Each mistake of the host code in `mistakes/host.cu` is found with its line, and the same code
without the mistake has no finding."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.cuda.program import exec_program
from grader.records.program_run import ProgramRun
from tests.cuda.compiling import compile_program

SOURCE = Path(__file__).parent / "mistakes" / "host.cu"
TEXT = SOURCE.read_text(encoding="utf-8")
CASES = re.findall(r"CASE\((\w+)\)", TEXT)[1:]
QUICK = {"early_event", "leak", "long_copy", "unchecked_launch"}
Found = list[tuple[str, int | None]]


@pytest.fixture(scope="module")
def program() -> Path:
    return compile_program(SOURCE)


def expected(case: str) -> Iterator[tuple[str, int]]:
    """The findings that comments name in the function of a case, with their lines."""
    start = TEXT.index(f"static void {case}()")
    first = TEXT[:start].count("\n") + 1
    for number, line in enumerate(TEXT[start:].partition("\n}\n")[0].split("\n"), first):
        if found := re.search(r"// ([a-z_]+)$", line):
            yield found[1], number


def run(program: Path, *words: str, check: bool = True) -> ProgramRun:
    return exec_program(command=[str(program), *words], check=check)


def found(result: ProgramRun) -> Found:
    return sorted((each.kind, each.place and each.place.line) for each in result.host_findings)


def slow_but(quick: set[str]) -> list[object]:
    return [pytest.param(each, marks=() if each in quick else pytest.mark.slow) for each in CASES]


@pytest.mark.parametrize("case", slow_but(QUICK))
def test_a_mistake_is_found_with_its_line(program: Path, case: str) -> None:
    result = run(program, case, "wrong")
    assert found(result) == sorted(expected(case)), result.stderr
    assert not result.findings


@pytest.mark.parametrize("case", slow_but({"early_event"}))
def test_right_code_has_no_findings(program: Path, case: str) -> None:
    result = run(program, case, "right")
    assert found(result) == []
    assert (result.exit_code, result.findings) == (0, ())


def test_a_dereference_is_reported_without_the_checked_mode(program: Path) -> None:
    result = run(program, "dereference", "wrong", check=False)
    assert found(result) == list(expected("dereference"))
    told = result.stderr or ""
    assert "the host dereferenced device memory 0x6a" in told
    assert "allocated by cudaMalloc at " in told
    assert "/" not in told.partition("allocated by")[2]  # no path of this machine
    assert result.exit_code == 139
