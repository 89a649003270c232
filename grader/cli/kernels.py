"""The subcommands for kernels without an exercise: `run` and `inspect`."""

from __future__ import annotations

import argparse
import io
import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import (
    Command,
    add_annotate,
    add_device,
    add_flag,
    add_json,
    add_no_isolation,
    add_value,
    add_values,
    check_target,
    complete_source,
    parse_arguments,
    print_or_json,
    print_report,
    read_options,
    refuse_annotated_json,
)
from grader.cli.exec import EXEC, run_exec
from grader.cli.results import (
    add_machine_code,
    detail_of,
    print_annotated,
    print_listings,
    write_trace_of,
)
from grader.errors import UsageError
from grader.records import NoSource, Role
from grader.report.text import clean_line, clean_text

if TYPE_CHECKING:
    import numpy as np

    from grader.explore.run_request import RunRequest
    from grader.records import Failure, KernelList, KernelRun, Submission, UnlistedFile

RUN_DESCRIPTION = """\
Run the kernels of any .cu file, without an exercise, and show launches, counters, times, findings
and outputs. No main() or host code is needed: comment lines of the file launch its kernels, and
options give the data. A file with a main() and without such lines runs as by `grade exec`.
"""
RUN_EPILOG = """\
the file:
  // run: --size n=65536 --input x=normal --output y --scalar alpha=2.0
  // launch: saxpy<<<ceil_div(n, 256), 256>>>(y, x, alpha, n)
  __global__ void saxpy(float *y, const float *x, float alpha, int n) { ... }

  The run line has the data, and may have --check and --model: `grade run saxpy.cu` is then
  sufficient. Options that give data replace it; only the first run line counts.

  A launch line can use inputs, outputs, sizes, scalars and the constants of the file.
  docs/launch-lines.md describes loops, copies and constant memory between launches.
  `// scratch: float partial[n]` declares a buffer for intermediate values.

examples:
  grade run saxpy.cu --size n=65536 --input x=normal --output y --scalar alpha=2.0
  grade run saxpy.cu --size n=65536 --input x=normal --output y=index --scalar alpha=2.0 --annotate
                                             also print the source with the cost of each line
  grade run saxpy.cu --size n=65536 --input x=normal --output y --scalar alpha=2.0 --model --sass
                                             also print the machine code of each source line, with
                                             control bits and modelled cycles
  grade run saxpy.cu --size n=65536 --input x=normal --output y --scalar alpha=2.0 --trace sm.json
                                             also write a trace of the simulated SM, warp by warp
  grade run saxpy.cu --size n=1000 --input x=normal:n --output y=index:n --scalar alpha=2.0 --check
                                             find races, uninitialised reads and bad indices
  grade run transpose.cu --size rows=512 --size cols=384 --input in=index:rows,cols \\
      --output out=float32:cols,rows --model
                                             also model the times on an H100
  grade run mine.cu --input x=points.npy --output sum=float64:1 --save sum=sum.npy

arrays:
  --input NAME=HOW[:SHAPE[:TYPE]]    HOW: normal (mean 0, deviation 1), small_integers (-8 to 8),
                                     index (0, 1, 2, ...), permutation (these in random order), or
                                     another initialisation of spec.json. SHAPE: extents separated
                                     by commas; they can use sizes: rows,cols or 2*n. TYPE: a name
                                     of NumPy or C
  --output NAME[=TYPE[:SHAPE]]       contains no usable values before the run
  --output NAME=HOW[:SHAPE[:TYPE]]   contains values before the run: for kernels that add to it
  NAME=FILE.npy                      read from a file of numpy.save

  The default TYPE is the type of the kernel's parameter if the launch lines show it, else float32.
  The default SHAPE is the size, if there is only one.

  --tensor-map NAME=BOX[:FIELD=VALUE...]  lets a kernel take the array as a CUtensorMap. BOX: the
                                     extents of a tile, for example 8,32. The fields are those of
                                     spec.json: swizzle=128, steps=1,2, fill=nan, element=bfloat16

  A scalar gets the width of the kernel's parameter. 2 is an integer, 2.0 is not.

exit codes: 0 it ran, 1 it does not compile or run, or the checked mode has a finding, 2 bad usage,
3 the grader or the machine failed
"""
INSPECT_DESCRIPTION = """\
List the kernels of .cu and .cubin files: registers, shared and local memory, machine instructions,
and the instructions that the emulated device cannot execute. No kernel runs.
"""
INSPECT_EPILOG = """\
examples:
  grade inspect mine.cu                          compiled for an H100
  grade inspect mine.cu --device emulated:t4     for another GPU
  grade inspect mine.cu --sass                   also the machine code, line by line
  grade inspect *.cu build/*.cubin --json -      all files, as JSON

Registers and local memory are per thread. Shared memory is per block, without dynamic shared
memory. A kernel that uses local memory spills registers, or has a local array that the compiler
cannot keep in registers.

exit codes: 0 all files were listed, 1 a file could not be listed, 2 bad usage, 3 the grader or the
machine failed
"""


def _add_run(parser: argparse.ArgumentParser) -> None:
    text = "the kernels with their launch lines"
    add_value(parser, "file", "FILE.cu", text, complete=complete_source)
    named = (
        ("size", "NAME=N", "an integer for launch lines and shapes"),
        ("input", "NAME=ARRAY", "an array that kernels read; see below"),
        ("output", "NAME=ARRAY", "an array that kernels write; see below"),
        ("scalar", "NAME=NUMBER", "a number as an argument of a kernel"),
        ("tensor-map", "NAME=BOX", "let kernels take an array as a CUtensorMap; see below"),
        ("save", "NAME=FILE.npy", "write an output to a file"),
    )
    for name, metavar, text in named:
        add_values(parser, f"--{name}", metavar, f"{text}; repeatable")
    add_device(parser)
    add_flag(parser, "--check", "run in the checked mode")
    add_flag(parser, "--model", "model the times on the emulated device")
    text = "draw inputs and the sample of blocks from this seed (default: 0)"
    add_value(parser, "--seed", "N", text, type=int, default=0)
    add_annotate(parser)
    add_machine_code(parser)
    add_no_isolation(parser)
    add_json(parser, "launches, counters, findings and summaries of outputs")


def run_kernels(options: argparse.Namespace) -> int:
    """`grade run FILE.cu`: 0 if it ran without a finding."""
    check_target(options.json)
    check_target(options.trace, "the trace")
    from grader.explore.run_request import is_program, read_given
    from grader.submission.source_file import read_submission

    source = read_submission(Path(options.file))
    request = _read_request(options, source)
    if not options.save and is_program(source, request):
        return run_exec(parse_arguments(EXEC.make_parser(), _as_exec(options)))
    refuse_annotated_json(options)
    from grader.explore.kernel_run import run_with
    from grader.explore.kernel_words import split_names
    from grader.grading.mistakes import SubmissionError
    from grader.report.annotation import TERMINAL_COLUMNS, annotate_run
    from grader.report.kernel_pages import format_failure, format_run, print_failure, print_run
    from grader.report.terminal import make_console, progress_display

    data = read_given(Path(options.file), request, options.seed)
    saved = split_names("--save", options.save)
    _check_saved(saved, [each.name for each in data.buffers if each.role is Role.OUTPUT])
    try:
        with progress_display(make_console(sys.stderr), quiet=options.json == "-") as show:
            running = replace(
                read_options(options),
                model=request.model or options.trace is not None,
                detail=detail_of(options, pages=options.annotate),
                show=show,
            )
            found = run_with(running, Path(options.file), data, check=request.check)
    except SubmissionError as error:
        format_json = partial(format_failure, line=error.line)
        print_or_json(options.json, error.failure, format_json, print_failure)
        _print_ending(error.failure, options.json)
        return 1
    print_or_json(options.json, found, format_run, print_run)
    if options.annotate:
        annotation = annotate_run(found, TERMINAL_COLUMNS)
        print_annotated(annotation, found.machine, found.source)
    if options.sass and found.machine is not None:
        print_listings(found.machine.listings, found.source, found.machine.sizes)
    if options.trace is not None:
        write_trace_of(found.machine, found.source, Path(options.trace))
    for name, target in saved.items():
        if name in found.outputs:
            _save(found.outputs[name], Path(target))
    _print_ending(found, options.json)
    return 1 if found.findings else 0


def _print_ending(run: KernelRun | Failure, json: str | None) -> None:
    from grader.report.ending import print_run_ending

    if json != "-":
        print_report(print_run_ending, run)


def _read_request(options: argparse.Namespace, source: Submission | NoSource) -> RunRequest:
    """The request of the options; without data, that of the file's run line."""
    from grader.explore.run_request import DATA, MODES, RunRequest, find_run_line

    words = {name: getattr(options, name.replace("-", "_")) for name in DATA}
    given = RunRequest(words, frozenset(name for name in MODES if getattr(options, name)))
    text = "" if isinstance(source, NoSource) or given.has_data else source.text
    found = find_run_line(text)
    return replace(found, modes=found.modes | given.modes) if found.has_data else given


def _as_exec(options: argparse.Namespace) -> list[str]:
    """The arguments of `grade exec` for the same request."""
    given = [options.file, f"--device={options.device}"]
    given += [f"--{name}" for name in ("check", "annotate") if getattr(options, name)]
    files = {name: getattr(options, name) for name in ("json", "trace")}
    return given + [f"--{name}={file}" for name, file in files.items() if file is not None]


def _check_saved(saved: Mapping[str, str], outputs: Collection[str]) -> None:
    """Raises UsageError for a file that cannot be written, and for an unknown output."""
    for name, target in saved.items():
        if name not in outputs:
            raise UsageError(
                f"--save {name}={target}: there is no output {name!r}",
                f"Outputs are: {', '.join(outputs)}.",
            )
        check_target(target, "the output")


def _save(array: np.ndarray, target: Path) -> None:
    import numpy as np

    from grader.plumbing.atomic import write_file

    content = io.BytesIO()
    np.save(content, array)
    write_file(target, content.getvalue(), "the output")


def _add_inspect(parser: argparse.ArgumentParser) -> None:
    add_value(parser, "files", "FILE", "a .cu file or a .cubin", nargs="+")
    text = "compile .cu files for this device: emulated[:ID] (the default) or gpu[:N]"
    add_device(parser, text, "emulated")
    text = "compile .cu files for this architecture, for example sm_80"
    add_value(parser, "--arch", "ARCH", text)
    add_flag(parser, "--sass", "also print the machine code, below its source lines")
    add_no_isolation(parser)
    add_json(parser, "the kernels")


def inspect_kernels(options: argparse.Namespace) -> int:
    """`grade inspect FILE...`: 0 if all files were listed."""
    check_target(options.json)
    from grader.explore.kernel_list import inspect
    from grader.report.kernel_pages import format_list, print_list

    found = inspect(
        options.files,
        device=options.device,
        arch=options.arch,
        isolated=not options.no_isolation,
        code=options.sass,
    )
    print_or_json(options.json, found, format_list, print_list)
    if options.sass and options.json != "-":
        _print_listed(found)
    for error in found.errors:
        _print_error(error)
    return 1 if found.errors else 0


def _print_listed(found: KernelList) -> None:
    """Prints the machine code of the kernels of each file, below the source lines of a .cu file."""
    for file in dict.fromkeys(kernel.file for kernel in found.kernels):
        path, code = Path(file), [each.code for each in found.kernels if each.file == file]
        text = "" if path.suffix == ".cubin" else path.read_text("utf-8", "replace")
        print_listings([each for each in code if each is not None], text, {})


def _print_error(error: UnlistedFile) -> None:
    print(clean_line(f"{error.file}: {error.message}"), file=sys.stderr)
    if rest := "\n".join(filter(None, (error.detail, error.advice))):
        print(clean_text(rest), file=sys.stderr)


RUN = Command("run", run_kernels, RUN_DESCRIPTION, RUN_EPILOG, _add_run)
INSPECT = Command("inspect", inspect_kernels, INSPECT_DESCRIPTION, INSPECT_EPILOG, _add_inspect)
