"""The cache on disk: entries appear whole, and the first one of a key stays."""

from __future__ import annotations

from pathlib import Path

from grader.plumbing.cache import cache_key, keep_entry, read_entry, recall, remember
from grader.records import Dim3


def test_of_two_at_once_the_first_is_kept(tmp_path: Path) -> None:
    assert keep_entry(tmp_path, "key", b"one") == b"one"
    assert keep_entry(tmp_path, "key", b"two") == b"one"
    assert read_entry(tmp_path, "key") == b"one"
    assert [each.name for each in tmp_path.iterdir()] == ["key"]


def test_a_damaged_entry_counts_as_absent_and_makes_room(tmp_path: Path) -> None:
    keep_entry(tmp_path, "key", b"one" * 100)
    whole = (tmp_path / "key").read_bytes()
    for damaged in (
        b"",
        b"{}",
        b"nonsense",
        whole[:-1],
        whole[:40] + b"x" + whole[41:],
        bytes([whole[0] ^ 1]) + whole[1:],
    ):
        (tmp_path / "key").write_bytes(damaged)
        assert read_entry(tmp_path, "key") is None
    assert keep_entry(tmp_path, "key", b"two") == b"two"
    assert read_entry(tmp_path, "key") == b"two"


def test_a_folder_that_cannot_be_written_to_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    assert keep_entry(tmp_path / "file", "key", b"one") == b"one"
    assert read_entry(tmp_path / "file", "key") is None


def test_boundaries_of_a_keys_parts_count() -> None:
    assert cache_key("ab", "c") != cache_key("a", "bc")


def test_a_record_is_recalled_unless_its_entry_is_absent_or_of_another_kind(tmp_path: Path) -> None:
    remember(tmp_path, "key", {"grid": Dim3(1, 2, 3)})
    assert recall(tmp_path, "key", dict[str, Dim3]) == {"grid": Dim3(1, 2, 3)}
    assert recall(tmp_path, "other", dict[str, Dim3]) is None
    assert recall(tmp_path, "key", Dim3) is None
    keep_entry(tmp_path, "text", b"no JSON")
    assert recall(tmp_path, "text", dict[str, Dim3]) is None
    remember(None, "key", 1)
    assert recall(None, "key", int) is None
