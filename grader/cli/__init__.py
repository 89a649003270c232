"""The command `grade`: each subcommand is a function from arguments to an exit code."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import signal
import sys
from collections.abc import Sequence

from grader.cli.authors import CHECK, HANDOUT, NEW
from grader.cli.batch import BATCH, SHOW
from grader.cli.common import (
    Command,
    ParserEndedError,
    check_first_word,
    drop_stdout,
    parse_arguments,
    printing,
)
from grader.cli.completion import ASKED, COMPLETION, answer_shell
from grader.cli.course import DOCTOR, LIST, METRICS, START
from grader.cli.exec import EXEC
from grader.cli.explain import EXPLAIN
from grader.cli.explore import COMPARE, GALLERY, HOST, SWEEP
from grader.cli.grade_one import GRADE_ONE
from grader.cli.help import add_commands, format_first_page, make_help
from grader.cli.kernels import INSPECT, RUN
from grader.cli.lsp import LSP
from grader.cli.platforms import (
    CLASSROOM_WORKFLOW,
    FEEDBACK,
    GRADEBOOK,
    GRADESCOPE_ZIP,
    LEADERBOARD,
)
from grader.cli.serve import SERVE, WORKER
from grader.cli.signals import ending_on_signals, interrupted_code
from grader.cli.similar import SIMILAR
from grader.errors import GraderError
from grader.plumbing.shortages import machine_fault
from grader.report.text import clean_text

EXIT_GRADER_ERROR = 3
BLAS_WAIT = {"OPENBLAS_THREAD_TIMEOUT": "4"}
"""NumPy's threads sleep after 2⁴ cycles without work. By default they wait for 2²⁶ cycles in a
loop: 0.1 s of processor time at the start, 0.6 s for the expected outputs of a product of 4096³."""
EXIT_BROKEN_PIPE = 128 + signal.SIGPIPE

NEW_OBJECTS = 50_000
"""Objects between two searches for unreachable cycles. With Python's 700, a grading's imports and
records cause 0.2 s of searches that find nothing."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit code. Only this function catches all exceptions."""
    try:
        with ending_on_signals():
            return _run(sys.argv[1:] if argv is None else list(argv))
    except ParserEndedError as end:
        return end.exit_code
    except GraderError as error:
        return _print_error(str(error), error.advice, error.exit_code)
    except KeyboardInterrupt as interrupt:
        return _print_error("interrupted", "", interrupted_code(interrupt))
    except BrokenPipeError:
        drop_stdout()
        return EXIT_BROKEN_PIPE
    except Exception as error:
        if os.environ.get("GRADER_DEBUG") == "1":
            raise
        if (fault := machine_fault(error)) is not None:
            return _print_error(str(fault), fault.advice, fault.exit_code)
        advice = "This is a bug of the grader: please report it, with the output of GRADER_DEBUG=1."
        return _print_error(
            f"unexpected {type(error).__name__}: {error}", advice, EXIT_GRADER_ERROR
        )


def _run(arguments: Sequence[str]) -> int:
    """Runs the subcommand. The code of a SystemExit from inside would look like a verdict."""
    if sys.stdout is None:
        raise GraderError(
            "standard output is closed",
            "Send the output to a file or to /dev/null.",
        )
    gc.set_threshold(NEW_OBJECTS)
    atexit.register(gc.freeze)  # Python's end searches all objects twice: 0.15 s
    for name, value in BLAS_WAIT.items():
        os.environ.setdefault(name, value)
    if ASKED in os.environ:
        answer_shell(COMMANDS, GRADE)
    if not arguments:
        with printing():
            print(format_first_page(GROUPS), end="")
            return 2
    command = COMMANDS.get(arguments[0])
    if command is None:
        check_first_word(arguments[0], COMMANDS)
    try:
        if command is None:
            code = GRADE.run(parse_arguments(GRADE.make_parser(), arguments))
        else:
            code = command.run(parse_arguments(command.make_parser(), arguments[1:]))
    except SystemExit as end:
        # rich ends the program in this way if the reader of its output has ended
        if isinstance(end.__context__, BrokenPipeError):
            raise BrokenPipeError from end
        raise RuntimeError(f"code of the grader called exit({end.code!r})") from end
    with printing():
        return code


def _print_error(message: str, advice: str, exit_code: int) -> int:
    """Prints an error and its advice on stderr; returns the exit code."""
    if sys.stderr is None:
        return exit_code
    with contextlib.suppress(OSError):
        print(clean_text(f"grade: {message}"), file=sys.stderr)
        if advice:
            print(clean_text(advice), file=sys.stderr)
    return exit_code


GROUPS: dict[str, dict[str, Command]] = {
    "students": {
        "list": LIST,
        "start": START,
        "compare": COMPARE,
        "sweep": SWEEP,
        "host": HOST,
        "gallery": GALLERY,
        "explain": EXPLAIN,
        "exec": EXEC,
        "run": RUN,
        "inspect": INSPECT,
        "lsp": LSP,
        "doctor": DOCTOR,
        "completion": COMPLETION,
    },
    "instructors": {
        "batch": BATCH,
        "show": SHOW,
        "serve": SERVE,
        "worker": WORKER,
        "similar": SIMILAR,
        "feedback": FEEDBACK,
        "leaderboard": LEADERBOARD,
        "gradebook": GRADEBOOK,
        "gradescope-zip": GRADESCOPE_ZIP,
        "classroom-workflow": CLASSROOM_WORKFLOW,
    },
    "authors": {"metrics": METRICS, "new": NEW, "check": CHECK, "handout": HANDOUT},
}
"""The subcommands by reader and name."""
GRADE = add_commands(GRADE_ONE, GROUPS)
GROUPS["students"]["help"] = make_help(GROUPS, GRADE)
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}
"""The subcommands by name. GRADE runs if the first word is none of them."""
