"""Chromium through Playwright: `pip install playwright`, and a `chromium` on PATH or Playwright's
own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.support.browsers import start_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    api = pytest.importorskip(
        "playwright.sync_api", reason="needs Playwright: pip install playwright"
    )
    with api.sync_playwright() as playwright:
        try:
            started = start_chromium(playwright)
        except api.Error as error:
            pytest.skip(f"needs Chromium: {str(error).splitlines()[0]}")
        yield started
        started.close()
