"""The example of the emulator's README."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import grader.emulator
from grader.plumbing.cache import default_cache

README = Path(grader.emulator.__file__).with_name("README.md")


def test_the_example_prints_what_the_page_shows(capsys: pytest.CaptureFixture[str]) -> None:
    program, output = re.findall(r"^```(?:python)?\n(.*?)^```$", README.read_text(), re.S | re.M)
    cache = default_cache(os.environ) / "runtime"
    assert program.count('Path("build")') == 1
    exec(program.replace('Path("build")', f"Path({str(cache)!r})"), {})
    assert capsys.readouterr().out == output
