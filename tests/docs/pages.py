"""The pages of the guide: the README, what lies in docs, and the handouts."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
HANDOUTS = tuple(sorted((ROOT / "exercises").glob("*/README.md")))


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))
