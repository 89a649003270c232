"""The subcommands of authors: `new`, `check` and `handout`; and `sweep`, which students use too."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import check_target, find_exercise, make_parser, parse_arguments, printing
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.report.sweep import Sweep

MAX_JOBS = 8
"""Of `grade check` by default: gradings on one GPU wait for each other."""

NEW_DESCRIPTION = """\
Write a complete, working exercise to edit: a vector addition with a spec, an oracle, a handout, a starter and a reference.
"""
NEW_EPILOG = """\
example:
  grade new my_exercise && grade check my_exercise

what is written, below the folder:
  exercises/ID/spec.json     sizes, buffers, cases, checks and points; editors complete it with grader/schemas/spec.schema.json
  exercises/ID/oracle.py     NumPy: from inputs to expected outputs. An optional function `library(inputs, sizes)`, written with
                             operators that NumPy, CuPy and PyTorch share (`inputs["A"] @ inputs["B"]`), lets `grade sweep`
                             compare with NumPy in float32 and with cuBLAS
  exercises/ID/cpu.c         optional: the same as a plain loop in C99; `grade host` verifies by it, `grade sweep` times it
  exercises/ID/README.md     the handout
  starter/ID.cu              what students get; it also holds the naive baseline
  solutions/ID.cu            the hidden reference
Nothing that is there already is touched. Exit code 0 when all was written, 2 otherwise.
"""
CHECK_DESCRIPTION = """\
Prove an exercise sound: its files, the marks of its own programs, its known submissions, and that mistakes are caught.
"""
CHECK_EPILOG = """\
examples:
  grade check transpose                              on the emulated device, or on the first GPU if there is one
  grade check exercises/transpose --device gpu       with times that are measured, not modelled
  grade check my_exercise --no-mutants               quickly, while you write

what must hold:
  spec          no mistakes; all are listed, each with its file and JSON path
  handout       promises the lines that the spec has as headlines
  oracle        computes every case, hidden ones too: shapes, dtypes, finite values
  reference     gets full marks;  starter and naive baseline run, and do not
  submissions   tests/submissions/ID/<verdict>--<reason>.cu: each gets the verdict of its name
  room          a goal for a time, measured or modelled, lies at least 3 % from the reference's and the starter's value
  mutants       the reference with one mistake each (a barrier dropped, a bound off by one, indices exchanged, a tail skipped, a
                guard or a sum lost) loses marks. A mutant of the same machine code is no mistake. One that does no harm, you
                accept at the end of its line of the reference: `// survives: why it does no harm`

The emulated device runs the warps of a block one after the other, from barrier to barrier. A barrier is caught when something
goes wrong in that order; if its mutant survives, think before you accept it.

exit codes: 0 nothing fails, 1 something does, 2 bad usage, 3 the grader or the machine failed
"""
HANDOUT_DESCRIPTION = """\
Make the students' bundle: handout, starter, oracle, cpu.c, the public part of the spec, test.py, and how to run it.
Never in it: the reference, the hidden cases, a seed. The same files give the same bytes.
"""
HANDOUT_EPILOG = """\
example:
  grade handout transpose -o transpose.zip && unzip transpose.zip && cd transpose && python test.py
"""
SWEEP_DESCRIPTION = """\
Run a submission over sizes, beside the processor (a plain loop in C, and NumPy), the naive kernel, the comparisons and, where there
is one, the reference: time, GFLOP/s, GB/s, and how many times as fast as the naive kernel and the processor each of them is.
Times of kernels are modelled on the emulated device, which counts as well, and measured on a GPU, beside the GPU's library (cuBLAS)
where CuPy or PyTorch is installed and the exercise has one. Those of the processor are measured, on this computer.
"""
SWEEP_EPILOG = """\
examples:
  grade sweep gemm_tiled mine.cu --sizes 128,512,1024,2048                 all sizes of the exercise the same
  grade sweep transpose mine.cu --sizes rows=512,cols=1024 rows=64,cols=8192
  grade sweep transpose mine.cu --sizes 512,2048 --plot mine.svg --json mine.json

what is compared:
  CPU (C loop, one core)   `reference` of the exercise's cpu.c, compiled with g++ -O2; not run where it would take more than 10 s
  CPU (NumPy)              `library` of the exercise's oracle.py in float32, or else the oracle, on as many cores as NumPy takes
  x naive, C loop, NumPy   how many times as fast as these a program is

On the emulated device a sample of the blocks is run at large sizes, and outputs are judged as far as it wrote them; with --no-model
all blocks are run, and all outputs judged.

exit codes: 0 right at every size, 1 wrong somewhere or not compiling, 2 bad usage, 3 the grader or the machine failed
"""


def run_new(arguments: Sequence[str]) -> int:
    """`grade new ID`: 0 when all files were written."""
    parser = make_parser("new", NEW_DESCRIPTION, NEW_EPILOG)
    parser.add_argument(
        "id", metavar="ID", help="the exercise's id: lower-case letters, digits and _"
    )
    parser.add_argument(
        "--folder",
        default=".",
        metavar="DIR",
        help="where exercises/, starter/ and solutions/ lie (default: here)",
    )
    options = parse_arguments(parser, arguments)
    from grader.authoring.new import write_new_exercise

    root = Path(options.folder)
    written = write_new_exercise(options.id, root)
    exercise = written[0].parent
    with printing():
        print("Written, a complete vector addition:", *(f"  {path}" for path in written), sep="\n")
        print("\nNext:")
        print(f"  grade check {exercise}        it is sound now; keep it so while you edit")
        print(
            f"  grade {exercise} {root / 'starter' / options.id}.cu        what a student sees at"
            " first"
        )
        print(
            f"  {root / 'tests' / 'submissions' / options.id}/<verdict>--<reason>.cu        add"
            " submissions whose verdict you know"
        )
        print(f"  grade handout {exercise} -o {options.id}.zip        the students' bundle")
    return 0


def run_check(arguments: Sequence[str]) -> int:
    """`grade check EXERCISE`: 0 when nothing fails, 1 when something does."""
    parser = make_parser("check", CHECK_DESCRIPTION, CHECK_EPILOG)
    _add_exercise(parser)
    _add_device(parser)
    jobs = min(os.cpu_count() or 1, MAX_JOBS)
    parser.add_argument(
        "--jobs",
        type=int,
        default=jobs,
        metavar="N",
        help=f"gradings at once (default here: {jobs})",
    )
    parser.add_argument(
        "--submissions",
        metavar="DIR",
        help="the known submissions (default: tests/submissions/ID beside exercises/)",
    )
    parser.add_argument(
        "--no-mutants",
        action="store_true",
        help="do not try mutants of the reference, which takes longest",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="show caught mutants too, not only those that tell you something",
    )
    options = parse_arguments(parser, arguments)
    if options.jobs < 1:
        raise UsageError(f"--jobs {options.jobs} is no number of gradings", "Give 1 or more.")
    folder = find_exercise(options.exercise)
    from grader.authoring.check import Scope, check_exercise, default_submissions
    from grader.report.soundness import print_soundness
    from grader.report.terminal import make_console, progress_display

    known = Path(options.submissions) if options.submissions else default_submissions(folder)
    if options.submissions and not known.is_dir():
        raise UsageError(
            f"there is no folder {known}", "Give --submissions the folder of the known submissions."
        )
    scope = Scope(
        options.device, _seed(options), options.jobs, known, try_mutants=not options.no_mutants
    )
    with progress_display(make_console(sys.stderr, environ=os.environ)) as show:
        found = check_exercise(folder, scope, show)
    with printing():
        print_soundness(
            found, console=make_console(sys.stdout, environ=os.environ), all_mutants=options.all
        )
    return 0 if found.sound else 1


def run_handout(arguments: Sequence[str]) -> int:
    """`grade handout EXERCISE -o FILE.zip`: 0 when it was written."""
    parser = make_parser("handout", HANDOUT_DESCRIPTION, HANDOUT_EPILOG)
    _add_exercise(parser)
    parser.add_argument("-o", "--output", required=True, metavar="FILE.zip", help="the bundle")
    parser.add_argument("--force", action="store_true", help="replace a file that is there already")
    options = parse_arguments(parser, arguments)
    target = Path(options.output)
    if target.exists() and not options.force:
        raise UsageError(
            f"{target} is there already", "Name another file, or use --force to replace it."
        )
    check_target(options.output, "the bundle")
    from grader.authoring.handout import make_bundle
    from grader.report.files import write_file
    from grader.spec.reader import read_exercise

    exercise = read_exercise(find_exercise(options.exercise))
    content = make_bundle(exercise)
    write_file(target, content, "the bundle")
    with printing():
        print(
            f"{target}: {len(content):,} bytes. Students unpack it and run `python test.py` in"
            f" {exercise.id}/."
        )
    return 0


def run_sweep(arguments: Sequence[str]) -> int:
    """`grade sweep EXERCISE SUBMISSION --sizes ...`: 0 when the submission is right at every
    size."""
    parser = make_parser("sweep", SWEEP_DESCRIPTION, SWEEP_EPILOG)
    _add_exercise(parser)
    parser.add_argument("submission", metavar="SUBMISSION.cu", help="the file to run")
    parser.add_argument(
        "--sizes",
        nargs="+",
        required=True,
        metavar="SIZES",
        help="N,N,... or NAME=N,NAME=N,...; see below",
    )
    _add_device(parser)
    parser.add_argument(
        "--no-model",
        action="store_true",
        help="only count on the emulated device, all blocks; model no times",
    )
    parser.add_argument(
        "--plot", metavar="FILE.svg", help="draw the figures by size, over logarithmic axes"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures as JSON")
    options = parse_arguments(parser, arguments)
    check_target(options.json)
    check_target(options.plot, "the plot")
    from grader.authoring.sweep.over_sizes import run_sweep as sweep_sizes
    from grader.records import Failure
    from grader.report.sweep import print_sweep
    from grader.report.terminal import make_console, progress_display

    folder = find_exercise(options.exercise)
    with progress_display(make_console(sys.stderr, environ=os.environ)) as show:
        found = sweep_sizes(
            folder,
            Path(options.submission),
            options.sizes,
            device=options.device,
            seed=_seed(options),
            show=show,
            model=not options.no_model,
        )
    if isinstance(found, Failure):
        with printing():
            print(f"{found.message}\n{found.detail}\n{found.advice}".strip())
        return 1
    with printing():
        print_sweep(found, console=make_console(sys.stdout, environ=os.environ))
    _write_sweep(found, options)
    return 0 if found.right else 1


def _write_sweep(found: Sweep, options: argparse.Namespace) -> None:
    from grader.report.files import write_file
    from grader.report.plot import format_svg
    from grader.report.sweep import format_sweep, make_panels

    if options.json is not None:
        write_file(Path(options.json), format_sweep(found).encode(), "the JSON")
    if options.plot is not None:
        panels, x_title = make_panels(found)
        title = f"{found.exercise}: {found.submission} on {found.device.split(' (')[0]}"
        write_file(
            Path(options.plot),
            format_svg(panels, title=title, x_title=x_title).encode(),
            "the plot",
        )


def _add_exercise(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "exercise", metavar="EXERCISE", help="the exercise's folder, or its name in ./exercises"
    )


def _add_device(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--device",
        default="auto",
        metavar="DEVICE",
        help="auto (the default), emulated[:ID] or gpu[:N]",
    )
    parser.add_argument(
        "--seed",
        type=int,
        metavar="N",
        help="draw hidden cases and inputs from this seed (default: a new one)",
    )


def _seed(options: argparse.Namespace) -> int:
    from grader.grading.grade import SEED_BITS, check_seed

    return secrets.randbits(SEED_BITS) if options.seed is None else check_seed(options.seed)
