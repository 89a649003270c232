"""`grade` without arguments prints a page for a terminal of 24 lines; `grade help NAME` prints the
help of a command."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping

from grader.cli.common import (
    Command,
    check_first_word,
    complete_with,
    make_parser,
    parse_arguments,
    printing,
)

FIRST_PAGE = """\
usage: grade EXERCISE SUBMISSION.cu [options]

Grade a CUDA submission: correctness, memory accesses, time. No GPU is needed.

first steps:
  grade list                            the exercises
  grade start transpose                 copies handout and starter here
  grade transpose transpose.cu          grades the file
  grade transpose transpose.cu --watch  grades the file at each save
  grade doctor                          lists the parts that are missing

commands:
{commands}

  grade help NAME    the help of a command
  grade --help       all options, devices and exit codes
"""
GROUPS: Mapping[str, tuple[str, ...]] = {
    "students": (
        *("list", "start", "compare", "sweep", "host", "gallery", "run", "inspect"),
        *("doctor", "completion", "help"),
    ),
    "instructors": (
        *("batch", "show", "similar", "late", "feedback", "leaderboard", "gradebook"),
        *("gradescope-zip", "classroom-workflow"),
    ),
    "authors": ("metrics", "new", "check", "handout"),
}
"""The commands by reader."""
_NAMES_COLUMN = 15
_WIDTH = 78

DESCRIPTION = "Print the help of a command; without a name, the first steps and all commands.\n"
EPILOG = """\
example:
  grade help batch

exit codes: 0 printed, 2 no such command
"""


def format_first_page(commands: Mapping[str, Command]) -> str:
    """At most 24 lines of 80 columns."""
    lines = [
        textwrap.fill(
            " ".join(name for name in names if name in commands),
            _WIDTH,
            initial_indent=f"  {reader}".ljust(_NAMES_COLUMN),
            subsequent_indent=" " * _NAMES_COLUMN,
            break_on_hyphens=False,
        )
        for reader, names in GROUPS.items()
    ]
    return FIRST_PAGE.format(commands="\n".join(lines))


def make_help(commands: Mapping[str, Command], grade: Command) -> Command:
    """`grade help`, which knows the other commands; `grade` is the command without a name."""

    def make_help_parser() -> argparse.ArgumentParser:
        parser = make_parser("help", DESCRIPTION, EPILOG)
        name = parser.add_argument("name", metavar="NAME", nargs="?", help="a command")
        complete_with(name, lambda prefix: commands)
        return parser

    def run_help(options: argparse.Namespace) -> int:
        if options.name is None:
            with printing():
                print(format_first_page(commands), end="")
            return 0
        if options.name not in commands:
            check_first_word(options.name, commands)
        command = commands.get(options.name, grade)
        parse_arguments(command.make_parser(), ["--help"])
        return 0

    return Command(make_help_parser, run_help)
