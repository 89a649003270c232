"""Locks between processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.plumbing.locks import hold_lock


class TakenError(Exception):
    """The lock is held elsewhere."""


def refuse() -> None:
    raise TakenError


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with hold_lock(path, refuse), pytest.raises(TakenError), hold_lock(path, refuse):
        pass
    with hold_lock(path, refuse):
        pass


def test_who_waits_is_asked_until_it_is_free(tmp_path: Path) -> None:
    first, asked = hold_lock(tmp_path / "lock", refuse), []
    first.__enter__()

    def wait() -> None:
        asked.append(None)
        if len(asked) == 3:
            first.__exit__(None, None, None)

    with hold_lock(tmp_path / "lock", wait):
        assert len(asked) == 3


def test_a_link_is_no_lock(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "file")
    with pytest.raises(OSError, match="lock"), hold_lock(tmp_path / "lock", refuse):
        pass
    assert not (tmp_path / "file").exists()
