"""The site is built without a complaint, where mkdocs is installed (extra `docs`)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

pytest.importorskip("mkdocs")
pytest.importorskip("material")


def test_the_site_is_built_and_holds_pages_and_handouts(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    student = (tmp_path / "student" / "index.html").read_text(encoding="utf-8")
    assert 'href="../repository/exercises/transpose/"' in student
    assert (tmp_path / "repository" / "exercises" / "transpose" / "index.html").is_file()
    assert not [*tmp_path.rglob("*.py")]
