"""The subcommands `list` and `start` for exercises, `metrics` for checks, and `doctor` for this
machine."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from grader.cli.common import (
    Command,
    add_exercise,
    add_value,
    find_exercise,
    local_exercises,
    print_lines,
    print_report,
)
from grader.folders import PACKAGED, shipped_exercises, shipped_root

LIST_DESCRIPTION = """\
List the known exercises in the order of the course, with time and topics: those in ./exercises and
those of the grader. An exercise in ./exercises hides the grader's exercise of the same name.
"""
START_DESCRIPTION = """\
Copy the files of an exercise into this folder: the handout with its pictures, the file to edit, and
starter/ID.cu. Do not edit starter/ID.cu: it is compared with your file. Existing files stay
unchanged.
"""
START_EPILOG = """\
example:
  grade start transpose
  grade transpose transpose.cu

exit codes: 0 all files were written, 2 bad usage, or a file exists
"""
METRICS_DESCRIPTION = """\
List every metric that a check of an exercise can use: its unit in a spec, its source on each kind
of device, and its meaning.
"""
CODES = "exit codes: 0 shown, 2 bad usage\n"
DOCTOR_DESCRIPTION = """\
Show the programs, packages and permissions that grading uses, and whether this machine has them.
For each missing part: the effect, and the fix.
"""
DOCTOR_EPILOG = """\
exit codes: 0 the emulated device works here, 2 bad usage, 3 it does not
"""
EXIT_CANNOT_GRADE = 3


def run_list(_: argparse.Namespace) -> int:
    """`grade list`: 0 after printing."""
    from grader.report.contents import Listed, print_exercises
    from grader.spec.public import read_entry

    here = "the grader's" if shipped_root().name != PACKAGED else "the grader's, public cases only"
    found = {folder.name: (folder, here) for folder in shipped_exercises()}
    found |= {folder.name: (folder, str(folder.parent)) for folder in local_exercises()}
    rows = [Listed(name, read_entry(folder), place) for name, (folder, place) in found.items()]
    print_report(print_exercises, rows)
    return 0


def _add_start(parser: argparse.ArgumentParser) -> None:
    add_exercise(parser)
    text = "the folder to write to (default: here)"
    add_value(parser, "--folder", "DIR", text, default=".")


def run_start(options: argparse.Namespace) -> int:
    """`grade start EXERCISE`: 0 if all files were written."""
    from grader.authoring.handout import starting_files
    from grader.authoring.new import write_new_files
    from grader.spec.reader import read_exercise

    exercise = read_exercise(find_exercise(options.exercise))
    root = Path(options.folder)
    files = {root / name: content for name, content in starting_files(exercise).items()}
    write_new_files(files, otherwise="Go to another folder, or move the old files away.")
    print_lines(
        "Written:",
        *(f"  {path}" for path in files),
        f"\nRead {root / exercise.id}.md, edit {root / exercise.id}.cu, and grade it:",
        f"  grade {options.exercise} {root / exercise.id}.cu",
        f"\nDo not edit {root / 'starter' / exercise.id}.cu: compare your file with it.",
    )
    return 0


def run_metrics(_: argparse.Namespace) -> int:
    """`grade metrics`: 0 after printing."""
    from grader.report.contents import print_metrics

    print_report(print_metrics)
    return 0


def run_doctor(_: argparse.Namespace) -> int:
    """`grade doctor`: 0 if the emulated device works here."""
    from grader.doctor import Machine, can_grade, examine
    from grader.plumbing.cache import default_cache
    from grader.report.machine_parts import print_doctor
    from grader.sandbox.process import run_tool

    parts = examine(Machine(os.environ, run_tool, default_cache(os.environ)))
    print_report(print_doctor, parts)
    return 0 if can_grade(parts) else EXIT_CANNOT_GRADE


LIST = Command("list", run_list, LIST_DESCRIPTION, CODES)
START = Command("start", run_start, START_DESCRIPTION, START_EPILOG, _add_start)
METRICS = Command("metrics", run_metrics, METRICS_DESCRIPTION, CODES)
DOCTOR = Command("doctor", run_doctor, DOCTOR_DESCRIPTION, DOCTOR_EPILOG)
