"""The cell magic `%%cuda`: a cell is a program, whose output is printed and whose run is shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import grader
from grader.records.program_run import ProgramRun

CELL = """\
#include <cstdio>
int main(int count, char **words) {
    for (int i = 1; i < count; ++i) printf("[%s]", words[i]);
    return count;
}
"""


class Shell:
    """The part of IPython's shell that the extension uses."""

    def __init__(self) -> None:
        self.magics: dict[str, Callable[[str, str], object]] = {}

    def register_magic_function(
        self, func: Callable[[str, str], object], magic_kind: str, magic_name: str
    ) -> None:
        assert magic_kind == "cell"
        self.magics[magic_name] = func


def run_cell(line: str, cell: str) -> object:
    shell = Shell()
    grader.load_ipython_extension(shell)
    return shell.magics["cuda"](line, cell)


def test_a_cell_runs_as_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    run = run_cell("--nvcc=-O1 -- one 'two words'", CELL)
    assert isinstance(run, ProgramRun)
    assert run.exit_code == 3
    assert capsys.readouterr().out == "[one][two words]"
    assert "exit code 3" in (run._repr_html_() or "")


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("", "int main() { return x; }", "identifier"),
        ("--device emulated:none", CELL, "cannot stand for"),
        ("--unknown", CELL, "unrecognized arguments"),
    ],
)
def test_a_mistake_is_printed(
    capsys: pytest.CaptureFixture[str], line: str, cell: str, message: str
) -> None:
    assert run_cell(line, cell) is None
    assert message in capsys.readouterr().err
