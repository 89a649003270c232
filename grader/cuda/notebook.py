"""The cell magic `%%cuda` of Jupyter: compiles the cell as a CUDA program and runs it."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from grader.cuda.program import exec_program
from grader.errors import GraderError
from grader.grading.mistakes import SubmissionError
from grader.records.program_run import ProgramRun


class Shell(Protocol):
    """The part of IPython's shell that registers a magic."""

    def register_magic_function(
        self, func: Callable[[str, str], object], magic_kind: str, magic_name: str
    ) -> None: ...


def register(shell: Shell) -> None:
    """Adds `%%cuda`."""
    shell.register_magic_function(run_cell, "cell", "cuda")


def run_cell(line: str, cell: str) -> ProgramRun | None:
    """Runs a cell. `line` has the options of `grade exec`, and the program's arguments after `--`.

    Prints the program's output; the returned run shows its report. Prints nvcc's messages, and
    returns None, if the program does not compile.
    """
    words = shlex.split(line)
    at = words.index("--") if "--" in words else len(words)
    try:
        options = _parser().parse_args(words[:at])
    except SystemExit:
        return None
    try:
        run = exec_program(
            cell + "\n",
            args=words[at + 1 :],
            nvcc=options.nvcc,
            device=options.device,
            devices=options.devices,
            check=options.check,
            model=not options.no_model,
            timeout_s=options.timeout,
        )
    except SubmissionError as error:
        print(f"{error.detail}\n{error.message} {error.advice}", file=sys.stderr)
        return None
    except GraderError as error:
        print(f"{error}\n{error.advice}", file=sys.stderr)
        return None
    sys.stderr.write(run.compiler + (run.stderr or ""))
    sys.stdout.write(run.stdout or "")
    return replace(run, stdout=None, stderr=None)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="%%cuda", description="Run the cell as a CUDA program.")
    parser.add_argument("--nvcc", action="append", default=[], help="an option of nvcc")
    parser.add_argument("--device", default="emulated", help="the GPU: emulated:ID")
    parser.add_argument("--devices", type=int, default=1, help="the number of GPUs")
    parser.add_argument("--check", action="store_true", help="check kernels and host code")
    parser.add_argument("--no-model", action="store_true", help="times of this computer")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds until it is ended")
    return parser
