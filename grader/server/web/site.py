"""The parts of a running server that all pages share, and the templates of the pages."""

from __future__ import annotations

import functools
import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment
from sqlalchemy import Connection, Engine

from grader.report.html.pages import make_environment
from grader.report.moments import format_moment, format_points
from grader.server.course import Lesson, add_any_kernel
from grader.server.records import Settings

PAGE = Path(__file__).resolve().parents[1] / "page"
BUNDLE = PAGE / "bundle"


@dataclass(frozen=True)
class Site:
    """A running server. `form_secret` makes the tokens of forms; `static`: the served files by
    name, `version` changes with them; `guide`: the page on reports."""

    settings: Settings
    engine: Engine
    lessons: Mapping[str, Lesson]
    form_secret: bytes
    templates: Environment
    static: Mapping[str, bytes]
    version: str
    guide: str | None = None

    @functools.cached_property
    def compressed(self) -> Mapping[str, bytes]:
        """The served files for transfer. Pages are not compressed: they contain the tokens of
        forms (the attack BREACH)."""
        return {name: gzip.compress(content) for name, content in self.static.items()}

    @functools.cached_property
    def all_lessons(self) -> Mapping[str, Lesson]:
        """The exercises, and the page of the playground for files without an exercise."""
        return add_any_kernel(self.lessons) if self.settings.playground else self.lessons

    def secret(self, purpose: str) -> bytes:
        """A key for one use. Visitors choose the texts that `form_secret` signs in forms."""
        return hashlib.sha256(purpose.encode() + self.form_secret).digest()

    def reading(self) -> Connection:
        """A connection that only reads: SQLite then waits for no writer."""
        return self.engine.connect().execution_options(writes=False)


def make_templates() -> Environment:
    """The environment of the pages, with filters for moments and points."""
    environment = make_environment("grader.server.page")
    environment.filters |= {"moment": format_moment, "points": format_points}
    return environment


def read_static() -> dict[str, bytes]:
    """The bundled script and the style sheet by name."""
    names = {"work.js": BUNDLE / "work.js", "style.css": PAGE / "style.css"}
    return {name: path.read_bytes() for name, path in names.items()}


def version_of(static: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(b"".join(static[name] for name in sorted(static)))
    return digest.hexdigest()[:12]
