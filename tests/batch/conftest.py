"""Workers of a batch are forks: the tests of this folder run more than a hundred."""

from __future__ import annotations

import pytest

from grader.batch import pool
from tests.support.forked_child import ForkedChild


@pytest.fixture(autouse=True)
def forked_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "Child", ForkedChild)
