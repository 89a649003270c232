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
    add_new_file,
    add_seed,
    find_exercise,
    make_parser,
    new_file,
    printing,
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


def _new_parser() -> argparse.ArgumentParser:
    from grader.authoring.new import PATTERNS

    patterns = "\n".join(f"  {name:<12} {what}" for name, what in PATTERNS.items())
    parser = make_parser("new", NEW_DESCRIPTION, NEW_EPILOG.format(patterns=patterns))
    parser.add_argument(
        "id", metavar="ID", help="the exercise's id: lower-case letters, digits and _"
    )
    parser.add_argument(
        "--like",
        default="elementwise",
        metavar="PATTERN",
        help="the pattern to copy (default: elementwise)",
    )
    parser.add_argument(
        "--folder",
        default=".",
        metavar="DIR",
        help="the folder of exercises/, starter/ and solutions/ (default: here)",
    )
    return parser


def run_new(options: argparse.Namespace) -> int:
    """`grade new ID`: 0 if all files were written."""
    from grader.authoring.new import write_new_exercise

    root = Path(options.folder)
    written = write_new_exercise(options.id, root, like=options.like)
    exercise = written[0].parent
    with printing():
        print(
            f"Written, a complete exercise like {options.like}:",
            *(f"  {path}" for path in written),
            sep="\n",
        )
        print("\nNext:")
        print(f"  grade check {exercise}        the exercise is sound: check it after each edit")
        print(
            f"  grade {exercise} {root / 'starter' / options.id}.cu        the first report of a"
            " student"
        )
        print(
            f"  {root / 'tests' / 'submissions' / options.id}/<verdict>--<reason>.cu        add"
            " submissions with known verdicts"
        )
        print(f"  grade handout {exercise} -o {options.id}.zip        the students' bundle")
    return 0


def _check_parser() -> argparse.ArgumentParser:
    parser = make_parser("check", CHECK_DESCRIPTION, CHECK_EPILOG)
    add_exercise(parser)
    add_device(parser)
    add_seed(parser)
    parser.add_argument(
        "--jobs",
        type=int,
        default=min(os.cpu_count() or 1, MAX_JOBS),
        metavar="N",
        help=f"gradings at the same time (default: one per core, at most {MAX_JOBS})",
    )
    parser.add_argument(
        "--submissions",
        metavar="DIR",
        help="the known submissions (default: tests/submissions/ID next to exercises/)",
    )
    parser.add_argument(
        "--no-mutants",
        action="store_true",
        help="do not try mutants of the reference: much faster",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="try a sample of the mutants: two of each kind of mistake, drawn from the seed",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="list caught mutants too",
    )
    return parser


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
    with printing():
        print_soundness(found, console=make_console(sys.stdout), all_mutants=options.all)
    return 0 if found.sound else 1


def _handout_parser() -> argparse.ArgumentParser:
    parser = make_parser("handout", HANDOUT_DESCRIPTION, HANDOUT_EPILOG)
    add_exercise(parser)
    add_new_file(parser, "FILE.zip", "the bundle")
    parser.add_argument(
        "--install",
        metavar="COMMAND",
        help="the command that installs the grader, instead of a wheel in the bundle",
    )
    return parser


def run_handout(options: argparse.Namespace) -> int:
    """`grade handout EXERCISE -o FILE.zip`: 0 if the file was written."""
    target = new_file(options, "the bundle")
    from grader.authoring.handout import make_bundle
    from grader.plumbing.atomic import write_file
    from grader.spec.reader import read_exercise

    exercise = read_exercise(find_exercise(options.exercise))
    content = make_bundle(exercise, install=options.install)
    write_file(target, content, "the bundle")
    with printing():
        print(
            f"{target}: {len(content):,} bytes. Students unpack it and follow"
            f" {exercise.id}/HOW_TO_RUN.md."
        )
    return 0


NEW = Command(_new_parser, run_new)
CHECK = Command(_check_parser, run_check)
HANDOUT = Command(_handout_parser, run_handout)
