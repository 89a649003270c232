"""Makes foreign text safe to display: a submission, its name and a compiler's output may contain
anything.

Terminal control is removed, not escaped: an ANSI sequence in a file name must not colour, move or
hide the grader's output. Only a submission's own output is shown with its control characters made
visible.
"""

from __future__ import annotations

import re

# ECMA-48: CSI sequences, the string sequences (OSC, DCS, SOS, PM, APC) up to their end, and
# two-character escapes.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
# C0 and C1 controls but tab and newline, line separators, and the marks that reorder text ("Trojan
# Source", CVE-2021-42574).
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)

_ASCII = str.maketrans(
    {
        "✓": "[+]",
        "✗": "[x]",
        "–": "-",
        "·": ".",
        "▒": "+",
        "█": "#",
        "×": "x",
        "≤": "<=",
        "≥": ">=",
        "‘": "'",
        "’": "'",
        "“": '"',
        "”": '"',
        "…": "...",
        "—": "-",
        "→": "->",
        "µ": "u",
        "─": "-",
    }
)


def clean_text(text: str) -> str:
    """Text of several lines without terminal control; tabs and newlines stay."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def clean_line(text: str) -> str:
    """The text as a single line: every run of white space becomes a space."""
    return " ".join(clean_text(text).split())


def escape_controls(text: str) -> str:
    """Text of several lines with all terminal control made visible (`\\x1b[31m`); newlines stay,
    tabs become spaces."""
    return _CONTROLS.sub(
        lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"),
        text.expandtabs(4),
    )


def fold_to_ascii(text: str) -> str:
    """The text in ASCII for streams that are not UTF-8; other characters become their code
    (`\\xe9`).

    A glyph at the start is a verdict (`[+]`, `[x]`, `[-]`, `[~]`); elsewhere `–` and `~` are what
    they are.
    """
    if text.startswith(("– ", "~ ")):
        text = f"[{text[0]}]{text[1:]}"
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")
