"""The pictures of the pages: whole, small, and shown somewhere."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.pages import GUIDE, ROOT

PICTURES = sorted((ROOT / "docs" / "images").iterdir())
TEXTS = "".join(page.read_text(encoding="utf-8") for page in GUIDE)
LARGEST_BYTES = 150_000


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.name)
def test_a_picture_is_whole_and_small_and_shown(picture: Path) -> None:
    content = picture.read_bytes()
    assert len(content) <= LARGEST_BYTES
    assert f"images/{picture.name})" in TEXTS
    if picture.suffix == ".svg":
        assert ElementTree.fromstring(content).tag.endswith("svg")
    else:
        assert content.startswith(b"\x89PNG")
