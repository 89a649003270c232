"""Completion in a shell: `grade completion` prints code for the shell. At each press of Tab, this
code calls `grade`, which answers with completions (`common.add_value`). argcomplete implements the
protocol."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping

from grader.cli.common import (
    Command,
    ParserEndedError,
    add_value,
    complete_exercise,
    print_lines,
)

ASKED = "_ARGCOMPLETE"
"""The environment variable with which a shell asks for completions: the number of words before the
command's arguments."""
SHELLS = ("bash", "zsh", "fish")

DESCRIPTION = """\
Print shell code that completes the arguments of `grade` at a press of Tab: commands, exercises, .cu
files, devices and options.
"""
EPILOG = """\
bash, once (for the current shell only: run the part inside the single quotes):
  echo 'eval "$(grade completion bash)"' >> ~/.bashrc

zsh, once, if .zshrc calls compinit before:
  echo 'eval "$(grade completion zsh)"' >> ~/.zshrc

fish, once:
  grade completion fish > ~/.config/fish/completions/grade.fish

exit codes: 0 printed, 2 bad usage
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def run_completion(options: argparse.Namespace) -> int:
    """`grade completion SHELL`: 0 after printing."""
    from argcomplete.shell_integration import shellcode

    print_lines(shellcode(["grade"], shell=options.shell))
    return 0


def answer_shell(commands: Mapping[str, Command], grade: Command) -> None:
    """Writes the completions to the file descriptor of the shell and ends the program."""
    from argcomplete.finders import CompletionFinder
    from argcomplete.lexers import split_line

    line, point = os.environ["COMP_LINE"], int(os.environ["COMP_POINT"])
    _, word, _, before, _ = split_line(line, point)
    skipped = int(os.environ[ASKED]) - 1
    words = before[skipped:]
    parser = grade.make_parser()
    if len(words) > 1 and words[1] in commands:
        # argcomplete takes the word before the arguments for the program's name.
        os.environ[ASKED] = str(skipped + 2)
        parser = commands[words[1]].make_parser()
    elif len(words) == 1 and not word.startswith("-"):
        parser = argparse.ArgumentParser(add_help=False)
        add_value(
            parser,
            "first",
            "FIRST",
            "",
            complete=lambda prefix: [*commands, *complete_exercise(prefix)],
        )
    CompletionFinder()(parser, always_complete_options=False, exit_method=_end)


def _end(code: int = 0) -> None:
    raise ParserEndedError(code)


COMPLETION = Command("completion", run_completion, DESCRIPTION, EPILOG, _add_arguments)
