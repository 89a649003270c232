"""What commands ask for of machine code and print of it: its listing by source line, and the trace
of the simulated SM."""

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
        help="print the machine code of each source line too: executions, control bits, and where"
        " modelled cycles go",
    )
    parser.add_argument(
        "--trace",
        metavar="FILE",
        help="write what the simulated SM does, cycle by cycle, as a trace for ui.perfetto.dev"
        " (.json or .json.gz)",
    )


def detail_of(options: argparse.Namespace, *, pages: bool) -> Detail:
    """What options ask for of machine code. `pages`: the source is shown, with bars of time."""
    from grader.records import Detail
    from grader.report.trace import TRACED_SPANS

    return Detail(
        instructions=options.sass or bool(getattr(options, "html", None)),
        cycles=options.sass or pages or options.trace is not None,
        spans=TRACED_SPANS if options.trace is not None else 0,
    )


def print_listings(listings: Sequence[CodeListing], source: str, sizes: Mapping[str, int]) -> None:
    """Print machine code under the lines of its source; `sizes` are those that it was counted
    at."""
    from grader.report.annotation import number_lines
    from grader.report.code_page import print_code
    from grader.report.terminal import make_console

    with printing():
        print_code(listings, number_lines(source), sizes, console=make_console(sys.stdout))


def write_trace_of(work: MachineWork | None, source: str, target: Path) -> None:
    """Write the trace of what was simulated, and say on standard error what it holds."""
    from grader.report.annotation import number_lines
    from grader.report.trace import write_trace

    if work is None or not work.simulated:
        print("No trace is written: no time was modelled.", file=sys.stderr)
        return
    notes = write_trace(target, work, number_lines(source))
    for note in notes:
        print(clean_line(f"{target}: {note}"), file=sys.stderr)
