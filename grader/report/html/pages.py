"""Turns templates into pages: one file each, everything escaped, with a policy that runs and loads
only our own script and style sheet.

Submissions are hostile text. Jinja removes terminal control from all values and escapes them; the
Content-Security-Policy allows one style sheet and one script by their hashes, so that markup that
got through would have no effect.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from grader.metrics import CORRECTNESS
from grader.records import Score
from grader.report.text import clean_text
from grader.statuses import Badge

REPORT_POLICY = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self';"
    " base-uri 'none'; form-action 'none'"
)
"""For a page that a server sends, besides its own policy; `sandbox` takes its origin away."""
_FOLDER = "templates"
_STYLES = ("style.css", "narrow.css")
FRAME = "grade-run"
"""The class of the element that limits the rules."""

_SCOPE = f".{FRAME}.{FRAME}"
"""The class is named twice, so that its rules count more than those of a notebook's own style
sheet."""
_PRELUDE = re.compile(r"([^{}]+)\{")
_COMMA = re.compile(r",(?![^()]*\))")
_WHOLE = re.compile(r":root\b|\A(?:html|body)\Z")
_COLOURS = re.compile(r":root\{([^{}]*--bg:[^{}]*--ink:[^{}]*)\}")
_THEMES = (
    ("[data-jp-theme-light=true] :root,.vscode-light :root", 0),
    ("[data-jp-theme-light=false] :root,.vscode-dark :root", 1),
)
"""The attributes by which Jupyter and VS Code mark the theme, and the colours of each theme."""
WRONG = "wrong outputs"


def render_page(template: str, *, script: bool = False, **values: object) -> str:
    """The page of a template; `script`: with the script that sorts tables."""
    style = _style()
    code = _read("table.js") if script else ""
    sources = [f"style-src '{_hash(style)}'", *([f"script-src '{_hash(code)}'"] if script else [])]
    policy = "; ".join(["default-src 'none'", *sources, "base-uri 'none'", "form-action 'none'"])
    own = {"policy": policy, "style": Markup(style), "script": Markup(code)}
    return _environment().get_template(template).render(**own, **values)


def render_fragment(template: str, **values: object) -> str:
    """Markup inside another page, for example a notebook: the style sheet applies to it alone, and
    there is no script."""
    style = Markup(_scoped_style())
    return _environment().get_template(template).render(style=style, frame=FRAME, **values)


def render_drawing(template: str, **values: object) -> Markup:
    """An inline SVG."""
    return Markup(_environment().get_template(template).render(**values))


def _style() -> str:
    return "".join(map(_read, _STYLES))


@functools.cache
def _scoped_style() -> str:
    return scope_style(_style())


@functools.cache
def _environment() -> Environment:
    return make_environment("grader.report.html")


def make_environment(package: str) -> Environment:
    """The environment of the templates of a package: all values are escaped, and control characters
    removed."""
    return Environment(
        loader=PackageLoader(package, _FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_clean,
    )


def _clean(value: object) -> object:
    return clean_text(value) if type(value) is str else value  # not Markup, which is our own


@functools.cache
def _read(name: str) -> str:
    return resources.files("grader.report.html").joinpath(_FOLDER, name).read_text(encoding="utf-8")


@functools.cache
def _hash(text: str) -> str:
    """A source expression of CSP level 2: `sha256-...`."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def scope_style(sheet: str) -> str:
    """The rules of a sheet for FRAME. The colours follow the notebook's theme, or else the theme
    that the browser prefers.

    The sheet gives the colours of `:root` twice, the light theme first.
    """
    colours = _COLOURS.findall(sheet)
    themes = "".join(f"{where}{{{colours[which]}}}" for where, which in _THEMES)
    return _PRELUDE.sub(lambda match: f"{_scope_prelude(match[1])}{{", sheet + themes)


def _scope_prelude(prelude: str) -> str:
    if prelude.lstrip().startswith("@"):
        return prelude
    return ",".join(map(_scope_selector, _COMMA.split(prelude.strip())))


def _scope_selector(selector: str) -> str:
    whole = _WHOLE.sub(_SCOPE, selector)
    return whole if whole != selector else f"{_SCOPE} {selector}"


def describe_outcome(score: Score) -> tuple[str, Badge]:
    """Word and badge of the status; a graded program with wrong outputs has its own."""
    wrong = not score.status.ended_early and any(
        check.metric == CORRECTNESS and check.status.lost_points and not check.bonus
        for check in score.checks
    )
    row = score.status.row
    return (WRONG, Badge.FAILED) if wrong else (row.word, row.badge)
