"""`grade doctor`: what grading uses, and what of it this machine has."""

from __future__ import annotations

import argparse
import os
import sys

from grader.cli.common import Command, make_parser, printing

DESCRIPTION = """\
Show what grading uses and what of it this machine has. For each lack: what it costs, and how to
mend it.
"""
EPILOG = """\
exit codes: 0 the emulated device can work here, 2 bad usage, 3 it cannot
"""
EXIT_CANNOT_GRADE = 3


def _parser() -> argparse.ArgumentParser:
    return make_parser("doctor", DESCRIPTION, EPILOG)


def run_doctor(_: argparse.Namespace) -> int:
    """0 when the emulated device can work here."""
    from grader.doctor import Machine, can_grade, examine
    from grader.plumbing.cache import default_cache
    from grader.report.machine_parts import print_doctor
    from grader.report.terminal import make_console
    from grader.sandbox.process import run_tool

    parts = examine(Machine(os.environ, run_tool, default_cache(os.environ)))
    with printing():
        print_doctor(parts, console=make_console(sys.stdout))
    return 0 if can_grade(parts) else EXIT_CANNOT_GRADE


DOCTOR = Command(_parser, run_doctor)
