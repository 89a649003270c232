"""Counts words that make prose hard to read (docs/contributing.md, "Prose"), file by file.

python -m tests.support.prose [PATH…]    lists the files above their limit, worst first
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

NUMERALS = 4
LIMITS = {
    r"what": (1.0, 0),
    r"ones?": (8.0, NUMERALS),
    r"tells?|told|says?|said": (1.0, 0),
    r"nobody|nothing else|whoever|whatever": (1.0, 0),
    r"that which|those (?:that|which|of)|that of": (3.0, 0),
}
"""Most matches per 1,000 words of prose, rounded up, and how many more a file may have. Well-known projects have 0 to 0.4 "what", up to
3.3 "one" and no "tell"."""
HOME_MADE = re.compile(
    r"\b(?:mend(?:s|ed|ing)?|yardsticks?|told cycles|own programs?|comes? to (?:what|the same)"
    r"|an? (?:sum|word|block|element) an? (?:block|thread|warp|element|lane)"
    r"|it is said|is told|are told|as \w+ has it)\b",
    re.IGNORECASE,
)
"""Terms of this project alone, for which the field has a standard term."""
HOME_MADE_NAMES = re.compile(
    r"(?:^|_)(?:drawers?|meets?|meetings?|mend(?:s|ed)?|met|nobody|plainly|rooms?|said|tells?"
    r"|telling|told|yardsticks?)(?:_|$)|^_?note_|^looks?$|^(?:Look|Ran|Way)$"
)
"""The same in names, in snake case: see `snake_case`."""
_NAME = re.compile(r"[A-Za-z_]\w*")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_FENCE = re.compile(r"```.*?```|`[^`\n]*`|<!--.*?-->", re.DOTALL)
_QUOTED = re.compile(r"`[^`\n]*`|\"[^\"\n]{0,60}\"")
SUFFIXES = {".py", ".cpp", ".h", ".md"}
EXCLUDED = ("docs/changelog.md", "docs/reference/", "tests/data/", "tests/support/prose.py")


@dataclass(frozen=True)
class Excess:
    """Matches of a pattern in a file's prose beyond the `limit`, and the first few."""

    pattern: str
    found: int
    limit: int
    lines: tuple[str, ...]


def prose_of(path: Path) -> str:
    """Docstrings and comments of Python, comments of C++, the text of Markdown without code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return _FENCE.sub(" ", text)
    if path.suffix != ".py":
        return _QUOTED.sub(" ", "\n".join(_COMMENT.findall(text)))
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    parts = [
        token.string
        for token in tokens
        if token.type == tokenize.COMMENT
        or (token.type == tokenize.STRING and token.string.lstrip("rRbBfF").startswith('"""'))
    ]
    return _QUOTED.sub(" ", "\n".join(parts).replace('"""', " "))


def home_made_names(path: Path) -> set[str]:
    """The names that a file of Python or C++ defines (C++: uses) with a home-made term."""
    text = path.read_text(encoding="utf-8")
    names = defined_names(text) if path.suffix == ".py" else _NAME.findall(_COMMENT.sub(" ", text))
    return {name for name in names if any(map(HOME_MADE_NAMES.search, (name, snake_case(name))))}


def defined_names(text: str) -> Iterator[str]:
    """Functions, classes, parameters, variables and attributes that Python text defines."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
                yield name


def snake_case(name: str) -> str:
    """`TraceRoom` and `TRACE_ROOM` as `trace_room`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def find_excess(path: Path) -> list[Excess]:
    """The patterns of which a file has too many."""
    prose = prose_of(path)
    count = len(_WORD.findall(prose))
    limits = {
        rf"\b(?:{words})\b": ceil(rate * count / 1000) + more
        for words, (rate, more) in LIMITS.items()
    }
    found = []
    for pattern, limit in {**limits, HOME_MADE.pattern: 0}.items():
        matches = list(re.finditer(pattern, prose, re.IGNORECASE))
        if len(matches) > limit:
            lines = tuple(
                " ".join(prose[max(0, each.start() - 40) : each.end() + 30].split())
                for each in matches
            )
            found.append(Excess(pattern, len(matches), limit, lines))
    return found


def list_files(*folders: str) -> list[Path]:
    """The tracked files with prose below the folders; all of them for none."""
    listed = subprocess.run(
        ["git", "ls-files", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    return [
        ROOT / name
        for name in listed
        if Path(name).suffix in SUFFIXES
        and not name.startswith(EXCLUDED)
        and (ROOT / name).is_file()
    ]


def main() -> None:
    """Prints each excess with its places."""
    total = 0
    for path in list_files(*sys.argv[1:]):
        for each in find_excess(path):
            total += each.found - each.limit
            print(f"{path.relative_to(ROOT)}: {each.found} of at most {each.limit}: {each.pattern}")
            print("".join(f"    … {line}\n" for line in each.lines), end="")
    print(f"{total} too many")


if __name__ == "__main__":
    main()
