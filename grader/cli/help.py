"""`grade` without arguments prints a page for a terminal of 24 lines; `grade help NAME` prints the
help of a command."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from textwrap import fill, wrap

from grader.cli.common import (
    Command,
    add_value,
    check_first_word,
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
Groups = Mapping[str, Mapping[str, Command]]
"""Commands by reader and name."""
_NAMES_COLUMN = 15
_WIDTH = 78

DESCRIPTION = "Print the help of a command; without a name, the first steps and all commands.\n"
EPILOG = """\
example:
  grade help batch

exit codes: 0 printed, 2 no such command
"""


def format_first_page(groups: Groups) -> str:
    """At most 24 lines of 80 columns."""
    lines = [
        fill(
            " ".join(names),
            _WIDTH,
            initial_indent=f"  {reader}".ljust(_NAMES_COLUMN),
            subsequent_indent=" " * _NAMES_COLUMN,
            break_on_hyphens=False,
        )
        for reader, names in groups.items()
    ]
    return FIRST_PAGE.format(commands="\n".join(lines))


def add_commands(grade: Command, groups: Groups) -> Command:
    """`grade` with all commands in the usage of its help."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        grade.add_arguments(parser)
        lines = (
            line
            for names in groups.values()
            for line in wrap(" | ".join(names), _WIDTH - 16, break_on_hyphens=False)
        )
        usages = (f"       grade {line.removesuffix(' |')} [--help]" for line in lines)
        parser.usage = "\n".join([parser.usage or "", *usages])

    return grade._replace(add_arguments=add_arguments)


def make_help(groups: Groups, grade: Command) -> Command:
    """`grade help`, which knows the other commands; `grade` is the command without a name."""

    def list_commands() -> dict[str, Command]:
        return {name: each for group in groups.values() for name, each in group.items()}

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        add_value(
            parser, "name", "NAME", "a command", complete=lambda _: list_commands(), nargs="?"
        )

    def run_help(options: argparse.Namespace) -> int:
        if options.name is None:
            with printing():
                print(format_first_page(groups), end="")
            return 0
        commands = list_commands()
        if options.name not in commands:
            check_first_word(options.name, commands)
        command = commands.get(options.name, grade)
        parse_arguments(command.make_parser(), ["--help"])
        return 0

    return Command("help", run_help, DESCRIPTION, EPILOG, add_arguments)
