"""`grade EXERCISE SUBMISSION.cu`: help, arguments and one grading."""

from __future__ import annotations

import argparse
import contextlib
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__
from grader.cli.common import (
    Command,
    add_annotate,
    add_device,
    add_exercise,
    add_flag,
    add_no_isolation,
    add_no_model,
    add_seed,
    add_submission,
    add_value,
    check_target,
    find_exercise,
    join_names,
    read_options,
    refuse_annotated_json,
)
from grader.cli.formats import add_format_options, check_outputs
from grader.cli.results import (
    add_fixes,
    add_machine_code,
    add_what_if,
    check_what_if,
    detail_of,
    print_machine_code,
    print_score_ending,
    print_source,
    prints_document,
    show_score,
    write_html,
    write_trace_file,
)
from grader.cli.watch import Stale, refuse_watching, watch
from grader.errors import UsageError
from grader.records import Progress, Score, ShowProgress

if TYPE_CHECKING:
    from grader.grading.early import Begun
    from grader.grading.shared_work import SharedWork

DESCRIPTION = """\
Grade one CUDA submission: compile it, check its outputs, count its memory traffic, and explain its
points.
"""
EPILOG = """\
examples:
  grade exercises/transpose mine.cu           points, the line that loses points, the next step
  grade transpose mine.cu                     the same: a name in ./exercises or in `grade list`
  grade transpose mine.cu --watch             grade at each save, and show the changes
  grade transpose mine.cu --annotate          also print the source with the cost of each line
  grade transpose mine.cu --sass              also print the machine code of each source line
  grade transpose mine.cu --trace sm.json.gz  also write a trace of the simulated SM, for Perfetto
  grade transpose mine.cu --html page.html    also write a page: points, roofline, source
  grade transpose mine.cu --json score.json   also write the score as JSON
  grade transpose mine.cu --json - --quiet    print only the JSON

for students:
  grade list                                  all exercises
  grade start transpose                       copy handout and starter into this folder
  grade compare transpose old.cu new.cu       before and after: points, times and counters
  grade sweep transpose mine.cu --sizes 128,512,2048
                                              times and counters by size, beside the processor
  grade host transpose mine.cu -o main.cu     a program with a main(), for nvcc, ncu and others
  grade gallery coalescing                    small kernels, and the memory traffic of their reads
  grade explain bank-conflicts                a cause of lost points: definition, picture, fix
  grade run saxpy.cu --size n=65536 --input x=normal:n --output y=float32:n
                                              run any kernels, without an exercise
  grade inspect mine.cu                       registers, shared and local memory of its kernels
  grade lsp                                   a language server: an editor starts it
  grade doctor                                missing programs on this machine, and how to add them
  grade completion bash                       completion by Tab; also for zsh and fish

for instructors:
  grade batch transpose submissions/ --out results/
                                              a class; after a stop, the same command continues
  grade show results/                         its results
  grade similar submissions/                  which submissions share code
  grade transpose mine.cu --format junit -o junit.xml
                                              for a platform, or for an editor

for authors of exercises:
  grade metrics                               metrics for checks: units, devices, meaning
  grade new my_exercise                       a complete, working exercise to edit
  grade check my_exercise                     prove it sound
  grade handout my_exercise -o bundle.zip     the students' bundle

Each subcommand has its own --help.

devices:
  emulated      executes the machine code on the processor, gives the counters of Nsight Compute,
                and models times; needs no GPU
  emulated:ID   the same for another GPU:
                {gpus}
  gpu, gpu:N    an NVIDIA GPU, the first or number N: times are measured; counters come from
                Nsight Compute (ncu) or, if ncu cannot count, from the emulated device. It needs
                the extra `gpu`: pip install 'cuda-exercise-grader[gpu]'
  auto          the first GPU if PyCUDA is installed and finds it, else emulated

times on a GPU:
  Submission, naive kernel and reference are launched in rounds, in random order, each with a
  cold cache and other inputs; every output is checked. A check is decided when its goal lies
  outside the interval of the measured median; if the goal stays inside, the check passes.
  Fractions are of the GPU's theoretical peak, which --peak replaces.

times on the emulated device:
  Times are modelled at the GPU's sizes and labelled as modelled. If the goal lies within the
  model's interval, the check passes, and every report states this. Two cases give `not measured`
  and pending points: the outputs of the timed run could not be verified, or the goal lies within
  an interval wider than ± 25 %, because the model is inaccurate for this kind of kernel.
  --no-model excludes these checks from the points.

exit codes:
  0  full marks
  1  graded, but not full marks: the submission is wrong or slow, does not compile or run, or has
     pending points, which this device cannot judge
  2  bad usage, or a broken exercise
  3  the grader or the machine failed, not the submission
"""


def run_grade(options: argparse.Namespace) -> int:
    """`grade EXERCISE SUBMISSION`: returns the exit code of the score."""
    exercise = find_exercise(options.exercise)
    check_target(options.json)
    refuse_annotated_json(options)
    check_target(options.output, "the result")
    check_target(options.html, "the page")
    check_target(options.trace, "the trace")
    if options.trace is not None and options.no_model:
        raise UsageError(
            "--trace writes the modelled run, and --no-model models nothing",
            "Leave out one of them.",
        )
    check_outputs(options.json, options.format, options.output)
    check_what_if(options)
    from grader.grading.tools import keep_tools_ready

    with keep_tools_ready(several=options.watch):
        if options.watch:
            return _watch(options, exercise)
        submission = Path(options.submission)
        score = _grade_one(options, exercise, submission)
        _show_all(score, options, exercise, submission)
        return score.exit_code


def _watch(options: argparse.Namespace, exercise: Path) -> int:
    """`--watch`: the gradings share the choice of the device, and their work."""
    from grader.grading.grade import choose_device
    from grader.grading.shared_work import SharedWork

    refuse_watching(options)
    if options.device == "auto":
        options.device = str(choose_device("auto"))
    shared = SharedWork()
    return watch(
        options,
        lambda copy, stale: _grade_one(options, exercise, copy, stale, shared),
        lambda copy, score: _show_all(score, options, exercise, copy),
    )


def _grade_one(
    options: argparse.Namespace,
    exercise: Path,
    submission: Path,
    stale: Stale | None = None,
    shared: SharedWork | None = None,
) -> Score:
    """The score. `stale` is called at each step and can end the grading."""
    from grader.grading.early import begin_early

    with begin_early(read_options(options), exercise, submission) as begun:
        return _grade(options, exercise, submission, begun, stale, shared)


def _show_all(score: Score, options: argparse.Namespace, exercise: Path, submission: Path) -> None:
    """Prints the score and writes the requested files."""
    with contextlib.ExitStack() as files:
        if options.html is not None:
            files.callback(lambda: write_html(score, exercise, submission, options.html))
        score = show_score(
            score, options, lambda shown: add_fixes(shown, options, exercise, submission)
        )
    if options.annotate:
        print_source(score, submission, alone=options.quiet)
    if options.sass:
        print_machine_code(score, submission)
    if options.trace is not None:
        write_trace_file(score, submission, Path(options.trace))
    print_score_ending(score, options, next_step=_suggest(score, exercise, submission))


def _suggest(score: Score, exercise: Path, submission: Path) -> str:
    from grader.grading.other_exercise import suggest_other_exercise

    if score.status.ended_early or score.status.value == "passed":
        return ""
    return suggest_other_exercise(exercise, submission)


def _grade(
    options: argparse.Namespace,
    exercise: Path,
    submission: Path,
    begun: Begun,
    stale: Stale | None,
    shared: SharedWork | None,
) -> Score:
    """The score. `begun`: work that started before the imports of this function."""
    from grader.devices.gpu.peak import parse_peak
    from grader.grading.grade import choose_device, grade_with
    from grader.report.terminal import grading_display, make_console

    peak = parse_peak(options.peak) if options.peak is not None else None
    console, in_lines = make_console(sys.stderr), stale is not None
    with grading_display(console, quiet=options.quiet, in_lines=in_lines) as (show, show_checks):
        grading = replace(
            read_options(options),
            device=choose_device(options.device, peak),
            detail=detail_of(options, pages=options.annotate or options.html is not None),
            reuse=not options.fresh,
            show=_asking(stale, show),
            interim=None if prints_document(options) else show_checks,
        )
        return grade_with(grading, exercise, submission, begun=begun, shared=shared)


def _asking(stale: Stale | None, show: ShowProgress) -> ShowProgress:
    """Shows progress, and calls `stale` at each step."""
    if stale is None:
        return show

    def ask_and_show(progress: Progress) -> None:
        stale()
        show(progress)

    return ask_and_show


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    from grader.devices.choose import DEFAULT_GPU
    from grader.devices.gpus import read_gpus

    gpus = (f"{name} (the default)" if name == DEFAULT_GPU else name for name in read_gpus())
    parser.epilog = EPILOG.format(gpus=join_names(gpus))
    parser.usage = "grade EXERCISE SUBMISSION.cu [options]"
    add_exercise(parser)
    add_submission(parser, "the file to grade")
    add_device(parser, "auto (the default), emulated[:ID] or gpu[:N]; see below")
    text = "the GPU's peak: memory bandwidth in GB/s, fp32 rate in TFLOP/s"
    add_value(parser, "--peak", "GBPS[,TFLOPS]", text)
    text = "write the score as JSON; - prints only the JSON on standard output"
    add_value(parser, "--json", "FILE", text)
    add_annotate(parser)
    text = "also write a page: points, roofline, and the source with the cost of each line"
    add_value(parser, "--html", "FILE", text)
    text = "grade at each save until Ctrl-C, and show the changes since the last save"
    add_flag(parser, "--watch", text)
    add_machine_code(parser)
    add_format_options(parser)
    add_seed(parser, "a new secret seed")
    text = "with --seed: grade again even if the cache has the score of an equal grading"
    add_flag(parser, "--fresh", text)
    add_no_isolation(parser)
    add_no_model(parser)
    add_what_if(parser)
    add_flag(parser, "--quiet", "no progress; print only the last line of the result")
    parser.add_argument("--version", action="version", version=f"grade {__version__}")


GRADE_ONE = Command("", run_grade, DESCRIPTION, add_arguments=_add_arguments)
