"""The subcommand `gallery`: small kernels with the memory traffic of each access."""

from __future__ import annotations

import argparse
import os
import sys

from grader.cli.common import (
    Command,
    add_json,
    check_target,
    complete_device,
    complete_with,
    make_parser,
    print_or_json,
    printing,
)
from grader.errors import UsageError

GALLERY_DESCRIPTION = """\
Show small kernels with the typical patterns of memory access of a course. For each read: the code,
the lanes per sector (or bank), and its cost. Every figure is counted in a run of the kernel on the
emulated device; no GPU is needed.
"""
GALLERY_EPILOG = """\
examples:
  grade gallery                          the list of kernels
  grade gallery coalescing               reads of global memory: sectors, bytes used of bytes moved
  grade gallery banks                    reads of shared memory: banks and wavefronts
  grade gallery banks column_of_33       a single kernel with its complete code

exit codes: 0 shown, 2 bad usage, 3 the grader or the machine failed
"""


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("gallery", GALLERY_DESCRIPTION, GALLERY_EPILOG)
    parser.add_argument(
        "gallery", nargs="?", metavar="GALLERY", help="coalescing or banks (default: list both)"
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="show only this kernel, with its complete code"
    )
    device = parser.add_argument(
        "--device",
        default="emulated",
        metavar="DEVICE",
        help="emulated (the default) or emulated:ID",
    )
    complete_with(device, complete_device)
    add_json(parser, "all figures and addresses")
    return parser


def run_gallery(options: argparse.Namespace) -> int:
    """`grade gallery [GALLERY [NAME]]`: 0 after printing."""
    check_target(options.json)
    gpu = _parse_emulated(options.device)
    if options.gallery is None:
        _list_galleries()
        return 0
    from grader.explore.exhibits import run_gallery as execute
    from grader.plumbing.cache import default_cache
    from grader.report.access_pictures import format_gallery, print_gallery

    found = execute(options.gallery, options.name, gpu=gpu, cache=default_cache(os.environ))
    whole = options.name is not None
    print_or_json(
        options.json,
        lambda: format_gallery(found),
        lambda console: print_gallery(found, console=console, whole=whole),
    )
    return 0


def _parse_emulated(name: str) -> str:
    """The id of the emulated GPU."""
    from grader.devices.choose import DEFAULT_GPU, EMULATED, parse_device

    if name == "auto":
        return DEFAULT_GPU
    choice = parse_device(name, gpu_works=lambda: False, has_pycuda=lambda: True)
    if choice.kind != EMULATED:
        raise UsageError(
            f"a gallery runs on the emulated device, not on {name}",
            "Leave out --device, or give emulated:ID.",
        )
    return choice.id


def _list_galleries() -> None:
    from grader.explore.exhibits import GALLERIES, read_sketches
    from grader.report.access_pictures import print_contents
    from grader.report.terminal import make_console

    with printing():
        console = make_console(sys.stdout)
        for gallery, (_, what) in GALLERIES.items():
            titles = {sketch.name: sketch.title for sketch in read_sketches(gallery).values()}
            print_contents(f"grade gallery {gallery}: {what}", titles, console=console)


GALLERY = Command(_parser, run_gallery)
