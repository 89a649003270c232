"""The subcommands `compare`, `sweep`, `host` and `gallery`, with which students explore submissions
and patterns of memory access."""

from __future__ import annotations

import argparse
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import (
    Command,
    add_device,
    add_exercise,
    add_flag,
    add_json,
    add_no_model,
    add_seed,
    add_submission,
    add_value,
    check_target,
    complete_source,
    find_exercise,
    known_exercises,
    print_lines,
    print_or_json,
    print_report,
    read_options,
    seed_of,
)
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.records import Failure

COMPARE_DESCRIPTION = """\
Grade two versions of a submission with the same inputs and show them side by side: points, times,
counters, and which version is better.
"""
COMPARE_EPILOG = """\
examples:
  grade compare transpose starter/transpose.cu mine.cu
  grade compare starter/transpose.cu mine.cu         without the exercise: both files have its
                                                     name or define the kernel that it launches
  grade compare transpose old.cu new.cu --no-model   counters only: faster
  grade compare transpose old.cu new.cu --json -     both scores and the comparison, as JSON

If a version fails, a line gives the reason, and the figures of the other version are shown. A
time or rate is better or worse only if the intervals of both versions do not overlap.

exit codes: 0 both were graded, with any points, 2 bad usage, 3 the grader or the machine failed
"""
SWEEP_DESCRIPTION = """\
Run a submission at several sizes and compare it with the processor (a plain loop in C, and NumPy),
the naive kernel, the comparisons and the reference: time, GFLOP/s, GB/s, and the
speed-up over the naive kernel and the processor.

On the emulated device the times of kernels are modelled, and counters are shown. On a GPU they are
measured, also for the GPU's library (cuBLAS) if CuPy or PyTorch is installed and the exercise
supports it. Times of the processor are measured on this computer.
"""
SWEEP_EPILOG = """\
examples:
  grade sweep gemm_tiled mine.cu --sizes 128,512,1024,2048   all sizes of the exercise are equal
  grade sweep transpose mine.cu --sizes rows=512,cols=1024 rows=64,cols=8192
  grade sweep transpose mine.cu --sizes 512,2048 --plot mine.svg --json mine.json

rows and columns:
  CPU (C loop, one core)   `reference` of the exercise's cpu.c, compiled with g++ -O2; not run if it
                           would take more than 10 s
  CPU (NumPy)              `library` of the exercise's oracle.py in float32, or else the oracle,
                           on all cores that NumPy uses
  x naive, C loop, NumPy   speed-up over this program

On the emulated device, a sample of the blocks runs at large sizes, and only its outputs are judged;
with --no-model all blocks run, and all outputs are judged.

exit codes: 0 right at every size, 1 wrong at a size or does not compile, 2 bad usage, 3 the grader
or the machine failed
"""
HOST_DESCRIPTION = """\
Write a complete program with the submission in it: one file with a main() that makes the inputs,
runs the submission's launch lines, times them, and verifies the outputs like the grader. On a
machine with a GPU, nvcc compiles it, and ncu and compute-sanitizer can run it.
"""
HOST_EPILOG = """\
examples:
  grade host transpose mine.cu -o main.cu                also prints the next commands
  grade host transpose mine.cu -o main.cu --arch sm_90   for the GPU of another machine

The program contains a copy of the submission; compilers and ncu report its lines with the
submission's file name. Write the program again after you change the submission. Without a cpu.c in
the exercise, the outputs are compared with NumPy's results in main.expected, which must stay next
to the program.

exit codes: 0 written, 1 the submission does not compile or its launch lines are wrong, 2 bad
usage, 3 the grader or the machine failed
"""
EXIT_NOT_GRADED = 3
_ARCH = re.compile(r"native|sm_[0-9]{2,3}[af]?")
GALLERY_DESCRIPTION = """\
Show small kernels with the typical patterns of memory access of a course. For each read: the code,
the lanes per sector (or bank), and its cost. Every figure is counted in a run of the kernel on the
emulated device; no GPU is needed.
"""
GALLERY_EPILOG = """\
examples:
  grade gallery                          the list of kernels
  grade gallery coalescing               reads of global memory: sectors, bytes used of bytes moved
  grade gallery banks                    reads of shared memory: banks and wavefronts
  grade gallery banks column_of_33       a single kernel with its complete code

exit codes: 0 shown, 2 bad usage, 3 the grader or the machine failed
"""


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.usage = "grade compare [EXERCISE] OLD.cu NEW.cu [options]"
    add_value(
        parser,
        "files",
        "FILE",
        "EXERCISE, its folder or its name; OLD.cu and NEW.cu",
        complete=lambda prefix: [*known_exercises(), *complete_source(prefix)],
        nargs="+",
    )
    add_device(parser)
    add_seed(parser, "a new seed for both")
    add_no_model(parser, "no times on the emulated device: faster")
    add_json(parser, "both scores and the comparison")


def run_compare(options: argparse.Namespace) -> int:
    """`grade compare [EXERCISE] OLD NEW`: 0 if both were graded, with any points."""
    if len(options.files) not in (2, 3):
        raise UsageError(
            f"the command has {len(options.files)} names, not 2 or 3",
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
    print_or_json(options.json, versions, format_versions, print_versions)
    both = (versions.old.status, versions.new.status)
    return EXIT_NOT_GRADED if any(status.is_worth_a_retry for status in both) else 0


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    add_exercise(parser)
    add_submission(parser, "the file to run")
    text = "N,N,... or NAME=N,NAME=N,...; see below"
    add_value(parser, "--sizes", "SIZES", text, nargs="+", required=True)
    add_device(parser)
    add_seed(parser)
    add_no_model(parser, "no times on the emulated device; count all blocks")
    text = "draw the figures over size, with logarithmic axes"
    add_value(parser, "--plot", "FILE.svg", text)
    add_value(parser, "--json", "FILE", "write the figures as JSON")


def run_sweep(options: argparse.Namespace) -> int:
    """`grade sweep EXERCISE SUBMISSION --sizes ...`: 0 if the submission is right at all sizes."""
    check_target(options.json)
    check_target(options.plot, "the plot")
    from grader.authoring.sweep.over_sizes import run_sweep as sweep_sizes
    from grader.plumbing.atomic import write_file
    from grader.records import Failure
    from grader.report.plot import format_svg
    from grader.report.sweep import format_sweep, make_panels, print_sweep, title_plot
    from grader.report.terminal import make_console, progress_display

    folder = find_exercise(options.exercise)
    with progress_display(make_console(sys.stderr)) as show:
        running = replace(read_options(options), seed=seed_of(options), show=show)
        found = sweep_sizes(folder, Path(options.submission), options.sizes, running)
    if isinstance(found, Failure):
        return _print_failure(found)
    print_report(print_sweep, found)
    if options.json is not None:
        write_file(Path(options.json), format_sweep(found).encode(), "the JSON")
    if options.plot is not None:
        panels, x_title = make_panels(found)
        title, subtitle = title_plot(found)
        drawn = format_svg(panels, title=title, subtitle=subtitle, x_title=x_title)
        write_file(Path(options.plot), drawn.encode(), "the plot")
    return 0 if found.right else 1


def _add_host(parser: argparse.ArgumentParser) -> None:
    add_exercise(parser)
    add_submission(parser, "the file to copy into a program")
    parser.add_argument("-o", "--output", required=True, metavar="FILE.cu", help="the program")
    text = "nvcc's -arch, for example sm_90 (default: native, this machine's GPU)"
    add_value(parser, "--arch", "ARCH", text, default="native")
    add_flag(parser, "--force", "replace any existing file")


def run_host(options: argparse.Namespace) -> int:
    """`grade host`: 0 if the file was written, 1 if the submission fails."""
    target, submission = Path(options.output), Path(options.submission)
    if not _ARCH.fullmatch(options.arch):
        raise UsageError(
            f"--arch {options.arch} is not an architecture",
            "Give native, or sm_ and a number: sm_90.",
        )
    if target.suffix != ".cu":
        raise UsageError(f"-o {target} is not a .cu file", "nvcc needs this suffix: -o my_main.cu")
    check_target(options.output, "the program")
    from grader.explore.host_program import (
        check_replaceable,
        expected_file,
        make_host_program,
        next_commands,
    )
    from grader.plumbing.atomic import write_file
    from grader.records import Failure

    if target.exists() and submission.exists() and target.samefile(submission):
        raise UsageError(f"-o {target} is the submission itself", "Name another file.")
    check_replaceable(target, force=options.force)
    written = make_host_program(
        find_exercise(options.exercise), submission, target, arch=options.arch
    )
    if isinstance(written, Failure):
        return _print_failure(written)
    write_file(target, written.text.encode(), "the program")
    lines = [f"{target}: {submission} with a main(), {written.text.count(chr(10))} lines."]
    if written.expected is not None:
        expected = expected_file(target)
        write_file(expected, written.expected, "the expected values")
        size = f"{len(written.expected):,} bytes"
        lines.append(f"{expected}: its inputs and expected outputs, {size}.")
    commands = next_commands(target, submission, arch=options.arch)
    title = "\nOn a machine with the CUDA toolkit and a GPU:"
    print_lines(*lines, title, *(f"  {command}" for command in commands))
    return 0


def _print_failure(failure: Failure) -> int:
    print_lines(f"{failure.message}\n{failure.detail}\n{failure.advice}".strip())
    return 1


def _add_gallery(parser: argparse.ArgumentParser) -> None:
    text = "coalescing or banks (default: list both)"
    add_value(parser, "gallery", "GALLERY", text, nargs="?")
    text = "show only this kernel, with its complete code"
    add_value(parser, "name", "NAME", text, nargs="?")
    add_device(parser, "emulated (the default) or emulated:ID", "emulated")
    add_json(parser, "all figures and addresses")


def run_gallery(options: argparse.Namespace) -> int:
    """`grade gallery [GALLERY [NAME]]`: 0 after printing."""
    check_target(options.json)
    gpu = _parse_emulated(options.device)
    if options.gallery is None:
        _list_galleries()
        return 0
    from grader.explore.exhibits import run_gallery as execute
    from grader.plumbing.cache import default_cache
    from grader.report.access_pictures import format_gallery, print_gallery

    found = execute(options.gallery, options.name, gpu=gpu, cache=default_cache(os.environ))
    whole = options.name is not None
    print_or_json(options.json, found, format_gallery, print_gallery, whole=whole)
    return 0


def _parse_emulated(name: str) -> str:
    """The id of the emulated GPU."""
    from grader.devices.choose import DEFAULT_GPU, EMULATED, parse_device

    if name == "auto":
        return DEFAULT_GPU
    choice = parse_device(name, gpu_works=lambda: False, has_pycuda=lambda: True)
    if choice.kind != EMULATED:
        raise UsageError(
            f"a gallery runs on the emulated device, not on {name}",
            "Leave out --device, or give emulated:ID.",
        )
    return choice.id


def _list_galleries() -> None:
    from grader.explore.exhibits import GALLERIES, read_sketches
    from grader.report.access_pictures import print_contents

    for gallery, (_, what) in GALLERIES.items():
        titles = {sketch.name: sketch.title for sketch in read_sketches(gallery).values()}
        print_report(print_contents, f"grade gallery {gallery}: {what}", titles)


COMPARE = Command("compare", run_compare, COMPARE_DESCRIPTION, COMPARE_EPILOG, _add_compare)
SWEEP = Command("sweep", run_sweep, SWEEP_DESCRIPTION, SWEEP_EPILOG, _add_sweep)
HOST = Command("host", run_host, HOST_DESCRIPTION, HOST_EPILOG, _add_host)
GALLERY = Command("gallery", run_gallery, GALLERY_DESCRIPTION, GALLERY_EPILOG, _add_gallery)
