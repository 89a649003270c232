"""`grade doctor`: the programs and permissions for grading on this machine."""

from __future__ import annotations

import argparse
import os
import sys

from grader.cli.common import Command, make_parser, printing

DESCRIPTION = """\
Show the programs, packages and permissions that grading uses, and whether this machine has them.
For each missing part: the effect, and the fix.
"""
EPILOG = """\
exit codes: 0 the emulated device works here, 2 bad usage, 3 it does not
"""
EXIT_CANNOT_GRADE = 3


def _parser() -> argparse.ArgumentParser:
    return make_parser("doctor", DESCRIPTION, EPILOG)


def run_doctor(_: argparse.Namespace) -> int:
    """`grade doctor`: 0 if the emulated device works here."""
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
