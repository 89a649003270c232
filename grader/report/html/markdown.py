"""A handout in Markdown as HTML. It needs the extra `server`."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

_UNSAFE = re.compile(r"[^a-z0-9]+")


def render_markdown(text: str, address: Callable[[str], str]) -> str:
    """A text as HTML. `address` gives the address of a link or a picture. The author is trusted;
    the pages' policy forbids scripts. Wide tables and code scroll, and the keyboard reaches
    them."""
    markdown = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = markdown.parse(text)
    for token, behind in pairwise(tokens):
        _prepare(token, address)
        if token.type == "heading_open":
            token.attrSet("id", _UNSAFE.sub("-", behind.content.lower()).strip("-"))
    html = str(markdown.renderer.render(tokens, markdown.options, {}))
    html = html.replace("<th></th>", "<td></td>")  # a header needs a text
    html = html.replace("<table>", '<div class="scroll" tabindex="0"><table>')
    return html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')


def _prepare(token: Token, address: Callable[[str], str]) -> None:
    """Points links and pictures at their addresses, and aligns cells by a class, because the pages'
    policy forbids styles in the markup."""
    if style := token.attrs.pop("style", None):
        token.attrSet("class", str(style).replace("text-align:", "align-"))
    for child in token.children or ():
        if child.type == "link_open":
            child.attrSet("href", address(str(child.attrGet("href") or "")))
        elif child.type == "image":
            child.attrSet("src", address(str(child.attrGet("src") or "")))
