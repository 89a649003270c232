"""`--sass` and `--trace`: the listing of machine code by source line, and the trace of the
simulated SM."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import printing
from grader.report.text import clean_line

if TYPE_CHECKING:
    from grader.records import CodeListing, Detail, MachineWork


def add_machine_code(parser: argparse.ArgumentParser) -> None:
    """`--sass` and `--trace`."""
    parser.add_argument(
        "--sass",
        action="store_true",
        help="also print the machine code of each source line: executions, control bits, modelled"
        " cycles",
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="write a trace of the simulated SM, cycle by cycle, for ui.perfetto.dev (.json or"
        " .json.gz)",
    )


def detail_of(options: argparse.Namespace, *, pages: bool) -> Detail:
    """The detail of machine code that the arguments need. `pages`: the source is shown with bars of
    time."""
    from grader.records import Detail
    from grader.report.trace import TRACED_SPANS

    return Detail(
        instructions=options.sass or bool(getattr(options, "html", None)),
        cycles=options.sass or pages or options.trace is not None,
        spans=TRACED_SPANS if options.trace is not None else 0,
    )


def print_listings(listings: Sequence[CodeListing], source: str, sizes: Mapping[str, int]) -> None:
    """Prints machine code below the lines of its source. `sizes`: the sizes of the counted run."""
    from grader.report.annotation import number_lines
    from grader.report.code_page import print_code
    from grader.report.terminal import make_console

    with printing():
        print_code(listings, number_lines(source), sizes, console=make_console(sys.stdout))


def write_trace_of(work: MachineWork | None, source: str, target: Path) -> None:
    """Writes the trace of the simulation, and its contents on standard error."""
    from grader.report.annotation import number_lines
    from grader.report.trace import write_trace

    if work is None or not work.simulated:
        print("No trace is written: no time was modelled.", file=sys.stderr)
        return
    notes = write_trace(target, work, number_lines(source))
    for note in notes:
        print(clean_line(f"{target}: {note}"), file=sys.stderr)
