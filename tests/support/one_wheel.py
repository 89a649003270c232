"""The wheel of this checkout, made once by a process: to make one takes 0.3 s of processor time."""

from __future__ import annotations

import functools

import pytest

from grader.authoring import handout
from grader.authoring.autograder import make_wheel

make_one_wheel = functools.cache(make_wheel)


@pytest.fixture(autouse=True)
def one_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    """All bundles of a module that imports this fixture hold the same wheel."""
    monkeypatch.setattr(handout, "make_wheel", make_one_wheel)
