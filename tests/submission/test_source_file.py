"""What is no CUDA source text is told apart from a file that is not there."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.records import NoSource, Submission, Unreadable
from grader.submission.source_file import MAX_BYTES, read_submission

SOURCE = "// größe\n__global__ void k() {}\n"


def test_reads_text_and_hash(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_bytes(SOURCE.encode())
    assert read_submission(path) == Submission(
        "mine.cu", hashlib.sha256(SOURCE.encode()).hexdigest(), SOURCE
    )


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_bytes(b"\xef\xbb\xbf" + SOURCE.encode())
    read = read_submission(path)
    assert isinstance(read, Submission)
    assert read.text == SOURCE


@pytest.mark.parametrize("name", ["README.md", "transpose.MD", "score.json", "run.py"])
def test_a_document_is_no_source_whatever_it_holds(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(SOURCE)
    assert read_submission(tmp_path / name) == NoSource(name, Unreadable.DOCUMENT, MAX_BYTES)


def test_windows_line_ends_stay(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_bytes(b"a\r\nb\r\n")
    read = read_submission(path)
    assert isinstance(read, Submission)
    assert read.text == "a\r\nb\r\n"


@pytest.mark.parametrize(
    ("content", "why", "line"),
    [
        (b"", Unreadable.EMPTY, None),
        (b" \n\t\r\n", Unreadable.EMPTY, None),
        (b"\x7fELF\x02\x01\x01\x00", Unreadable.BINARY, None),
        ("void k() {}".encode("utf-16"), Unreadable.UTF16, None),
        ("void k() {}".encode("utf-16-be"), Unreadable.BINARY, None),
        (b"int a;\n// gr\xf6\xdfe\n", Unreadable.NOT_UTF8, 2),
        (b"// gr\xf6\xdfe", Unreadable.NOT_UTF8, 1),
        (b"/" * (MAX_BYTES + 1), Unreadable.TOO_LARGE, None),
    ],
)
def test_no_source_text_is_the_students_mistake(
    tmp_path: Path, content: bytes, why: Unreadable, line: int | None
) -> None:
    path = tmp_path / "mine.cu"
    path.write_bytes(content)
    assert read_submission(path) == NoSource("mine.cu", why, MAX_BYTES, line)


def test_the_largest_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_bytes(b"/" * MAX_BYTES)
    assert isinstance(read_submission(path), Submission)


def test_missing_file_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="does not exist"):
        read_submission(tmp_path / "none.cu")


def test_folder_is_bad_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder"):
        read_submission(tmp_path)


def test_pipe_is_bad_usage_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.cu")
    with pytest.raises(UsageError, match="not a regular file"):
        read_submission(tmp_path / "pipe.cu")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_file_is_bad_usage(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text(SOURCE)
    path.chmod(0)
    with pytest.raises(UsageError, match="cannot be read"):
        read_submission(path)


def test_impossible_path_is_bad_usage() -> None:
    with pytest.raises(UsageError):
        read_submission(Path("a\0b.cu"))
    with pytest.raises(UsageError):
        read_submission(Path("x" * 5000))
