"""The parts of a running server that all pages share."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jinja2 import Environment
from sqlalchemy import Connection, Engine

from grader.plumbing.identity import hash_files
from grader.report.html.pages import make_environment
from grader.report.moments import format_moment, format_points
from grader.server.course import Lesson, add_any_kernel, read_guide
from grader.server.records import Settings

PAGE = Path(__file__).resolve().parents[1] / "page"


@dataclass(frozen=True)
class Site:
    """A running server. `form_secret` makes the tokens of forms."""

    settings: Settings
    engine: Engine
    lessons: Mapping[str, Lesson]
    form_secret: bytes

    @cached_property
    def templates(self) -> Environment:
        """The environment of the pages, with filters for moments and points."""
        environment = make_environment("grader.server.page")
        environment.filters |= {"moment": format_moment, "points": format_points}
        return environment

    @cached_property
    def static(self) -> Mapping[str, bytes]:
        """The bundled script and the style sheet by name."""
        return {
            path.name: path.read_bytes() for path in (PAGE / "bundle/work.js", PAGE / "style.css")
        }

    @cached_property
    def compressed(self) -> Mapping[str, bytes]:
        """The served files for transfer. Pages are not compressed: they contain the tokens of
        forms (the attack BREACH)."""
        return {name: gzip.compress(content) for name, content in self.static.items()}

    @cached_property
    def version(self) -> str:
        """A text that changes with the served files: a part of their addresses."""
        return hash_files(self.static.items())[:12]

    @cached_property
    def guide(self) -> str | None:
        """The page on reports, to which all handouts link."""
        guides = (read_guide(lesson.folder) for lesson in self.lessons.values())
        return next((each for each in guides if each is not None), None)

    @cached_property
    def all_lessons(self) -> Mapping[str, Lesson]:
        """The exercises, and the page of the playground for files without an exercise."""
        return add_any_kernel(self.lessons) if self.settings.playground else self.lessons

    def secret(self, purpose: str) -> bytes:
        """A key for one use. Visitors choose the texts that `form_secret` signs in forms."""
        return hashlib.sha256(purpose.encode() + self.form_secret).digest()

    def reading(self) -> Connection:
        """A connection that only reads: SQLite then waits for no writer."""
        return self.engine.connect().execution_options(writes=False)
