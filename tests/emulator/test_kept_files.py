"""Files that several processes keep: complete or absent, and removed after a long time without
use."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from grader.emulator.codegen.kept_files import SWEPT_NAME, UNUSED_SECONDS, read_whole, write_whole

DAY = 24 * 3600.0


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {SWEPT_NAME}


def write_old(folder: Path, *files: str, days: float) -> None:
    """Files that were last used `days` ago, in a folder that was swept yesterday."""
    for name in files:
        write_whole(folder / name, b"content")
    for name in files:
        age(folder / name, days * DAY)
    age(folder / SWEPT_NAME, 1.1 * DAY)


def test_unused_files_are_removed_with_the_next_write(tmp_path: Path) -> None:
    write_old(tmp_path, "unused", days=31)
    write_whole(tmp_path / "recent", b"")
    assert names(tmp_path) == {"recent"}


def test_files_that_were_read_stay(tmp_path: Path) -> None:
    write_old(tmp_path, "used", "unused", days=31)
    assert read_whole(tmp_path / "used") == b"content"
    write_whole(tmp_path / "new", b"")
    assert names(tmp_path) == {"used", "new"}


def test_recent_files_stay(tmp_path: Path) -> None:
    write_old(tmp_path, "used", days=UNUSED_SECONDS / DAY - 1)
    write_whole(tmp_path / "new", b"")
    assert names(tmp_path) == {"used", "new"}


def test_files_are_looked_through_once_a_day(tmp_path: Path) -> None:
    write_old(tmp_path, "unused", days=31)
    age(tmp_path / SWEPT_NAME, 0.5 * DAY)
    write_whole(tmp_path / "new", b"")
    assert names(tmp_path) == {"unused", "new"}


def test_a_use_is_noted_once_a_day(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_whole(path, b"content")
    age(path, 0.5 * DAY)
    before = path.stat().st_mtime
    read_whole(path)
    assert path.stat().st_mtime == before
    age(path, 1.5 * DAY)
    read_whole(path)
    assert time.time() - path.stat().st_mtime < DAY


def test_folders_and_links_stay(tmp_path: Path) -> None:
    target = tmp_path / "kept" / "target"
    write_whole(target, b"")
    age(target, 2 * UNUSED_SECONDS)
    write_old(tmp_path, "unused", days=31)
    (tmp_path / "link").symlink_to(target)
    write_whole(tmp_path / "new", b"")
    assert names(tmp_path) == {"kept", "link", "new"}
    assert target.exists()


def test_many_may_read_write_and_remove_at_once(tmp_path: Path) -> None:
    def work(number: int) -> bytes | None:
        path = tmp_path / f"file{number % 3}"
        content = read_whole(path)
        if content is None:
            write_whole(path, b"content")
        for old in (path, tmp_path / SWEPT_NAME):
            with suppress(FileNotFoundError):  # another thread has removed it
                age(old, 2 * UNUSED_SECONDS)
        write_whole(tmp_path / f"new{number}", b"")
        return content

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(work, range(60))) <= {None, b"content"}
    assert all(read_whole(path) is not None for path in tmp_path.glob("new*"))
