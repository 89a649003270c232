"""`grade similar`: finds submissions that share code."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.batch.archives import SetAside, extract_zip
from grader.cli.common import Command, add_json, add_value, check_target, print_or_json
from grader.errors import UsageError
from grader.report.text import clean_line

DESCRIPTION = """\
Find submissions that share code. Names, numbers, types, comments, white space, macros and the order
of functions are ignored, and so is the starter's code. Code counts less if many submissions have
it. The result shows where to look; you decide whether it is a copy.
"""
EPILOG = """\
examples:
  grade similar submissions/                        compare all pairs of .cu files in the folder
                                                    and its subfolders
  grade similar export.zip                          the files of a zip, and of the zips in it
  grade similar submissions/ --threshold 50 --html similar.html
                                                    both files side by side, with marked lines
  grade similar submissions/ --starter starter/transpose.cu
                                                    subtract this starter instead of the best
                                                    match in ./starter

similarity: the shared fraction of the code of both files without the starter. In tests, all copies
with new names, style, order or macros had 60 % or more; a half-copied file has about 40 %. Short
files, and files that follow the same book, can be similar by chance. Files with less than about
three lines besides the starter are left out, and files of more than 1 MiB.

exit codes: 0 nothing at or above the threshold, 1 pairs were found, 2 bad usage
"""
MAX_BYTES = 1 << 20
"""Limit of a compared file; a kernel has some thousand bytes."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    text = "the submissions: a folder with any subfolders, or a zip"
    add_value(parser, "folder", "DIR", text)
    text = (
        "subtract this file's code; auto (the default): the file in ./starter/*.cu that the"
        " submissions share most; none"
    )
    add_value(parser, "--starter", "FILE", text, default="auto")
    text = "the lowest similarity of a shown pair (default: 60)"
    add_value(parser, "--threshold", "PERCENT", text, type=float, default=60.0)
    text = "show only the N most similar pairs on the terminal"
    add_value(parser, "--top", "N", text, type=int)
    text = "write a page: pairs side by side, with marked shared lines"
    add_value(parser, "--html", "FILE", text)
    add_json(parser, "the pairs")


def run_similar(options: argparse.Namespace) -> int:
    """`grade similar DIR`: 1 if pairs were found."""
    if not 0 < options.threshold <= 100:
        raise UsageError(
            f"--threshold {options.threshold:g} is not a similarity",
            "Give a percentage above 0, at most 100.",
        )
    check_target(options.json)
    check_target(options.html, "the page")
    with tempfile.TemporaryDirectory() as unpacked:
        texts = _read_submissions(Path(options.folder), Path(unpacked))
    from grader.similar.winnowing import compare_files

    found = compare_files(
        texts, starters=_read_starters(options.starter), threshold=options.threshold / 100
    )
    from grader.plumbing.atomic import write_file
    from grader.report.shared_code import format_comparison, print_comparison

    if options.html is not None:
        from grader.report.html.pairs import format_similar_page

        write_file(Path(options.html), format_similar_page(found).encode(), "the page")
    print_or_json(options.json, found, format_comparison, print_comparison, top=options.top)
    return 1 if found.pairs else 0


def _read_submissions(submissions: Path, unpacked: Path) -> dict[str, str]:
    """The texts of all `.cu` files of a folder or a zip, and of the zips in it, by relative path.
    Unpacks zips into `unpacked`."""
    if submissions.is_dir():
        roots = [submissions, unpacked]
        _unpack_zips(submissions, unpacked)
    elif submissions.is_file():
        roots = [unpacked]
        _print_left_out(str(submissions), extract_zip(submissions, unpacked))
    else:
        raise UsageError(
            f"there is no folder or zip {submissions}", "Name the submissions' folder or zip."
        )
    _unpack_zips(unpacked, unpacked)
    texts = {name: text for root in roots for name, text in _read_folder(root)}
    if len(texts) < 2:
        raise UsageError(
            f"{submissions} holds {len(texts)} .cu files", "Two are needed to compare."
        )
    return texts


def _unpack_zips(folder: Path, unpacked: Path) -> None:
    """Unpacks the zips in the folder to the same relative paths; prints names of broken zips."""
    for archive in sorted(folder.rglob("*.zip")):
        inside = archive.relative_to(folder)
        target = (unpacked / inside).with_suffix("")
        if _is_hidden(inside) or target.exists():
            continue
        target.mkdir(parents=True)
        try:
            _print_left_out(str(inside), extract_zip(archive, target))
        except UsageError as error:
            print(f"not compared: {clean_line(str(error))}", file=sys.stderr)


def _print_left_out(archive: str, left_out: Sequence[SetAside]) -> None:
    for each in left_out:
        name = clean_line(f"{archive}: {each.name}")
        print(f"not compared: {name}: {each.reason}", file=sys.stderr)


def _read_folder(folder: Path) -> Iterator[tuple[str, str]]:
    """The `.cu` files in the folder and its subfolders, without hidden files."""
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


SIMILAR = Command("similar", run_similar, DESCRIPTION, EPILOG, _add_arguments)
