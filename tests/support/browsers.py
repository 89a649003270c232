"""A real browser for tests and pictures."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def start_chromium(playwright: Playwright) -> Browser:
    """The Chromium on PATH, or else Playwright's own. Raises playwright.sync_api.Error where there
    is none."""
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    return playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
