"""Paths below folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.plumbing.paths import lies_under


@pytest.mark.parametrize(
    ("path", "inside"),
    [
        ("/usr/include/stdio.h", True),
        ("/opt/cuda/include/cuda.h", True),
        ("/usr/include-private/secret.h", False),
        ("/usr/secret.h", False),
        ("usr/include/stdio.h", False),
    ],
)
def test_a_folder_holds_the_paths_that_begin_with_it(path: str, *, inside: bool) -> None:
    assert lies_under([Path("/usr/include"), Path("/opt/cuda/include")])(path) is inside


def test_no_folder_holds_nothing() -> None:
    assert not lies_under([])("/usr/include/stdio.h")
