"""The style sheet of the pages for a part of another page: its rules apply to that part alone."""

from __future__ import annotations

import re

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
