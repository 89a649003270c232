"""A hook of mkdocs: the site includes the files outside of docs that its pages link to.

The web view of the repository needs relative links between pages, handouts and files. In the site
these files lie below `repository/`, and the links are rewritten. Python files get the suffix
`.txt`: browsers show them as text, and `exclude_docs` leaves `.py` files out.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
OUTSIDE = "repository"
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#|/)([^)\s#]+)(?=[)#])")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files that pages link to, and those that these link to."""
    pending = [DOCS / page.src_uri for page in files.documentation_pages()]
    while pending:
        source = pending.pop()
        for target in _targets(source):
            uri = site_uri(target)
            if files.get_file_from_path(uri) is None and target.is_file():
                files.append(File.generated(config, uri, abs_src_path=str(target)))
                if target.suffix == ".md":
                    pending.append(target)
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Point links at where their targets lie in the site, and have what is folded be Markdown."""
    uri = page.file.src_uri
    outside = uri.startswith(f"{OUTSIDE}/")
    source = ROOT / uri.removeprefix(f"{OUTSIDE}/") if outside else DOCS / uri

    def rewrite(found: re.Match[str]) -> str:
        target = (source.parent / found[0]).resolve()
        return os.path.relpath(site_uri(target), Path(uri).parent)

    return LINK.sub(rewrite, markdown).replace("<details>", '<details markdown="1">')


def site_uri(path: Path) -> str:
    """The path in the site of a file of the repository."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    as_text = ".txt" if path.suffix == ".py" else ""
    return f"{OUTSIDE}/{path.relative_to(ROOT).as_posix()}{as_text}"


def _targets(page: Path) -> Iterator[Path]:
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        yield (page.parent / link).resolve()
