"""`grade EXERCISE SUBMISSION.cu`: its help, its options, and one grading."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__
from grader.cli.common import (
    Command,
    add_device,
    add_exercise,
    add_no_isolation,
    add_no_model,
    add_seed,
    add_submission,
    check_target,
    find_exercise,
    join_names,
    make_parser,
    refuse_annotated_json,
)
from grader.cli.formats import add_format_options, check_outputs
from grader.cli.machine_code import add_machine_code, detail_of
from grader.cli.results import (
    print_machine_code,
    print_score_ending,
    print_source,
    show_score,
    write_html,
    write_trace_file,
)
from grader.cli.watch import Stale, refuse_watching, watch
from grader.cli.what_if import add_mends, add_what_if, check_what_if
from grader.errors import UsageError
from grader.records import Progress, Score, ShowProgress
from grader.report.platforms import FORMATS

if TYPE_CHECKING:
    from grader.toolchain.compilation import Compilation

DESCRIPTION = """\
Grade one CUDA submission: compile it, check that it is right, count what it does to the memory
system, and say why it earns its points.
"""
USAGE = """\
grade EXERCISE SUBMISSION.cu [options]
       grade list | start | help [--help]
       grade compare | sweep | host | gallery | run | inspect | doctor | completion [--help]
       grade batch | show | late | feedback | leaderboard | gradebook | similar [--help]
       grade gradescope-zip | classroom-workflow [--help]
       grade metrics | new | check | handout [--help]"""
EPILOG = """\
examples:
  grade exercises/transpose mine.cu           points, the line that loses them, what to try next
  grade transpose mine.cu                     the same: a bare name is that of an exercise in
                                              ./exercises, or of one that comes along
  grade transpose mine.cu --watch             grade at each save, and say what has changed
  grade transpose mine.cu --annotate          also print the source with what each line cost
  grade transpose mine.cu --sass              also print the machine code of each source line
  grade transpose mine.cu --trace sm.json.gz  also write what the simulated SM does, for Perfetto
  grade transpose mine.cu --html page.html    also write a page: points, roofline, source
  grade transpose mine.cu --json score.json   also write the score as JSON
  grade transpose mine.cu --json - --quiet    print nothing but the JSON

for students:
  grade list                                  the exercises, here and those that come along
  grade start transpose                       handout and starter into this folder
  grade compare transpose old.cu new.cu       before and after: points, times and counters
  grade sweep transpose mine.cu --sizes 128,512,2048
                                              times and counters by size, beside the processor
  grade host transpose mine.cu -o main.cu     a program with a main(), for nvcc, ncu and others
  grade gallery coalescing                    small kernels, and what each of their reads moves
  grade run saxpy.cu --size n=65536 --input x=normal:n --output y=float32:n
                                              any kernels, without an exercise
  grade inspect mine.cu                       registers, shared and local memory of its kernels
  grade doctor                                what this machine has, lacks, and how to mend it
  grade completion bash                       how Tab completes all of this; or zsh, or fish

for instructors:
  grade batch transpose submissions/ --out results/
                                              a class; the same command goes on after a stop
  grade show results/                         what came out
  grade similar submissions/                  which submissions share code
  grade transpose mine.cu --format junit -o junit.xml
                                              for a platform: {formats}

for authors of exercises:
  grade metrics                               what a check can ask for: units, devices, meaning
  grade new my_exercise                       a complete, working exercise to edit
  grade check my_exercise                     prove it sound
  grade handout my_exercise -o bundle.zip     the students' bundle

Each subcommand has a --help of its own.

devices:
  emulated      executes the machine code on the processor, counts what Nsight Compute counts,
                and models times; needs no GPU
  emulated:ID   the same, standing for another GPU:
                {gpus}
  gpu, gpu:N    an NVIDIA GPU, the first one or number N: times are measured, counters are those
                of Nsight Compute (ncu) or, where ncu cannot count, of the emulated device. It
                needs the extra `gpu`: pip install 'cuda-exercise-grader[gpu]'
  auto          the first GPU if PyCUDA is installed and reaches one, else emulated

times on a GPU:
  Submission, naive kernel and reference are launched in rounds, in random order, each with a
  cold cache and other inputs; every output is checked. A check is decided once its goal lies
  outside of the interval of the measured median; a value that cannot be told from its goal
  passes. Fractions are of the GPU's theoretical peak, which --peak replaces.

times on the emulated device:
  They are modelled at the sizes that a GPU is timed at, and labelled so. A value whose goal lies
  within the model's interval passes, and every report says so. Checks of times are `not measured`,
  and their points pending, where the timed run could not be verified, and where the goal is within
  an interval of more than 25 %: the model does not know this kind of kernel well. --no-model
  excludes them from the points.

exit codes:
  0  full marks
  1  graded, but not full marks: the submission is wrong or slow, does not compile or run, or has
     points that are pending: this device cannot judge them
  2  bad usage, or a broken exercise
  3  the grader or the machine failed: not the submission's doing
"""


def run_grade(options: argparse.Namespace) -> int:
    """`grade EXERCISE SUBMISSION`: the exit code is the score's."""
    exercise = find_exercise(options.exercise)
    check_target(options.json)
    refuse_annotated_json(options)
    check_target(options.output, "the result")
    check_target(options.html, "the page")
    check_target(options.trace, "the trace")
    if options.trace is not None and options.no_model:
        raise UsageError(
            "--trace writes what is modelled, and --no-model models nothing",
            "Leave one of them out.",
        )
    check_outputs(options.json, options.format, options.output)
    check_what_if(options)
    if options.watch:
        refuse_watching(options)
        return watch(
            options,
            lambda copy, stale: _grade_one(options, exercise, copy, stale),
            lambda copy, score: _show_all(score, options, exercise, copy),
        )
    submission = Path(options.submission)
    score = _grade_one(options, exercise, submission)
    _show_all(score, options, exercise, submission)
    return score.exit_code


def _grade_one(
    options: argparse.Namespace, exercise: Path, submission: Path, stale: Stale | None = None
) -> Score:
    """The score; the compiler starts while the rest of the grader is loaded. `stale` is asked at
    each step whether to go on."""
    from grader.grading.early import begin_early

    isolated = not options.no_isolation
    with begin_early(options.device, exercise, submission, isolated=isolated) as begun:
        return _grade(options, exercise, submission, begun, stale)


def _show_all(score: Score, options: argparse.Namespace, exercise: Path, submission: Path) -> None:
    """Prints the score, and writes the files that are asked for."""
    with contextlib.ExitStack() as files:
        if options.html is not None:
            files.callback(lambda: write_html(score, exercise, submission, options.html))
        score = show_score(
            score, options, lambda told: add_mends(told, options, exercise, submission)
        )
    if options.annotate:
        print_source(score, submission, alone=options.quiet)
    if options.sass:
        print_machine_code(score, submission)
    if options.trace is not None:
        write_trace_file(score, submission, Path(options.trace))
    print_score_ending(score, options)


def _grade(
    options: argparse.Namespace,
    exercise: Path,
    submission: Path,
    begun: Compilation | None,
    stale: Stale | None,
) -> Score:
    """The score, with what was begun before all was loaded that this loads."""
    from grader.devices.gpu.peak import parse_peak
    from grader.grading.grade import Options, choose_device, grade_with
    from grader.report.terminal import grading_display, make_console

    peak = parse_peak(options.peak) if options.peak is not None else None
    for_people = options.json != "-" and not (options.format and options.output is None)
    console, in_lines = make_console(sys.stderr), stale is not None
    with grading_display(console, quiet=options.quiet, in_lines=in_lines) as (show, show_checks):
        how = Options(
            choose_device(options.device, peak),
            options.seed,
            _asking(stale, show),
            isolated=not options.no_isolation,
            model=not options.no_model,
            reuse=not options.fresh,
            interim=show_checks if for_people else None,
            begun=begun,
            detail=detail_of(options, pages=options.annotate or options.html is not None),
        )
        return grade_with(how, exercise, submission)


def _asking(stale: Stale | None, show: ShowProgress) -> ShowProgress:
    """What shows progress, and asks at each step whether to go on."""
    if stale is None:
        return show

    def ask_and_show(progress: Progress) -> None:
        stale()
        show(progress)

    return ask_and_show


def _epilog() -> str:
    """The texts below the options. The table of GPUs is read on use: not every run needs it."""
    from grader.devices.choose import DEFAULT_GPU
    from grader.devices.gpus import read_gpus

    gpus = (f"{name} (the default)" if name == DEFAULT_GPU else name for name in read_gpus())
    return EPILOG.format(formats=join_names(FORMATS), gpus=join_names(gpus))


def _grade_parser() -> argparse.ArgumentParser:
    parser = make_parser("", DESCRIPTION, _epilog())
    parser.usage = USAGE
    add_exercise(parser)
    add_submission(parser, "the file to grade")
    add_device(parser, "auto (the default), emulated[:ID] or gpu[:N]; see below")
    parser.add_argument(
        "--peak",
        metavar="GBPS[,TFLOPS]",
        help="the GPU's peak: memory bandwidth in GB/s, fp32 rate in TFLOP/s",
    )
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the score as JSON; - prints it, and nothing else, on standard output",
    )
    parser.add_argument(
        "--annotate", action="store_true", help="print the source too, with what each line cost"
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write a page too: points, roofline, and the source with what each line cost",
    )
    parser.add_argument(
        "--watch",
        action="store_true",
        help="grade at each save until Ctrl-C, and say what has changed since the last one",
    )
    add_machine_code(parser)
    add_format_options(parser)
    add_seed(parser, "a new secret one")
    parser.add_argument(
        "--fresh",
        action="store_true",
        help="with --seed: grade anew, although the result of an equal grading is kept",
    )
    add_no_isolation(parser)
    add_no_model(parser)
    add_what_if(parser)
    parser.add_argument(
        "--quiet", action="store_true", help="no progress, and of the result only the last line"
    )
    parser.add_argument("--version", action="version", version=f"grade {__version__}")
    return parser


GRADE = Command(_grade_parser, run_grade)
