"""Refuse a submission that asks the preprocessor which files the machine has.

`__has_include` answers without a trace: the compiler lists only what it reads. So its operand must stand there as a plain header's
name, and nothing may put its own name together. Where bubblewrap hides the files there is nothing to learn; with Landlock,
which forbids only to open them, there would be.
"""

from __future__ import annotations

import re

from grader.records import Failure, Status

_ASKING = ("__has_include", "__has_include_next", "__has_embed")
_NAMES = r"(?:__has_include(?:_next)?|__has_embed|\w*HAS_INCLUDE\w*)"
_PLAIN_OPERAND = r'\(\s*(?:<[\w+-][\w./+-]*>|"[\w+-][\w./+-]*")\s*\)'
_HARMLESS = re.compile(rf"\b{_NAMES}\s*(?!\([^)\n]*\.\.){_PLAIN_OPERAND}|\bdefined\s*\(?\s*{_NAMES}\b|#\s*(?:ifn?|elifn?)def\s+{_NAMES}\b")
_SPLICE = re.compile(r"\\[ \t\f\v]*\r?\n")
_PIECES = re.compile(
    r"""
      (?P<comment> //[^\n]* | /\* .*? (?: \*/ | \Z ) )
    | (?<![\w$]) (?: u8 | [uUL] )? R " (?P<mark> [^()\\\s]{0,16} ) \( .*? (?: \) (?P=mark) " | \Z )
    | " (?: \\. | [^"\\\n] )*+ "?
    | (?<![\w$]) [0-9] [0-9A-Za-z_.']*
    | ' (?: \\. | [^'\\\n] )*+ '?
    | [^\W\d] [\w$]* | \$ [\w$]*                                        # gcc lets names hold dollars
    """,
    re.VERBOSE | re.DOTALL,
)
_PASTES = re.compile(r"\#\#|%:%:|\b\w*(?:CONCAT|PASTE|JOIN|GLUE|CAT)\w*\s*\(", re.IGNORECASE)
_LONG_END = 8
"""Of the end of such a name: what a macro of a header that pastes could be handed."""
ADVICE = "Include the headers that you need, by name; write everything else in the one file that you hand in."


def check_lookups(source: str) -> Failure | None:
    """A Failure (`rejected`) where the source looks for files in other ways than plain `__has_include(<header>)`."""
    text = _PIECES.sub(lambda piece: " " if piece["comment"] else piece.group(), _SPLICE.sub("", source))
    words = _words(_HARMLESS.sub(" ", text))
    if any(re.fullmatch(_NAMES, word) for word in words):
        return _refuse("asks with __has_include for something else than a plain header's name")
    if any(name.endswith(word) and len(word) >= _LONG_END for name in _ASKING for word in words):
        return _refuse("puts the name __has_include together")
    if _PASTES.search(text) and any(word != name and name.startswith(word) for name in _ASKING for word in words):
        return _refuse("puts the name __has_include together")
    if re.search(r"\bGCC\b", text) and re.search(r"\bdependency\b", text):
        return _refuse("asks with `#pragma GCC dependency` for a file")
    return None


def _words(text: str) -> set[str]:
    """The identifiers outside of strings."""
    return {piece.group() for piece in _PIECES.finditer(text) if piece.group().isidentifier()}


def _refuse(what: str) -> Failure:
    return Failure(Status.REJECTED, f"The submission {what}.", advice=ADVICE)
