"""The subcommand `lsp`: a language server for editors, on standard input and output."""

from __future__ import annotations

import argparse
import os
import sys

from grader.cli.common import Command, add_device, add_no_model, add_value, complete_exercise
from grader.errors import ToolMissing

DESCRIPTION = """\
Start a language server on standard input and output. An editor starts it; it grades .cu files when
they are opened and saved, and shows the result at their lines. It needs the extra `editor`:
pip install 'cuda-exercise-grader[editor]'
"""
EPILOG = """\
the exercise of a file:
  the setting `exercise`, else --exercise, else a line `// exercise: NAME` in the file, else the
  exercise that has the file's name or launches its kernels: from the folder `exercises` beside or
  above the file, or from the grader

docs/editors.md has the lines for Visual Studio Code, Neovim and Emacs. Initialization options, or
the settings `cudaGrader.*`: exercise, device, model, fixSeconds.

exit codes: 0 the editor ended the server, 2 bad usage, 3 the grader or the machine failed
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    text = "the exercise of all files: its folder or its name (default: found for each file)"
    add_value(parser, "--exercise", "EXERCISE", text, complete=complete_exercise)
    add_device(parser)
    add_no_model(parser, "no times on the emulated device: quicker gradings")
    parser.add_argument("--stdio", action="store_true", help="has no effect: editors pass it")


def run_lsp(options: argparse.Namespace) -> int:
    """`grade lsp`: 0 when the editor has ended it."""
    try:
        import pygls  # noqa: F401
    except ImportError as error:
        raise ToolMissing(
            "grade lsp needs pygls", "Install the extra: pip install 'cuda-exercise-grader[editor]'"
        ) from error
    from grader.editor.jobs import Settings
    from grader.editor.server import make_server

    settings = Settings(options.exercise, options.device, model=not options.no_model)
    # pygls closes the stream that it writes to
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as stream:
        make_server(settings).start_io(stdout=stream)
    return 0


LSP = Command("lsp", run_lsp, DESCRIPTION, EPILOG, _add_arguments)
