"""`grade similar`: finds submissions that share code."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.batch.archives import SetAside, extract_zip
from grader.cli.common import (
    Command,
    add_json,
    check_target,
    make_parser,
    print_or_json,
)
from grader.errors import UsageError
from grader.records import Comparison
from grader.report.text import clean_line

DESCRIPTION = """\
Find submissions that share code. Names, numbers, types, comments, white space, macros and the order
of functions do not count; the starter's code is left out, and code counts less the more of the
class have it. It shows where to look; whether somebody copied is for you to judge.
"""
EPILOG = """\
examples:
  grade similar submissions/                        every .cu file below the folder with every
                                                    other one
  grade similar export.zip                          those of a zip, and of the zips in it
  grade similar submissions/ --threshold 50 --html similar.html
                                                    both files side by side, shared lines marked
  grade similar submissions/ --starter starter/transpose.cu
                                                    subtract this starter, not the best-fitting
                                                    one of ./starter

similarity: the part of both files' own code that is shared. Copies that were renamed, restyled,
reordered or hidden in macros had 60 % or more, every one of those that were tried; of a file that
was half copied expect 40 %. Short files are alike by chance, and so are those that follow the same
book: files with less own code than about three lines are left out, and files of more than 1 MiB.

exit codes: 0 nothing at or above the threshold, 1 pairs were found, 2 bad usage
"""
MAX_BYTES = 1 << 20
"""Of a file that is compared; a kernel has some thousands."""


def _parser() -> argparse.ArgumentParser:
    parser = make_parser("similar", DESCRIPTION, EPILOG)
    parser.add_argument(
        "folder", metavar="DIR", help="the submissions, in folders of any depth, or a zip of them"
    )
    starter = (
        "subtract this file's code; auto (the default): that of ./starter/*.cu which the files"
        " share most; none"
    )
    parser.add_argument("--starter", default="auto", metavar="FILE", help=starter)
    parser.add_argument(
        "--threshold",
        type=float,
        default=60.0,
        metavar="PERCENT",
        help="show pairs from this similarity on (default: 60)",
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
    with tempfile.TemporaryDirectory() as room:
        texts = _read_submissions(Path(options.folder), Path(room))
    from grader.similar.winnowing import compare_files

    found = compare_files(
        texts, starters=_read_starters(options.starter), threshold=options.threshold / 100
    )
    _show(found, options)
    return 1 if found.pairs else 0


def _read_submissions(submissions: Path, room: Path) -> dict[str, str]:
    """The text of every `.cu` file of a folder or a zip, and of the zips in it, by its path there.
    Zips are unpacked into `room`."""
    if submissions.is_dir():
        roots = [submissions, room]
        _unpack_zips(submissions, room)
    elif submissions.is_file():
        roots = [room]
        _tell_left_out(str(submissions), extract_zip(submissions, room))
    else:
        raise UsageError(
            f"there is no folder or zip {submissions}", "Name that of the submissions."
        )
    _unpack_zips(room, room)
    texts = {name: text for root in roots for name, text in _read_folder(root)}
    if len(texts) < 2:
        raise UsageError(
            f"{submissions} holds {len(texts)} .cu files", "Two are needed to compare."
        )
    return texts


def _unpack_zips(folder: Path, room: Path) -> None:
    """Unpack the zips below the folder, each at its path in it; one that is broken is named."""
    for archive in sorted(folder.rglob("*.zip")):
        inside = archive.relative_to(folder)
        target = (room / inside).with_suffix("")
        if _is_hidden(inside) or target.exists():
            continue
        target.mkdir(parents=True)
        try:
            _tell_left_out(str(inside), extract_zip(archive, target))
        except UsageError as error:
            print(f"not compared: {clean_line(str(error))}", file=sys.stderr)


def _tell_left_out(archive: str, left_out: Sequence[SetAside]) -> None:
    for each in left_out:
        name = clean_line(f"{archive}: {each.name}")
        print(f"not compared: {name}: {each.reason}", file=sys.stderr)


def _read_folder(folder: Path) -> Iterator[tuple[str, str]]:
    """The `.cu` files below the folder; hidden files and what a zip of macOS adds are none."""
    for path in sorted(folder.rglob("*.cu")):
        name = path.relative_to(folder)
        if not path.is_file() or _is_hidden(name):
            continue
        if path.stat().st_size > MAX_BYTES:
            print(f"not compared: {clean_line(str(name))}: more than 1 MiB", file=sys.stderr)
        else:
            yield str(name), path.read_text(encoding="utf-8", errors="replace")


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__MACOSX" for part in path.parts)


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
