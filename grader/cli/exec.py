"""The subcommand `exec`: compiles a whole CUDA program and runs it on the emulated device."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import (
    Command,
    Parser,
    add_annotate,
    add_device,
    add_flag,
    add_json,
    add_no_model,
    add_value,
    add_values,
    check_target,
    complete_source,
    write_json,
)
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.records import Failure
    from grader.records.program_run import ProgramRun

DESCRIPTION = """\
Compile a CUDA program with nvcc and run it without a GPU: its own main(), its own arguments, input,
output and exit code. Or run a command such as `make test`, whose nvcc and CUDA libraries are those
of the emulated device. Then show, on standard error, each kernel with its modelled time and counted
memory accesses, the findings, and the next step.
"""
EPILOG = """\
examples:
  grade exec vectoradd.cu                        compile and run
  grade exec vectoradd.cu -- 1000 data.txt       with arguments for the program
  grade exec main.cu kernels.cu --nvcc=-rdc=true --nvcc=-Iinclude
                                                 several files, with options of nvcc
  grade exec --check vectoradd.cu                also find races, bad indices, leaks, copies beyond
                                                 an allocation, unchecked errors
  grade exec --annotate vectoradd.cu             also print the source with the cost of each line
  grade exec --html run.html --trace run.json vectoradd.cu
                                                 write a page with the timeline, and a trace for
                                                 ui.perfetto.dev: kernels, copies, streams
  grade exec --csv run.csv vectoradd.cu          a row per launch, with the columns of
                                                 ncu --csv --page raw
  grade exec -- make test                        a Makefile, CMake or script, unchanged
  grade exec -- ./a.out 1000                     a program that is linked with -cudart shared

times:
  Kernels take their modelled time on the GPU of --device, and copies the time of its link: pinned
  memory is faster than pageable memory. Streams overlap as on that GPU. cudaEventElapsedTime
  returns these times. With --no-model, times are those of this computer. With --device gpu, the
  program runs on a GPU of this machine, and its times are measured.

exit codes: the program's own, 128 + n if signal n ended it; 1 it does not compile, 2 bad usage,
3 the grader or the machine failed
"""
DETAILS = "above; --annotate adds the cost of each line, --html FILE a timeline"


class _ExecParser(Parser):
    """A parser that leaves the words after `--` to the program."""

    def parse_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        words = list(args or ())
        at = words.index("--") if "--" in words else len(words)
        options = super().parse_args(words[:at], namespace)
        options.arguments = words[at + 1 :]
        if not options.files and not options.arguments:
            self.error("name a source file, or a command after --")
        return options


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.usage = (
        "grade exec [options] FILE.cu [FILE ...] [-- ARGUMENTS]\n"
        "       grade exec [options] -- COMMAND [ARGUMENTS]"
    )
    text = "the program's sources"
    add_value(parser, "files", "FILE", text, complete=complete_source, nargs="*")
    add_values(parser, "--nvcc", "OPTION", "an option of nvcc: --nvcc=-O3; repeatable")
    text = "the GPU: emulated (an H100, the default), emulated:ID, or gpu:N of this machine"
    add_device(parser, text)
    text = "the number of GPUs (default: 1)"
    add_value(parser, "--devices", "N", text, type=int, default=1)
    add_flag(parser, "--check", "check kernels and host code for mistakes")
    add_no_model(parser, "take times from this computer's clock: faster")
    add_annotate(parser)
    add_value(parser, "--html", "FILE", "write a page: kernels, findings, timeline, sources")
    text = "write the timeline for ui.perfetto.dev (.json or .json.gz)"
    add_value(parser, "--trace", "FILE", text)
    add_value(parser, "--csv", "FILE", "write a row per launch, with Nsight Compute's columns")
    add_json(parser, "kernels, launches, findings and the timeline")


def run_exec(options: argparse.Namespace) -> int:
    """`grade exec`: the exit code of the program."""
    _check(options)
    from grader.cuda.program import ProgramJob, run_program
    from grader.grading.mistakes import SubmissionError

    job = ProgramJob(
        tuple(options.files),
        tuple(options.arguments),
        tuple(options.nvcc),
        options.device,
        options.devices,
        options.check,
        not options.no_model,
        output=sys.stderr if options.json == "-" else None,
    )
    try:
        run = run_program(job)
    except SubmissionError as error:
        return _show_failure(error.failure, options.json)
    _write_files(run, options)
    _report(run, options)
    return run.exit_code


def _check(options: argparse.Namespace) -> None:
    """Raises UsageError before the long work."""
    names = ("json", "html", "trace", "csv")
    for name in names:
        check_target(getattr(options, name), f"the {name}")
    if any(getattr(options, name) == "-" for name in names[1:]):
        raise UsageError("only --json has the form -", "Name a file.")
    if options.devices < 1:
        raise UsageError(f"--devices {options.devices}: a program needs a GPU", "Name 1 or more.")


def _show_failure(failure: Failure, target: str | None) -> int:
    """Prints nvcc's own messages and the next step."""
    from grader.report.kernel_pages import format_failure
    from grader.report.text import clean_text

    sys.stderr.write(clean_text(failure.detail))
    print(f"grade: {failure.message}\n{failure.advice}", file=sys.stderr)
    write_json(target, lambda: format_failure(failure, None))
    return 1


def _write_files(run: ProgramRun, options: argparse.Namespace) -> None:
    from grader.plumbing.atomic import write_file
    from grader.report.program_page import format_program

    write_json(options.json, lambda: format_program(run))
    if options.csv is not None:
        from grader.report.program_csv import format_csv

        write_file(Path(options.csv), format_csv(run).encode(), "the CSV")
    if options.html is not None:
        from grader.report.html.program import render_program_page

        page = render_program_page(run, shlex.join([*options.files, *options.arguments]))
        write_file(Path(options.html), page.encode("utf-8", "replace"), "the page")
    if options.trace is not None:
        from grader.report.program_trace import write_program_trace

        write_program_trace(Path(options.trace), run)


def _report(run: ProgramRun, options: argparse.Namespace) -> None:
    """Prints the report. A closed stderr does not change the exit code."""
    from grader.report.program_page import print_program, print_program_lines
    from grader.report.terminal import make_console

    written = [name for name in (options.html, options.trace, options.csv) if name is not None]
    try:
        console = make_console(sys.stderr)
        if options.annotate:
            print_program_lines(run, console=console)
        print_program(run, console=console, details=", ".join(written) or DETAILS)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


EXEC = Command("exec", run_exec, DESCRIPTION, EPILOG, _add_arguments, _ExecParser)
