"""The cache of compilations: entries appear whole, and the first one of a key stays."""

from __future__ import annotations

from pathlib import Path

from grader.toolchain.cache import Artifacts, read_entry, write_entry


def test_of_two_compilations_at_once_the_first_is_kept(tmp_path: Path) -> None:
    first, second = (Artifacts(cubin, "", "", {}, "") for cubin in (b"one", b"two"))
    assert write_entry(tmp_path, "key", first) == first
    assert write_entry(tmp_path, "key", second) == first
    assert read_entry(tmp_path, "key") == first
    assert [each.name for each in tmp_path.iterdir()] == ["key"]


def test_a_damaged_entry_makes_room(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"nonsense")
    made = Artifacts(b"one", "", "", {}, "")
    assert write_entry(tmp_path, "key", made) == made
    assert read_entry(tmp_path, "key") == made
