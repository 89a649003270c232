"""`grade similar`: finds submissions that share code."""

from __future__ import annotations

import argparse
from pathlib import Path

from grader.cli.common import (
    Command,
    add_json,
    check_target,
    make_parser,
    print_or_json,
)
from grader.errors import UsageError
from grader.records import Comparison

DESCRIPTION = """\
Find submissions that share code. Names, numbers, comments, white space and the order of functions
do not count; the starter's code and what most of the class writes alike are left out. It shows
where to look; whether somebody copied is for you to judge.
"""
EPILOG = """\
examples:
  grade similar submissions/                        every .cu file below the folder with every
                                                    other one
  grade similar submissions/ --threshold 50 --html similar.html
                                                    both files side by side, shared lines marked
  grade similar submissions/ --starter starter/transpose.cu
                                                    subtract this starter, not the best-fitting
                                                    one of ./starter

similarity: the part of both files' own code that is shared. Short files are alike by chance: files
with less own code than about four lines are left out.

exit codes: 0 nothing at or above the threshold, 1 pairs were found, 2 bad usage
"""
MAX_BYTES = 1 << 20
"""Of a file that is compared; a kernel has some thousands."""


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("similar", DESCRIPTION, EPILOG)
    parser.add_argument("folder", metavar="DIR", help="the submissions, in folders of any depth")
    starter = (
        "subtract this file's code; auto (the default): that of ./starter/*.cu which the files"
        " share most; none"
    )
    parser.add_argument("--starter", default="auto", metavar="FILE", help=starter)
    parser.add_argument(
        "--threshold",
        type=float,
        default=70.0,
        metavar="PERCENT",
        help="show pairs from this similarity on (default: 70)",
    )
    parser.add_argument(
        "--top", type=int, metavar="N", help="show the N most similar pairs only, on the terminal"
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write the pairs side by side, shared lines marked"
    )
    add_json(parser, "the pairs")
    return parser


def run_similar(options: argparse.Namespace) -> int:
    """`grade similar DIR`: 1 when pairs were found."""
    if not 0 < options.threshold <= 100:
        raise UsageError(
            f"--threshold {options.threshold:g} is no similarity",
            "Give a percentage above 0, at most 100.",
        )
    check_target(options.json)
    check_target(options.html, "the page")
    texts = _read_submissions(Path(options.folder))
    from grader.similar.winnowing import compare_files

    found = compare_files(
        texts, starters=_read_starters(options.starter), threshold=options.threshold / 100
    )
    _show(found, options)
    return 1 if found.pairs else 0


def _read_submissions(folder: Path) -> dict[str, str]:
    """The text of every `.cu` file below the folder by its path in it; hidden files and what a zip
    of macOS adds are none."""
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}", "Name the folder of the submissions.")
    paths = [
        path
        for path in sorted(folder.rglob("*.cu"))
        if path.is_file() and not _is_hidden(path.relative_to(folder))
    ]
    texts = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8", errors="replace")
        for path in paths
        if _is_small(path)
    }
    if len(texts) < 2:
        raise UsageError(f"{folder} holds {len(texts)} .cu files", "Two are needed to compare.")
    return texts


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)


def _is_small(path: Path) -> bool:
    return path.stat().st_size <= MAX_BYTES


def _read_starters(option: str) -> dict[str, str]:
    if option == "none":
        return {}
    paths = sorted(Path("starter").glob("*.cu")) if option == "auto" else [Path(option)]
    try:
        return {str(path): path.read_text(encoding="utf-8", errors="replace") for path in paths}
    except OSError as error:
        raise UsageError(
            f"cannot read the starter {option}: {error.strerror}", "Name a .cu file, auto or none."
        ) from error


def _show(found: Comparison, options: argparse.Namespace) -> None:
    from grader.report.files import write_file
    from grader.report.shared_code import format_comparison, print_comparison

    if options.html is not None:
        from grader.report.html.pairs import format_similar_page

        write_file(Path(options.html), format_similar_page(found).encode(), "the page")
    print_or_json(
        options.json,
        lambda: format_comparison(found),
        lambda console: print_comparison(found, console=console, top=options.top),
    )


SIMILAR = Command(_parser, run_similar)
