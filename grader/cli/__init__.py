"""The `grade` command: one function per subcommand, arguments in, exit code out."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from grader import __version__
from grader.cli.authors import run_check, run_handout, run_new, run_sweep
from grader.cli.batch import run_batch, run_show
from grader.cli.common import (
    ParserEndedError,
    check_target,
    drop_stdout,
    ending_on_sigterm,
    find_exercise,
    interrupted_code,
    parse_arguments,
    printing,
)
from grader.cli.explore import run_compare, run_host
from grader.cli.formats import (
    add_format_options,
    check_outputs,
    write_for_platform,
)
from grader.cli.gallery import run_gallery
from grader.cli.platforms import run_classroom_workflow, run_gradebook, run_gradescope_zip
from grader.cli.similar import run_similar
from grader.errors import GraderError, UsageError
from grader.records import Score
from grader.report.platforms import format_for_platform
from grader.report.text import clean_line, clean_text, fold_to_ascii

EXIT_GRADER_ERROR = 3
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE

DESCRIPTION = """\
Grade one CUDA submission: compile it, check that it is right, count what it does, and say why it earns its points.
"""
USAGE = """\
grade EXERCISE SUBMISSION.cu [options]
       grade batch | show | similar | gradebook | gradescope-zip | classroom-workflow [--help]
       grade doctor | sweep | compare | gallery | host | new | check | handout [--help]"""
EPILOG = """\
examples:
  grade exercises/transpose submission.cu            the table, the line that loses points, what to try next
  grade transpose submission.cu                      the same: a bare name is looked for in ./exercises
  grade transpose submission.cu --json score.json    also write the score as JSON
  grade transpose submission.cu --json - --quiet     print nothing but the JSON
  grade transpose submission.cu --annotate           also print the source with what each line cost
  grade transpose submission.cu --html page.html     also write a page: points, roofline, the source with its figures
  grade doctor                                       what this machine has, what it lacks, how to mend it
  grade sweep transpose submission.cu --sizes 128,512,2048   times and counters by size, beside the processor and others
  grade compare transpose old.cu new.cu              before and after: points, times, counters, and how they differ
  grade host transpose submission.cu -o my_main.cu   a program around it with a main(), for nvcc, ncu and compute-sanitizer
  grade gallery coalescing                           small kernels, and what each read of theirs moves; also: banks

for instructors:
  grade batch transpose submissions/ --out results/   a whole class; go on after any interruption with the same command
  grade show results/                                what came out
  grade transpose submission.cu --format gradescope -o results.json   for a platform; also github, junit
  grade similar submissions/                         which submissions share code

for authors of exercises:
  grade new my_exercise                              a complete, working exercise to edit
  grade check my_exercise                            prove it sound: its marks, its known submissions, mutants of its reference
  grade handout my_exercise -o my_exercise.zip       the students' bundle
  Each has a --help of its own.

devices:
  emulated      executes the machine code on the processor, counts what Nsight Compute counts and models times; needs no GPU
  emulated:ID   the same, standing for another GPU: h100 (the default), h200, a100, t4, rtx3090 or rtx4090
  gpu, gpu:N    an NVIDIA GPU, the first one or number N: times are measured, counters taken with Nsight Compute (ncu)
                or, where ncu cannot, by the emulated device. Needs the extra `gpu`: pip install 'cuda-exercise-grader[gpu]'
  auto          the first GPU if PyCUDA is installed and reaches one, else emulated

times on a GPU:
  Submission, naive kernel and reference are launched in rounds, in random order, each with a cold cache and other inputs;
  every output is checked. A check is decided once its goal lies outside of the interval of the measured median; a value
  that cannot be told from its goal passes. Fractions are of the GPU's theoretical peak, which --peak replaces.

times on the emulated device:
  They are modelled at the sizes that a GPU is timed at, and labelled so. A value whose goal lies within the model's interval
  passes. With --no-model, and where the timed run could not be verified, checks of times are `not measured` and say why.

exit codes:
  0  full marks, of the points that the device can judge
  1  graded, but not full marks: the submission is wrong, slow, or does not compile or run
  2  bad usage, or a broken exercise
  3  the grader or the machine failed: not the submission's doing
"""
DOCTOR_DESCRIPTION = """\
Show what grading uses and what of it this machine has; for each lack, what it costs and how to mend it.
Exit code 0 when the emulated device can work here, 3 otherwise.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code. The only place that catches broadly."""
    try:
        with ending_on_sigterm():
            return _run(sys.argv[1:] if argv is None else list(argv))
    except ParserEndedError as end:
        return end.exit_code
    except GraderError as error:
        return _tell(str(error), error.advice, error.exit_code)
    except KeyboardInterrupt as interrupt:
        return _tell("interrupted", "", interrupted_code(interrupt))
    except BrokenPipeError:
        drop_stdout()
        return EXIT_BROKEN_PIPE
    except Exception as error:
        if os.environ.get("GRADER_DEBUG") == "1":
            raise
        advice = "This is a fault of the grader: please report it, with what GRADER_DEBUG=1 shows."
        return _tell(f"unexpected {type(error).__name__}: {error}", advice, EXIT_GRADER_ERROR)


def _run(arguments: Sequence[str]) -> int:
    """Run the subcommand. A SystemExit from below must not pass: its code 0 or 1 would be a
    verdict."""
    if sys.stdout is None:
        raise GraderError(
            "there is no standard output to print on: it is closed",
            "Send the output to a file or to /dev/null.",
        )
    command = COMMANDS.get(arguments[0]) if arguments else None
    try:
        code = command(arguments[1:]) if command else run_grade(arguments)
    except SystemExit as end:
        if isinstance(
            end.__context__, BrokenPipeError
        ):  # so rich ends the program when its reader is gone
            raise BrokenPipeError from end
        raise RuntimeError(f"something below the command line called exit({end.code!r})") from end
    with printing():
        return code


def run_grade(arguments: Sequence[str]) -> int:
    """`grade EXERCISE SUBMISSION`: the exit code is the score's."""
    parser = _make_grade_parser()
    if not arguments:
        parser.print_help()
        return 2
    options = parse_arguments(parser, arguments)
    exercise = find_exercise(options.exercise)
    check_target(options.json)
    if options.annotate and options.json == "-":
        raise UsageError(
            "--annotate and --json - both print on standard output",
            "Write the JSON to a file: --json FILE.",
        )
    check_target(options.output, "the result")
    check_target(options.html, "the page")
    check_outputs(options.json, options.format, options.output)
    from grader.devices.peak import parse_peak
    from grader.pipeline import grade
    from grader.report.terminal import make_console, progress_display

    peak = parse_peak(options.peak) if options.peak is not None else None
    with progress_display(
        make_console(sys.stderr, environ=os.environ), quiet=options.quiet
    ) as show:
        score = grade(
            exercise,
            options.submission,
            device=options.device,
            seed=options.seed,
            peak=peak,
            progress=show,
            isolated=not options.no_isolation,
            model=not options.no_model,
        )
    with contextlib.ExitStack() as files:
        if options.html is not None:
            files.callback(_write_html, score, exercise, options)
        _show_score(score, options)
    if options.annotate:
        _print_annotation(score, Path(options.submission))
    return score.exit_code


def run_doctor(arguments: Sequence[str]) -> int:
    """`grade doctor`: 0 when the emulated device can work here."""
    parser = argparse.ArgumentParser(
        prog="grade doctor",
        description=DOCTOR_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parse_arguments(parser, arguments)
    from grader.doctor import Machine, can_grade, examine
    from grader.folders import default_cache
    from grader.report.machine_parts import print_doctor
    from grader.report.terminal import make_console
    from grader.sandbox.process import run_tool

    parts = examine(Machine(os.environ, run_tool, default_cache(os.environ)))
    with printing():
        print_doctor(parts, console=make_console(sys.stdout, environ=os.environ))
    return 0 if can_grade(parts) else EXIT_GRADER_ERROR


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "doctor": run_doctor,
    "sweep": run_sweep,
    "compare": run_compare,
    "host": run_host,
    "gallery": run_gallery,
    "new": run_new,
    "check": run_check,
    "handout": run_handout,
    "batch": run_batch,
    "show": run_show,
    "similar": run_similar,
    "gradebook": run_gradebook,
    "gradescope-zip": run_gradescope_zip,
    "classroom-workflow": run_classroom_workflow,
}


def _make_grade_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="grade",
        usage=USAGE,
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "exercise", metavar="EXERCISE", help="the exercise's folder, or its name in ./exercises"
    )
    parser.add_argument("submission", metavar="SUBMISSION.cu", help="the file to grade")
    parser.add_argument(
        "--device",
        default="auto",
        metavar="DEVICE",
        help="auto (the default), emulated[:ID] or gpu[:N]; see below",
    )
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
    add_format_options(parser)
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="draw hidden cases and inputs from this seed (default: a new secret one)",
    )
    parser.add_argument(
        "--no-isolation",
        action="store_true",
        help="compile without bubblewrap or Landlock: for code that you trust",
    )
    parser.add_argument(
        "--no-model",
        action="store_true",
        help="leave the times unjudged on the emulated device: quicker",
    )
    parser.add_argument(
        "--quiet", action="store_true", help="no progress, and of the result only the last line"
    )
    parser.add_argument("--version", action="version", version=f"grade {__version__}")
    return parser


def _show_score(score: Score, options: argparse.Namespace) -> None:
    """Print the score, then write its files: the one that fails does not take the others along."""
    from grader.report.json import format_score

    form = options.format
    if options.json == "-" or (form and options.output is None):
        text = format_score(score) if options.json == "-" else format_for_platform(score, form)
        with printing():
            sys.stdout.write(text)
    else:
        with contextlib.ExitStack() as files:
            if form:
                files.callback(write_for_platform, score, form, options.output)
            if options.json is not None:
                files.callback(_write_json, score, Path(options.json))
            _print_score(score, quiet=options.quiet)
        return
    if options.json not in (None, "-"):
        _write_json(score, Path(options.json))
    if form and options.output is not None:
        write_for_platform(score, form, options.output)


def _print_score(score: Score, *, quiet: bool) -> None:
    from grader.report.score_page import print_score
    from grader.report.terminal import make_console

    with printing():
        if quiet:
            print(fold_to_ascii(clean_line(f"{score.status.value}: {score.message}")))
        else:
            print_score(score, console=make_console(sys.stdout, environ=os.environ))


def _print_annotation(score: Score, path: Path) -> None:
    """Print the source page, unless the report has said that the file is no source text."""
    from grader.report.annotation import TERMINAL_COLUMNS, annotate
    from grader.report.source_page import print_annotation
    from grader.report.terminal import make_console

    text, changed = _read_again(score, path)
    if changed:
        raise UsageError(f"{path} changed while it was graded", "Grade it again to see its lines.")
    if text is not None:
        annotation = annotate(score, text, TERMINAL_COLUMNS)
        with printing():
            print_annotation(annotation, console=make_console(sys.stdout, environ=os.environ))


def _write_html(score: Score, exercise: Path, options: argparse.Namespace) -> None:
    from grader.report.html import write_page
    from grader.spec.read import read_exercise

    text, _ = _read_again(score, Path(options.submission))
    write_page(Path(options.html), score, title=read_exercise(exercise).title, source=text)


def _read_again(score: Score, path: Path) -> tuple[str | None, bool]:
    """The text that was graded, of which a score holds only the lines that have counters, and
    whether the file has changed since; None where it has, and where it is no source text."""
    from grader.records import Submission
    from grader.submission.read import read_submission

    read = read_submission(path)
    if not isinstance(read, Submission):
        return None, False
    changed = read.sha256 != score.submission_sha256
    return None if changed else read.text, changed


def _write_json(score: Score, path: Path) -> None:
    from grader.report.json import write_score

    try:
        write_score(score, path)
    except UsageError as error:  # the usage was found good before the grading
        raise GraderError(str(error), error.advice) from error


def _tell(message: str, advice: str, exit_code: int) -> int:
    """Say on stderr what went wrong and what to do; returns the exit code."""
    if sys.stderr is None:
        return exit_code
    with contextlib.suppress(OSError):
        print(clean_text(f"grade: {message}"), file=sys.stderr)
        if advice:
            print(clean_text(advice), file=sys.stderr)
    return exit_code
