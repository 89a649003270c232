"""The subcommands that a student explores with: `compare`, `sweep` and `host`."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import (
    Command,
    add_device,
    add_exercise,
    add_json,
    add_no_model,
    add_seed,
    add_submission,
    check_target,
    complete_source,
    complete_with,
    find_exercise,
    known_exercises,
    make_parser,
    print_or_json,
    printing,
    read_options,
    seed_of,
)
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.records import Failure
    from grader.report.sweep import Sweep

COMPARE_DESCRIPTION = """\
Grade two versions of a submission, with the same inputs, and show them side by side: points,
times, counters, and which is better.
"""
COMPARE_EPILOG = """\
examples:
  grade compare transpose starter/transpose.cu mine.cu
  grade compare starter/transpose.cu mine.cu         without the exercise: both files are named
                                                     after it, or define the kernel it launches
  grade compare transpose old.cu new.cu --no-model   counters only: quicker
  grade compare transpose old.cu new.cu --json -     both scores and the comparison, as JSON

A version that fails is told in one line, and the other one's figures are shown all the same. A
time or rate is called better or worse where the intervals of both do not overlap.

exit codes: 0 both were graded, whatever their points, 2 bad usage, 3 the grader or the machine
failed
"""
SWEEP_DESCRIPTION = """\
Run a submission over sizes, beside the processor (a plain loop in C, and NumPy), the naive kernel,
the comparisons and, where there is one, the reference: time, GFLOP/s, GB/s, and how many times as
fast as the naive kernel and the processor each of them is.

Times of kernels are modelled on the emulated device, which counts as well. On a GPU they are
measured, beside the GPU's library (cuBLAS) where CuPy or PyTorch is installed and the exercise has
one. Those of the processor are measured, on this computer.
"""
SWEEP_EPILOG = """\
examples:
  grade sweep gemm_tiled mine.cu --sizes 128,512,1024,2048   all sizes of the exercise the same
  grade sweep transpose mine.cu --sizes rows=512,cols=1024 rows=64,cols=8192
  grade sweep transpose mine.cu --sizes 512,2048 --plot mine.svg --json mine.json

what is compared:
  CPU (C loop, one core)   `reference` of the exercise's cpu.c, compiled with g++ -O2; not run
                           where it would take more than 10 s
  CPU (NumPy)              `library` of the exercise's oracle.py in float32, or else the oracle,
                           on as many cores as NumPy takes
  x naive, C loop, NumPy   how many times as fast as these a program is

On the emulated device a sample of the blocks is run at large sizes, and outputs are judged as far
as it wrote them; with --no-model all blocks are run, and all outputs judged.

exit codes: 0 right at every size, 1 wrong somewhere or not compiling, 2 bad usage, 3 the grader or
the machine failed
"""
HOST_DESCRIPTION = """\
Write a whole program around a submission: one file with a main() that makes the inputs, runs the
submission's launch lines, times them, and verifies the outputs as the grader does. nvcc compiles
it, ncu and compute-sanitizer run it, on a machine with a GPU.
"""
HOST_EPILOG = """\
examples:
  grade host transpose mine.cu -o main.cu                also prints the commands to go on with
  grade host transpose mine.cu -o main.cu --arch sm_90   for the GPU of another machine

The submission stands in it as it is, and compilers and ncu name its lines by its own name; write
the file again when you have changed it. An exercise that brings no cpu.c is verified by NumPy's
results: they lie in main.expected, which must stay beside the program.

exit codes: 0 written, 1 the submission does not compile or its launch lines are wrong, 2 bad
usage, 3 the grader or the machine failed
"""
EXIT_NOT_GRADED = 3
_ARCH = re.compile(r"native|sm_[0-9]{2,3}[af]?")


def _compare_parser() -> argparse.ArgumentParser:
    parser = make_parser("compare", COMPARE_DESCRIPTION, COMPARE_EPILOG)
    parser.usage = "grade compare [EXERCISE] OLD.cu NEW.cu [options]"
    files = parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="EXERCISE, its folder or its name; OLD.cu and NEW.cu",
    )
    complete_with(files, lambda prefix: [*known_exercises(), *complete_source(prefix)])
    add_device(parser)
    add_seed(parser, "a new one, for both")
    add_no_model(parser, "leave the times out on the emulated device: quicker")
    add_json(parser, "both scores and the comparison")
    return parser


def run_compare(options: argparse.Namespace) -> int:
    """`grade compare [EXERCISE] OLD NEW`: 0 when both were graded, whatever their points."""
    if len(options.files) not in (2, 3):
        raise UsageError(
            f"{len(options.files)} names are given",
            "Name the exercise and two files: grade compare EXERCISE OLD.cu NEW.cu",
        )
    check_target(options.json)
    from grader.explore.versions import compare_versions, find_common_exercise
    from grader.report.terminal import make_console, progress_display
    from grader.report.version_table import format_versions, print_versions

    *given, old, new = options.files
    folder = (
        find_exercise(given[0])
        if given
        else find_common_exercise(Path("exercises"), Path(old), Path(new))
    )
    with progress_display(make_console(sys.stderr), quiet=options.json == "-") as show:
        grading = replace(read_options(options), show=show)
        versions = compare_versions(folder, Path(old), Path(new), grading)
    print_or_json(
        options.json,
        lambda: format_versions(versions),
        lambda console: print_versions(versions, console=console),
    )
    both = (versions.old.status, versions.new.status)
    return EXIT_NOT_GRADED if any(status.is_worth_a_retry for status in both) else 0


def _sweep_parser() -> argparse.ArgumentParser:
    parser = make_parser("sweep", SWEEP_DESCRIPTION, SWEEP_EPILOG)
    add_exercise(parser)
    add_submission(parser, "the file to run")
    parser.add_argument(
        "--sizes",
        nargs="+",
        required=True,
        metavar="SIZES",
        help="N,N,... or NAME=N,NAME=N,...; see below",
    )
    add_device(parser)
    add_seed(parser)
    add_no_model(parser, "only count on the emulated device, all blocks; model no times")
    parser.add_argument(
        "--plot", metavar="FILE.svg", help="draw the figures by size, over logarithmic axes"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON")
    return parser


def run_sweep(options: argparse.Namespace) -> int:
    """`grade sweep EXERCISE SUBMISSION --sizes ...`: 0 when the submission is right at every
    size."""
    check_target(options.json)
    check_target(options.plot, "the plot")
    from grader.authoring.sweep.over_sizes import run_sweep as sweep_sizes
    from grader.records import Failure
    from grader.report.sweep import print_sweep
    from grader.report.terminal import make_console, progress_display

    folder = find_exercise(options.exercise)
    with progress_display(make_console(sys.stderr)) as show:
        running = replace(read_options(options), seed=seed_of(options), show=show)
        found = sweep_sizes(folder, Path(options.submission), options.sizes, running)
    if isinstance(found, Failure):
        return _tell_failure(found)
    with printing():
        print_sweep(found, console=make_console(sys.stdout))
    _write_sweep(found, options)
    return 0 if found.right else 1


def _write_sweep(found: Sweep, options: argparse.Namespace) -> None:
    from grader.report.files import write_file
    from grader.report.plot import format_svg
    from grader.report.sweep import format_sweep, make_panels, title_plot

    if options.json is not None:
        write_file(Path(options.json), format_sweep(found).encode(), "the JSON")
    if options.plot is not None:
        panels, x_title = make_panels(found)
        title, subtitle = title_plot(found)
        write_file(
            Path(options.plot),
            format_svg(panels, title=title, subtitle=subtitle, x_title=x_title).encode(),
            "the plot",
        )


def _host_parser() -> argparse.ArgumentParser:
    parser = make_parser("host", HOST_DESCRIPTION, HOST_EPILOG)
    add_exercise(parser)
    add_submission(parser, "the file to put into a program")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.cu", help="the program")
    parser.add_argument(
        "--arch",
        default="native",
        metavar="ARCH",
        help="nvcc's -arch, sm_90 say (default: native, this machine's GPU)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a file that is there already, whatever it is"
    )
    return parser


def run_host(options: argparse.Namespace) -> int:
    """`grade host EXERCISE SUBMISSION -o FILE.cu`: 0 when it was written, 1 when the submission
    does not come so far."""
    target, submission = Path(options.output), Path(options.submission)
    if not _ARCH.fullmatch(options.arch):
        raise UsageError(
            f"--arch {options.arch} is no architecture", "Give native, or sm_ and a number: sm_90."
        )
    if target.suffix != ".cu":
        raise UsageError(
            f"-o {target} is no .cu file", "nvcc tells CUDA code by the name: -o my_main.cu"
        )
    check_target(options.output, "the program")
    from grader.explore.host_program import (
        check_replaceable,
        expected_file,
        make_host_program,
        next_commands,
    )
    from grader.records import Failure
    from grader.report.files import write_file

    if target.exists() and submission.exists() and target.samefile(submission):
        raise UsageError(f"-o {target} is the submission itself", "Name another file.")
    check_replaceable(target, force=options.force)
    written = make_host_program(
        find_exercise(options.exercise), submission, target, arch=options.arch
    )
    if isinstance(written, Failure):
        return _tell_failure(written)
    write_file(target, written.text.encode(), "the program")
    with printing():
        print(
            f"{target}: {submission} with a main() around it, {written.text.count(chr(10))} lines."
        )
        if written.expected is not None:
            write_file(expected_file(target), written.expected, "the expected values")
            print(
                f"{expected_file(target)}: its inputs and expected outputs,"
                f" {len(written.expected):,} bytes."
            )
        print(
            "\nWhere the CUDA toolkit and a GPU are:",
            *next_commands(target, submission, arch=options.arch),
            sep="\n  ",
        )
    return 0


def _tell_failure(failure: Failure) -> int:
    with printing():
        print(f"{failure.message}\n{failure.detail}\n{failure.advice}".strip())
    return 1


COMPARE = Command(_compare_parser, run_compare)
SWEEP = Command(_sweep_parser, run_sweep)
HOST = Command(_host_parser, run_host)
