"""Files that appear whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.plumbing.atomic import replace_file


@pytest.mark.parametrize("synced", [False, True])
def test_the_old_file_gives_way_to_the_new_one(tmp_path: Path, synced: bool) -> None:
    for content in (b"old", b"new"):
        replace_file(tmp_path / "file", content, synced=synced)
        assert (tmp_path / "file").read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        replace_file(tmp_path / "folder", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
    with pytest.raises(FileNotFoundError):
        replace_file(tmp_path / "none" / "file", b"content")
