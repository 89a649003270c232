"""Filled templates, and zips whose bytes depend only on their files."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Collection, Mapping
from importlib import resources

TEMPLATES = resources.files("grader.authoring") / "templates"
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip can hold."""


def fill_template(name: str, **fields: str) -> str:
    """A file of `templates/` with the values of its `@field@`s."""
    text = (TEMPLATES / f"{name}.template").read_text(encoding="utf-8")
    for field, value in fields.items():
        text = text.replace(f"@{field}@", value)
    return text


def make_zip(
    files: Mapping[str, bytes], *, executable: Collection[str] = (), compress: bool = True
) -> bytes:
    """The archive, in the order of the files. The bytes of compressed files also depend on zlib."""
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", method) as target:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _FIXED_TIME)
            entry.create_system = 3  # Unix, wherever it is made
            entry.external_attr = (0o100755 if name in executable else 0o100644) << 16
            target.writestr(entry, content, method)
    return archive.getvalue()
