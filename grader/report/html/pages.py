"""Turns templates into pages: one file each, everything escaped, and a policy that lets nothing run
or load but what is ours.

Submissions are hostile text. Jinja escapes whatever is put in; the Content-Security-Policy allows
one style sheet and one script by their hashes, so that even markup that got through could do
nothing.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

_FOLDER = "templates"


def render_page(template: str, *, script: bool = False, **values: object) -> str:
    """The page of a template; `script`: with the script that sorts tables."""
    style = _read("style.css")
    code = _read("table.js") if script else ""
    sources = [f"style-src '{_hash(style)}'", *([f"script-src '{_hash(code)}'"] if script else [])]
    policy = "; ".join(["default-src 'none'", *sources, "base-uri 'none'", "form-action 'none'"])
    return (
        _environment()
        .get_template(template)
        .render(policy=policy, style=Markup(style), script=Markup(code), **values)
    )


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
