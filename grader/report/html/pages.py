"""Turns templates into pages: one file each, everything escaped, with a policy that runs and loads
only our own script and style sheet.

Submissions are hostile text. Jinja escapes all values; the Content-Security-Policy allows one style
sheet and one script by their hashes, so that markup that got through would have no effect.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from grader.report.html.scoped import FRAME, scope_style

_FOLDER = "templates"
_STYLES = ("style.css", "narrow.css")


def render_page(template: str, *, script: bool = False, **values: object) -> str:
    """The page of a template; `script`: with the script that sorts tables."""
    style = _style()
    code = _read("table.js") if script else ""
    sources = [f"style-src '{_hash(style)}'", *([f"script-src '{_hash(code)}'"] if script else [])]
    policy = "; ".join(["default-src 'none'", *sources, "base-uri 'none'", "form-action 'none'"])
    return (
        _environment()
        .get_template(template)
        .render(policy=policy, style=Markup(style), script=Markup(code), **values)
    )


def render_fragment(template: str, **values: object) -> str:
    """Markup inside another page, for example a notebook: the style sheet applies to it alone, and
    there is no script."""
    style = Markup(_scoped_style())
    return _environment().get_template(template).render(style=style, frame=FRAME, **values)


def _style() -> str:
    return "".join(map(_read, _STYLES))


@functools.cache
def _scoped_style() -> str:
    return scope_style(_style())


@functools.cache
def _environment() -> Environment:
    loader = PackageLoader("grader.report.html", _FOLDER)
    return Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@functools.cache
def _read(name: str) -> str:
    return resources.files("grader.report.html").joinpath(_FOLDER, name).read_text(encoding="utf-8")


@functools.cache
def _hash(text: str) -> str:
    """A source expression of CSP level 2: `sha256-...`."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
