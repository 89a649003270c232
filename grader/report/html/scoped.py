"""The style sheet of the pages for a part of somebody else's page: its rules apply there alone."""

from __future__ import annotations

import re

FRAME = "grade-run"
"""The class of the element that the rules apply to, and to what is in it."""

_SCOPE = f".{FRAME}.{FRAME}"
"""Named twice, so that its rules count more than those of a notebook's own style sheet."""
_PRELUDE = re.compile(r"([^{}]+)\{")
_COMMA = re.compile(r",(?![^()]*\))")
_WHOLE = re.compile(r":root\b|\A(?:html|body)\Z")
_COLOURS = re.compile(r":root\{([^{}]*--bg:[^{}]*--ink:[^{}]*)\}")
_THEMES = (
    ("[data-jp-theme-light=true] :root,.vscode-light :root", 0),
    ("[data-jp-theme-light=false] :root,.vscode-dark :root", 1),
)
"""Where Jupyter and VS Code say which theme is on, and which colours that takes."""


def scope_style(sheet: str) -> str:
    """The rules of a sheet for FRAME. Its colours are those of the theme that the notebook says is
    on, or else of the one that the browser prefers.

    The sheet gives the colours of `:root` twice, those of the light theme first.
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
