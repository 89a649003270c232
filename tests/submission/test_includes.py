"""Only headers under the allowed folders may be included, however the path is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.records import ForeignFile
from grader.submission.rules import check_includes


@pytest.fixture
def roots(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("cuda/cub/header.h", "c++/vector", "cuda-private/secret.h", "solution.cu"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "cuda/link.h").symlink_to(tmp_path / "solution.cu")
    (tmp_path / "toolkit").symlink_to(tmp_path / "cuda")
    return tmp_path / "toolkit", tmp_path / "c++"


def test_headers_are_allowed(roots: tuple[Path, Path], tmp_path: Path) -> None:
    files = [
        str(roots[0] / "cub/header.h"),
        str(tmp_path / "cuda/cub/../cub/header.h"),
        str(tmp_path / "c++/vector"),
    ]
    assert check_includes(files, roots) is None
    assert check_includes([], roots) is None


@pytest.mark.parametrize(
    "file",
    [
        "solution.cu",
        "cuda-private/secret.h",
        "cuda/../solution.cu",
        "cuda/cub/../../solution.cu",
        "cuda/link.h",
        "cuda/../../passwd",
    ],
)
def test_other_files_are_refused(roots: tuple[Path, Path], tmp_path: Path, file: str) -> None:
    failure = check_includes([str(tmp_path / "c++/vector"), f"{tmp_path}/{file}"], roots)
    assert failure == ForeignFile(f"{tmp_path}/{file}")


@pytest.mark.parametrize("file", ["vector", "../c++/vector", "", "/a\0b"])
def test_path_that_is_not_absolute_or_no_path_is_refused(
    roots: tuple[Path, Path], file: str
) -> None:
    assert check_includes([file], roots) == ForeignFile(file)


def test_nothing_is_allowed_without_roots() -> None:
    assert check_includes(["/usr/include/stdio.h"], ()) == ForeignFile("/usr/include/stdio.h")
