"""The subcommands of authors: `new`, `check` and `handout`."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from grader.cli.common import (
    Command,
    add_device,
    add_exercise,
    add_flag,
    add_new_file,
    add_seed,
    add_value,
    find_exercise,
    new_file,
    print_lines,
    print_report,
    read_options,
    seed_of,
)
from grader.errors import UsageError

MAX_JOBS = 8
"""Largest default of `grade check --jobs`: gradings on the same GPU wait for each other."""

NEW_DESCRIPTION = """\
Write a complete, working exercise as a starting point: spec, oracle, handout, starter and
reference, copied from a pattern.
"""
NEW_EPILOG = """\
examples:
  grade new my_exercise && grade check my_exercise
  grade new row_maxima --like reduction

patterns:
{patterns}

written files, in the folder:
  exercises/ID/spec.json   sizes, buffers, cases, checks and points; for completion in editors,
                           exercises/spec.schema.json is written too
  exercises/ID/oracle.py   NumPy: computes the expected outputs from the inputs. An optional
                           function `library(inputs, sizes)`, with operators that NumPy, CuPy and
                           PyTorch share (`inputs["A"] @ inputs["B"]`), lets `grade sweep`
                           compare with NumPy in float32 and with cuBLAS
  exercises/ID/cpu.c       optional: the same computation as a plain loop in C99; `grade host`
                           verifies with it, `grade sweep` times it
  exercises/ID/README.md   the handout
  starter/ID.cu            the students' file; it also contains the naive baseline
  solutions/ID.cu          the hidden reference

Existing files stay unchanged.

exit codes: 0 all files were written, 2 bad usage, or a file exists
"""
CHECK_DESCRIPTION = """\
Prove an exercise sound: check its files, the scores of its baselines and known submissions, and
that it catches mistakes.
"""
CHECK_EPILOG = """\
examples:
  grade check transpose                          on the first GPU, else emulated
  grade check exercises/transpose --device gpu   with measured times instead of modelled times
  grade check my_exercise --quick                with a sample of the mutants
  grade check my_exercise --no-mutants           without mutants, while you write

requirements:
  spec         has no mistakes; all are listed, each with its file and JSON path
  handout      promises the headlines of the spec
  oracle       computes every case, also hidden cases: shapes, dtypes, finite values
  reference    gets full marks; starter and naive baseline run and miss full marks
  submissions  tests/submissions/ID/<verdict>--<reason>.cu: each gets the verdict of its name
  margin       a goal for a time, measured or modelled, lies at least 3 % from the values of the
               reference and the starter. Else, or if the reference misses a goal or the starter
               reaches it, a goal between the two is proposed
  mutants      the reference with one mistake (a dropped barrier, a wrong bound, exchanged
               indices, a skipped tail, a lost guard or sum) loses marks

A mutant with the same machine code is no mistake. To accept a harmless mutant, write a comment at
the end of its line in the reference: `// survives: REASON`. The emulated device runs the warps of a
block in sequence, from barrier to barrier. It catches a dropped barrier only if this order
gives a wrong result; think before you accept a mutant without a barrier.

exit codes: 0 nothing fails, 1 something fails, 2 bad usage, 3 the grader or the machine failed
"""
HANDOUT_DESCRIPTION = """\
Make the students' bundle: handout, starter, oracle, cpu.c, the public part of the spec, test.py,
this grader as a wheel, and instructions. It never contains the reference, the hidden cases or a
seed. The same files give the same bytes.
"""
HANDOUT_EPILOG = """\
examples:
  grade handout transpose -o transpose.zip
  unzip transpose.zip && cd transpose && cat HOW_TO_RUN.md

  grade handout transpose -o transpose.zip --install 'python -m pip install https://…/grader.whl'
                             without the wheel: students install the grader with this command

exit codes: 0 written, 2 bad usage, or a broken exercise
"""


def _add_new(parser: argparse.ArgumentParser) -> None:
    from grader.authoring.new import PATTERNS

    patterns = "\n".join(f"  {name:<12} {what}" for name, what in PATTERNS.items())
    parser.epilog = NEW_EPILOG.format(patterns=patterns)
    add_value(parser, "id", "ID", "the exercise's id: lower-case letters, digits and _")
    text = "the pattern to copy (default: elementwise)"
    add_value(parser, "--like", "PATTERN", text, default="elementwise")
    text = "the folder of exercises/, starter/ and solutions/ (default: here)"
    add_value(parser, "--folder", "DIR", text, default=".")


def run_new(options: argparse.Namespace) -> int:
    """`grade new ID`: 0 if all files were written."""
    from grader.authoring.new import write_new_exercise

    root = Path(options.folder)
    written = write_new_exercise(options.id, root, like=options.like)
    exercise = written[0].parent
    starter, known = (root / each / options.id for each in ("starter", "tests/submissions"))
    print_lines(
        f"Written, a complete exercise like {options.like}:",
        *(f"  {path}" for path in written),
        "\nNext:",
        f"  grade check {exercise}        the exercise is sound: check it after each edit",
        f"  grade {exercise} {starter}.cu        the first report of a student",
        f"  {known}/<verdict>--<reason>.cu        add submissions with known verdicts",
        f"  grade handout {exercise} -o {options.id}.zip        the students' bundle",
    )
    return 0


def _add_check(parser: argparse.ArgumentParser) -> None:
    add_exercise(parser)
    add_device(parser)
    add_seed(parser)
    text = f"gradings at the same time (default: one per core, at most {MAX_JOBS})"
    jobs = min(os.cpu_count() or 1, MAX_JOBS)
    add_value(parser, "--jobs", "N", text, type=int, default=jobs)
    text = "the known submissions (default: tests/submissions/ID next to exercises/)"
    add_value(parser, "--submissions", "DIR", text)
    add_flag(parser, "--no-mutants", "do not try mutants of the reference: much faster")
    text = "try a sample of the mutants: two of each kind of mistake, drawn from the seed"
    add_flag(parser, "--quick", text)
    add_flag(parser, "--all", "list caught mutants too")


def run_check(options: argparse.Namespace) -> int:
    """`grade check EXERCISE`: 0 if nothing fails, else 1."""
    if options.jobs < 1:
        raise UsageError(f"--jobs {options.jobs} is too small", "Give 1 or more.")
    folder = find_exercise(options.exercise)
    from grader.authoring.check import Scope, check_exercise, default_submissions
    from grader.report.soundness import print_soundness
    from grader.report.terminal import make_console, progress_display

    known = Path(options.submissions) if options.submissions else default_submissions(folder)
    if options.submissions and not known.is_dir():
        raise UsageError(
            f"there is no folder {known}", "Give --submissions the folder of the known submissions."
        )
    with progress_display(make_console(sys.stderr)) as show:
        grading = replace(read_options(options), seed=seed_of(options), show=show)
        scope = Scope(
            grading, options.jobs, known, try_mutants=not options.no_mutants, quick=options.quick
        )
        found = check_exercise(folder, scope)
    print_report(print_soundness, found, all_mutants=options.all)
    return 0 if found.sound else 1


def _add_handout(parser: argparse.ArgumentParser) -> None:
    add_exercise(parser)
    add_new_file(parser, "FILE.zip", "the bundle")
    text = "the command that installs the grader, instead of a wheel in the bundle"
    add_value(parser, "--install", "COMMAND", text)


def run_handout(options: argparse.Namespace) -> int:
    """`grade handout EXERCISE -o FILE.zip`: 0 if the file was written."""
    target = new_file(options, "the bundle")
    from grader.authoring.handout import make_bundle
    from grader.plumbing.atomic import write_file
    from grader.spec.reader import read_exercise

    exercise = read_exercise(find_exercise(options.exercise))
    content = make_bundle(exercise, install=options.install)
    write_file(target, content, "the bundle")
    print_lines(
        f"{target}: {len(content):,} bytes. Students unpack it and follow"
        f" {exercise.id}/HOW_TO_RUN.md."
    )
    return 0


NEW = Command("new", run_new, NEW_DESCRIPTION, NEW_EPILOG, _add_new)
CHECK = Command("check", run_check, CHECK_DESCRIPTION, CHECK_EPILOG, _add_check)
HANDOUT = Command("handout", run_handout, HANDOUT_DESCRIPTION, HANDOUT_EPILOG, _add_handout)
