"""The `grade` command: one function per subcommand, arguments in, exit code out."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from grader import __version__
from grader.errors import GraderError, UsageError
from grader.records import Score
from grader.report.text import clean_line, clean_text, fold_to_ascii

EXIT_GRADER_ERROR = 3
EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE

DESCRIPTION = """\
Grade one CUDA submission: compile it, check that it is right, count what it does, and say why it earns its points.
"""
EPILOG = """\
examples:
  grade exercises/transpose submission.cu            the table, the line that loses points, what to try next
  grade transpose submission.cu                      the same: a bare name is looked for in ./exercises
  grade transpose submission.cu --json score.json    also write the score as JSON
  grade transpose submission.cu --json - --quiet     print nothing but the JSON
  grade doctor                                       what this machine has, what it lacks, how to mend it

devices:
  emulated      executes the machine code on the processor and counts what Nsight Compute counts; needs no GPU
  emulated:ID   the same, standing for another GPU (an unknown ID lists those that there are)
  gpu, gpu:N    an NVIDIA GPU, the first one or number N: times are measured, counters taken with Nsight Compute (ncu)
                or, where ncu cannot, by the emulated device. Needs the extra `gpu`: pip install 'cuda-exercise-grader[gpu]'
  auto          the first GPU if PyCUDA is installed and reaches one, else emulated

times on a GPU:
  Submission, naive kernel and reference are launched in rounds, in random order, each with a cold cache and other inputs;
  every output is checked. A check is decided once its goal lies outside of the interval of the measured median; a value
  that cannot be told from its goal passes. Fractions are of the GPU's theoretical peak, which --peak replaces.

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
        return _run(sys.argv[1:] if argv is None else list(argv))
    except _ParserEndedError as end:
        return end.exit_code
    except GraderError as error:
        return _tell(str(error), error.advice, error.exit_code)
    except KeyboardInterrupt:
        return _tell("interrupted", "", EXIT_INTERRUPTED)
    except BrokenPipeError:
        _drop_stdout()
        return EXIT_BROKEN_PIPE
    except Exception as error:
        if os.environ.get("GRADER_DEBUG") == "1":
            raise
        advice = "This is a fault of the grader: please report it, with what GRADER_DEBUG=1 shows."
        return _tell(f"unexpected {type(error).__name__}: {error}", advice, EXIT_GRADER_ERROR)


def _run(arguments: Sequence[str]) -> int:
    """Run the subcommand. A SystemExit from below must not pass: its code 0 or 1 would be a verdict."""
    if sys.stdout is None:
        raise GraderError("there is no standard output to print on: it is closed", "Send the output to a file or to /dev/null.")
    command = COMMANDS.get(arguments[0]) if arguments else None
    try:
        code = command(arguments[1:]) if command else run_grade(arguments)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # so rich ends the program when its reader is gone
            raise BrokenPipeError from end
        raise RuntimeError(f"something below the command line called exit({end.code!r})") from end
    with _printing():
        return code


def run_grade(arguments: Sequence[str]) -> int:
    """`grade EXERCISE SUBMISSION`: the exit code is the score's."""
    parser = _make_grade_parser()
    if not arguments:
        parser.print_help()
        return 2
    options = _parse(parser, arguments)
    exercise = find_exercise(options.exercise)
    _check_json_target(options.json)
    from grader.devices.peak import parse_peak
    from grader.pipeline import grade
    from grader.report.terminal import make_console, progress_display

    peak = parse_peak(options.peak) if options.peak is not None else None
    with progress_display(make_console(sys.stderr, environ=os.environ), quiet=options.quiet) as show:
        score = grade(exercise, options.submission, device=options.device, seed=options.seed, peak=peak, progress=show)
    _show_score(score, json=options.json, quiet=options.quiet)
    return score.exit_code


def run_doctor(arguments: Sequence[str]) -> int:
    """`grade doctor`: 0 when the emulated device can work here."""
    parser = argparse.ArgumentParser(
        prog="grade doctor", description=DOCTOR_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    _parse(parser, arguments)
    from grader.doctor import Machine, can_grade, examine
    from grader.folders import default_cache
    from grader.report.doctor import print_doctor
    from grader.report.terminal import make_console
    from grader.sandbox.process import run_tool

    parts = examine(Machine(os.environ, run_tool, default_cache(os.environ)))
    with _printing():
        print_doctor(parts, console=make_console(sys.stdout, environ=os.environ))
    return 0 if can_grade(parts) else EXIT_GRADER_ERROR


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {"doctor": run_doctor}


def find_exercise(name: str) -> Path:
    """The path as given, or `./exercises/NAME` for a bare name that is not there itself."""
    path = Path(name)
    bare = Path("exercises") / name
    return bare if path.name == name and not path.exists() and bare.is_dir() else path


def _make_grade_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="grade",
        usage="grade EXERCISE SUBMISSION.cu [options]\n       grade doctor",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("exercise", metavar="EXERCISE", help="the exercise's folder, or its name in ./exercises")
    parser.add_argument("submission", metavar="SUBMISSION.cu", help="the file to grade")
    parser.add_argument("--device", default="auto", metavar="DEVICE", help="auto (the default), emulated[:ID] or gpu[:N]; see below")
    parser.add_argument("--peak", metavar="GBPS[,TFLOPS]", help="the GPU's peak: memory bandwidth in GB/s, fp32 rate in TFLOP/s")
    parser.add_argument("--json", metavar="FILE", help="write the score as JSON; - prints it, and nothing else, on standard output")
    parser.add_argument("--seed", type=int, metavar="N", help="draw hidden cases and inputs from this seed (default: a new secret one)")
    parser.add_argument("--quiet", action="store_true", help="no progress, and of the result only the last line")
    parser.add_argument("--version", action="version", version=f"grade {__version__}")
    return parser


class _ParserEndedError(Exception):
    """argparse has said all there is to say: 0 after --help and --version, 2 after a usage error."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


def _parse(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    try:
        return parser.parse_args(arguments)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 2
    with _printing():
        raise _ParserEndedError(code)


def _check_json_target(target: str | None) -> None:
    """Find out before the long work what keeps the JSON from being written, as far as that can be known."""
    if target in (None, "-"):
        return
    try:
        trouble = _find_json_trouble(str(target))
    except (OSError, RuntimeError) as error:  # a name too long, a ring of links
        trouble = str(error)
    if trouble:
        raise UsageError(f"cannot write the JSON to {str(target)!r}: {trouble}", "Name a file in a folder that you may write to.")


def _find_json_trouble(target: str) -> str:
    if not target:
        return "the name is empty"
    path = Path(target)
    if path.is_dir():
        return "it is a folder"
    if path.exists() and not path.is_file():  # a pipe or a device, also by a link in /dev: written to as it is
        return "" if os.access(path, os.W_OK) else "it may not be written to"
    folder = path.resolve().parent
    if not folder.is_dir():
        return "its folder does not exist"
    try:  # a file is replaced by a new one, so its folder counts
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return f"no file can be made in its folder: {error.strerror}"


def _show_score(score: Score, *, json: str | None, quiet: bool) -> None:
    """Print the score, then write its JSON: the one that fails does not take the other along."""
    from grader.report.json import format_score

    if json == "-":
        with _printing():
            sys.stdout.write(format_score(score))
        return
    try:
        _print_score(score, quiet=quiet)
    finally:
        if json is not None:
            _write_json(score, Path(json))


def _print_score(score: Score, *, quiet: bool) -> None:
    from grader.report.terminal import make_console, print_score

    with _printing():
        if quiet:
            print(fold_to_ascii(clean_line(f"{score.status.value}: {score.message}")))
        else:
            print_score(score, console=make_console(sys.stdout, environ=os.environ))


def _write_json(score: Score, path: Path) -> None:
    from grader.report.json import write_score

    try:
        write_score(score, path)
    except UsageError as error:  # the usage was found good before the grading
        raise GraderError(str(error), error.advice) from error


@contextlib.contextmanager
def _printing() -> Iterator[None]:
    """Flush what was printed. Output that cannot be written, to a full disk say, is no fault of the grader."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _drop_stdout()
        raise GraderError(f"cannot write to standard output: {error.strerror}", "Send the output to where there is room.") from error


def _tell(message: str, advice: str, exit_code: int) -> int:
    """Say on stderr what went wrong and what to do; returns the exit code."""
    if sys.stderr is None:
        return exit_code
    with contextlib.suppress(OSError):
        print(clean_text(f"grade: {message}"), file=sys.stderr)
        if advice:
            print(clean_text(advice), file=sys.stderr)
    return exit_code


def _drop_stdout() -> None:
    """Nothing more can be printed: keep the interpreter from flushing what is left, and failing, at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
