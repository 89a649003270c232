"""The cache of compilations: what is kept comes back as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.plumbing.cache import keep_entry
from grader.toolchain.artifacts import Artifacts, keep_artifacts, read_artifacts


def test_of_two_compilations_at_once_the_first_is_kept(tmp_path: Path) -> None:
    first, second = (Artifacts(cubin, "i", {"s": "d"}, "w") for cubin in (b"one", b"two"))
    assert keep_artifacts(tmp_path, "key", first) == first
    assert keep_artifacts(tmp_path, "key", second) == first
    assert read_artifacts(tmp_path, "key") == first


@pytest.mark.parametrize("content", [b'{"cubin": ""}', b"[{}, []]", b"text"])
def test_an_entry_of_something_else_counts_as_absent(tmp_path: Path, content: bytes) -> None:
    """A listing, which the same folder holds, is a list."""
    keep_entry(tmp_path, "key", content)
    assert read_artifacts(tmp_path, "key") is None
