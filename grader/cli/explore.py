"""The subcommands that a student explores with: `host` and `compare`."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.cli.common import check_target, find_exercise, make_parser, parse_arguments, printing
from grader.errors import UsageError

HOST_DESCRIPTION = """\
Write a whole program around a submission: one file with a main() that makes the inputs, runs the submission's launch lines, times them,
and verifies the outputs as the grader does. nvcc compiles it, ncu and compute-sanitizer run it, on a machine with a GPU.
"""
HOST_EPILOG = """\
example:
  grade host transpose mine.cu -o my_main.cu         also prints the commands to go on with
  grade host transpose mine.cu -o my_main.cu --arch sm_90      for a GPU of another machine

The submission stands in it as it is, and compilers and ncu name its lines by its own name; write the file again when you have changed it.
An exercise that brings no cpu.c is verified by NumPy's results: they lie in my_main.expected, which must stay beside the program.

exit codes: 0 written, 1 the submission does not compile or its launch lines are wrong, 2 bad usage, 3 the grader or the machine failed
"""
COMPARE_DESCRIPTION = """\
Grade two versions of a submission, with the same inputs, and show them side by side: points, times, counters, and which is better.
"""
COMPARE_EPILOG = """\
examples:
  grade compare transpose starter/transpose.cu mine.cu
  grade compare starter/transpose.cu mine.cu         both files are named after the exercise, or define the kernel that it launches
  grade compare transpose old.cu new.cu --no-model   counters only: quicker
  grade compare transpose old.cu new.cu --json -     both scores and the comparison, for a program

A version that fails is told in one line, and the other one's figures are shown all the same. A time or rate is called better or worse
where the intervals of both do not overlap.

exit codes: 0 both were graded, whatever their points, 2 bad usage, 3 the grader or the machine failed
"""
EXIT_NOT_GRADED = 3
_ARCH = re.compile(r"native|sm_[0-9]{2,3}[af]?")


def run_host(arguments: Sequence[str]) -> int:
    """`grade host EXERCISE SUBMISSION -o FILE.cu`: 0 when it was written, 1 when the submission
    does not come so far."""
    parser = make_parser("host", HOST_DESCRIPTION, HOST_EPILOG)
    parser.add_argument(
        "exercise", metavar="EXERCISE", help="the exercise's folder, or its name in ./exercises"
    )
    parser.add_argument(
        "submission", metavar="SUBMISSION.cu", help="the file to put into a program"
    )
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
    options = parse_arguments(parser, arguments)
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
    from grader.explore.host import (
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
        with printing():
            print(f"{written.message}\n{written.detail}\n{written.advice}".strip())
        return 1
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


def run_compare(arguments: Sequence[str]) -> int:
    """`grade compare [EXERCISE] OLD NEW`: 0 when both were graded, whatever their points."""
    parser = make_parser("compare", COMPARE_DESCRIPTION, COMPARE_EPILOG)
    parser.usage = "grade compare [EXERCISE] OLD.cu NEW.cu [options]"
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="EXERCISE, its folder or its name in ./exercises; OLD.cu and NEW.cu",
    )
    parser.add_argument(
        "--device",
        default="auto",
        metavar="DEVICE",
        help="auto (the default), emulated[:ID] or gpu[:N]",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="draw hidden cases and inputs from this seed (default: a new one, for both)",
    )
    parser.add_argument(
        "--no-model",
        action="store_true",
        help="leave the times out on the emulated device: quicker",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write both scores and the comparison as JSON; - prints it, and nothing else",
    )
    options = parse_arguments(parser, arguments)
    if len(options.files) not in (2, 3):
        raise UsageError(
            f"{len(options.files)} names are given",
            "Name the exercise and two files: grade compare EXERCISE OLD.cu NEW.cu",
        )
    check_target(options.json)
    from grader.explore.compare import compare_versions, find_common_exercise
    from grader.report.files import write_file
    from grader.report.terminal import make_console, progress_display
    from grader.report.version_table import format_versions, print_versions

    *given, old, new = options.files
    folder = (
        find_exercise(given[0])
        if given
        else find_common_exercise(Path("exercises"), Path(old), Path(new))
    )
    with progress_display(
        make_console(sys.stderr, environ=os.environ), quiet=options.json == "-"
    ) as show:
        versions = compare_versions(
            folder,
            Path(old),
            Path(new),
            device=options.device,
            seed=options.seed,
            model=not options.no_model,
            show=show,
        )
    with printing():
        if options.json == "-":
            sys.stdout.write(format_versions(versions))
        else:
            print_versions(versions, console=make_console(sys.stdout, environ=os.environ))
    if options.json not in (None, "-"):
        write_file(Path(options.json), format_versions(versions).encode(), "the JSON")
    return (
        EXIT_NOT_GRADED
        if any(score.status.is_worth_a_retry for score in (versions.old, versions.new))
        else 0
    )
